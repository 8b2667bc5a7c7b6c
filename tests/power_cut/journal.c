/* SPDX-License-Identifier: Apache-2.0 */
#include "journal.h"

#include <stdlib.h>
#include <string.h>

void journal_init(struct journal *journal, uint32_t block_bytes, uint64_t drive_blocks) {
  *journal = (struct journal){.block_bytes = block_bytes, .drive_blocks = drive_blocks};
}

void journal_free(struct journal *journal) {
  for (size_t i = 0; i < journal->count; i++)
    free(journal->entries[i].data);
  free(journal->entries);
  *journal = (struct journal){0};
}

void journal_add(struct journal *journal, struct journal_entry entry) {
  if (journal->count == journal->capacity) {
    journal->capacity = journal->capacity ? journal->capacity * 2 : 256;
    struct journal_entry *larger = realloc(journal->entries, journal->capacity * sizeof *larger);
    if (larger == NULL) abort();
    journal->entries = larger;
  }
  entry.gone = entry.flushed_by = UINT64_MAX;
  journal->entries[journal->count++] = entry;
}

struct journal_entry *journal_taken(struct journal *journal, unsigned drive, const struct ram_block *ram,
                                    const struct spate_io *io) {
  if (io->op == SPATE_READ) return NULL;
  uint32_t scale = (UINT32_C(1) << ram->block.block_shift) / journal->block_bytes;
  struct journal_entry entry = {.op = io->op,
                                .drive = (uint8_t)drive,
                                .fua = (io->flags & SPATE_IO_FUA) != 0 || !ram->block.volatile_cache,
                                .blocks = io->blocks * scale,
                                .block = drive * journal->drive_blocks + io->lba * scale,
                                .submitted = ++journal->now,
                                .completed = UINT64_MAX};
  if (io->op == SPATE_WRITE) {
    entry.data = malloc((size_t)entry.blocks * journal->block_bytes);
    if (entry.data == NULL) abort();
    ram_block_data(ram, io, entry.data);
  }
  journal_add(journal, entry);
  journal->pending[journal->pending_count++] = (struct journal_pending){io, journal->count - 1};
  return &journal->entries[journal->count - 1];
}

void journal_over(struct journal *journal, const struct spate_io *io) {
  for (size_t i = 0; i < journal->pending_count; i++) {
    if (journal->pending[i].io != io) continue;
    struct journal_entry *entry = &journal->entries[journal->pending[i].index];
    entry->completed = ++journal->now;
    if (io->error != SPATE_OK) entry->gone = entry->completed;
    journal->pending[i] = journal->pending[--journal->pending_count];
    return;
  }
}

void journal_dropped(struct journal *journal, unsigned drive) {
  size_t kept = 0;
  journal->now++;
  for (size_t i = 0; i < journal->pending_count; i++) {
    struct journal_entry *entry = &journal->entries[journal->pending[i].index];
    if (entry->drive != drive) {
      journal->pending[kept++] = journal->pending[i];
      continue;
    }
    entry->completed = entry->gone = journal->now;
  }
  journal->pending_count = kept;
}

void journal_power_lost(struct journal *journal, unsigned drive) {
  uint64_t flushed = 0; /* when the last completed flush was submitted */
  journal->now++;
  for (size_t i = 0; i < journal->count; i++) {
    const struct journal_entry *entry = &journal->entries[i];
    bool done = entry->completed != UINT64_MAX && entry->gone == UINT64_MAX;
    if (entry->drive == drive && entry->op == SPATE_FLUSH && done) flushed = entry->submitted;
  }
  for (size_t i = 0; i < journal->count; i++) {
    struct journal_entry *entry = &journal->entries[i];
    if (entry->drive != drive || entry->op == SPATE_FLUSH || entry->fua || entry->gone != UINT64_MAX) continue;
    if (entry->completed != UINT64_MAX && entry->completed > flushed) entry->gone = journal->now;
  }
}

static int by_submission(const void *a, const void *b) {
  const struct journal_entry *one = a;
  const struct journal_entry *two = b;
  return (one->submitted > two->submitted) - (one->submitted < two->submitted);
}

void journal_finish(struct journal *journal) {
  if (journal->count > 0) qsort(journal->entries, journal->count, sizeof *journal->entries, by_submission);
  for (size_t f = 0; f < journal->count; f++) {
    const struct journal_entry *flush = &journal->entries[f];
    if (flush->op != SPATE_FLUSH || flush->completed == UINT64_MAX || flush->gone != UINT64_MAX) continue;
    for (size_t i = 0; i < f; i++) {
      struct journal_entry *entry = &journal->entries[i];
      bool covered = entry->drive == flush->drive && entry->completed < flush->submitted;
      if (covered && flush->completed < entry->flushed_by) entry->flushed_by = flush->completed;
    }
  }
}
