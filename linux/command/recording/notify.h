/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells a service manager how a recording is doing: datagrams to the socket that $NOTIFY_SOCKET names, as sd_notify(3)
 * of systemd specifies. Without the variable nothing is sent. An error of the socket is printed once and never ends a
 * recording.
 */
#ifndef SPATE_COMMAND_NOTIFY_H
#define SPATE_COMMAND_NOTIFY_H

#include "../text/progress.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

struct notify {
  int fd; /* -1: nothing is sent */
  struct sockaddr_un address;
  socklen_t address_bytes;
  struct progress status;
  bool ready;               /* READY=1 was delivered */
  bool warned;              /* an error was printed */
  double watchdog_s, ask_s; /* time between two WATCHDOG=1, 0: none are sent; when the next one is due */
};

/* Says that the files are made and the sources run: READY=1. `total_bytes` is that of progress_begin(). */
void notify_ready(struct notify *notify, uint64_t total_bytes);
/* For each turn of the loop. Sends WATCHDOG=1 in time, so that the manager restarts a loop that hangs, and once a
 * second STATUS= with the progress. */
void notify_turn(struct notify *notify, uint64_t bytes, const struct progress_recording *recording);
/* Says that the files are being closed: STOPPING=1. The manager's watchdog ends with it. */
void notify_stopping(struct notify *notify);

#endif
