/* SPDX-License-Identifier: Apache-2.0 */
#include "notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STATUS_S 1.0
/* Of WATCHDOG_USEC. sd_watchdog_enabled(3) asks for less than half; with a quarter one datagram may be lost. */
#define WATCHDOG_PARTS 4

/* A path, or after '@' a name in Linux's abstract namespace, which is not terminated. False: neither, or too long. */
static bool take_address(struct notify *notify, const char *name) {
  const size_t length = strlen(name);
  struct sockaddr_un *address = &notify->address;

  if ((name[0] != '/' && name[0] != '@') || length < 2 || length >= sizeof address->sun_path) return false;
  address->sun_family = AF_UNIX;
  memcpy(address->sun_path, name, length);
  notify->address_bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
  if (name[0] == '@') address->sun_path[0] = '\0';
  return true;
}

/* The manager names the process that it watches. A recorder started by a script of the service is another one. */
static double watchdog_seconds(void) {
  const char *limit = getenv("WATCHDOG_USEC"), *process = getenv("WATCHDOG_PID");

  if (limit == NULL || (process != NULL && strtol(process, NULL, 10) != (long)getpid())) return 0;
  return (double)strtoull(limit, NULL, 10) / 1e6 / WATCHDOG_PARTS;
}

static void warn(struct notify *notify, const char *what, const char *why) {
  if (!notify->warned) (void)fprintf(stderr, "spate: NOTIFY_SOCKET: %s: %s. The recording continues\n", what, why);
  notify->warned = true;
}

/* Never waits: a manager that reads nothing must not stop the loop. The address is looked up each time, because a
 * manager that is started again makes a new socket. */
static bool tell(struct notify *notify, const char *text) {
  const ssize_t sent = sendto(notify->fd, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL,
                              (const struct sockaddr *)&notify->address, notify->address_bytes);

  if (sent < 0) warn(notify, "sendto", strerror(errno));
  return sent >= 0;
}

void notify_ready(struct notify *notify, uint64_t total_bytes) {
  const char *name = getenv("NOTIFY_SOCKET");

  *notify = (struct notify){.fd = -1};
  if (name == NULL || name[0] == '\0') return;
  if (!take_address(notify, name)) {
    warn(notify, name, "neither a path nor an abstract name of at most 107 bytes");
    return;
  }
  notify->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (notify->fd < 0) {
    warn(notify, "socket", strerror(errno));
    return;
  }
  progress_begin(&notify->status, "", total_bytes);
  notify->watchdog_s = watchdog_seconds();
  notify->ready = tell(notify, "READY=1");
}

/* A READY=1 that was not delivered is sent again: without it the manager ends the recording as one that never began. */
void notify_turn(struct notify *notify, uint64_t bytes, const struct progress_recording *recording) {
  char text[PROGRESS_TEXT_BYTES], message[PROGRESS_TEXT_BYTES + sizeof "READY=1\nSTATUS="];

  if (notify->fd < 0) return;
  const double seconds = progress_seconds(&notify->status);
  if (notify->watchdog_s > 0 && seconds >= notify->ask_s) {
    notify->ask_s = seconds + notify->watchdog_s;
    (void)tell(notify, "WATCHDOG=1");
  }
  if (!progress_text(&notify->status, bytes, recording, STATUS_S, text)) return;
  (void)snprintf(message, sizeof message, "%sSTATUS=%s", notify->ready ? "" : "READY=1\n", text);
  if (tell(notify, message)) notify->ready = true;
}

void notify_stopping(struct notify *notify) {
  if (notify->fd < 0) return;
  (void)tell(notify, "STOPPING=1\nSTATUS=closing the files");
  (void)close(notify->fd);
  notify->fd = -1;
}
