/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recovery at mount of what a power cut left.
 *
 * A slot of the record names clusters that were allocated, or were to be freed, while no entry owned them. Those of
 * them that no entry of the whole tree owns are freed. The journal also names entry sets that were being made, removed
 * or moved. They are finished in the directories that the tree has now (met.c). Nothing else is changed. That is right
 * whatever a PC has done to the volume meanwhile.
 *
 * If the tree cannot be read completely, the part that was not read may have an owner: nothing is freed, and the record
 * stays. Recording can continue: the clusters that the record names stay allocated, and no other file gets them.
 */
#include "internal.h"

/* A directory was to grow by this cluster, and did not. Remove the cluster from the directory's chain before it is
 * freed; whatever follows it stays in the chain. A chain of something else is not changed. */
static enum spate_error take_back_link(struct exfat_owners *owners, const struct exfat_record *record) {
  struct spate_exfat *volume = owners->volume;
  uint32_t cluster = record->clusters.first_cluster;
  uint32_t at = cluster - EXFAT_FIRST_CLUSTER;
  uint32_t next;

  if (record->previous_cluster == 0 || at < owners->first || at - owners->first >= owners->clusters) return SPATE_OK;
  if (!owners->recorded->previous_met || !spate_exfat_ownerless(owners, at)) return SPATE_OK;
  enum spate_error error = spate_exfat_fat_get(volume, record->previous_cluster, &next);
  if (error != SPATE_OK || next != cluster) return error;
  error = spate_exfat_fat_get(volume, cluster, &next);
  return error == SPATE_OK ? spate_exfat_fat_set(volume, record->previous_cluster, next) : error;
}

/* Does the tree have this set? Before the first walk it is not known to have any. */
static enum spate_error read_moved(struct spate_exfat *volume, const struct exfat_met *met, uint16_t checksum,
                                   struct exfat_set *set, bool *there) {
  struct spate_exfat_chain directory;

  *there = false;
  if (!met->whole) return SPATE_OK;
  spate_exfat_met_chain(met, &directory);
  enum spate_error error = spate_exfat_set_read(volume, &directory, met->offset_bytes, set);
  *there = error == SPATE_OK && spate_field_get16(set->raw + FILE_CHECKSUM) == checksum;
  return error;
}

/* Read a slot; valid: it names clusters to be freed. The journal of a deletion does not if the entry set is still
 * there: the file was not deleted, and keeps its whole chain. */
static enum spate_error read_recorded(const struct exfat_owners *owners, uint32_t slot, struct exfat_record *record,
                                      bool *valid) {
  struct exfat_set set;
  bool there;
  enum spate_error error = spate_exfat_record_read(owners->volume, slot, record, valid);

  if (error != SPATE_OK || !*valid || record->from.entries == 0 || record->to.entries > 0) return error;
  error = read_moved(owners->volume, &owners->recorded->places[EXFAT_MET_FROM], record->from_checksum, &set, &there);
  *valid = !there;
  return error;
}

/* The first recorded cluster from `at` on, counted from the heap's start; UINT32_MAX: none. */
static enum spate_error next_recorded(const struct exfat_owners *owners, uint32_t at, uint32_t *next) {
  *next = UINT32_MAX;
  for (uint32_t slot = 0; slot < EXFAT_RECORD_SLOTS; slot++) {
    struct exfat_record record;
    bool valid;
    enum spate_error error = read_recorded(owners, slot, &record, &valid);
    if (error == SPATE_OK && valid) error = spate_exfat_reclaim_next(owners->volume, &record.clusters, at, next);
    if (error != SPATE_OK) return error;
  }
  return SPATE_OK;
}

static enum spate_error free_recorded(struct exfat_owners *owners) {
  for (uint32_t slot = 0; slot < EXFAT_RECORD_SLOTS; slot++) {
    struct exfat_record record;
    bool valid;
    enum spate_error error = read_recorded(owners, slot, &record, &valid);
    if (error == SPATE_OK && valid) error = take_back_link(owners, &record);
    if (error == SPATE_OK && valid) error = spate_exfat_reclaim_chain(owners, &record.clusters);
    if (error != SPATE_OK) return error;
  }
  return SPATE_OK;
}

/* ---- entry sets that were being moved ---- */

/* Does the entry state how many entries follow it? All primary entries that may be ignored do. */
static bool has_secondaries(uint8_t type) {
  const uint8_t kind = EXFAT_TYPE_IN_USE | EXFAT_TYPE_SECONDARY | EXFAT_TYPE_BENIGN;

  return type == EXFAT_TYPE_FILE || (type & kind) == (EXFAT_TYPE_IN_USE | EXFAT_TYPE_BENIGN);
}

/* Erase entries of a set over several blocks whose file entry was not written, or was erased already. */
static enum spate_error sweep(struct spate_exfat *volume, const struct exfat_met *met) {
  uint64_t end = (uint64_t)met->offset_bytes + met->entries * EXFAT_ENTRY_BYTES;
  struct exfat_place stray = {.entries = 1};

  if (end > met->directory_bytes) return SPATE_OK; /* not met, or shorter now */
  spate_exfat_met_chain(met, &stray.directory);
  /* From the directory's start: where a set begins is known only from the sets before it. A set with a wrong checksum
   * was not made here: ours are whole as soon as they have a file entry. */
  for (uint32_t at = 0; at < end; at += EXFAT_ENTRY_BYTES) {
    _Alignas(8) uint8_t raw[EXFAT_ENTRY_BYTES];
    enum spate_error error = spate_exfat_entry_read(volume, &stray.directory, at, raw);
    if (error == SPATE_OK && has_secondaries(raw[0])) {
      at += raw[FILE_SECONDARIES] * EXFAT_ENTRY_BYTES;
    } else if (error == SPATE_OK && at >= met->offset_bytes && raw[0] >= EXFAT_TYPE_STREAM) {
      stray.offset_bytes = at;
      error = spate_exfat_entries_erase(volume, &stray);
    }
    if (error != SPATE_OK) return error;
  }
  return SPATE_OK;
}

/* If a moved file has its new name, erase the old one. */
static enum spate_error finish_move(const struct exfat_owners *owners) {
  struct spate_exfat *volume = owners->volume;
  const struct exfat_met *from_met = &owners->recorded->places[EXFAT_MET_FROM];
  const struct exfat_met *to_met = &owners->recorded->places[EXFAT_MET_TO];
  struct exfat_record record;
  struct exfat_set from;
  struct exfat_set to;
  bool valid;
  bool from_there = false;
  bool to_there = false;
  enum spate_error error = spate_exfat_record_read(volume, EXFAT_RECORD_JOURNAL, &record, &valid);

  if (error != SPATE_OK || !valid) return error;
  error = read_moved(volume, from_met, record.from_checksum, &from, &from_there);
  if (error == SPATE_OK) error = read_moved(volume, to_met, record.to_checksum, &to, &to_there);
  if (error == SPATE_OK && from_there && to_there) error = spate_exfat_entries_erase(volume, &from.place);
  if (error == SPATE_OK) error = sweep(volume, from_met);
  return error == SPATE_OK ? sweep(volume, to_met) : error;
}

/* ---- */

/* Is the place perhaps in a part of the tree that was not read? */
static bool is_open(const struct exfat_met *met) { return met->entries > 0 && met->directory_bytes == 0; }

/* Does something remain that only a complete walk can settle? */
static enum spate_error check_walk(const struct exfat_owners *owners) {
  const struct exfat_met *places = owners->recorded->places;
  uint32_t next;

  if (!owners->incomplete) return SPATE_OK;
  if (is_open(&places[EXFAT_MET_FROM]) || is_open(&places[EXFAT_MET_TO])) return SPATE_E_CORRUPT;
  enum spate_error error = next_recorded(owners, 0, &next);
  return error == SPATE_OK && next != UINT32_MAX ? SPATE_E_CORRUPT : error;
}

static enum spate_error reclaim(struct spate_exfat *volume, struct spate_exfat_mounted *found) {
  struct exfat_recorded recorded;
  struct exfat_owners owners = {.volume = volume, .recorded = &recorded};
  uint32_t at = UINT32_MAX;
  enum spate_error error = spate_exfat_recorded_read(volume, &recorded);

  if (error == SPATE_OK) error = next_recorded(&owners, 0, &at);
  if (at == UINT32_MAX) at = 0; /* a move names no clusters, and its directories are met in any section */
  while (error == SPATE_OK && at != UINT32_MAX) {
    error = spate_exfat_owners_mark(&owners, at);
    if (error == SPATE_OK) error = finish_move(&owners);
    if (error == SPATE_OK) error = check_walk(&owners);
    if (error == SPATE_OK) error = free_recorded(&owners);
    if (error == SPATE_OK) error = next_recorded(&owners, owners.first + owners.clusters, &at);
  }
  found->reclaimed_bytes = owners.freed << volume->cluster_shift;
  return error;
}

static enum spate_error clear_all(struct spate_exfat *volume) {
  for (uint32_t slot = 0; slot < EXFAT_RECORD_SLOTS; slot++) {
    if ((volume->record_used >> slot & 1u) == 0) continue;
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
    volume->record_unresolved = volume->record_used; /* a later mount tries again */
    volume->dirty = found->dirty;
    spate_port_log("exfat: recovery failed", (uint64_t)error);
  }
  volume->corrupt = false; /* later operations may not meet the damage that recovery met */
  spate_port_log("exfat: bytes reclaimed", found->reclaimed_bytes);
  return spate_exfat_end_change(volume, SPATE_OK);
}
