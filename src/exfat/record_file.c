/* SPDX-License-Identifier: Apache-2.0 */
/* The file that holds the reservation record: found at mount, made by format or before a foreign volume's first change.
 */
#include "internal.h"

#define RECORD_ATTRIBUTES ((uint16_t)(EXFAT_HIDDEN | EXFAT_SYSTEM))

static const uint16_t name_units[] = {'.', 's', 'p', 'a', 't', 'e'};
static const uint16_t name_upper[] = {'.', 'S', 'P', 'A', 'T', 'E'};
#define NAME_COUNT (sizeof name_units / sizeof name_units[0])

/* Look for a file of the record's name; `path` is the way to it in any case. */
static enum spate_error find(struct spate_exfat *volume, struct exfat_path *path, struct exfat_set *set) {
  path->directory = volume->root;
  path->self.entries = 0;
  path->name.count = NAME_COUNT;
  path->name.hash = exfat_name_hash(name_upper, NAME_COUNT);
  memcpy(path->name.upper, name_upper, sizeof name_upper);
  return exfat_directory_find(volume, path, set);
}

void exfat_record_build(uint8_t *raw, uint32_t first_cluster, uint32_t block_shift,
                        const struct spate_exfat_config *config) {
  exfat_set_build(raw, name_units, NAME_COUNT, exfat_name_hash(name_upper, NAME_COUNT), RECORD_ATTRIBUTES);
  exfat_set_lengths(raw, first_cluster, (uint64_t)EXFAT_RECORD_SLOTS << block_shift, true);
  exfat_time_stamp(config, raw, true);
  exfat_set_seal(raw, EXFAT_RECORD_ENTRIES);
}

static uint32_t record_clusters(const struct spate_exfat *volume) {
  return (uint32_t)exfat_clusters(volume, (uint64_t)EXFAT_RECORD_SLOTS << exfat_block_shift(volume));
}

/* Use the file only if it is ours: a user's file of that name is never written to. */
static enum spate_error adopt(struct spate_exfat *volume, const struct exfat_set *set) {
  struct spate_exfat_chain chain;
  uint32_t first;
  uint32_t clusters;
  enum spate_error error = exfat_set_chain(volume, set->raw, &chain);

  if (error != SPATE_OK) return error;
  if ((spate_field_get16(set->raw + FILE_ATTRIBUTES) & (RECORD_ATTRIBUTES | EXFAT_DIRECTORY)) != RECORD_ATTRIBUTES ||
      chain.bytes != (uint64_t)EXFAT_RECORD_SLOTS << exfat_block_shift(volume))
    return SPATE_OK;
  error = exfat_chain_run(volume, &chain, 0, &first, &clusters);
  if (error == SPATE_OK && clusters == record_clusters(volume)) volume->record_lba = exfat_cluster_lba(volume, first);
  return error;
}

enum spate_error exfat_record_open(struct spate_exfat *volume, struct spate_exfat_mounted *found) {
  struct exfat_path path;
  struct exfat_set set;
  enum spate_error error = find(volume, &path, &set);

  /* A contradiction keeps everything from being written, and that is all: what can be read stays readable. */
  if (error == SPATE_E_NOT_FOUND || error == SPATE_E_CORRUPT) return SPATE_OK;
  if (error == SPATE_OK) error = adopt(volume, &set);
  if (error != SPATE_OK || volume->record_lba == 0) return error;
  for (uint32_t slot = 0; slot < EXFAT_RECORD_SLOTS; slot++) {
    struct exfat_record record;
    bool valid;
    error = exfat_record_read(volume, slot, &record, &valid);
    if (error != SPATE_OK) return error;
    if (!valid) continue;
    volume->record_slots |= UINT32_C(1) << slot;
    volume->foreign_dirty |= record.foreign_dirty != 0;
    found->reservations++;
  }
  return SPATE_OK;
}

/*
 * Make the file. There is no record yet to protect this: a cut between bitmap and entry set leaves some clusters
 * allocated without an owner, which every checker calls clean, and which happens at most once in a volume's life. The
 * volume is not marked dirty for it: with no record, a cut would leave that mark for ever.
 */
static enum spate_error make(struct spate_exfat *volume, struct exfat_path *path) {
  _Alignas(8) uint8_t raw[EXFAT_RECORD_ENTRIES * EXFAT_ENTRY_BYTES];
  uint32_t clusters = record_clusters(volume);
  struct exfat_place place;
  uint32_t first;
  enum spate_error error = exfat_slots_take(volume, path, EXFAT_RECORD_ENTRIES, &place);

  if (error == SPATE_OK) error = exfat_clean(volume, UINT32_MAX); /* dirty if the directory has grown for it */
  if (error == SPATE_OK) error = exfat_bitmap_find(volume, clusters, &first);
  if (error == SPATE_OK) error = exfat_bitmap_set(volume, first, clusters, true);
  if (error != SPATE_OK) return error;
  uint64_t lba = exfat_cluster_lba(volume, first);
  error = exfat_zero(volume, lba, EXFAT_RECORD_SLOTS);
  if (error == SPATE_OK) error = exfat_barrier(volume);
  if (error != SPATE_OK) return error;
  exfat_record_build(raw, first, exfat_block_shift(volume), &volume->config);
  error = exfat_entries_write(volume, &place, raw);
  if (error == SPATE_OK) volume->record_lba = lba;
  return error;
}

enum spate_error exfat_record_need(struct spate_exfat *volume) {
  struct exfat_path path;
  struct exfat_set taken;

  if (volume->record_lba != 0) return SPATE_OK;
  enum spate_error error = find(volume, &path, &taken);
  if (error == SPATE_E_NOT_FOUND) return make(volume, &path);
  return error == SPATE_OK ? SPATE_E_EXISTS : error;
}
