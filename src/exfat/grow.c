/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Add a cluster to a directory. The FAT links it. For a contiguous directory the FAT entries of all its clusters are
 * written first; nothing reads them until the entry set says that the directory is not contiguous.
 *
 * The order: journal; zeros past the end, if that is not the end of a cluster; bitmap, zeros and FAT entry of the new
 * cluster; the link from the last cluster; the entry set with the new length, in one block. If the power is cut before
 * the link, recovery frees the cluster. Between link and length the chain is longer than the directory, and recovery
 * removes the link first. The root directory has no length: with the link it has grown.
 */
#include "internal.h"

#define GROW_TRIES 3u /* a set of 19 entries takes two clusters of 512 bytes */

/* Link cluster `added` past the last one. */
static enum spate_error link_cluster(struct spate_exfat *volume, const struct spate_exfat_chain *directory,
                                     uint32_t last, uint32_t added) {
  for (uint32_t cluster = directory->first_cluster; directory->contiguous && cluster < last; cluster++) {
    enum spate_error error = spate_exfat_fat_set(volume, cluster, cluster + 1u);
    if (error != SPATE_OK) return error;
  }
  return last == 0 ? SPATE_OK : spate_exfat_fat_set(volume, last, added);
}

static enum spate_error last_cluster(struct spate_exfat *volume, struct spate_exfat_chain *directory, uint32_t *last) {
  uint64_t lba;

  *last = 0;
  if (directory->bytes == 0) return SPATE_OK;
  enum spate_error error = spate_exfat_chain_lba(volume, directory, directory->bytes - 1u, &lba);
  *last = directory->cluster;
  return error;
}

/* Other systems may place file entry and stream extension in two blocks. One write cannot change both. */
static bool straddles(const struct spate_exfat *volume, const struct exfat_place *self) {
  return self->entries > 0 && ((self->offset_bytes + EXFAT_ENTRY_BYTES) & volume->block_mask) == 0;
}

/* Such a set moves: its new place has the new length, and with the journal recovery leaves only one of both places. */
static enum spate_error move_set(struct spate_exfat *volume, struct exfat_path *path, struct exfat_record *record,
                                 const uint8_t *raw) {
  record->from = path->self;
  record->to_checksum = spate_field_get16(raw + FILE_CHECKSUM);
  enum spate_error error = spate_exfat_journal_begin(volume, record);
  if (error == SPATE_OK) error = spate_exfat_entries_write(volume, &record->to, raw);
  if (error == SPATE_OK) error = spate_exfat_entries_erase(volume, &record->from);
  path->self = record->to;
  return error;
}

static enum spate_error put_length(struct spate_exfat *volume, struct exfat_path *path, struct exfat_record *record,
                                   const struct spate_exfat_chain *grown) {
  struct exfat_set set;
  enum spate_error error = spate_exfat_set_read(volume, &path->self.directory, path->self.offset_bytes, &set);

  if (error != SPATE_OK) return error;
  record->from_checksum = spate_field_get16(set.raw + FILE_CHECKSUM);
  spate_exfat_set_lengths(set.raw, grown->first_cluster, grown->bytes, grown->contiguous);
  spate_exfat_set_seal(set.raw, set.place.entries);
  return record->to.entries > 0 ? move_set(volume, path, record, set.raw)
                                : spate_exfat_entries_write(volume, &set.place, set.raw);
}

/* The cluster that follows the directory's last one in the FAT, mostly none. Clusters that another system has allocated
 * and linked there stay linked after the new cluster, so that they are freed with the directory. */
static enum spate_error next_of(struct spate_exfat *volume, const struct spate_exfat_chain *directory, uint32_t last,
                                uint32_t added, uint32_t *next) {
  *next = EXFAT_CLUSTER_END;
  if (directory->contiguous || last == 0) return SPATE_OK;
  bool allocated = false;
  enum spate_error error = spate_exfat_fat_get(volume, last, next);
  if (error == SPATE_OK && spate_exfat_cluster_valid(volume, *next) && *next != added)
    error = spate_exfat_bitmap_allocated(volume, *next, 1, &allocated);
  if (!allocated) *next = EXFAT_CLUSTER_END;
  return error;
}

/* The length up to the end of the last cluster. */
static uint64_t whole_bytes(const struct spate_exfat *volume, const struct spate_exfat_chain *directory) {
  return (directory->bytes + volume->cluster_mask) & ~(uint64_t)volume->cluster_mask;
}

/* Some systems make directories whose length is no multiple of the cluster. Past it may be anything, such as entries
 * of a file that was there before: it must not become entries of the directory. An entry that begins before the end
 * counts as a whole. */
static enum spate_error clear_rest(struct spate_exfat *volume, const struct spate_exfat_chain *directory,
                                   uint32_t last) {
  const uint64_t end_bytes = (directory->bytes + EXFAT_ENTRY_BYTES - 1u) & ~(uint64_t)(EXFAT_ENTRY_BYTES - 1u);
  const uint32_t in_cluster = (uint32_t)end_bytes & volume->cluster_mask;
  const uint32_t in_block = in_cluster & volume->block_mask;
  uint64_t lba = spate_exfat_cluster_lba(volume, last) + (in_cluster >> spate_exfat_block_shift(volume));
  struct spate_exfat_block *block;
  enum spate_error error = SPATE_OK;

  if (in_cluster == 0) return SPATE_OK;
  if (in_block != 0) {
    error = spate_exfat_block_edit(volume, lba++, &block); /* it may be the block of an open clip's entry set */
    if (error != SPATE_OK) return error;
    memset(block->data + in_block, 0, spate_exfat_block_bytes(volume) - in_block);
    error = spate_exfat_block_commit(block);
  }
  const uint64_t end_lba = spate_exfat_cluster_lba(volume, last) + spate_exfat_cluster_blocks(volume, 1);
  return error == SPATE_OK && lba < end_lba ? spate_exfat_zero(volume, lba, end_lba - lba) : error;
}

static enum spate_error add_cluster(struct spate_exfat *volume, struct exfat_path *path, struct exfat_record *record) {
  uint32_t added = record->clusters.first_cluster;
  uint32_t next;
  struct spate_exfat_chain grown = {.first_cluster = path->directory.first_cluster,
                                    .bytes = whole_bytes(volume, &path->directory) + spate_exfat_cluster_bytes(volume)};
  enum spate_error error = next_of(volume, &path->directory, record->previous_cluster, added, &next);

  if (error == SPATE_OK) error = clear_rest(volume, &path->directory, record->previous_cluster);
  if (error == SPATE_OK) error = spate_exfat_bitmap_set(volume, added, 1, true);
  if (error == SPATE_OK)
    error = spate_exfat_zero(volume, spate_exfat_cluster_lba(volume, added), spate_exfat_cluster_blocks(volume, 1));
  if (error == SPATE_OK) error = spate_exfat_fat_set(volume, added, next);
  if (error == SPATE_OK) error = link_cluster(volume, &path->directory, record->previous_cluster, added);
  if (error != SPATE_OK) return error;
  if (grown.first_cluster == 0) {
    grown.first_cluster = added;
    grown.contiguous = true;
  }
  if (path->self.entries > 0)
    error = put_length(volume, path, record, &grown);
  else
    volume->root = grown;
  if (error == SPATE_OK) path->directory = grown;
  return error;
}

enum spate_error spate_exfat_directory_grow(struct spate_exfat *volume, struct exfat_path *path) {
  struct exfat_record record = {.clusters = {.bytes = spate_exfat_cluster_bytes(volume), .contiguous = true}};
  enum spate_error error = SPATE_OK;

  /* An empty directory that names a cluster: whose that is, and what is in it, is not known. */
  if (path->directory.bytes == 0 && path->directory.first_cluster != 0) return spate_exfat_corrupt(volume);
  if (whole_bytes(volume, &path->directory) + spate_exfat_cluster_bytes(volume) > EXFAT_DIRECTORY_BYTES_MAX)
    return SPATE_E_NO_SPACE;
  if (straddles(volume, &path->self))
    error = spate_exfat_slots_find(volume, &path->self.directory, path->self.entries, &record.to);
  if (error == SPATE_OK) error = spate_exfat_bitmap_find(volume, 1, &record.clusters.first_cluster);
  if (error == SPATE_OK) error = last_cluster(volume, &path->directory, &record.previous_cluster);
  if (error == SPATE_OK) error = spate_exfat_journal_begin(volume, &record);
  if (error != SPATE_OK) return error;
  return spate_exfat_journal_end(volume, add_cluster(volume, path, &record));
}

enum spate_error spate_exfat_slots_take(struct spate_exfat *volume, struct exfat_path *path, uint8_t entries,
                                        struct exfat_place *place) {
  enum spate_error error = spate_exfat_slots_find(volume, &path->directory, entries, place);

  for (uint32_t tries = 0; error == SPATE_E_NO_SPACE && volume->repairs != NULL && tries < GROW_TRIES; tries++) {
    error = volume->repairs->grow(volume, path);
    if (error != SPATE_OK) return error;
    error = spate_exfat_slots_find(volume, &path->directory, entries, place);
  }
  return error;
}
