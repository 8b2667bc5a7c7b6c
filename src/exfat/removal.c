/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deletion: journal {clusters}; entry set erased; bitmap; journal cleared; TRIM. The journal is the record's last slot.
 * Each step is durable before the next one begins. Before the erasure the file is whole. After it the clusters have no
 * owner, and recovery frees those that a power cut left allocated. If the bitmap came first, a power cut could leave a
 * file over clusters that a PC then gives to another file.
 *
 * First of all the file's clusters are checked: clusters of the volume's own structures are not freed because a damaged
 * entry claims them, and clusters that another file also owns stay allocated (shared.c). If the volume has no room for
 * the record's file, the order is the same without the journal: a power cut may then leave clusters without an owner,
 * on a volume that is marked dirty, but never a file over free clusters.
 */
#include "internal.h"

enum spate_error spate_exfat_check_idle(struct spate_exfat *volume, struct exfat_set *set) {
  uint32_t first_cluster = spate_field_get32(set->raw + STREAM_FIRST_CLUSTER);
  uint64_t lba;
  enum spate_error error = spate_exfat_chain_lba(volume, &set->place.directory, set->place.offset_bytes, &lba);

  if (error != SPATE_OK) return error;
  if (spate_exfat_clip_open_at(volume, lba, set->place.offset_bytes & volume->block_mask)) return SPATE_E_IN_USE;
  if (spate_exfat_joins(volume, first_cluster) || spate_exfat_joins(volume, set->place.directory.first_cluster))
    return SPATE_E_IN_USE;
  bool record = spate_exfat_cluster_valid(volume, first_cluster) &&
                spate_exfat_cluster_lba(volume, first_cluster) == volume->record_lba;
  return record ? SPATE_E_IN_USE : SPATE_OK;
}

static enum spate_error check_empty(struct spate_exfat *volume, const struct spate_exfat_chain *directory) {
  struct exfat_set set = {.place = {.directory = *directory, .entries = 1}};

  for (uint32_t at = 0; at < directory->bytes; at += EXFAT_ENTRY_BYTES) {
    set.place.offset_bytes = at;
    enum spate_error error = spate_exfat_entry_read(volume, &set.place.directory, at, set.raw);
    if (error != SPATE_OK) return error;
    if (set.raw[0] == EXFAT_TYPE_END) return SPATE_OK;
    if ((set.raw[0] & EXFAT_TYPE_IN_USE) == 0) continue;
    return spate_exfat_check_idle(volume, &set) == SPATE_E_IN_USE ? SPATE_E_IN_USE : SPATE_E_NOT_EMPTY;
  }
  return SPATE_OK;
}

bool spate_exfat_has_vendor_clusters(const struct exfat_set *set) {
  for (uint32_t i = 2; i < set->place.entries; i++) {
    const uint8_t *entry = set->raw + i * EXFAT_ENTRY_BYTES;
    if (entry[0] != EXFAT_TYPE_NAME && (entry[1] & EXFAT_ALLOCATION_POSSIBLE) != 0) return true;
  }
  return false;
}

/* May it be deleted? Clusters that a vendor's entries own would be lost. */
static enum spate_error check_removable(struct spate_exfat *volume, struct exfat_set *set,
                                        const struct spate_exfat_chain *chain) {
  enum spate_error error = spate_exfat_check_idle(volume, set);

  if (error == SPATE_OK && (set->raw[FILE_ATTRIBUTES] & EXFAT_READ_ONLY) != 0) error = SPATE_E_PROTECTED;
  if (error == SPATE_OK && spate_exfat_has_vendor_clusters(set)) error = SPATE_E_UNSUPPORTED;
  bool directory = (spate_field_get16(set->raw + FILE_ATTRIBUTES) & EXFAT_DIRECTORY) != 0;
  return error == SPATE_OK && directory ? check_empty(volume, chain) : error;
}

static bool overlap(uint64_t lba, uint64_t blocks, uint64_t other_lba, uint64_t other_blocks) {
  return lba < other_lba + other_blocks && other_lba < lba + blocks;
}

static enum spate_error check_apart(struct spate_exfat *volume, struct spate_exfat_chain *kept, uint64_t lba,
                                    uint64_t blocks) {
  uint32_t count = (uint32_t)spate_exfat_clusters(volume, kept->bytes);
  uint32_t run;

  for (uint32_t index = 0; index < count; index += run) {
    uint32_t first;
    enum spate_error error = spate_exfat_chain_run(volume, kept, index, &first, &run);
    if (error != SPATE_OK) return error;
    if (overlap(lba, blocks, spate_exfat_cluster_lba(volume, first), spate_exfat_cluster_blocks(volume, run)))
      return spate_exfat_distrust(volume);
  }
  return SPATE_OK;
}

/* Can these clusters be the file's? Clusters that another file also owns are handled in shared.c. */
static enum spate_error check_run(struct spate_exfat *volume, uint32_t first, uint32_t clusters) {
  uint64_t lba = spate_exfat_cluster_lba(volume, first);
  uint64_t blocks = spate_exfat_cluster_blocks(volume, clusters);
  bool allocated;
  enum spate_error error = spate_exfat_bitmap_allocated(volume, first, clusters, &allocated);

  if (error != SPATE_OK) return error;
  if (!allocated || overlap(lba, blocks, volume->record_lba, EXFAT_RECORD_SLOTS)) return spate_exfat_distrust(volume);
  for (const struct spate_exfat_clip *clip = volume->clips; clip != NULL; clip = clip->next)
    if (overlap(lba, blocks, clip->first_lba, clip->reserved_bytes >> volume->block_shift))
      return spate_exfat_distrust(volume);
  error = check_apart(volume, &volume->root, lba, blocks);
  if (error == SPATE_OK) error = check_apart(volume, &volume->bitmap, lba, blocks);
  return error == SPATE_OK ? check_apart(volume, &volume->upcase, lba, blocks) : error;
}

static enum spate_error free_run(struct spate_exfat *volume, uint32_t first, uint32_t clusters) {
  return spate_exfat_bitmap_set(volume, first, clusters, false);
}

/* Call `act` for each run of the chain. The FAT still has the chain of a deleted file. */
static enum spate_error each_run(struct spate_exfat *volume, struct spate_exfat_chain *chain,
                                 enum spate_error (*act)(struct spate_exfat *volume, uint32_t first,
                                                         uint32_t clusters)) {
  uint32_t count = (uint32_t)spate_exfat_clusters(volume, chain->bytes);
  uint64_t since_ticks = spate_port_ticks();
  uint32_t run;

  for (uint32_t index = 0; index < count; index += run) {
    uint32_t first;
    spate_exfat_give_turn(volume, 0, &since_ticks);
    enum spate_error error = spate_exfat_chain_run(volume, chain, index, &first, &run);
    if (error == SPATE_OK) error = act(volume, first, run);
    if (error != SPATE_OK) return error;
  }
  return SPATE_OK;
}

/* The cluster that the chain has past the file's length; EXFAT_CLUSTER_END: there is none. */
static enum spate_error behind(struct spate_exfat *volume, struct spate_exfat_chain *chain, uint32_t *cluster) {
  uint64_t lba;

  *cluster = chain->first_cluster == 0 ? EXFAT_CLUSTER_END : chain->first_cluster;
  if (chain->bytes == 0) return SPATE_OK;
  *cluster = EXFAT_CLUSTER_END;
  if (chain->contiguous) return SPATE_OK;
  enum spate_error error = spate_exfat_chain_lba(volume, chain, chain->bytes - 1u, &lba);
  return error == SPATE_OK ? spate_exfat_fat_get(volume, chain->cluster, cluster) : error;
}

/*
 * A chain may continue past the file's length, also that of an empty file: some systems allocate ahead. These clusters
 * are freed with the file, up to the first one that is free already. A chain that leads back into itself is found by
 * Brent's algorithm: a cluster is remembered at growing distances, and the walk ends when it comes to that cluster
 * again.
 */
static enum spate_error add_tail(struct spate_exfat *volume, struct spate_exfat_chain *chain, bool *added) {
  uint64_t count = spate_exfat_clusters(volume, chain->bytes);
  uint64_t kept = count;
  uint32_t remembered = 0;
  uint32_t cluster;
  enum spate_error error = behind(volume, chain, &cluster);

  for (uint32_t steps = 0, distance = 1; error == SPATE_OK && spate_exfat_cluster_valid(volume, cluster); steps++) {
    bool allocated;
    if (cluster == remembered || count == volume->cluster_count) break;
    if (steps == distance) {
      remembered = cluster;
      distance *= 2u;
      steps = 0;
    }
    error = spate_exfat_bitmap_allocated(volume, cluster, 1, &allocated);
    if (error != SPATE_OK || !allocated) break;
    count++;
    if (chain->contiguous) break;
    error = spate_exfat_fat_get(volume, cluster, &cluster);
  }
  *added = count > kept;
  if (*added) chain->bytes = count << volume->cluster_shift;
  return error;
}

enum spate_error spate_exfat_removal_check(struct spate_exfat *volume, struct spate_exfat_chain *chain, bool *shared) {
  bool tail = false;
  enum spate_error error = each_run(volume, chain, check_run);

  if (error == SPATE_OK) error = spate_exfat_shared_find(volume, chain, shared);
  if (error == SPATE_OK) error = add_tail(volume, chain, &tail);
  *shared |= tail;
  return error;
}

enum spate_error spate_exfat_removal_free(struct spate_exfat *volume, struct spate_exfat_chain *chain, bool shared) {
  return shared ? spate_exfat_shared_free(volume, chain) : each_run(volume, chain, free_run);
}

static enum spate_error remove_set(struct spate_exfat *volume, const char *text, struct spate_exfat_chain *chain) {
  struct exfat_path path;
  struct exfat_set set;
  bool shared = false;
  enum spate_error error = spate_exfat_path_find(volume, text, &path, &set);

  if (error != SPATE_OK) return error;
  if (set.place.entries == 0) return SPATE_E_INVALID; /* the root directory */
  error = spate_exfat_set_chain(volume, set.raw, chain);
  if (error == SPATE_OK) error = check_removable(volume, &set, chain);
  if (error == SPATE_OK) error = spate_exfat_removal_check(volume, chain, &shared);
  if (error != SPATE_OK) return error;
  struct exfat_record record = {
      .clusters = *chain, .from = set.place, .from_checksum = spate_field_get16(set.raw + FILE_CHECKSUM)};
  error = spate_exfat_journal_begin(volume, &record);
  if (error != SPATE_OK) return spate_exfat_journal_end(volume, error);
  spate_exfat_note_deletion(volume, chain);
  error = spate_exfat_entries_erase(volume, &set.place);
  if (error == SPATE_OK) error = spate_exfat_removal_free(volume, chain, shared);
  return spate_exfat_journal_end(volume, error);
}

static enum spate_error delete_file(struct spate_exfat *volume, const char *path, bool trim) {
  struct spate_exfat_chain chain = {0};
  enum spate_error no_record;
  enum spate_error error = spate_exfat_begin_removal(volume, &no_record);

  if (error != SPATE_OK) return error;
  error = remove_set(volume, path, &chain);
  enum spate_error clean_error = spate_exfat_clean(volume, UINT32_MAX);
  if (error == SPATE_OK) error = clean_error;
  if (error == SPATE_OK && trim) {
    enum spate_error trim_error = each_run(volume, &chain, spate_exfat_trim);
    /* The deletion is durable, and TRIM is only advice to the drive: not an error. */
    if (trim_error != SPATE_OK) spate_port_log("exfat: trim failed", (uint64_t)trim_error);
  }
  spate_exfat_end(volume);
  return error;
}

enum spate_error spate_exfat_delete(struct spate_exfat *volume, const char *path) {
  return delete_file(volume, path, true);
}

enum spate_error spate_exfat_delete_untrimmed(struct spate_exfat *volume, const char *path) {
  return delete_file(volume, path, false);
}

enum spate_error spate_exfat_prepare_deletions(struct spate_exfat *volume) {
  enum spate_error no_record;
  enum spate_error error = spate_exfat_begin_removal(volume, &no_record);

  return error == SPATE_OK ? spate_exfat_end_change(volume, spate_exfat_shared_prepare(volume)) : error;
}
