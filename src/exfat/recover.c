/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recovery at mount of what a power cut left.
 *
 * A slot of the record names clusters that were allocated, or were to be freed, while no entry owned them. Those of
 * them that no entry of the whole tree owns are freed, and nothing else is changed. That is right whatever a PC has
 * done to the volume meanwhile. If the tree cannot be read completely, the part that was not read may have an owner:
 * nothing is freed, and the record stays. Recording can go on: the clusters that the record names stay allocated, and
 * no other file gets them.
 */
#include "internal.h"

/* A directory was to grow by this cluster, and did not. Remove the cluster from the directory's chain before it is
 * freed; whatever follows it stays in the chain. */
static enum spate_error take_back_link(struct exfat_owners *owners, const struct exfat_record *record) {
  struct spate_exfat *volume = owners->volume;
  uint32_t cluster = record->clusters.first_cluster;
  uint32_t at = cluster - EXFAT_FIRST_CLUSTER;
  uint32_t next;

  if (record->previous_cluster == 0 || at < owners->first || at - owners->first >= owners->clusters) return SPATE_OK;
  if (!spate_exfat_ownerless(owners, at)) return SPATE_OK;
  enum spate_error error = spate_exfat_fat_get(volume, record->previous_cluster, &next);
  if (error != SPATE_OK || next != cluster) return error;
  error = spate_exfat_fat_get(volume, cluster, &next);
  return error == SPATE_OK ? spate_exfat_fat_set(volume, record->previous_cluster, next) : error;
}

static enum spate_error read_moved(struct spate_exfat *volume, const struct exfat_place *place, uint16_t checksum,
                                   struct exfat_set *set, bool *there) {
  *there = false;
  if (place->entries == 0) return SPATE_OK;
  enum spate_error error = spate_exfat_set_read(volume, &place->directory, place->offset_bytes, set);
  if (error == SPATE_E_CORRUPT) return SPATE_OK;
  *there = error == SPATE_OK && spate_field_get16(set->raw + FILE_CHECKSUM) == checksum;
  return error;
}

/* Read a slot; valid: it names clusters to be freed. The journal of a deletion does not if the entry set is still
 * there: the file was not deleted, and keeps its whole chain. */
static enum spate_error read_recorded(struct spate_exfat *volume, uint32_t slot, struct exfat_record *record,
                                      bool *valid) {
  struct exfat_set set;
  bool there;
  enum spate_error error = spate_exfat_record_read(volume, slot, record, valid);

  if (error != SPATE_OK || !*valid || record->from.entries == 0 || record->to.entries > 0) return error;
  error = read_moved(volume, &record->from, record->from_checksum, &set, &there);
  *valid = !there;
  return error;
}

/* The first recorded cluster from `at` on, counted from the heap's start; UINT32_MAX: none. */
static enum spate_error next_recorded(struct spate_exfat *volume, uint32_t at, uint32_t *next) {
  *next = UINT32_MAX;
  for (uint32_t slot = 0; slot < EXFAT_RECORD_SLOTS; slot++) {
    struct exfat_record record;
    bool valid;
    enum spate_error error = read_recorded(volume, slot, &record, &valid);
    if (error == SPATE_OK && valid) error = spate_exfat_reclaim_next(volume, &record.clusters, at, next);
    if (error != SPATE_OK) return error;
  }
  return SPATE_OK;
}

static enum spate_error free_recorded(struct exfat_owners *owners) {
  struct spate_exfat *volume = owners->volume;

  for (uint32_t slot = 0; slot < EXFAT_RECORD_SLOTS; slot++) {
    struct exfat_record record;
    bool valid;
    enum spate_error error = read_recorded(volume, slot, &record, &valid);
    if (error == SPATE_OK && valid) error = take_back_link(owners, &record);
    if (error == SPATE_OK && valid) error = spate_exfat_reclaim_chain(owners, &record.clusters);
    if (error != SPATE_OK) return error;
  }
  return SPATE_OK;
}

/* ---- entry sets that were being moved ---- */

/* Erase entries of a set over several blocks whose file entry was not written, or was erased already. */
static enum spate_error sweep(struct spate_exfat *volume, const struct exfat_place *place) {
  struct exfat_place stray = {.directory = place->directory, .entries = 1};
  uint32_t end = place->offset_bytes + place->entries * EXFAT_ENTRY_BYTES;
  struct exfat_set set;

  /* From the directory's start: where a set begins is known only from the sets before it. */
  for (uint32_t at = 0; at < end && at < place->directory.bytes; at += EXFAT_ENTRY_BYTES) {
    _Alignas(8) uint8_t raw[EXFAT_ENTRY_BYTES];
    enum spate_error error = spate_exfat_entry_read(volume, &stray.directory, at, raw);
    if (error == SPATE_OK && raw[0] == EXFAT_TYPE_FILE) {
      error = spate_exfat_set_read(volume, &place->directory, at, &set);
      if (error == SPATE_OK) at += (set.place.entries - 1u) * EXFAT_ENTRY_BYTES;
      if (error == SPATE_E_CORRUPT) error = SPATE_OK;
    } else if (error == SPATE_OK && at >= place->offset_bytes && raw[0] >= EXFAT_TYPE_STREAM) {
      stray.offset_bytes = at;
      error = spate_exfat_entries_erase(volume, &stray);
    }
    if (error != SPATE_OK) return error;
  }
  return SPATE_OK;
}

/* If a moved file has its new name, erase the old one. */
static enum spate_error finish_move(struct spate_exfat *volume) {
  struct exfat_record record;
  struct exfat_set from;
  struct exfat_set to;
  bool valid;
  bool from_there = false;
  bool to_there = false;
  enum spate_error error = spate_exfat_record_read(volume, EXFAT_RECORD_JOURNAL, &record, &valid);

  if (error != SPATE_OK || !valid) return error;
  error = read_moved(volume, &record.from, record.from_checksum, &from, &from_there);
  if (error == SPATE_OK) error = read_moved(volume, &record.to, record.to_checksum, &to, &to_there);
  if (error == SPATE_OK && from_there && to_there) error = spate_exfat_entries_erase(volume, &from.place);
  if (error == SPATE_OK) error = sweep(volume, &record.from);
  return error == SPATE_OK ? sweep(volume, &record.to) : error;
}

/* ---- */

static enum spate_error reclaim(struct spate_exfat *volume, struct spate_exfat_mounted *found) {
  struct exfat_owners owners = {.volume = volume};
  enum spate_error error = finish_move(volume);

  if (error == SPATE_E_CORRUPT) {
    volume->corrupt = false; /* the directory is no longer there, so there is nothing to finish */
    error = SPATE_OK;
  }
  for (uint32_t at = 0; error == SPATE_OK; at = owners.first + owners.clusters) {
    error = next_recorded(volume, at, &at);
    if (error != SPATE_OK || at == UINT32_MAX) break;
    error = spate_exfat_owners_mark(&owners, at);
    if (error == SPATE_OK) error = free_recorded(&owners);
  }
  found->reclaimed_bytes = owners.freed << volume->cluster_shift;
  return error;
}

static enum spate_error clear_all(struct spate_exfat *volume) {
  for (uint32_t slot = 0; slot < EXFAT_RECORD_SLOTS; slot++) {
    if ((volume->record_slots >> slot & 1u) == 0) continue;
    enum spate_error error = spate_exfat_record_end(volume, slot);
    if (error != SPATE_OK) return error;
  }
  return SPATE_OK;
}

enum spate_error spate_exfat_recover(struct spate_exfat *volume, struct spate_exfat_mounted *found) {
  /* The volume is dirty because of this library, unless it was dirty before. */
  volume->dirty = found->dirty && !volume->foreign_dirty;
  enum spate_error error = spate_exfat_boot_repair(volume);

  if (error == SPATE_OK && volume->record_unresolved != 0) error = SPATE_E_MEDIA; /* not all slots were read */
  if (error == SPATE_OK && volume->config.salvage != NULL) error = volume->config.salvage(volume, found);
  if (error == SPATE_OK) error = reclaim(volume, found);
  if (error == SPATE_OK) {
    volume->corrupt = false; /* the damage that was met is repaired, or a PC has removed it */
    error = clear_all(volume);
  }
  if (error != SPATE_OK) {
    volume->record_unresolved = volume->record_slots; /* a later mount tries again */
    spate_port_log("exfat: recovery failed", (uint64_t)error);
  }
  volume->corrupt = false; /* later operations may not meet the damage that recovery met */
  spate_port_log("exfat: bytes reclaimed", found->reclaimed_bytes);
  return spate_exfat_end_change(volume, SPATE_OK);
}
