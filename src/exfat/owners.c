/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which clusters have an owner: a walk through the whole tree marks them in the section's memory, for as many clusters
 * at a time as it has bits. A cluster that is marked twice has two owners.
 *
 * The walk steps over damage, and notes that it is incomplete. Recovery must see every owner, so it frees nothing then.
 * A deletion continues: no system can read those data, and one damaged entry set must not prevent all deletions. The
 * walk ends with CORRUPT only when clusters have more owners than its budget allows.
 */
#include "internal.h"

#define TYPE_VOLUME_GUID 0xa0u
#define PRIMARY_FLAGS    4u
#define CLEAR_BYTES      4096u /* of the section at a time: its size is a multiple of this */
/* If clusters have more owners than that on average, the walk meets a directory again and again. */
#define OWNERS_MAX 4u

static enum spate_error step_over(struct exfat_owners *owners) {
  (void)spate_exfat_corrupt(owners->volume);
  owners->incomplete = true;
  return SPATE_OK;
}

/* In the word of clusters from `at` on, which may be the last one: its end may not fit into 32 bits. */
static void note_shared(struct exfat_owners *owners, uint32_t at) {
  uint32_t count = owners->volume->cluster_count;
  uint32_t end = count - at > EXFAT_WORD_BITS ? at + EXFAT_WORD_BITS : count;

  if (owners->shared_end == 0 || at < owners->shared_first) owners->shared_first = at;
  if (end > owners->shared_end) owners->shared_end = end;
}

/* `shares`: note clusters that are marked already as shared. */
static void mark_run(struct exfat_owners *owners, uint32_t start, uint32_t clusters, bool shares) {
  uint64_t end = (uint64_t)start + clusters;
  uint64_t section_end = (uint64_t)owners->first + owners->clusters;

  if (start < owners->first) start = owners->first;
  if (end > section_end) end = section_end;
  for (uint64_t at = start & ~(uint64_t)(EXFAT_WORD_BITS - 1u); at < end; at += EXFAT_WORD_BITS) {
    uint8_t *byte = spate_exfat_owner_byte(owners, (uint32_t)at);
    uint64_t word = spate_field_get64(byte);
    uint64_t mask = spate_exfat_word_mask(at, start, end);
    spate_exfat_give_turn(owners->volume, at, &owners->since_ticks);
    if (shares && (word & mask) != 0) note_shared(owners, (uint32_t)at);
    spate_field_put64(byte, word | mask);
  }
}

/* Mark the clusters of an entry. */
static enum spate_error mark_chain(struct exfat_owners *owners, struct spate_exfat_chain *chain) {
  struct spate_exfat *volume = owners->volume;
  uint32_t run;

  if (chain->first_cluster == 0 && chain->bytes == 0) return SPATE_OK;
  if (spate_exfat_chain_check(volume, chain) != SPATE_OK) return step_over(owners);
  if (chain->bytes == 0) /* not as specified, but it claims this cluster */
    mark_run(owners, chain->first_cluster - EXFAT_FIRST_CLUSTER, 1, true);
  uint32_t count = (uint32_t)spate_exfat_clusters(volume, chain->bytes);
  if (count > owners->budget) return spate_exfat_corrupt(volume);
  owners->budget -= count;
  for (uint32_t index = 0; index < count; index += run) {
    uint32_t first;
    enum spate_error error = spate_exfat_chain_run(volume, chain, index, &first, &run);
    if (error == SPATE_E_CORRUPT) return step_over(owners);
    if (error != SPATE_OK) return error;
    mark_run(owners, first - EXFAT_FIRST_CLUSTER, run, true);
  }
  return SPATE_OK;
}

static enum spate_error enter(struct exfat_owners *owners, struct spate_exfat_chain *directory) {
  for (uint32_t i = 0; i < owners->depth; i++)
    if (owners->levels[i].directory.first_cluster == directory->first_cluster) return step_over(owners); /* in itself */
  if (owners->depth == EXFAT_DEPTH_MAX) {
    owners->incomplete = true; /* no damage */
    return SPATE_OK;
  }
  owners->levels[owners->depth++] = (struct exfat_level){.directory = *directory};
  return owners->recorded == NULL ? SPATE_OK : spate_exfat_meet_directory(owners->volume, owners->recorded, directory);
}

/* Vendor allocations, which can follow the name. */
static enum spate_error mark_vendors(struct exfat_owners *owners, const struct exfat_set *set) {
  for (uint32_t i = 2; i < set->place.entries; i++) {
    const uint8_t *entry = set->raw + i * EXFAT_ENTRY_BYTES;
    struct spate_exfat_chain vendor;
    if (entry[0] == EXFAT_TYPE_NAME || (entry[ENTRY_FLAGS] & EXFAT_ALLOCATION_POSSIBLE) == 0) continue;
    spate_exfat_entry_chain(entry, entry[ENTRY_FLAGS], &vendor);
    enum spate_error error = mark_chain(owners, &vendor);
    if (error != SPATE_OK) return error;
  }
  return SPATE_OK;
}

static enum spate_error mark_set(struct exfat_owners *owners, struct exfat_level *level) {
  struct spate_exfat_chain chain;
  struct exfat_set set;
  enum spate_error error = spate_exfat_set_read(owners->volume, &level->directory, level->offset_bytes, &set);

  level->offset_bytes += error == SPATE_OK ? set.place.entries * EXFAT_ENTRY_BYTES : EXFAT_ENTRY_BYTES;
  if (error == SPATE_E_CORRUPT) return step_over(owners);
  if (error != SPATE_OK) return error;
  if (owners->recorded != NULL) spate_exfat_meet_set(owners->recorded, &set.place);
  bool sane = spate_exfat_set_chain(owners->volume, set.raw, &chain) == SPATE_OK;
  if (!sane) error = step_over(owners); /* mark those of its clusters that it can own */
  if (error == SPATE_OK) error = mark_chain(owners, &chain);
  if (error == SPATE_OK) error = mark_vendors(owners, &set);
  bool directory = (spate_field_get16(set.raw + FILE_ATTRIBUTES) & EXFAT_DIRECTORY) != 0;
  return error == SPATE_OK && sane && directory && chain.bytes > 0 ? enter(owners, &chain) : error;
}

/* Is the entry before the level's offset what is left of a set that the journal names? It owns nothing. */
static bool is_remains(const struct exfat_owners *owners, const struct exfat_level *level, const uint8_t *entry) {
  return (entry[0] & EXFAT_TYPE_SECONDARY) != 0 && owners->recorded != NULL &&
         spate_exfat_is_remains(owners->recorded, &level->directory, level->offset_bytes - EXFAT_ENTRY_BYTES);
}

/* By the generic templates (specification, 6.3 and 6.4), which all types that may be ignored follow. */
static enum spate_error mark_unknown(struct exfat_owners *owners, const struct exfat_level *level,
                                     const uint8_t *entry) {
  uint8_t flags = entry[(entry[0] & EXFAT_TYPE_SECONDARY) != 0 ? ENTRY_FLAGS : PRIMARY_FLAGS];
  struct spate_exfat_chain chain;

  if ((entry[0] & EXFAT_TYPE_BENIGN) == 0) /* it may own clusters in other ways */
    return is_remains(owners, level, entry) ? SPATE_OK : step_over(owners);
  if ((flags & EXFAT_ALLOCATION_POSSIBLE) == 0) return SPATE_OK;
  spate_exfat_entry_chain(entry, flags, &chain);
  return mark_chain(owners, &chain);
}

/* Mark one entry, or one set, of the innermost directory. */
static enum spate_error mark_next(struct exfat_owners *owners) {
  struct exfat_level *level = &owners->levels[owners->depth - 1u];
  struct spate_exfat_chain system;
  _Alignas(8) uint8_t raw[EXFAT_ENTRY_BYTES] = {EXFAT_TYPE_END};
  enum spate_error error = SPATE_OK;

  spate_exfat_give_turn(owners->volume, 0, &owners->since_ticks);
  if (level->offset_bytes < level->directory.bytes)
    error = spate_exfat_entry_read(owners->volume, &level->directory, level->offset_bytes, raw);
  if (error == SPATE_E_CORRUPT) {
    owners->depth--; /* the rest of a broken chain cannot be reached */
    return step_over(owners);
  }
  if (error != SPATE_OK) return error;
  if (raw[0] == EXFAT_TYPE_FILE) return mark_set(owners, level);
  level->offset_bytes += EXFAT_ENTRY_BYTES;
  if (raw[0] == EXFAT_TYPE_END) owners->depth--;
  if ((raw[0] & EXFAT_TYPE_IN_USE) == 0) return SPATE_OK;
  switch (raw[0]) {
  case EXFAT_TYPE_BITMAP:
    spate_exfat_entry_chain(raw, 0, &system);
    if (system.bytes > spate_exfat_bitmap_bytes(owners->volume))
      system.bytes = spate_exfat_bitmap_bytes(owners->volume);
    return mark_chain(owners, &system);
  case EXFAT_TYPE_UPCASE: spate_exfat_entry_chain(raw, 0, &system); return mark_chain(owners, &system);
  case EXFAT_TYPE_LABEL:
  case TYPE_VOLUME_GUID: return SPATE_OK;
  default: return mark_unknown(owners, level, raw);
  }
}

enum spate_error spate_exfat_owners_note_free(struct exfat_owners *owners) {
  struct spate_exfat *volume = owners->volume;
  uint64_t end = (uint64_t)owners->first + owners->clusters;

  for (uint64_t at = owners->first; at < end;) { /* after the last word it may not fit into 32 bits */
    struct spate_exfat_block *block;
    uint8_t *bits;
    spate_exfat_give_turn(volume, at, &owners->since_ticks);
    enum spate_error error = spate_exfat_chain_get(volume, &volume->bitmap, at / 8u, false, &block, &bits);
    if (error != SPATE_OK) return error;
    const uint8_t *block_end = block->data + spate_exfat_block_bytes(volume);
    for (; bits < block_end && at < end; bits += EXFAT_WORD_BITS / 8u, at += EXFAT_WORD_BITS)
      if ((spate_field_get64(spate_exfat_owner_byte(owners, (uint32_t)at)) & ~spate_field_get64(bits)) != 0)
        note_shared(owners, (uint32_t)at);
  }
  return SPATE_OK;
}

static void clear_section(struct exfat_owners *owners) {
  uint8_t *at = owners->volume->config.bitmap;
  uint64_t words = ((uint64_t)owners->clusters + EXFAT_WORD_BITS - 1u) / EXFAT_WORD_BITS;

  for (uint64_t left_bytes = words * (EXFAT_WORD_BITS / 8u); left_bytes > 0;) {
    uint32_t now_bytes = left_bytes < CLEAR_BYTES ? (uint32_t)left_bytes : CLEAR_BYTES;
    spate_exfat_give_turn(owners->volume, 0, &owners->since_ticks);
    memset(at, 0, now_bytes);
    at += now_bytes;
    left_bytes -= now_bytes;
  }
}

static void open_section(struct exfat_owners *owners, uint32_t at) {
  struct spate_exfat *volume = owners->volume;
  uint64_t room = (uint64_t)volume->config.bitmap_bytes * 8u;

  volume->loaded_bytes = 0;
  owners->first = at & ~(EXFAT_WORD_BITS - 1u);
  owners->clusters = volume->cluster_count - owners->first;
  if (owners->clusters > room) owners->clusters = (uint32_t)room;
  clear_section(owners);
}

/* The clusters of an open clip that its entry set owns by now. A discard that failed has erased the set. */
static uint32_t entry_clusters(const struct spate_exfat_clip *clip) {
  if (clip->entries == 0) return 0;
  return (uint32_t)spate_exfat_clusters(clip->volume, spate_field_get64(spate_exfat_clip_set(clip) + STREAM_BYTES));
}

static uint64_t all_entry_clusters(const struct spate_exfat *volume) {
  uint64_t clusters = 0;

  for (const struct spate_exfat_clip *clip = volume->clips; clip != NULL; clip = clip->next)
    clusters += entry_clusters(clip);
  return clusters;
}

/* The entry set of an open clip does not own all of the reservation yet, but will. */
static void mark_clip(struct exfat_owners *owners, const struct spate_exfat_clip *clip) {
  uint32_t used = entry_clusters(clip);
  uint32_t start = clip->first_cluster - EXFAT_FIRST_CLUSTER;

  mark_run(owners, start + used, clip->clusters - used, true);
  mark_run(owners, start, used, false);
}

enum spate_error spate_exfat_owners_mark(struct exfat_owners *owners, uint32_t at) {
  struct spate_exfat *volume = owners->volume;
  uint64_t clips_clusters = all_entry_clusters(volume);

  owners->since_ticks = spate_port_ticks();
  if (owners->recorded != NULL) spate_exfat_forget_sets(owners->recorded);
  open_section(owners, at);
  owners->budget = (uint64_t)volume->cluster_count * OWNERS_MAX;
  owners->depth = 0;
  enum spate_error error = mark_chain(owners, &volume->root);
  if (error == SPATE_OK) error = enter(owners, &volume->root);
  while (error == SPATE_OK && owners->depth > 0)
    error = mark_next(owners);
  for (const struct spate_exfat_clip *clip = volume->clips; clip != NULL; clip = clip->next)
    mark_clip(owners, clip);
  if (all_entry_clusters(volume) != clips_clusters) owners->clips_grew = true;
  return error;
}
