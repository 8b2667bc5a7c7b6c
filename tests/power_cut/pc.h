/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a PC may do to a volume between a cut and our next mount: rename a file, delete one, write one, or delete one
 * and write another where it was. Done on the raw image, by what the oracle has read, with no code of the library. As
 * Linux, it takes what the bitmap says to be free, leaves a dirty volume dirty, and knows nothing of our record.
 */
#ifndef SPATE_TESTS_PC_H
#define SPATE_TESTS_PC_H

#include "medium.h"
#include "promises.h"

struct pc {
  struct medium *medium; /* of one drive: keeps what is changed */
  uint64_t volume_offset_bytes;
  const struct oracle *oracle; /* of the volume as it is now */
};

#define PC_FILE_BYTES 3000u

/* Change something, by chance. What is to be expected of it is put into `by_pc`; all empty: there was nothing to do. */
void pc_change(struct pc *pc, uint64_t random, struct promise_by_pc *by_pc);
/* Is the file that it wrote there, with its content? */
bool pc_file_whole(const struct oracle *oracle, const struct promise_by_pc *by_pc);

#endif
