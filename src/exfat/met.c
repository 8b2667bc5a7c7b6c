/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places that the record names, as a walk through the tree meets them.
 *
 * Between a power cut and the next mount somebody else may have had the volume. A directory may be gone, and a file may
 * lie over its clusters; it may have moved, or another one may begin with its first cluster. Nothing on the volume
 * tells, not even VolumeDirty: some systems leave a dirty volume dirty. So a recorded place says only where to look.
 * What is changed is what the walk has met: a directory of the tree with the chain that it has now, and in it an entry
 * set that the directory has now.
 */
#include "internal.h"

static void put_place(struct exfat_met *met, const struct exfat_place *place) {
  *met = (struct exfat_met){
      .first_cluster = place->directory.first_cluster, .offset_bytes = place->offset_bytes, .entries = place->entries};
}

enum spate_error spate_exfat_recorded_read(struct spate_exfat *volume, struct exfat_recorded *recorded) {
  *recorded = (struct exfat_recorded){.previous_cluster = 0};
  for (uint32_t slot = 0; slot < EXFAT_RECORD_SLOTS; slot++) {
    struct exfat_record record;
    bool valid;
    enum spate_error error = spate_exfat_record_read(volume, slot, &record, &valid);
    if (error != SPATE_OK) return error;
    if (!valid) continue;
    put_place(&recorded->places[slot], &record.to);
    if (slot != EXFAT_RECORD_JOURNAL) continue;
    put_place(&recorded->places[EXFAT_MET_FROM], &record.from);
    recorded->previous_cluster = record.previous_cluster;
  }
  return SPATE_OK;
}

void spate_exfat_forget_sets(struct exfat_recorded *recorded) {
  for (uint32_t i = 0; i < EXFAT_PLACES; i++)
    recorded->places[i].whole = false;
}

/* Is it the last cluster of this directory? A directory that was to grow still has its old length. */
static enum spate_error meet_previous(struct spate_exfat *volume, struct exfat_recorded *recorded,
                                      struct spate_exfat_chain *directory) {
  uint64_t lba;

  if (recorded->previous_cluster == 0) return SPATE_OK;
  enum spate_error error = spate_exfat_chain_lba(volume, directory, directory->bytes - 1u, &lba);

  if (error == SPATE_E_CORRUPT) return SPATE_OK; /* its chain is broken, and the walk has noted that */
  if (error == SPATE_OK && directory->cluster == recorded->previous_cluster) recorded->previous_met = true;
  return error;
}

enum spate_error spate_exfat_meet_directory(struct spate_exfat *volume, struct exfat_recorded *recorded,
                                            struct spate_exfat_chain *directory) {
  for (uint32_t i = 0; i < EXFAT_PLACES; i++) {
    struct exfat_met *met = &recorded->places[i];
    if (met->first_cluster != directory->first_cluster) continue;
    bool contiguous = directory->contiguous != 0;
    if (met->directory_bytes > 0 && (met->directory_bytes != directory->bytes || met->contiguous != contiguous)) {
      /* Two directories with one first cluster contradict each other: it is not known which clusters are right. */
      *met = (struct exfat_met){.entries = met->entries};
      continue;
    }
    met->directory_bytes = (uint32_t)directory->bytes;
    met->contiguous = contiguous;
  }
  return meet_previous(volume, recorded, directory);
}

void spate_exfat_meet_set(struct exfat_recorded *recorded, const struct exfat_place *place) {
  for (uint32_t i = 0; i < EXFAT_PLACES; i++) {
    struct exfat_met *met = &recorded->places[i];
    if (met->first_cluster == place->directory.first_cluster && met->offset_bytes == place->offset_bytes)
      met->whole = true;
  }
}

static bool covers(const struct exfat_met *met, uint32_t first_cluster, uint32_t offset_bytes) {
  /* The difference is a large number where the entry lies before the place. */
  return met->first_cluster == first_cluster && offset_bytes - met->offset_bytes < met->entries * EXFAT_ENTRY_BYTES;
}

bool spate_exfat_is_remains(const struct exfat_recorded *recorded, const struct spate_exfat_chain *directory,
                            uint32_t offset_bytes) {
  return covers(&recorded->places[EXFAT_MET_FROM], directory->first_cluster, offset_bytes) ||
         covers(&recorded->places[EXFAT_MET_TO], directory->first_cluster, offset_bytes);
}

void spate_exfat_met_chain(const struct exfat_met *met, struct spate_exfat_chain *directory) {
  *directory = (struct spate_exfat_chain){
      .first_cluster = met->first_cluster, .bytes = met->directory_bytes, .contiguous = met->contiguous};
}
