/* SPDX-License-Identifier: Apache-2.0 */
#include "control.h"

#include "../source/udp_socket.h"
#include "../text/fail.h"
#include "address.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define BACKLOG   8
#define REQUEST_S 1.0   /* a client that connects and says nothing */
#define READS_MAX 1024u /* at once: whoever sends without end must not stop the recorder */

/* ---- signals ---- */

static volatile sig_atomic_t signals;

static void note_signal(int number) {
  (void)number;
  signals++;
}

/* SA_RESTART: a signal must not end the opening of a source or of the target. */
void control_catch_signals(void) {
  const struct sigaction note = {.sa_handler = note_signal, .sa_flags = SA_RESTART};

  if (sigaction(SIGUSR1, &note, NULL) != 0) fail(EXIT_FAILED, "signals: %s", strerror(errno));
}

bool control_signalled(struct control *control) {
  const unsigned seen = control->signals_seen;

  control->signals_seen = (unsigned)signals;
  return control->signals_seen != seen;
}

/* ---- open ---- */

/* Without the socket the recorder works all the same: another one may have the name, or the system allows none. */
static int listen_for(const char *target) {
  struct sockaddr_un address;
  const socklen_t bytes = address_of(target, &address);
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

  if (fd >= 0 && bind(fd, (const struct sockaddr *)&address, bytes) == 0 && listen(fd, BACKLOG) == 0) return fd;
  fail_tell("%s: spate trigger cannot reach this recorder: %s. SIGUSR1 and --trigger do", target,
            errno == EADDRINUSE ? "another program has taken its address" : strerror(errno));
  if (fd >= 0) (void)close(fd);
  return -1;
}

static int open_fifo(const char *path) {
  struct stat status;
  const int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC); /* also for writing: it never ends */

  if (fd < 0)
    fail(EXIT_FAILED, "--trigger %s: %s. %s", path, strerror(errno),
         errno == EACCES ? "The recorder reads and writes it" : "mkfifo makes a FIFO");
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
  *control = (struct control){.listening = listen_for(target), .trigger = -1};
  if (trigger == NULL) return;
  control->is_socket = udp_socket_is(trigger);
  control->trigger = control->is_socket ? open_socket(trigger) : open_fifo(trigger);
}

/* ---- requests ---- */

static bool is_readable(int fd) {
  struct pollfd event = {.fd = fd, .events = POLLIN};

  return fd >= 0 && poll(&event, 1, 0) == 1 && (event.revents & POLLIN) != 0;
}

static bool take_signal(struct control *control, double now_s, struct control_request *request) {
  (void)now_s;
  (void)request;
  return control_signalled(control);
}

/* An empty datagram is one, too. A FIFO never ends, because it is open for writing here. */
static bool take_trigger(struct control *control, double now_s, struct control_request *request) {
  char bytes[4096];
  bool any = false;

  (void)now_s;
  (void)request;
  for (unsigned reads = 0; reads < READS_MAX && is_readable(control->trigger); reads++)
    any |= read(control->trigger, bytes, sizeof bytes) >= 0;
  return any;
}

/* Any user can reach an abstract socket. */
static bool is_trusted(int fd) {
  struct ucred peer;
  socklen_t bytes = sizeof peer;

  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 && (peer.uid == 0 || peer.uid == geteuid());
}

static void forget(struct control *control, unsigned index) {
  control->client_count--;
  memmove(control->clients + index, control->clients + index + 1,
          (control->client_count - index) * sizeof control->clients[0]);
}

/* For one more client the oldest that is silent has to go. False: all have said something that is not read yet. */
static bool make_room(struct control *control) {
  if (control->client_count < CONTROL_CLIENTS_MAX) return true;
  for (unsigned i = 0; i < control->client_count; i++) {
    if (is_readable(control->clients[i].fd)) continue;
    (void)close(control->clients[i].fd);
    forget(control, i);
    return true;
  }
  return false;
}

static void accept_clients(struct control *control, double now_s) {
  for (unsigned tries = 0; tries < BACKLOG && is_readable(control->listening) && make_room(control); tries++) {
    const int fd = accept4(control->listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0 && is_trusted(fd))
      control->clients[control->client_count++] = (struct control_client){.fd = fd, .since_s = now_s};
    else if (fd >= 0)
      (void)close(fd);
  }
}

static bool parse(const char *text, size_t bytes, struct control_request *request) {
  static const char kinds[] = CONTROL_KINDS;
  const char *kind = bytes > 0 && text[0] != '\0' ? strchr(kinds, text[0]) : NULL;

  if (kind == NULL || bytes > SPATE_RECORDER_PATH_BYTES_MAX) return false;
  request->kind = (enum control_kind)(kind - kinds);
  memcpy(request->path, text + 1, bytes - 1u);
  request->path[bytes - 1u] = '\0';
  return true;
}

static bool take_client(struct control *control, double now_s, struct control_request *request) {
  char text[SPATE_RECORDER_PATH_BYTES_MAX + 1u];

  accept_clients(control, now_s);
  for (unsigned i = 0; i < control->client_count;) {
    const struct control_client client = control->clients[i];
    const ssize_t got = recv(client.fd, text, sizeof text, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR) && now_s - client.since_s < REQUEST_S) {
      i++;
      continue;
    }
    forget(control, i);
    if (got > 0 && parse(text, (size_t)got, request)) {
      request->client = client.fd;
      return true;
    }
    (void)close(client.fd);
  }
  return false;
}

bool control_next(struct control *control, double now_s, struct control_request *request) {
  static bool (*const takers[])(struct control *, double, struct control_request *) = {take_signal, take_client,
                                                                                       take_trigger};
  const unsigned count = sizeof takers / sizeof takers[0], first = control->turn;

  *request = (struct control_request){.kind = CONTROL_TRIGGER, .client = -1};
  for (unsigned i = 0; i < count; i++) {
    const unsigned taker = (first + i) % count;
    control->turn = (taker + 1u) % count;
    if (takers[taker](control, now_s, request)) return true;
  }
  return false;
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
  for (unsigned i = 0; i < control->client_count; i++)
    (void)close(control->clients[i].fd);
  control->client_count = 0;
  if (control->listening >= 0) (void)close(control->listening);
  if (control->trigger >= 0) (void)close(control->trigger);
}
