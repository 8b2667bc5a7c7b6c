/* SPDX-License-Identifier: Apache-2.0 */
/* A stream that is recorded as a loop (spate/loop.h): parts of --file bytes, of which the last --keep bytes stay. */
#ifndef SPATE_LAB_ROUND_H
#define SPATE_LAB_ROUND_H

#include "machine.h"
#include <spate/loop.h>

struct lab_round {
  struct spate_loop loop;
  struct spate_loop_part *parts;
};

/* Arms the first part of the stream, which is open. */
void lab_round_open(struct lab_round *round, struct lab_machine *machine, struct spate_stream *stream);
void lab_round_free(struct lab_round *round);

/* Writes the number of parts and deletions, and the longest times. */
void lab_round_write(const struct lab_round *round, struct json *json);

#endif
