/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a power cut left, put right at mount.
 *
 * A slot of the record says: these clusters were allocated (or are being freed) without an entry that owns them. So:
 * those of them that no entry in the whole tree owns are freed, and nothing else is touched. That holds whatever
 * happened to the volume on a PC in between. If the tree cannot be read completely, an owner may be in the part that
 * was not seen: nothing is freed, and the record stays. That does not keep anybody from recording: what is named in the
 * record is allocated, so it is given to no one else, and to stay so is all the harm there is.
 *
 * Who owns what is marked in the window's memory, for as many clusters at a time as it has bits.
 */
#include "internal.h"

#define DEPTH_MAX        64u /* directories below each other; the walk keeps its own stack */
#define TYPE_VOLUME_GUID 0xa0u
#define PRIMARY_FLAGS    4u

struct level {
  struct spate_exfat_chain directory;
  uint32_t offset_bytes;
};

struct owners {
  struct spate_exfat *volume;
  uint32_t first, clusters; /* the bits in the window, counted from the heap's start */
  uint32_t budget;          /* clusters that may still be owned: no more than the volume has */
  uint32_t depth;
  struct level levels[DEPTH_MAX];
};

static uint8_t *owner_byte(const struct owners *owners, uint32_t at) {
  return (uint8_t *)owners->volume->config.bitmap + (at - owners->first) / 8u;
}

static void mark_run(const struct owners *owners, uint32_t at, uint32_t clusters) {
  uint32_t end = at + clusters;
  uint32_t window_end = owners->first + owners->clusters;

  if (at < owners->first) at = owners->first;
  if (end > window_end) end = window_end;
  for (; at < end; at++)
    *owner_byte(owners, at) |= (uint8_t)(1u << (at & 7u));
}

/* An entry owns these clusters. */
static enum spate_error mark_chain(struct owners *owners, const struct spate_exfat_chain *owned) {
  struct spate_exfat *volume = owners->volume;
  struct spate_exfat_chain chain = *owned;
  uint32_t run;

  if (chain.first_cluster == 0 && chain.bytes == 0) return SPATE_OK;
  if (exfat_chain_check(volume, &chain) != SPATE_OK) return exfat_corrupt(volume);
  if (chain.bytes == 0) chain.bytes = 1; /* not what the specification wants, but a claim all the same */
  uint32_t count = (uint32_t)exfat_clusters(volume, chain.bytes);
  if (count > owners->budget) return exfat_corrupt(volume); /* something has two owners */
  owners->budget -= count;
  for (uint32_t index = 0; index < count; index += run) {
    uint32_t first;
    enum spate_error error = exfat_chain_run(volume, &chain, index, &first, &run);
    if (error != SPATE_OK) return error;
    mark_run(owners, first - EXFAT_FIRST_CLUSTER, run);
  }
  return SPATE_OK;
}

static enum spate_error push(struct owners *owners, const struct spate_exfat_chain *directory) {
  if (owners->depth == DEPTH_MAX) return exfat_corrupt(owners->volume);
  owners->levels[owners->depth++] = (struct level){.directory = *directory};
  return SPATE_OK;
}

static enum spate_error mark_set(struct owners *owners, struct level *level) {
  struct spate_exfat *volume = owners->volume;
  struct spate_exfat_chain chain;
  struct exfat_set set;
  enum spate_error error = exfat_set_read(volume, &level->directory, level->offset_bytes, &set);

  if (error == SPATE_E_CORRUPT) return exfat_corrupt(volume);
  if (error == SPATE_OK) error = exfat_set_chain(volume, set.raw, &chain);
  if (error == SPATE_OK) error = mark_chain(owners, &chain);
  /* Vendor allocations, which can follow the name. */
  for (uint32_t i = 2; error == SPATE_OK && i < set.place.entries; i++) {
    const uint8_t *entry = set.raw + i * EXFAT_ENTRY_BYTES;
    if (entry[0] == EXFAT_TYPE_NAME || (entry[ENTRY_FLAGS] & EXFAT_ALLOCATION_POSSIBLE) == 0) continue;
    struct spate_exfat_chain vendor;
    exfat_entry_chain(entry, entry[ENTRY_FLAGS], &vendor);
    error = mark_chain(owners, &vendor);
  }
  if (error != SPATE_OK) return error;
  level->offset_bytes += set.place.entries * EXFAT_ENTRY_BYTES;
  bool directory = (spate_field_get16(set.raw + FILE_ATTRIBUTES) & EXFAT_DIRECTORY) != 0;
  return directory && chain.bytes > 0 ? push(owners, &chain) : SPATE_OK;
}

/* By the generic templates (specification, 6.3 and 6.4), which bind all types that may be ignored. */
static enum spate_error mark_unknown(struct owners *owners, const uint8_t *entry) {
  uint8_t flags = entry[(entry[0] & EXFAT_TYPE_SECONDARY) != 0 ? ENTRY_FLAGS : PRIMARY_FLAGS];
  struct spate_exfat_chain chain;

  if ((entry[0] & EXFAT_TYPE_BENIGN) == 0) return exfat_corrupt(owners->volume); /* it may own clusters in other ways */
  if ((flags & EXFAT_ALLOCATION_POSSIBLE) == 0) return SPATE_OK;
  exfat_entry_chain(entry, flags, &chain);
  return mark_chain(owners, &chain);
}

/* One entry, or one set, of the innermost directory. */
static enum spate_error mark_next(struct owners *owners) {
  struct level *level = &owners->levels[owners->depth - 1u];
  struct spate_exfat_chain system;
  _Alignas(8) uint8_t raw[EXFAT_ENTRY_BYTES] = {EXFAT_TYPE_END};
  enum spate_error error = SPATE_OK;

  if (level->offset_bytes < level->directory.bytes)
    error = exfat_entry_read(owners->volume, &level->directory, level->offset_bytes, raw);
  if (error != SPATE_OK) return error;
  if (raw[0] == EXFAT_TYPE_FILE) return mark_set(owners, level);
  level->offset_bytes += EXFAT_ENTRY_BYTES;
  if (raw[0] == EXFAT_TYPE_END) owners->depth--;
  if ((raw[0] & EXFAT_TYPE_IN_USE) == 0) return SPATE_OK;
  switch (raw[0]) {
  case EXFAT_TYPE_BITMAP:
  case EXFAT_TYPE_UPCASE: exfat_entry_chain(raw, 0, &system); return mark_chain(owners, &system);
  case EXFAT_TYPE_LABEL:
  case TYPE_VOLUME_GUID: return SPATE_OK;
  default: return mark_unknown(owners, raw);
  }
}

static enum spate_error mark_owners(struct owners *owners, uint32_t first) {
  struct spate_exfat *volume = owners->volume;
  uint64_t room = (uint64_t)volume->config.bitmap_bytes * 8u;

  volume->window_bytes = 0;
  memset(volume->config.bitmap, 0, volume->config.bitmap_bytes);
  owners->first = first;
  owners->clusters = volume->cluster_count - first;
  if (owners->clusters > room) owners->clusters = (uint32_t)room;
  owners->budget = volume->cluster_count;
  owners->depth = 0;
  enum spate_error error = mark_chain(owners, &volume->root);
  if (error == SPATE_OK) error = push(owners, &volume->root);
  while (error == SPATE_OK && owners->depth > 0)
    error = mark_next(owners);
  return error;
}

static bool ownerless(const struct owners *owners, uint32_t at) { return !exfat_bit(*owner_byte(owners, at), at); }

/* Clear the bits of ownerless clusters within the window, in the bitmap's blocks. */
static enum spate_error free_run(struct owners *owners, uint32_t at, uint32_t clusters, uint64_t *freed) {
  struct spate_exfat *volume = owners->volume;
  uint32_t end = at + clusters;
  uint32_t window_end = owners->first + owners->clusters;

  if (at < owners->first) at = owners->first;
  if (end > window_end) end = window_end;
  while (at < end) {
    struct spate_exfat_block *block;
    uint8_t *start;
    uint32_t start_byte = at / 8u;
    bool changed = false;
    enum spate_error error = exfat_chain_get(volume, &volume->bitmap, start_byte, true, &block, &start);
    if (error != SPATE_OK) return error;
    uint64_t lba = block->lba;
    do {
      uint8_t *byte = start + (at / 8u - start_byte);
      uint8_t bit = (uint8_t)(1u << (at & 7u));
      if ((*byte & bit) == 0 || !ownerless(owners, at)) continue;
      *byte &= (uint8_t)~bit;
      changed = true;
      ++*freed;
    } while (++at < end && (at & (exfat_block_bytes(volume) * 8u - 1u)) != 0);
    if (changed) error = exfat_block_commit(block);
    exfat_cache_forget(volume, lba, 1); /* the window is where the bitmap is kept */
    if (error != SPATE_OK) return error;
  }
  return SPATE_OK;
}

/* A directory was to grow by this cluster, and did not: end its chain before the cluster is anybody's again. */
static enum spate_error take_back_link(struct owners *owners, const struct exfat_record *record) {
  struct spate_exfat *volume = owners->volume;
  uint32_t cluster = record->clusters.first_cluster;
  uint32_t at = cluster - EXFAT_FIRST_CLUSTER;
  uint32_t next;

  if (record->previous_cluster == 0 || at < owners->first || at - owners->first >= owners->clusters) return SPATE_OK;
  if (!ownerless(owners, at)) return SPATE_OK;
  enum spate_error error = exfat_fat_get(volume, record->previous_cluster, &next);
  if (error != SPATE_OK || next != cluster) return error;
  return exfat_fat_set(volume, record->previous_cluster, EXFAT_CLUSTER_END);
}

/* The next run of a record's clusters, counted from the heap's start; `clusters` 0: there is none. A break in the FAT
 * is the end: a PC has given the deleted file's clusters to others. */
static enum spate_error recorded_run(struct spate_exfat *volume, struct exfat_record *record, uint32_t index,
                                     uint32_t *at, uint32_t *clusters) {
  uint32_t first = EXFAT_FIRST_CLUSTER;
  enum spate_error error = SPATE_OK;

  *clusters = 0;
  if (index < exfat_clusters(volume, record->clusters.bytes))
    error = exfat_chain_run(volume, &record->clusters, index, &first, clusters);
  *at = first - EXFAT_FIRST_CLUSTER;
  if (error != SPATE_E_CORRUPT) return error;
  volume->corrupt = false;
  *clusters = 0;
  return SPATE_OK;
}

static enum spate_error free_record(struct owners *owners, struct exfat_record *record, uint64_t *freed) {
  enum spate_error error = take_back_link(owners, record);
  uint32_t run = 1;

  for (uint32_t index = 0; error == SPATE_OK && run > 0; index += run) {
    uint32_t at;
    error = recorded_run(owners->volume, record, index, &at, &run);
    if (error == SPATE_OK) error = free_run(owners, at, run, freed);
  }
  return error;
}

/* The first recorded cluster from `at` on, counted from the heap's start; UINT32_MAX: none. */
static enum spate_error next_recorded(struct spate_exfat *volume, uint32_t at, uint32_t *next) {
  *next = UINT32_MAX;
  for (uint32_t slot = 0; slot < EXFAT_RECORD_SLOTS; slot++) {
    struct exfat_record record;
    bool valid;
    uint32_t run = 1;
    enum spate_error error = exfat_record_read(volume, slot, &record, &valid);
    for (uint32_t index = 0; error == SPATE_OK && valid && run > 0; index += run) {
      uint32_t first;
      error = recorded_run(volume, &record, index, &first, &run);
      if (first + run <= at) continue;
      if (first < at) first = at;
      if (first < *next) *next = first;
    }
    if (error != SPATE_OK) return error;
  }
  return SPATE_OK;
}

static enum spate_error free_recorded(struct owners *owners, uint64_t *freed) {
  struct spate_exfat *volume = owners->volume;

  for (uint32_t slot = 0; slot < EXFAT_RECORD_SLOTS; slot++) {
    struct exfat_record record;
    bool valid;
    enum spate_error error = exfat_record_read(volume, slot, &record, &valid);
    if (error == SPATE_OK && valid) error = free_record(owners, &record, freed);
    if (error != SPATE_OK) return error;
  }
  return SPATE_OK;
}

/* ---- entry sets that were being moved ---- */

static enum spate_error read_moved(struct spate_exfat *volume, const struct exfat_place *place, uint16_t checksum,
                                   struct exfat_set *set, bool *there) {
  *there = false;
  if (place->entries == 0) return SPATE_OK;
  enum spate_error error = exfat_set_read(volume, &place->directory, place->offset_bytes, set);
  if (error == SPATE_E_CORRUPT) return SPATE_OK;
  *there = error == SPATE_OK && spate_field_get16(set->raw + FILE_CHECKSUM) == checksum;
  return error;
}

/* Entries of a set over several blocks, of which the file entry's block was not written, or was erased first. */
static enum spate_error sweep(struct spate_exfat *volume, const struct exfat_place *place) {
  struct exfat_place stray = {.directory = place->directory, .entries = 1};
  uint32_t end = place->offset_bytes + place->entries * EXFAT_ENTRY_BYTES;
  struct exfat_set set;

  /* From the start, because only so is it known where sets begin. */
  for (uint32_t at = 0; at < end && at < place->directory.bytes; at += EXFAT_ENTRY_BYTES) {
    _Alignas(8) uint8_t raw[EXFAT_ENTRY_BYTES];
    enum spate_error error = exfat_entry_read(volume, &stray.directory, at, raw);
    if (error == SPATE_OK && raw[0] == EXFAT_TYPE_FILE) {
      error = exfat_set_read(volume, &place->directory, at, &set);
      if (error == SPATE_OK) at += (set.place.entries - 1u) * EXFAT_ENTRY_BYTES;
      if (error == SPATE_E_CORRUPT) error = SPATE_OK;
    } else if (error == SPATE_OK && at >= place->offset_bytes && raw[0] >= EXFAT_TYPE_STREAM) {
      stray.offset_bytes = at;
      error = exfat_entries_erase(volume, &stray);
    }
    if (error != SPATE_OK) return error;
  }
  return SPATE_OK;
}

/* A file that is under its new name is no longer under its old one. */
static enum spate_error finish_move(struct spate_exfat *volume) {
  struct exfat_record record;
  struct exfat_set from;
  struct exfat_set to;
  bool valid;
  bool from_there = false;
  bool to_there = false;
  enum spate_error error = exfat_record_read(volume, EXFAT_RECORD_JOURNAL, &record, &valid);

  if (error != SPATE_OK || !valid) return error;
  error = read_moved(volume, &record.from, record.from_checksum, &from, &from_there);
  if (error == SPATE_OK) error = read_moved(volume, &record.to, record.to_checksum, &to, &to_there);
  if (error == SPATE_OK && from_there && to_there) error = exfat_entries_erase(volume, &from.place);
  if (error == SPATE_OK) error = sweep(volume, &record.from);
  return error == SPATE_OK ? sweep(volume, &record.to) : error;
}

/* ---- */

static enum spate_error reclaim(struct spate_exfat *volume, struct spate_exfat_mounted *found) {
  struct owners owners = {.volume = volume};
  enum spate_error error = finish_move(volume);
  uint64_t freed = 0;

  if (error == SPATE_E_CORRUPT) {
    volume->corrupt = false; /* the directory is no longer where it was, so neither is anything to be finished */
    error = SPATE_OK;
  }
  for (uint32_t at = 0; error == SPATE_OK; at = owners.first + owners.clusters) {
    error = next_recorded(volume, at, &at);
    if (error != SPATE_OK || at == UINT32_MAX) break;
    error = mark_owners(&owners, at);
    if (error == SPATE_OK) error = free_recorded(&owners, &freed);
  }
  found->reclaimed_bytes = freed << volume->cluster_shift;
  return error;
}

static enum spate_error clear_all(struct spate_exfat *volume) {
  for (uint32_t slot = 0; slot < EXFAT_RECORD_SLOTS; slot++) {
    if ((volume->record_slots >> slot & 1u) == 0) continue;
    enum spate_error error = exfat_record_end(volume, slot);
    if (error != SPATE_OK) return error;
  }
  return SPATE_OK;
}

enum spate_error exfat_recover(struct spate_exfat *volume, struct spate_exfat_mounted *found) {
  /* Dirty because of us, if it was not so before we began. */
  volume->dirty = found->dirty && !volume->foreign_dirty;
  enum spate_error error = exfat_boot_mend(volume);

  if (error == SPATE_OK && volume->config.salvage != NULL) error = volume->config.salvage(volume, found);
  if (error == SPATE_OK) error = reclaim(volume, found);
  if (error == SPATE_OK) {
    volume->corrupt = false; /* what was met here is settled, or a PC has removed it */
    error = clear_all(volume);
  }
  if (error != SPATE_OK) {
    volume->record_unresolved = volume->record_slots; /* it waits for a mount that can */
    spate_port_log("exfat: recovery failed", (uint64_t)error);
  }
  volume->corrupt = false; /* what is done next need not meet what was met here */
  spate_port_log("exfat: bytes reclaimed", found->reclaimed_bytes);
  return exfat_end_change(volume, SPATE_OK);
}
