/* SPDX-License-Identifier: Apache-2.0 */
/* Reading: list, stat, open, read, extents. */
#include "internal.h"

#define DELETED_MASK (SPATE_EXFAT_DELETIONS_MAX - 1u)

void spate_exfat_note_deletion(struct spate_exfat *volume, const struct spate_exfat_chain *chain) {
  volume->deleted[volume->deletions++ & DELETED_MASK] = chain->first_cluster;
}

/* Was the owner of these clusters deleted since *deletions? Its place in the directory does not tell: another clip may
 * have the same place and the same first cluster. */
static bool is_stale(const struct spate_exfat *volume, const struct spate_exfat_chain *chain, uint32_t *deletions) {
  uint32_t since = volume->deletions - *deletions;

  if (chain->first_cluster == 0) return false;
  if (since > SPATE_EXFAT_DELETIONS_MAX) return true; /* older deletions are not remembered */
  for (uint32_t i = 1; i <= since; i++)
    if (volume->deleted[(volume->deletions - i) & DELETED_MASK] == chain->first_cluster) return true;
  *deletions = volume->deletions;
  return false;
}

static enum spate_error list(struct spate_exfat *volume, const char *path, struct spate_exfat_directory *directory) {
  struct exfat_path at;
  struct exfat_set set;
  enum spate_error error = spate_exfat_path_find(volume, path, &at, &set);

  *directory = (struct spate_exfat_directory){.volume = volume, .chain = volume->root, .deletions = volume->deletions};
  if (error != SPATE_OK || set.place.entries == 0) return error;
  if ((set.raw[FILE_ATTRIBUTES] & EXFAT_DIRECTORY) == 0) return SPATE_E_NOT_DIRECTORY;
  return spate_exfat_set_chain(volume, set.raw, &directory->chain);
}

enum spate_error spate_exfat_list(struct spate_exfat *volume, const char *path,
                                  struct spate_exfat_directory *directory) {
  enum spate_error error = spate_exfat_begin(volume);

  if (error != SPATE_OK) return error;
  error = list(volume, path, directory);
  spate_exfat_end(volume);
  return error;
}

/* The clusters of what a walk has given. */
static enum spate_error chain_of(struct spate_exfat *volume, const struct spate_exfat_entry *entry,
                                 struct spate_exfat_chain *chain) {
  *chain = (struct spate_exfat_chain){
      .first_cluster = entry->first_cluster, .bytes = entry->bytes, .contiguous = entry->contiguous};
  return spate_exfat_chain_check(volume, chain);
}

enum spate_error spate_exfat_list_entry(struct spate_exfat *volume, const struct spate_exfat_entry *entry,
                                        struct spate_exfat_directory *directory) {
  if (!entry->directory) return SPATE_E_NOT_DIRECTORY;
  *directory = (struct spate_exfat_directory){.volume = volume, .deletions = entry->deletions};
  return chain_of(volume, entry, &directory->chain);
}

enum spate_error spate_exfat_open_entry(struct spate_exfat *volume, const struct spate_exfat_entry *entry,
                                        struct spate_exfat_file *file) {
  *file = (struct spate_exfat_file){
      .bytes = entry->bytes, .valid_bytes = entry->valid_bytes, .volume = volume, .deletions = entry->deletions};
  return chain_of(volume, entry, &file->chain);
}

static enum spate_error describe(struct spate_exfat *volume, const struct exfat_set *set,
                                 struct spate_exfat_entry *entry) {
  uint16_t units[SPATE_EXFAT_NAME_UNITS_MAX];
  struct spate_exfat_chain chain;
  const uint32_t count = spate_exfat_set_name(set->raw, units);

  spate_exfat_utf8(units, count, entry->name); /* also for a set whose clusters or lengths are impossible */
  enum spate_error error = spate_exfat_set_chain(volume, set->raw, &chain);
  if (error != SPATE_OK) return error;
  entry->bytes = chain.bytes;
  entry->valid_bytes = spate_field_get64(set->raw + STREAM_VALID_BYTES);
  entry->attributes = spate_field_get16(set->raw + FILE_ATTRIBUTES);
  entry->directory = (entry->attributes & EXFAT_DIRECTORY) != 0;
  entry->contiguous = chain.contiguous != 0;
  entry->first_cluster = chain.first_cluster;
  entry->deletions = volume->deletions;
  spate_exfat_times_get(set->raw, &entry->created, &entry->modified);
  return SPATE_OK;
}

enum spate_error spate_exfat_list_next(struct spate_exfat_directory *directory, struct spate_exfat_entry *entry,
                                       bool *more) {
  struct spate_exfat *volume = directory->volume;
  struct exfat_set set;
  enum spate_error error = spate_exfat_begin(volume);

  *more = false;
  entry->name[0] = '\0';
  if (error != SPATE_OK) return error;
  error = is_stale(volume, &directory->chain, &directory->deletions)
              ? SPATE_E_STALE
              : spate_exfat_directory_next(volume, &directory->chain, &directory->offset_bytes, &set, more);
  if (error == SPATE_E_CORRUPT) spate_exfat_corrupt(volume);
  if (error == SPATE_OK && *more) error = describe(volume, &set, entry);
  spate_exfat_end(volume);
  return error;
}

enum spate_error spate_exfat_stat(struct spate_exfat *volume, const char *path, struct spate_exfat_entry *entry) {
  struct exfat_path at;
  struct exfat_set set;
  enum spate_error error = spate_exfat_begin(volume);

  entry->name[0] = '\0';
  if (error != SPATE_OK) return error;
  error = spate_exfat_path_find(volume, path, &at, &set);
  if (error == SPATE_OK && set.place.entries == 0)
    *entry = (struct spate_exfat_entry){.directory = true,
                                        .attributes = EXFAT_DIRECTORY,
                                        .bytes = volume->root.bytes,
                                        .valid_bytes = volume->root.bytes,
                                        .first_cluster = volume->root.first_cluster,
                                        .deletions = volume->deletions,
                                        .created = {.year = 1980, .month = 1, .day = 1},
                                        .modified = {.year = 1980, .month = 1, .day = 1}};
  else if (error == SPATE_OK)
    error = describe(volume, &set, entry);
  spate_exfat_end(volume);
  return error;
}

static enum spate_error open_file(struct spate_exfat *volume, const char *path, struct spate_exfat_file *file) {
  struct exfat_path at;
  struct exfat_set set;
  enum spate_error error = spate_exfat_path_find(volume, path, &at, &set);

  if (error != SPATE_OK) return error;
  if ((set.raw[FILE_ATTRIBUTES] & EXFAT_DIRECTORY) != 0) return SPATE_E_IS_DIRECTORY;
  file->volume = volume;
  file->deletions = volume->deletions;
  error = spate_exfat_set_chain(volume, set.raw, &file->chain);
  file->bytes = file->chain.bytes;
  file->valid_bytes = spate_field_get64(set.raw + STREAM_VALID_BYTES);
  return error;
}

enum spate_error spate_exfat_open(struct spate_exfat *volume, const char *path, struct spate_exfat_file *file) {
  enum spate_error error = spate_exfat_begin(volume);

  if (error != SPATE_OK) return error;
  error = open_file(volume, path, file);
  spate_exfat_end(volume);
  return error;
}

enum spate_error spate_exfat_check(struct spate_exfat_file *file) {
  return is_stale(file->volume, &file->chain, &file->deletions) ? SPATE_E_STALE : SPATE_OK;
}

/* Read up to the end of a block. Data blocks are not cached, because streams write them past the cache. */
static enum spate_error read_block(struct spate_exfat_file *file, uint64_t offset_bytes, uint8_t *to, size_t bytes,
                                   size_t *got) {
  struct spate_exfat *volume = file->volume;
  uint32_t in_block = (uint32_t)offset_bytes & volume->block_mask;
  uint64_t limit_bytes = offset_bytes < file->valid_bytes ? file->valid_bytes : file->bytes;
  uint64_t left_bytes = limit_bytes - offset_bytes;
  uint64_t lba;

  *got = spate_exfat_block_bytes(volume) - in_block;
  if (*got > bytes) *got = bytes;
  if (*got > left_bytes) *got = (size_t)left_bytes;
  if (offset_bytes >= file->valid_bytes) {
    memset(to, 0, *got);
    return SPATE_OK;
  }
  enum spate_error error = spate_exfat_chain_lba(volume, &file->chain, offset_bytes, &lba);
  if (error != SPATE_OK) return error;
  struct spate_exfat_block *block = spate_exfat_block_scratch(volume);
  error = spate_block_read(volume->config.block, lba, 1, block->data);
  if (error == SPATE_OK) memcpy(to, block->data + in_block, *got);
  return error;
}

enum spate_error spate_exfat_read(struct spate_exfat_file *file, uint64_t offset_bytes, void *to, size_t bytes,
                                  size_t *got) {
  enum spate_error error = spate_exfat_begin(file->volume);

  *got = 0;
  if (error != SPATE_OK) return error;
  error = spate_exfat_check(file);
  while (error == SPATE_OK && *got < bytes && offset_bytes < file->bytes) {
    size_t now_bytes;
    error = read_block(file, offset_bytes, (uint8_t *)to + *got, bytes - *got, &now_bytes);
    if (error != SPATE_OK) break;
    offset_bytes += now_bytes;
    *got += now_bytes;
  }
  spate_exfat_end(file->volume);
  return error;
}

enum spate_error spate_exfat_extent(struct spate_exfat_file *file, uint64_t offset_bytes, uint64_t *lba,
                                    uint64_t *blocks) {
  struct spate_exfat *volume = file->volume;
  uint32_t block_mask = volume->block_mask;
  uint32_t in_cluster = (uint32_t)offset_bytes & volume->cluster_mask;
  uint32_t first;
  uint32_t clusters;

  *blocks = 0;
  if ((offset_bytes & block_mask) != 0) return SPATE_E_INVALID;
  if (offset_bytes >= file->valid_bytes) return SPATE_OK;
  enum spate_error error = spate_exfat_begin(volume);
  if (error != SPATE_OK) return error;
  error = spate_exfat_check(file);
  if (error == SPATE_OK)
    error = spate_exfat_chain_run(volume, &file->chain, (uint32_t)(offset_bytes >> volume->cluster_shift), &first,
                                  &clusters);
  spate_exfat_end(volume);
  if (error != SPATE_OK) return error;
  uint64_t left_blocks = (file->valid_bytes - offset_bytes + block_mask) >> spate_exfat_block_shift(volume);
  uint64_t skipped_blocks = in_cluster >> spate_exfat_block_shift(volume);
  uint64_t run_blocks = spate_exfat_cluster_blocks(volume, clusters) - skipped_blocks;
  *lba = spate_exfat_cluster_lba(volume, first) + skipped_blocks;
  *blocks = run_blocks < left_blocks ? run_blocks : left_blocks;
  return SPATE_OK;
}
