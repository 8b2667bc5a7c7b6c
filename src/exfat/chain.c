/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clusters and the FAT (specification, chapter 4.1). Every cluster number that comes from the volume is checked before
 * it is used; a walk is bounded by the chain's length, which is bounded by the volume.
 */
#include "internal.h"

#define FAT_ENTRY_BYTES   4u
#define ZERO_PIECE_BYTES  (UINT32_C(16) << 20)  /* 32768 blocks of 512 bytes: one Write Zeroes command */
#define ZERO_TRIES        4u                    /* while the drive loses power each time */
#define ZERO_SOURCE_BYTES (UINT32_C(256) << 10) /* so little that streams need no turn while it is cleared */

/* The block at `lba` in the cache, and its byte for `offset_bytes` of a structure that begins with a block. */
static enum spate_error byte_get(struct spate_exfat *volume, uint64_t lba, uint64_t offset_bytes, bool edit,
                                 struct spate_exfat_block **block, uint8_t **byte) {
  enum spate_error error =
      edit ? spate_exfat_block_edit(volume, lba, block) : spate_exfat_block_get(volume, lba, block);

  if (error == SPATE_OK) *byte = (*block)->data + (offset_bytes & volume->block_mask);
  return error;
}

static enum spate_error fat_entry(struct spate_exfat *volume, uint32_t cluster, bool edit,
                                  struct spate_exfat_block **block, uint8_t **entry) {
  uint64_t offset_bytes = (uint64_t)cluster * FAT_ENTRY_BYTES;

  return byte_get(volume, volume->fat_lba + (offset_bytes >> spate_exfat_block_shift(volume)), offset_bytes, edit,
                  block, entry);
}

enum spate_error spate_exfat_fat_get(struct spate_exfat *volume, uint32_t cluster, uint32_t *next) {
  struct spate_exfat_block *block;
  uint8_t *entry;
  enum spate_error error = fat_entry(volume, cluster, false, &block, &entry);

  if (error == SPATE_OK) *next = spate_field_get32(entry);
  return error;
}

enum spate_error spate_exfat_fat_set(struct spate_exfat *volume, uint32_t cluster, uint32_t next) {
  struct spate_exfat_block *block;
  uint8_t *entry;
  enum spate_error error = fat_entry(volume, cluster, true, &block, &entry);

  if (error != SPATE_OK) return error;
  spate_field_put32(entry, next);
  return spate_exfat_block_commit(block);
}

/* Memory for links from `cluster` on. Whole blocks are not read, because nothing of what they hold stays. */
static enum spate_error link_blocks(struct spate_exfat *volume, uint32_t cluster, uint32_t clusters, uint32_t *blocks,
                                    struct spate_exfat_block **first) {
  const uint32_t shift = spate_exfat_fat_shift(volume);
  const uint32_t whole_blocks = (cluster & ((UINT32_C(1) << shift) - 1u)) == 0 ? clusters >> shift : 0;
  uint8_t *entry;

  if (whole_blocks == 0) {
    *blocks = 1;
    return fat_entry(volume, cluster, true, first, &entry);
  }
  if (*blocks > whole_blocks) *blocks = whole_blocks;
  *first = spate_exfat_blocks_scratch(volume, blocks);
  return SPATE_OK;
}

enum spate_error spate_exfat_fat_link(struct spate_exfat *volume, uint32_t cluster, uint32_t clusters, uint32_t next,
                                      uint32_t blocks_max, uint32_t *linked) {
  const uint32_t shift = spate_exfat_fat_shift(volume);
  const uint32_t in_block = cluster & ((UINT32_C(1) << shift) - 1u);
  const uint64_t lba = volume->fat_lba + (cluster >> shift);
  struct spate_exfat_block *first;
  uint32_t blocks = blocks_max;
  enum spate_error error = link_blocks(volume, cluster, clusters, &blocks, &first);

  *linked = 0;
  if (error != SPATE_OK) return error;
  const uint32_t room = (blocks << shift) - in_block, count = clusters < room ? clusters : room;
  for (uint32_t i = 0; i < count; i++)
    spate_field_put32(first->data + (in_block + i) * FAT_ENTRY_BYTES, i + 1u < clusters ? cluster + i + 1u : next);
  error = spate_block_write(volume->config.block, lba, blocks, first->data, 0);
  spate_exfat_cache_forget(volume, lba, blocks); /* the drive may lose what it has */
  if (error == SPATE_OK) *linked = count;
  return error;
}

enum spate_error spate_exfat_chain_check(struct spate_exfat *volume, const struct spate_exfat_chain *chain) {
  uint64_t clusters_max = volume->cluster_count;

  if (chain->first_cluster == 0) return chain->bytes == 0 ? SPATE_OK : SPATE_E_CORRUPT;
  if (!spate_exfat_cluster_valid(volume, chain->first_cluster)) return SPATE_E_CORRUPT;
  if (chain->contiguous) clusters_max -= chain->first_cluster - EXFAT_FIRST_CLUSTER;
  return chain->bytes <= clusters_max << volume->cluster_shift ? SPATE_OK : SPATE_E_CORRUPT;
}

/* Move the chain's cursor to cluster number `index`. */
static enum spate_error seek(struct spate_exfat *volume, struct spate_exfat_chain *chain, uint32_t index) {
  if (chain->contiguous) {
    chain->cluster = chain->first_cluster + index;
    chain->index = index;
  } else if (chain->cluster == 0 || index < chain->index) {
    chain->cluster = chain->first_cluster;
    chain->index = 0;
  }
  if (!spate_exfat_cluster_valid(volume, chain->cluster)) return spate_exfat_corrupt(volume);
  while (chain->index < index) {
    uint32_t next;
    enum spate_error error = spate_exfat_fat_get(volume, chain->cluster, &next);
    if (error != SPATE_OK) return error;
    if (!spate_exfat_cluster_valid(volume, next)) return spate_exfat_corrupt(volume);
    chain->cluster = next;
    chain->index++;
  }
  return SPATE_OK;
}

enum spate_error spate_exfat_chain_measure(struct spate_exfat *volume, struct spate_exfat_chain *chain,
                                           uint64_t bytes_max) {
  uint32_t cluster = chain->first_cluster;
  uint64_t bytes = 0;

  while (cluster != EXFAT_CLUSTER_END) {
    if (!spate_exfat_cluster_valid(volume, cluster) || bytes >= bytes_max) return spate_exfat_corrupt(volume);
    enum spate_error error = spate_exfat_fat_get(volume, cluster, &cluster);
    if (error != SPATE_OK) return error;
    bytes += spate_exfat_cluster_bytes(volume);
  }
  chain->bytes = bytes;
  return SPATE_OK;
}

enum spate_error spate_exfat_chain_lba(struct spate_exfat *volume, struct spate_exfat_chain *chain,
                                       uint64_t offset_bytes, uint64_t *lba) {
  uint32_t in_cluster = (uint32_t)offset_bytes & volume->cluster_mask;

  if (offset_bytes >= chain->bytes) return spate_exfat_corrupt(volume);
  enum spate_error error = seek(volume, chain, (uint32_t)(offset_bytes >> volume->cluster_shift));
  if (error != SPATE_OK) return error;
  *lba = spate_exfat_cluster_lba(volume, chain->cluster) + (in_cluster >> spate_exfat_block_shift(volume));
  return SPATE_OK;
}

enum spate_error spate_exfat_chain_get(struct spate_exfat *volume, struct spate_exfat_chain *chain,
                                       uint64_t offset_bytes, bool edit, struct spate_exfat_block **block,
                                       uint8_t **byte) {
  uint64_t lba;
  enum spate_error error = spate_exfat_chain_lba(volume, chain, offset_bytes, &lba);

  return error == SPATE_OK ? byte_get(volume, lba, offset_bytes, edit, block, byte) : error;
}

enum spate_error spate_exfat_chain_run(struct spate_exfat *volume, struct spate_exfat_chain *chain, uint32_t index,
                                       uint32_t *first, uint32_t *clusters) {
  uint32_t left = (uint32_t)spate_exfat_clusters(volume, chain->bytes) - index;
  enum spate_error error = seek(volume, chain, index);

  if (error != SPATE_OK) return error;
  *first = chain->cluster;
  *clusters = chain->contiguous ? left : 1;
  while (*clusters < left) {
    uint32_t next;
    error = spate_exfat_fat_get(volume, chain->cluster, &next);
    if (error != SPATE_OK) return error;
    if (next != chain->cluster + 1u || !spate_exfat_cluster_valid(volume, next)) break;
    chain->cluster = next;
    chain->index++;
    ++*clusters;
  }
  return SPATE_OK;
}

enum spate_error spate_exfat_zero_blocks(struct spate_block *device, uint64_t lba, uint64_t blocks, void *zeros,
                                         size_t zeros_bytes) {
  uint32_t source_bytes = zeros_bytes < ZERO_SOURCE_BYTES ? (uint32_t)zeros_bytes : ZERO_SOURCE_BYTES;
  uint32_t request_blocks = source_bytes >> device->block_shift;

  if (blocks < request_blocks) request_blocks = (uint32_t)blocks;
  if (device->can_zero) {
    enum spate_error error =
        spate_block_erase(device, SPATE_ZERO, lba, blocks, ZERO_PIECE_BYTES >> device->block_shift, NULL, NULL);
    if (error != SPATE_E_COMMAND && error != SPATE_E_UNSUPPORTED) return error;
    device->can_zero = false; /* some drives announce the command and refuse it */
  }
  memset(zeros, 0, (size_t)request_blocks << device->block_shift);
  while (blocks > 0) {
    uint32_t now_blocks = blocks < request_blocks ? (uint32_t)blocks : request_blocks;
    enum spate_error error = spate_block_write(device, lba, now_blocks, zeros, 0);
    if (error != SPATE_OK) return error;
    lba += now_blocks;
    blocks -= now_blocks;
  }
  return SPATE_OK;
}

enum spate_error spate_exfat_zero(struct spate_exfat *volume, uint64_t lba, uint64_t blocks) {
  struct spate_block *device = volume->config.block;

  volume->loaded_bytes = 0; /* its memory is the source of the zeros */
  spate_exfat_cache_forget(volume, lba, blocks);
  for (unsigned tries = 0; tries < ZERO_TRIES; tries++) {
    const uint32_t mark = spate_block_power_mark(device);
    enum spate_error error =
        spate_exfat_zero_blocks(device, lba, blocks, volume->config.bitmap, volume->config.bitmap_bytes);
    if (error == SPATE_OK) error = spate_block_flush(device);
    if (error != SPATE_OK || mark == spate_block_power_mark(device)) return error;
  }
  return SPATE_E_POWER_LOST;
}
