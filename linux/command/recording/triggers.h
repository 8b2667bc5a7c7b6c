/* SPDX-License-Identifier: Apache-2.0 */
/* What a running loop is asked for: triggers, of which each keeps a span of every stream, and protection of files. */
#ifndef SPATE_COMMAND_TRIGGERS_H
#define SPATE_COMMAND_TRIGGERS_H

#include <spate/error.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct session;

struct trigger {
  double at_s; /* when it came, of the recording; and on the clock, for the names */
  time_t time;
  uint32_t streams;     /* a bit each: those whose span is not kept yet */
  enum spate_error why; /* they have to wait */
};

/* Once a turn. */
void triggers_work(struct session *session);
/* Once a turn of a recording that does not go round: says that there are no triggers, when a signal asks for one. */
void triggers_refuse(struct session *session);
/* Before the recorder is finished: takes what has come since the last turn, and tells which triggers keep nothing. */
void triggers_end(struct session *session);

#endif
