/* SPDX-License-Identifier: Apache-2.0 */
/*
 * With options.journal: all changes to the media, and which of them a power cut may lose.
 *
 * `store` is what the host reads. `cache.durable` is what is durable for certain. Later changes are in a list, in the
 * order in which their data arrived. A change is durable if it completed with FUA, or without a volatile cache, or if a
 * flush completed that was submitted after the change had completed. Durable changes at the head of the list move to
 * `cache.durable`. Those behind a change that is not durable wait, so that the order is kept.
 *
 * At a power cut, each unit of a change that is not durable survives or is lost. A block then holds what the last
 * surviving change wrote to it, or its durable contents: any of its versions. Each cut draws a new probability of
 * survival, so that cuts that lose nearly everything are as common as those that lose a single block.
 */
#include "drive_internal.h"
#include <stdlib.h>
#include <string.h>

#define SHARES 8u /* the probability of survival is in eighths */

/* Data shared by a change and the journal. */
struct blob {
  uint32_t references;
  uint8_t bytes[];
};

static void *take(size_t bytes) {
  void *memory = calloc(1, bytes);
  if (memory == NULL) abort();
  return memory;
}

static struct blob *blob_new(size_t bytes) {
  struct blob *blob = take(sizeof *blob + bytes);
  blob->references = 1;
  return blob;
}

static void blob_drop(struct blob *blob) {
  if (blob != NULL && --blob->references == 0) free(blob);
}

static struct blob *blob_of(uint8_t *bytes) {
  return bytes == NULL ? NULL : (struct blob *)(void *)(bytes - offsetof(struct blob, bytes));
}

static void change_free(struct drive_change *change) {
  blob_drop(change->data);
  free(change);
}

/* ---- the journal ---- */

const struct sim_journal_entry *sim_drive_journal(const struct sim_drive *drive, size_t *count) {
  *count = drive->cache.journal_count;
  return drive->cache.journal;
}

void sim_drive_clear_journal(struct sim_drive *drive) {
  struct drive_cache *cache = &drive->cache;

  for (size_t i = 0; i < cache->journal_count; i++)
    blob_drop(blob_of(cache->journal[i].data));
  cache->journal_first += cache->journal_count;
  cache->journal_count = 0;
}

/* The change's journal entry. NULL: the journal was cleared since. */
static struct sim_journal_entry *entry_of(struct sim_drive *drive, const struct drive_change *change) {
  if (change->journal < drive->cache.journal_first) return NULL;
  return &drive->cache.journal[change->journal - drive->cache.journal_first];
}

static void journal_add(struct sim_drive *drive, const struct drive_command *command, struct drive_change *change) {
  struct drive_cache *cache = &drive->cache;

  if (cache->journal_count == cache->journal_room) {
    cache->journal_room = cache->journal_room == 0 ? 64 : 2 * cache->journal_room;
    struct sim_journal_entry *larger = realloc(cache->journal, cache->journal_room * sizeof *larger);
    if (larger == NULL) abort();
    cache->journal = larger;
  }
  change->journal = cache->journal_first + cache->journal_count;
  cache->journal[cache->journal_count++] =
      (struct sim_journal_entry){.op = change->op,
                                 .fua = change->fua,
                                 .blocks = change->blocks,
                                 .lba = change->lba,
                                 .submitted = command->submitted,
                                 .fetched = command->fetched,
                                 .completed = UINT64_MAX,
                                 .data = change->data == NULL ? NULL : change->data->bytes};
  if (change->data != NULL) change->data->references++;
}

/* ---- making changes durable ---- */

/* Applies a change to a store, from byte `from` of the change on: its data, or a discard if it has none. */
static void apply(struct sim_store *store, const struct drive_change *change, uint8_t shift, uint64_t from,
                  uint64_t bytes) {
  const uint64_t base = change->lba << shift;

  if (change->op == SIM_JOURNAL_FLUSH) return;
  if (change->data == NULL) {
    (void)sim_store_discard(store, base + from, bytes);
    return;
  }
  for (const uint64_t end = from + bytes; from < end;) {
    uint64_t here = SIM_PAGE - (base + from) % SIM_PAGE;
    if (here > end - from) here = end - from;
    (void)sim_store_write(store, base + from, change->data->bytes + from, here);
    from += here;
  }
}

static void unlink_first(struct drive_cache *cache) {
  struct drive_change *change = cache->first;

  cache->first = change->next;
  if (cache->first == NULL) cache->end = &cache->first;
  change_free(change);
}

/* Moves durable changes to the media, up to the first one that is not durable. */
static void settle(struct sim_drive *drive) {
  struct drive_cache *cache = &drive->cache;

  while (cache->first != NULL && cache->first->durable) {
    apply(cache->durable, cache->first, cache->first->shift, 0, (uint64_t)cache->first->arrived << cache->first->shift);
    unlink_first(cache);
  }
}

static void link_change(struct drive_cache *cache, struct drive_change *change) {
  change->next = NULL;
  *cache->end = change;
  cache->end = &change->next;
}

/* ---- the changes of a command ---- */

bool drive_cache_on(const struct sim_drive *drive) {
  return drive->profile.volatile_cache && (drive->features.values[6] & 1u) != 0;
}

void drive_cache_init(struct sim_drive *drive) {
  drive->cache.end = &drive->cache.first;
  if (drive->options.journal) drive->cache.durable = sim_store_new(drive->options.bytes);
}

void drive_cache_free(struct sim_drive *drive) {
  drive_changes_orphaned(drive);
  while (drive->cache.first != NULL)
    unlink_first(&drive->cache);
  sim_drive_clear_journal(drive);
  free(drive->cache.journal);
  if (drive->cache.durable != NULL) sim_store_free(drive->cache.durable);
}

void drive_change_begin(struct sim_drive *drive, struct drive_command *command, enum sim_journal_op op, uint64_t lba,
                        uint32_t blocks) {
  if (!drive->options.journal) return;
  struct drive_change *change = take(sizeof *change);
  *change = (struct drive_change){.op = op,
                                  .lba = lba,
                                  .blocks = blocks,
                                  .shift = drive->block_shift,
                                  .fua = op == SIM_JOURNAL_WRITE && (command->dwords[12] & DRIVE_FUA) != 0,
                                  .sibling = command->change};
  if (op == SIM_JOURNAL_WRITE) change->data = blob_new((size_t)blocks << drive->block_shift);
  journal_add(drive, command, change);
  command->change = change;
  if (op == SIM_JOURNAL_FLUSH) link_change(&drive->cache, change);
}

/* More data of the command's newest change has arrived. Once it is complete, the change joins the list. */
void drive_change_arrived(struct sim_drive *drive, struct drive_command *command, const uint8_t *data, uint64_t bytes) {
  struct drive_change *change = command->change;

  if (change == NULL) return;
  if (data != NULL) memcpy(change->data->bytes + change->arrived_bytes, data, bytes);
  change->arrived_bytes += bytes;
  change->arrived = (uint32_t)(change->arrived_bytes >> change->shift);
  if (change->op == SIM_JOURNAL_TRIM && drive->options.deallocated != 0) { /* what the blocks read as from now on */
    change->data = blob_new(bytes);
    sim_store_read(drive->store, change->lba << change->shift, change->data->bytes, bytes);
  }
  struct sim_journal_entry *entry = entry_of(drive, change);
  if (entry != NULL) entry->arrived = change->arrived;
  if (change->arrived == change->blocks) link_change(&drive->cache, change);
}

static void conclude(struct sim_drive *drive, struct drive_command *command, bool completed) {
  const bool durable = !drive_cache_on(drive);
  struct drive_change *next;

  for (struct drive_change *change = command->change; change != NULL; change = next) {
    next = change->sibling;
    const bool is_linked = change->arrived == change->blocks;
    struct sim_journal_entry *entry = entry_of(drive, change);
    change->done = true;
    change->completed = sim_next_sequence(drive->sim);
    if (completed && entry != NULL) {
      entry->completed = change->completed;
      entry->completed_ps = sim_now_ps(drive->sim);
    }
    change->durable = change->op == SIM_JOURNAL_FLUSH || (completed && (durable || change->fua));
    if (completed && change->op == SIM_JOURNAL_FLUSH) drive_flushed(drive, command->submitted);
    if (!is_linked && change->arrived > 0)
      link_change(&drive->cache, change);
    else if (!is_linked)
      change_free(change);
  }
  command->change = NULL;
  settle(drive);
}

void drive_change_completed(struct sim_drive *drive, struct drive_command *command) {
  if (command->change != NULL) conclude(drive, command, command->status == 0);
}

void drive_change_lost(struct sim_drive *drive, struct drive_command *command) {
  if (command->change != NULL) conclude(drive, command, false);
}

void drive_flushed(struct sim_drive *drive, uint64_t submitted) {
  for (struct drive_change *change = drive->cache.first; change != NULL; change = change->next)
    if (change->done && change->completed < submitted) change->durable = true;
}

void drive_changes_orphaned(struct sim_drive *drive) {
  if (!drive->options.journal) return;
  for (unsigned i = 0; i < DRIVE_COMMANDS_MAX; i++)
    if (drive->commands[i].generation != 0) drive_change_lost(drive, &drive->commands[i]);
}

void drive_changes_formatted(struct sim_drive *drive) {
  if (!drive->options.journal) return;
  while (drive->cache.first != NULL)
    unlink_first(&drive->cache);
  (void)sim_store_discard(drive->cache.durable, 0, drive->options.bytes);
}

/* ---- the cut ---- */

static bool is_blank(const uint8_t *bytes, uint64_t count) {
  return bytes[0] == 0 && memcmp(bytes, bytes + 1, count - 1) == 0;
}

/* The host reads the durable contents again. */
static void fall_back(struct sim_drive *drive, uint64_t at, uint64_t bytes) {
  uint8_t page[SIM_PAGE];

  (void)sim_store_discard(drive->store, at, bytes);
  while (bytes > 0) {
    uint64_t here = SIM_PAGE - at % SIM_PAGE;
    if (here > bytes) here = bytes;
    sim_store_read(drive->cache.durable, at, page, here);
    if (!is_blank(page, here)) (void)sim_store_write(drive->store, at, page, here);
    at += here;
    bytes -= here;
  }
}

/* AWUPF: commands no larger than it survive or are lost as a whole. Larger ones may tear at any block. */
static void survive(struct sim_drive *drive, const struct drive_change *change, uint64_t share) {
  const uint64_t bytes = (uint64_t)change->arrived << change->shift;
  const uint64_t atomic = drive->profile.atomic_bytes;
  const bool is_atomic = (uint64_t)change->blocks << change->shift <= atomic;
  const uint64_t unit = is_atomic ? bytes : UINT64_C(1) << change->shift;

  if (is_atomic && change->arrived < change->blocks) return;
  for (uint64_t from = 0; from < bytes; from += unit) {
    const uint64_t here = bytes - from < unit ? bytes - from : unit;
    if (!change->durable && sim_random(drive->sim) % SHARES >= share) continue;
    apply(drive->store, change, change->shift, from, here);
    apply(drive->cache.durable, change, change->shift, from, here);
  }
}

void drive_changes_cut(struct sim_drive *drive) {
  static const uint8_t shares[] = {0, 1, SHARES / 2, SHARES - 1, SHARES};
  struct drive_cache *cache = &drive->cache;

  if (!drive->options.journal) return;
  const uint64_t share = shares[sim_random(drive->sim) % sizeof shares];
  settle(drive);
  for (const struct drive_change *change = cache->first; change != NULL; change = change->next)
    fall_back(drive, change->lba << change->shift, (uint64_t)change->arrived << change->shift);
  while (cache->first != NULL) {
    survive(drive, cache->first, share);
    unlink_first(cache);
  }
}
