/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What fills the ring: logic that makes one piece after the other, either whenever there is room, or at a rate of its
 * own, and then whatever finds no room is lost. A source that listens falls to its slow rate some time after it is told
 * to, and returns to its full one when all has been calm for a while.
 */
#ifndef SPATE_LAB_SOURCE_H
#define SPATE_LAB_SOURCE_H

#include "machine.h"
#include <spate/recorder.h>

struct lab_source {
  struct lab_machine *machine;
  struct spate_stream *stream;
  uint64_t piece_bytes, ring_pieces;
  uint64_t pieces_left;     /* to be made */
  uint64_t pushed, dropped; /* pieces */
  /* with a rate of its own */
  double rate, full_rate, slow_rate; /* bytes per second; rate 0: none */
  uint64_t next_ps;                  /* the next piece is full then */
  uint64_t react_ps, change_ps;      /* how long it takes to change, when it will; UINT64_MAX: it will not */
  double change_to;
  uint64_t calm_since_ps;
  unsigned slowed; /* times that it slowed down */
};

/* It begins to make `bytes` now: the stream is armed. */
void lab_source_init(struct lab_source *source, struct lab_machine *machine, struct spate_stream *stream,
                     uint64_t bytes);

/* Push what was made until now. Also while metadata waits. */
void lab_source_push(struct lab_source *source);

/* All that it had to make was pushed or dropped. */
bool lab_source_ended(const struct lab_source *source);

/* It is told how things are. */
void lab_source_listen(struct lab_source *source, enum spate_level level);

#endif
