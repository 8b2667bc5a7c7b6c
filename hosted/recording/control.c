/* SPDX-License-Identifier: Apache-2.0 */
#include "control.h"

#include "../source/udp_socket.h"
#include "../target/place.h"
#include "../text/fail.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG       8
#define REQUEST_S     1  /* a client that connects and says nothing */
#define REPLY_S       60 /* a recorder that protects a file waits for metadata */
#define REQUEST_BYTES (SPATE_RECORDER_PATH_BYTES_MAX + 1u)

static volatile sig_atomic_t signals;

static void note_signal(int number) {
  (void)number;
  signals++;
}

/* ---- the address ---- */

/* By device and file, so that every path to the target is the same one; by name for a drive without the kernel. */
static socklen_t address_of(const char *target, struct sockaddr_un *address) {
  char path[PATH_MAX];
  struct stat status;
  unsigned number;
  int length;

  *address = (struct sockaddr_un){.sun_family = AF_UNIX};
  char *name = address->sun_path + 1;
  const size_t room = sizeof address->sun_path - 1u;
  place_of_image(target, path, &number);
  if (stat(path, &status) != 0)
    length = snprintf(name, room, "spate-%s", target);
  else if (S_ISBLK(status.st_mode))
    length = snprintf(name, room, "spate-block-%u-%u", major(status.st_rdev), minor(status.st_rdev));
  else
    length = snprintf(name, room, "spate-file-%llx-%llx", (unsigned long long)status.st_dev,
                      (unsigned long long)status.st_ino);
  if (length >= (int)room) length = (int)room - 1;
  return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1u + (size_t)length);
}

/* Any user can make or reach an abstract socket. */
static bool is_trusted(int fd) {
  struct ucred peer;
  socklen_t bytes = sizeof peer;

  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 && (peer.uid == 0 || peer.uid == geteuid());
}

static void limit_wait(int fd, time_t seconds) {
  const struct timeval time = {.tv_sec = seconds};

  (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
  (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
}

/* ---- the recorder's side ---- */

/* Without the socket the recorder works all the same: another one may have the name, or the system allows none. */
static int listen_for(const char *target) {
  struct sockaddr_un address;
  const socklen_t bytes = address_of(target, &address);
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

  if (fd >= 0 && bind(fd, (const struct sockaddr *)&address, bytes) == 0 && listen(fd, BACKLOG) == 0) return fd;
  (void)fprintf(stderr, "spate: %s: spate trigger cannot reach this recorder: %s\n", target, strerror(errno));
  if (fd >= 0) (void)close(fd);
  return -1;
}

static int open_fifo(const char *path) {
  struct stat status;
  const int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC); /* also for writing: it never ends */

  if (fd < 0) fail(EXIT_FAILED, "--trigger %s: %s. mkfifo makes a FIFO", path, strerror(errno));
  if (fstat(fd, &status) != 0 || !S_ISFIFO(status.st_mode))
    fail(EXIT_USAGE, "--trigger %s is neither a FIFO nor udp:[ADDRESS:]PORT", path);
  return fd;
}

/* "udp:5000" → "udp:127.0.0.1:5000" */
static int open_socket(const char *name) {
  const char *rest = name + strlen("udp:");
  char local[128];
  int fd;

  (void)snprintf(local, sizeof local, "udp:127.0.0.1:%s", rest);
  const int error = udp_socket_open(strchr(rest, ':') == NULL ? local : name, &fd);
  if (error != 0) fail(EXIT_FAILED, "--trigger %s: %s", name, strerror(error));
  return fd;
}

void control_open(struct control *control, const char *target, const char *trigger) {
  const struct sigaction note = {.sa_handler = note_signal};

  *control = (struct control){.listening = listen_for(target), .trigger = -1, .signals_seen = (unsigned)signals};
  if (sigaction(SIGUSR1, &note, NULL) != 0) fail(EXIT_FAILED, "signals: %s", strerror(errno));
  if (trigger == NULL) return;
  control->is_socket = udp_socket_is(trigger);
  control->trigger = control->is_socket ? open_socket(trigger) : open_fifo(trigger);
}

static bool is_readable(int fd) {
  struct pollfd event = {.fd = fd, .events = POLLIN};

  return fd >= 0 && poll(&event, 1, 0) == 1 && (event.revents & POLLIN) != 0;
}

/* All that waits in the FIFO, or one datagram, is one trigger. */
static bool take_trigger(const struct control *control) {
  char bytes[4096];
  bool any = false;

  if (!is_readable(control->trigger)) return false;
  if (control->is_socket) return recv(control->trigger, bytes, sizeof bytes, MSG_DONTWAIT) >= 0;
  while (read(control->trigger, bytes, sizeof bytes) > 0)
    any = true;
  return any;
}

/* "t", "pPATH" or "uPATH" */
static bool parse(const char *text, size_t bytes, struct control_request *request) {
  static const char kinds[] = "tpu";
  const char *kind = bytes > 0 && text[0] != '\0' ? strchr(kinds, text[0]) : NULL;

  if (kind == NULL || bytes > SPATE_RECORDER_PATH_BYTES_MAX) return false;
  request->kind = (enum control_kind)(kind - kinds);
  memcpy(request->path, text + 1, bytes - 1u);
  request->path[bytes - 1u] = '\0';
  return true;
}

static bool take_client(const struct control *control, struct control_request *request) {
  char text[REQUEST_BYTES];

  if (!is_readable(control->listening)) return false;
  const int client = accept4(control->listening, NULL, NULL, SOCK_CLOEXEC);
  if (client < 0) return false;
  struct pollfd event = {.fd = client, .events = POLLIN};
  /* The request comes with the connection; a stranger who says nothing costs nothing more than this look. */
  const bool trusted = is_trusted(client) && poll(&event, 1, 1) == 1;
  const ssize_t got = trusted ? recv(client, text, sizeof text, MSG_DONTWAIT) : -1;
  if (got > 0 && parse(text, (size_t)got, request)) {
    request->client = client;
    return true;
  }
  (void)close(client);
  return false;
}

bool control_next(struct control *control, struct control_request *request) {
  *request = (struct control_request){.kind = CONTROL_TRIGGER, .client = -1};
  if (control->signals_seen != (unsigned)signals) {
    control->signals_seen = (unsigned)signals;
    return true;
  }
  return take_trigger(control) || take_client(control, request);
}

void control_reply(const struct control_request *request, bool done, const char *text) {
  char reply[CONTROL_TEXT_BYTES];

  if (request->client < 0) return;
  const int bytes = snprintf(reply, sizeof reply, "%c%s", done ? '+' : '-', text);
  const size_t used = bytes < (int)sizeof reply ? (size_t)bytes : sizeof reply - 1u;
  /* The client may be gone: then nobody needs the reply. */
  const ssize_t sent = send(request->client, reply, used, MSG_NOSIGNAL | MSG_DONTWAIT);
  (void)sent;
  (void)close(request->client);
}

void control_close(struct control *control) {
  if (control->listening >= 0) (void)close(control->listening);
  if (control->trigger >= 0) (void)close(control->trigger);
}

/* ---- the other side ---- */

bool control_ask(const char *target, enum control_kind kind, const char *path, bool *done, char *text) {
  struct sockaddr_un address;
  const socklen_t bytes = address_of(target, &address);
  char request[REQUEST_BYTES + 1u];
  const int length = snprintf(request, sizeof request, "%c%s", "tpu"[kind], path);
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

  if (fd < 0) fail(EXIT_FAILED, "a local socket: %s", strerror(errno));
  limit_wait(fd, REPLY_S);
  if (connect(fd, (const struct sockaddr *)&address, bytes) != 0 || !is_trusted(fd)) {
    (void)close(fd);
    return false;
  }
  if (length >= (int)sizeof request) fail(EXIT_USAGE, "%s is too long", path);
  if (send(fd, request, (size_t)length, MSG_NOSIGNAL) != length)
    fail(EXIT_FAILED, "the recorder of %s: %s", target, strerror(errno));
  const ssize_t got = recv(fd, text, CONTROL_TEXT_BYTES - 1u, 0);
  if (got <= 0) fail(EXIT_FAILED, "the recorder of %s did not reply", target);
  text[got] = '\0';
  *done = text[0] == '+';
  memmove(text, text + 1, (size_t)got);
  (void)close(fd);
  return true;
}
