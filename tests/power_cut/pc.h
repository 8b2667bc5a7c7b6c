/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes that a PC may make to a volume between a cut and our next mount. It renames a file, deletes one, writes one,
 * or deletes one and writes another in its place. It deletes a directory with all that is in it, moves one, or gives
 * one another first cluster, and writes a large file over what is free by that: bytes of FFh, random ones, or none
 * (only its length is stated). It frees clusters without an owner, as a checker does, and writes over them. It
 * formats the volume. It leaves the volume marked as it was, or marks it clean.
 *
 * Done on the raw image, from what the oracle has read, without code of the library. Like Linux, it uses what the
 * bitmap calls free, and knows nothing of our record.
 */
#ifndef SPATE_TESTS_PC_H
#define SPATE_TESTS_PC_H

#include "medium.h"
#include "promises.h"

struct pc {
  struct medium *medium; /* of one drive; saves what is changed */
  uint64_t volume_offset_bytes;
  const struct oracle *oracle; /* of the volume's present contents, with its owners */
  bool sound;                  /* nothing is damaged. Else: stray entries, or chains that are too long */
};

/* Make a random change. `by_pc` describes the expected result; all empty: no change was possible, or one that no path
 * shows. */
void pc_change(struct pc *pc, uint64_t random, struct promise_by_pc *by_pc);

#endif
