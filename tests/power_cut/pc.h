/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes that a PC may make to a volume between a cut and our next mount: rename a file, delete one, write one, or
 * delete one and write another in its place. Done on the raw image, from what the oracle has read, without code of the
 * library. Like Linux, it uses what the bitmap calls free, leaves a dirty volume dirty, and knows nothing of our
 * record.
 */
#ifndef SPATE_TESTS_PC_H
#define SPATE_TESTS_PC_H

#include "medium.h"
#include "promises.h"

struct pc {
  struct medium *medium; /* of one drive; saves what is changed */
  uint64_t volume_offset_bytes;
  const struct oracle *oracle; /* of the volume's present contents */
};

#define PC_FILE_BYTES 3000u

/* Make a random change. `by_pc` describes the expected result; all empty: no change was possible. */
void pc_change(struct pc *pc, uint64_t random, struct promise_by_pc *by_pc);
/* Is the file that the PC wrote there, with its contents? */
bool pc_file_whole(const struct oracle *oracle, const struct promise_by_pc *by_pc);

#endif
