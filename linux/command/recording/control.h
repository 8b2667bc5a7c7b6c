/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a running recorder is told something: through a local socket by `spate trigger` and `spate protect` (ask.h), by
 * SIGUSR1, and, where the user asked for it, by a line in a FIFO or a datagram.
 *
 * On the socket the recorder listens to root and to its own user. Who may write to the FIFO, and who sends datagrams,
 * is for the system to limit.
 */
#ifndef SPATE_COMMAND_CONTROL_H
#define SPATE_COMMAND_CONTROL_H

#include "reply.h"

#include <spate/recorder.h>
#include <stdbool.h>
#include <stddef.h>

/* Sent back: "+" (done) or "-", then a reply for each stream, or what is wrong. */
#define CONTROL_TEXT_BYTES  (SPATE_STREAMS_MAX * REPLY_BYTES + 2u)
#define CONTROL_CLIENTS_MAX 8u

enum control_kind { CONTROL_TRIGGER, CONTROL_PROTECT, CONTROL_UNPROTECT };
#define CONTROL_KINDS "tpu" /* a request is one of these letters, and a path to protect */

struct control_request {
  enum control_kind kind;
  char path[SPATE_RECORDER_PATH_BYTES_MAX]; /* to protect */
  int client;                               /* −1: nobody waits for a reply */
};

/* Has connected, and not said anything yet. */
struct control_client {
  int fd;
  double since_s;
};

struct control {
  int listening; /* −1: none */
  int trigger;   /* a FIFO or a socket; −1: none */
  bool is_socket;
  unsigned signals_seen;
  unsigned turn;                                      /* who is looked at first */
  struct control_client clients[CONTROL_CLIENTS_MAX]; /* oldest first */
  unsigned client_count;
};

/* From here on SIGUSR1 does not end the program. One that comes before control_open() is a request, too. */
void control_catch_signals(void);
/* For a recorder that does not open the control: has a signal come since the last call? */
bool control_signalled(struct control *control);

/* Listens for this target. `trigger` is a path of a FIFO or "udp:[ADDRESS:]PORT" (loopback unless an address is given);
 * NULL: neither. Ends the program if that cannot be opened. */
void control_open(struct control *control, const char *target, const char *trigger);
/* The next request, without waiting. False: there is none. Signals, clients, and the FIFO or the datagrams take turns.
 * All signals, lines or datagrams that wait are one trigger. */
bool control_next(struct control *control, double now_s, struct control_request *request);
/* To be called once for each request. */
void control_reply(const struct control_request *request, bool done, const char *text);
void control_close(struct control *control);

#endif
