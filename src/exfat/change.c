/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mkdir, rename. The journal is the record's last slot. Each step below is durable before the next one begins.
 * VolumeDirty is set after the journal is written, and cleared before the journal is.
 *
 * mkdir: journal {cluster}; bitmap, zeros; entry set; journal cleared. Before the entry the cluster has no owner and
 * recovery frees it; after it, it has one.
 *
 * rename: in the old set's place, if that lies in one block and is large enough: one write, which needs neither journal
 * nor VolumeDirty. Otherwise journal {old place, new place}; new set; old set erased; journal cleared. A power cut in
 * between leaves two names for the same clusters, on a volume that is marked dirty. Recovery finds both by place and
 * checksum, and erases the old one. The opposite order could lose the file.
 *
 * Sets over several blocks: the file entry of a new set is written last, and that of an old set is erased first,
 * because the other entries alone are no file. Recovery erases such entries in the places that the journal names.
 */
#include "internal.h"

/* ---- mkdir ---- */

static enum spate_error make_directory(struct spate_exfat *volume, const char *text) {
  _Alignas(8) uint8_t raw[EXFAT_SET_ENTRIES_MAX * EXFAT_ENTRY_BYTES];
  struct exfat_record record = {.clusters = {.bytes = spate_exfat_cluster_bytes(volume), .contiguous = true}};
  struct exfat_path path;
  uint32_t cluster;
  enum spate_error error = spate_exfat_path_new(volume, text, &path);

  if (error != SPATE_OK) return error;
  uint8_t entries = spate_exfat_set_build(raw, path.name.units, path.name.count, path.name.hash, EXFAT_DIRECTORY);
  error = spate_exfat_slots_take(volume, &path, entries, &record.to);
  if (error == SPATE_OK) error = spate_exfat_bitmap_find(volume, 1, &cluster);
  if (error != SPATE_OK) return error;
  spate_exfat_set_lengths(raw, cluster, record.clusters.bytes, true);
  spate_exfat_time_stamp(&volume->config, raw, true);
  spate_exfat_set_seal(raw, entries);
  record.clusters.first_cluster = cluster;
  record.to_checksum = spate_field_get16(raw + FILE_CHECKSUM);
  error = spate_exfat_journal_begin(volume, &record);
  if (error == SPATE_OK) error = spate_exfat_bitmap_set(volume, cluster, 1, true);
  if (error == SPATE_OK)
    error = spate_exfat_zero(volume, spate_exfat_cluster_lba(volume, cluster), spate_exfat_cluster_blocks(volume, 1));
  if (error == SPATE_OK) error = spate_exfat_entries_write(volume, &record.to, raw);
  return spate_exfat_journal_end(volume, error);
}

enum spate_error spate_exfat_mkdir(struct spate_exfat *volume, const char *path) {
  enum spate_error error = spate_exfat_begin_change(volume);

  return error == SPATE_OK ? spate_exfat_end_change(volume, make_directory(volume, path)) : error;
}

/* ---- rename ---- */

/* The set with its new name; entries after the name are kept. */
static enum spate_error rebuild(const struct exfat_set *old, const struct exfat_name *name, struct exfat_set *set) {
  uint32_t old_names = spate_exfat_set_entries(old->raw[STREAM_NAME_LENGTH]);
  uint32_t kept = old->place.entries - old_names;
  uint32_t names = spate_exfat_set_entries(name->count);

  if (names + kept > EXFAT_SET_ENTRIES_MAX) return SPATE_E_NAME_LONG;
  spate_exfat_set_build(set->raw, name->units, name->count, name->hash, 0);
  memcpy(set->raw, old->raw, EXFAT_ENTRY_BYTES);
  memcpy(set->raw + STREAM_FLAGS, old->raw + STREAM_FLAGS, 1);
  memcpy(set->raw + STREAM_VALID_BYTES, old->raw + STREAM_VALID_BYTES, 2u * EXFAT_ENTRY_BYTES - STREAM_VALID_BYTES);
  memcpy(set->raw + names * EXFAT_ENTRY_BYTES, old->raw + old_names * EXFAT_ENTRY_BYTES, kept * EXFAT_ENTRY_BYTES);
  set->place.entries = (uint8_t)(names + kept);
  set->raw[FILE_SECONDARIES] = (uint8_t)(set->place.entries - 1u);
  spate_exfat_set_seal(set->raw, set->place.entries);
  return SPATE_OK;
}

static bool fits_in_place(const struct spate_exfat *volume, const struct exfat_set *old, const struct exfat_set *set) {
  uint32_t in_block = old->place.offset_bytes & volume->block_mask;

  return set->place.entries <= old->place.entries &&
         in_block + old->place.entries * EXFAT_ENTRY_BYTES <= spate_exfat_block_bytes(volume);
}

/* One write of one block: the new set, and the entries that it does not need as unused. A power cut leaves the old set
 * or the new one, so the volume is not marked dirty. */
static enum spate_error rename_in_place(struct spate_exfat *volume, struct exfat_set *old, struct exfat_set *set) {
  if (spate_exfat_journal_held(volume)) return SPATE_E_CORRUPT; /* the journal may name this set by its checksum */
  for (uint32_t i = set->place.entries; i < old->place.entries; i++) {
    memset(set->raw + i * EXFAT_ENTRY_BYTES, 0, EXFAT_ENTRY_BYTES);
    set->raw[i * EXFAT_ENTRY_BYTES] = EXFAT_TYPE_UNUSED;
  }
  return spate_exfat_entries_write(volume, &old->place, set->raw);
}

enum spate_error spate_exfat_set_move(struct spate_exfat *volume, struct exfat_path *to, struct exfat_set *old,
                                      struct exfat_set *set) {
  bool same_directory = to->directory.first_cluster == old->place.directory.first_cluster;
  enum spate_error error = spate_exfat_slots_take(volume, to, set->place.entries, &set->place);

  if (error != SPATE_OK) return error;
  /* The directory may have grown, and be linked by the FAT now. */
  if (same_directory) error = spate_exfat_set_read(volume, &to->directory, old->place.offset_bytes, old);
  if (error != SPATE_OK) return error;
  struct exfat_record record = {.from = old->place,
                                .from_checksum = spate_field_get16(old->raw + FILE_CHECKSUM),
                                .to = set->place,
                                .to_checksum = spate_field_get16(set->raw + FILE_CHECKSUM)};
  error = spate_exfat_journal_begin(volume, &record);
  if (error == SPATE_OK) error = spate_exfat_entries_write(volume, &set->place, set->raw);
  if (error == SPATE_OK) error = spate_exfat_entries_erase(volume, &old->place);
  return spate_exfat_journal_end(volume, error);
}

/* The new name must be free, or differ from the old one in case only. */
static enum spate_error check_target(struct spate_exfat *volume, struct exfat_path *to, const struct exfat_set *old) {
  struct exfat_set taken;

  if (to->name.count == 0) return SPATE_E_NAME;
  if (spate_exfat_joins(volume, to->directory.first_cluster)) return SPATE_E_IN_USE;
  enum spate_error error = spate_exfat_name_creatable(&to->name);
  if (error != SPATE_OK) return error;
  error = spate_exfat_name_free(volume, to, &taken);
  return error == SPATE_E_EXISTS && spate_exfat_place_equal(&taken.place, &old->place) ? SPATE_OK : error;
}

static enum spate_error rename_set(struct spate_exfat *volume, const char *from, const char *to_text,
                                   enum spate_error no_record) {
  struct exfat_path path;
  struct exfat_set old;
  struct exfat_set set;
  enum spate_error error = spate_exfat_path_find(volume, from, &path, &old);

  if (error != SPATE_OK) return error;
  if (old.place.entries == 0) return SPATE_E_INVALID; /* the root directory */
  bool directory = (spate_field_get16(old.raw + FILE_ATTRIBUTES) & EXFAT_DIRECTORY) != 0;
  error = spate_exfat_check_idle(volume, &old);
  if (error == SPATE_OK && directory && (volume->clips != NULL || volume->joining_cluster != 0)) error = SPATE_E_IN_USE;
  if (error == SPATE_OK) error = spate_exfat_path_walk(volume, to_text, directory ? &old.place : NULL, &path);
  if (error == SPATE_OK) error = check_target(volume, &path, &old);
  if (error == SPATE_OK) error = rebuild(&old, &path.name, &set);
  if (error != SPATE_OK) return error;
  bool same_directory = path.directory.first_cluster == old.place.directory.first_cluster;
  if (same_directory && fits_in_place(volume, &old, &set)) return rename_in_place(volume, &old, &set);
  return no_record == SPATE_OK ? spate_exfat_set_move(volume, &path, &old, &set) : no_record;
}

enum spate_error spate_exfat_rename(struct spate_exfat *volume, const char *from, const char *to) {
  enum spate_error no_record;
  enum spate_error error = spate_exfat_begin_removal(volume, &no_record);

  return error == SPATE_OK ? spate_exfat_end_change(volume, rename_set(volume, from, to, no_record)) : error;
}
