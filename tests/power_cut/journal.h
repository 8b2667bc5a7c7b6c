/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The requests to a machine's drives, with their data and times. Submissions and completions of all drives are numbered
 * together from 1, so that "A completed before B was submitted" is a comparison, across a stripe too. Reads are not
 * recorded, because they change nothing.
 * Blocks are numbered over all drives, one drive after the other, as in struct medium. They are the drives' logical
 * blocks, or smaller, to test drives that do not write a block atomically.
 */
#ifndef SPATE_TESTS_JOURNAL_H
#define SPATE_TESTS_JOURNAL_H

#include "ram_block.h"

#define JOURNAL_DRIVES_MAX 8u

struct journal_entry {
  uint8_t op; /* enum spate_op, without READ */
  uint8_t drive;
  bool fua;    /* durable when it completes, like everything without a volatile cache */
  bool stream; /* into the clusters of an open clip */
  uint32_t blocks;
  uint64_t block;
  uint64_t submitted, completed; /* completed UINT64_MAX: never */
  uint64_t gone; /* from this event on it has no effect: it failed, was dropped with the machine, or was lost with the
                  * drive's power before it was durable; UINT64_MAX: never */
  uint64_t flushed_by; /* the completion of the flush that made it durable; UINT64_MAX: none did */
  uint8_t *data;       /* WRITE */
};

struct journal {
  struct journal_entry *entries;
  size_t count, capacity;
  uint64_t now; /* events so far */
  uint32_t block_bytes;
  uint64_t drive_blocks;
  /* Requests in flight, for journals that observers fill. */
  struct journal_pending {
    const struct spate_io *io;
    size_t index;
  } pending[JOURNAL_DRIVES_MAX * RAM_DEPTH_MAX];
  size_t pending_count;
};

void journal_init(struct journal *journal, uint32_t block_bytes, uint64_t drive_blocks);
void journal_free(struct journal *journal);

/* Called by an observer of drive number `drive`. journal_taken() returns the new entry, or NULL for a read. */
struct journal_entry *journal_taken(struct journal *journal, unsigned drive, const struct ram_block *ram,
                                    const struct spate_io *io);
void journal_over(struct journal *journal, const struct spate_io *io);
/* The pending requests of this drive never take effect. */
void journal_dropped(struct journal *journal, unsigned drive);

/* The drive lost power and came back: everything completed but not durable is lost. */
void journal_power_lost(struct journal *journal, unsigned drive);

/* An entry of another recorder. journal_finish() sorts it in. The journal takes ownership of the data. */
void journal_add(struct journal *journal, struct journal_entry entry);

/* Compute which flush made each entry durable. No entries may be added afterwards. */
void journal_finish(struct journal *journal);

#endif
