/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a machine's drives were asked, with the data, and when: submissions and completions of all drives are counted
 * together from 1, so that "A completed before B was submitted" is a comparison, across a stripe too. Reads are not
 * kept: they change nothing.
 *
 * Blocks are numbered over all drives, one drive after the other, as they lie in struct medium. They are the drives'
 * logical blocks, or smaller, in order to see what would come of a drive that writes less than a block at once.
 */
#ifndef SPATE_TESTS_JOURNAL_H
#define SPATE_TESTS_JOURNAL_H

#include "ram_block.h"

#define JOURNAL_DRIVES_MAX 8u

struct journal_entry {
  uint8_t op; /* enum spate_op, without READ */
  uint8_t drive;
  bool fua;    /* durable when it completes; so is everything where there is no volatile cache */
  bool stream; /* into the clusters of an open clip */
  uint32_t blocks;
  uint64_t block;
  uint64_t submitted, completed; /* completed UINT64_MAX: never */
  uint64_t gone;                 /* from this event on it never happened: failed, dropped with the machine, or lost with
                                    the drive's power before it was durable; UINT64_MAX: it stays */
  uint64_t flushed_by;           /* the completion of the flush that made it durable; UINT64_MAX: none did */
  uint8_t *data;                 /* WRITE */
};

struct journal {
  struct journal_entry *entries;
  size_t count, capacity;
  uint64_t now; /* events so far */
  uint32_t block_bytes;
  uint64_t drive_blocks;
  /* Which requests are on their way, for journals fed by observers. */
  struct journal_pending {
    const struct spate_io *io;
    size_t index;
  } pending[JOURNAL_DRIVES_MAX * RAM_DEPTH_MAX];
  size_t pending_count;
};

void journal_init(struct journal *journal, uint32_t block_bytes, uint64_t drive_blocks);
void journal_free(struct journal *journal);

/* From an observer of drive number `drive`. taken() returns the new entry, NULL for a read. */
struct journal_entry *journal_taken(struct journal *journal, unsigned drive, const struct ram_block *ram,
                                    const struct spate_io *io);
void journal_over(struct journal *journal, const struct spate_io *io);
/* What is pending of this drive never happens. */
void journal_dropped(struct journal *journal, unsigned drive);

/* The drive lost power and came back: what had completed and was not durable is gone. */
void journal_power_lost(struct journal *journal, unsigned drive);

/* An entry as another recorder kept it; sorted in by journal_finish(). Takes the data over. */
void journal_add(struct journal *journal, struct journal_entry entry);

/* Work out what made which entry durable. No more entries afterwards. */
void journal_finish(struct journal *journal);

#endif
