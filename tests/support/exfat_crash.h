/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A drive that loses power. From the log of what a drive was asked (ram_block, keep_log and keep_data), the contents it
 * may be left with at an instant: each block holds what is durable, or any later version that was on its way.
 *
 * Durable is a write with FUA once it has completed, and one that had completed before a flush was submitted, once the
 * flush has completed. Everything else may have happened or not, each block by itself, in any order.
 */
#ifndef SPATE_TESTS_EXFAT_CRASH_H
#define SPATE_TESTS_EXFAT_CRASH_H

#include "ram_block.h"

/* Pretend that the library had worked like this: each must make the tests fail. */
enum crash_mutation {
  CRASH_AS_IS,
  CRASH_NO_FLUSH,    /* flushes were not sent */
  CRASH_NO_FUA,      /* writes were sent without FUA */
  CRASH_EARLY_TRIM,  /* TRIM was sent first of all */
  CRASH_TORN_BLOCKS, /* entry sets lay across two units of what is written at once */
  CRASH_ENTRY_FIRST, /* bitmap writes came at the end */
};

struct crash {
  struct ram_block *ram;
  uint8_t *base; /* the medium before the log */
  struct ram_log_entry *log;
  size_t log_count;
  uint64_t events; /* the last one */
  uint64_t first_event;
  enum crash_mutation mutation;
  uint64_t bitmap_lba; /* for CRASH_ENTRY_FIRST */
  /* private: versions by block */
  uint32_t *counts;
  struct crash_version **versions;
  uint8_t *touched;
};

struct crash_version {
  const uint8_t *data;
  uint32_t request; /* its place in the log */
};

/* From now on the drive's requests are kept. */
void crash_begin(struct crash *crash, struct ram_block *ram);
/* Take the log over, and put the medium back to what it was. */
void crash_end(struct crash *crash);
void crash_free(struct crash *crash);
/* Event `at` is a read's: a cut there is the same as one before. */
bool crash_nothing_new(const struct crash *crash, uint64_t at);

enum crash_choice { CRASH_OLD, CRASH_NEW, CRASH_RANDOM, CRASH_ONE_NEW, CRASH_ONE_OLD };
/* Make the medium what it may be after event `at`; returns how many requests were undecided. `which` counts them, for
 * ONE_NEW and ONE_OLD. */
uint32_t crash_cut(struct crash *crash, uint64_t at, enum crash_choice choice, uint32_t which, uint64_t *random);
/* The medium as at crash_begin(): after a mount that wrote, with its log. */
void crash_restore(struct crash *crash);

#endif
