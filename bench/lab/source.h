/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source that fills the ring: logic that makes one piece after the other, either whenever there is room, or at a
 * fixed rate. At a fixed rate, a piece that finds no room is lost. A source that listens changes to its slow rate some
 * time after a warning, and returns to its full rate after a while without warnings.
 */
#ifndef SPATE_LAB_SOURCE_H
#define SPATE_LAB_SOURCE_H

#include "machine.h"
#include <spate/loop.h>

struct lab_source {
  struct lab_machine *machine;
  struct spate_stream *stream;
  struct spate_loop *loop; /* that pushes go through; NULL: none */
  uint64_t piece_bytes, ring_pieces;
  uint64_t pieces_left;     /* still to make */
  uint64_t pushed, dropped; /* pieces */
  /* at a fixed rate */
  double rate, full_rate, slow_rate; /* bytes per second; rate 0: none */
  uint64_t next_ps;                  /* when the next piece is full */
  uint64_t react_ps, change_ps;      /* delay of a change of rate; time of the next one, UINT64_MAX: none */
  double change_to;
  uint64_t calm_since_ps;
  unsigned slowed; /* how often it slowed down */
};

/* The stream is armed: the source starts to make `bytes`. `loop`: of the stream, or NULL. */
void lab_source_init(struct lab_source *source, struct lab_machine *machine, struct spate_stream *stream,
                     struct spate_loop *loop, uint64_t bytes);

/* Pushes what was made until now. Also called while metadata waits. */
void lab_source_push(struct lab_source *source);

/* Everything was pushed or dropped. */
bool lab_source_ended(const struct lab_source *source);

/* Tells the source the recorder's warning level. */
void lab_source_listen(struct lab_source *source, enum spate_level level);

#endif
