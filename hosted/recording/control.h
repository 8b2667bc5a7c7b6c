/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a running recorder is told something: through a local socket by `spate trigger` and `spate protect`, by SIGUSR1,
 * and, where the user asked for it, by a line in a FIFO or a datagram.
 *
 * The socket is an abstract one, so it leaves nothing behind. Its name is made of the target. Both sides accept only
 * root and their own user.
 */
#ifndef SPATE_HOSTED_CONTROL_H
#define SPATE_HOSTED_CONTROL_H

#include <spate/recorder.h>
#include <stdbool.h>
#include <stddef.h>

#define CONTROL_TEXT_BYTES 2048u

enum control_kind { CONTROL_TRIGGER, CONTROL_PROTECT, CONTROL_UNPROTECT };

struct control_request {
  enum control_kind kind;
  char path[SPATE_RECORDER_PATH_BYTES_MAX]; /* to protect */
  int client;                               /* −1: nobody waits for a reply */
};

struct control {
  int listening; /* −1: none */
  int trigger;   /* a FIFO or a socket; −1: none */
  bool is_socket;
  unsigned signals_seen;
};

/* Listens for this target. `trigger` is a path of a FIFO or "udp:[ADDRESS:]PORT" (loopback unless an address is given);
 * NULL: neither. Ends the program if that cannot be opened. */
void control_open(struct control *control, const char *target, const char *trigger);
/* The next request, without waiting. False: there is none. */
bool control_next(struct control *control, struct control_request *request);
/* To be called once for each request. */
void control_reply(const struct control_request *request, bool done, const char *text);
void control_close(struct control *control);

/* For the other program: asks the recorder of this target, and waits for its reply. False: nobody records to it. */
bool control_ask(const char *target, enum control_kind kind, const char *path, bool *done, char *text);

#endif
