/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The allocation bitmap (specification, 7.1.5) through a window of the caller's size: bit i of byte j is cluster
 * 2 + 8 j + i. Where the whole bitmap fits, it is read once. Writes go through the window, without FUA: the caller
 * puts one barrier behind all of them.
 */
#include "internal.h"

#define TRIM_PIECE_BYTES (UINT32_C(1) << 30)

/* Read or write the window's blocks from byte `first_byte` of the bitmap, cluster by cluster: it may be in pieces. */
static enum spate_error transfer(struct spate_exfat *volume, enum spate_op op, uint32_t first_byte, uint32_t bytes) {
  struct spate_block *device = volume->config.block;
  uint8_t *at = (uint8_t *)volume->config.bitmap + (first_byte - volume->window_first_byte);

  while (bytes > 0) {
    uint32_t in_cluster = first_byte & volume->cluster_mask;
    uint32_t now_bytes = exfat_cluster_bytes(volume) - in_cluster;
    uint64_t lba;
    enum spate_error error = exfat_chain_lba(volume, &volume->bitmap, first_byte, &lba);
    if (error != SPATE_OK) return error;
    if (now_bytes > bytes) now_bytes = bytes;
    uint32_t now_blocks = now_bytes >> device->block_shift;
    error = op == SPATE_READ ? spate_block_read(device, lba, now_blocks, at)
                             : spate_block_write(device, lba, now_blocks, at, 0);
    if (error != SPATE_OK) return error;
    first_byte += now_bytes;
    at += now_bytes;
    bytes -= now_bytes;
  }
  return SPATE_OK;
}

/* Have byte `byte` of the bitmap in the window. */
static enum spate_error load(struct spate_exfat *volume, uint32_t byte) {
  uint32_t block_mask = volume->block_mask;
  uint32_t end_byte = (((volume->cluster_count + 7u) / 8u) + block_mask) & ~block_mask;

  if (byte - volume->window_first_byte < volume->window_bytes) return SPATE_OK;
  volume->window_bytes = 0;
  volume->window_first_byte = volume->config.bitmap_bytes >= end_byte ? 0 : byte & ~block_mask;
  uint32_t bytes = end_byte - volume->window_first_byte;
  if (bytes > volume->config.bitmap_bytes) bytes = (uint32_t)volume->config.bitmap_bytes;
  enum spate_error error = transfer(volume, SPATE_READ, volume->window_first_byte, bytes);
  if (error == SPATE_OK) volume->window_bytes = bytes;
  return error;
}

static uint8_t *window_at(const struct spate_exfat *volume, uint32_t byte) {
  return (uint8_t *)volume->config.bitmap + (byte - volume->window_first_byte);
}

enum spate_error exfat_bitmap_scan(struct spate_exfat *volume, uint32_t enough, struct exfat_free *found) {
  uint32_t count = volume->cluster_count;
  uint32_t run = 0;
  uint32_t step;

  *found = (struct exfat_free){0};
  for (uint32_t at = 0; at < count && found->run_clusters < enough; at += step) {
    enum spate_error error = load(volume, at / 8u);
    if (error != SPATE_OK) return error;
    uint8_t byte = *window_at(volume, at / 8u);
    bool alike = (byte == 0 || byte == 0xff) && (at & 7u) == 0 && count - at >= 8u;
    step = alike ? 8u : 1u;
    if (exfat_bit(byte, at)) {
      run = 0;
      continue;
    }
    run += step;
    found->clusters += step;
    if (run <= found->run_clusters) continue;
    found->run_clusters = run;
    found->run_first = EXFAT_FIRST_CLUSTER + at + step - run;
  }
  return SPATE_OK;
}

enum spate_error exfat_bitmap_allocated(struct spate_exfat *volume, uint32_t first, uint32_t clusters, bool *all) {
  uint32_t at = first - EXFAT_FIRST_CLUSTER;
  uint32_t end = at + clusters;

  for (*all = true; at < end && *all; at++) {
    enum spate_error error = load(volume, at / 8u);
    if (error != SPATE_OK) return error;
    *all = exfat_bit(*window_at(volume, at / 8u), at);
  }
  return SPATE_OK;
}

enum spate_error exfat_bitmap_find(struct spate_exfat *volume, uint32_t clusters, uint32_t *first) {
  struct exfat_free found;
  enum spate_error error = exfat_bitmap_scan(volume, clusters, &found);

  if (error != SPATE_OK) return error;
  *first = found.run_first;
  if (found.run_clusters >= clusters) return SPATE_OK;
  return found.clusters >= clusters ? SPATE_E_FRAGMENTED : SPATE_E_NO_SPACE;
}

enum spate_error spate_exfat_longest_free(struct spate_exfat *volume, uint32_t shares, uint64_t *bytes) {
  struct exfat_free found;
  enum spate_error error = exfat_begin(volume);

  if (error != SPATE_OK) return error;
  error = exfat_bitmap_scan(volume, UINT32_MAX, &found);
  exfat_end(volume);
  *bytes = (uint64_t)(found.run_clusters / shares) << volume->cluster_shift;
  return error;
}

enum spate_error exfat_bitmap_set(struct spate_exfat *volume, uint32_t first, uint32_t clusters, bool allocated) {
  uint32_t block_mask = volume->block_mask;
  uint32_t at = first - EXFAT_FIRST_CLUSTER;
  uint32_t end = at + clusters;

  /* What is remembered of these clusters is about their owner of before. */
  exfat_cache_forget(volume, exfat_cluster_lba(volume, first), exfat_cluster_blocks(volume, clusters));
  volume->unflushed = true;
  while (at < end) {
    enum spate_error error = load(volume, at / 8u);
    if (error != SPATE_OK) return error;
    uint32_t first_byte = (at / 8u) & ~block_mask;
    uint32_t window_end = (volume->window_first_byte + volume->window_bytes) * 8u;
    uint32_t stop = end < window_end ? end : window_end;
    for (; at < stop; at++) {
      uint8_t bit = (uint8_t)(1u << (at & 7u));
      uint8_t *byte = window_at(volume, at / 8u);
      *byte = (uint8_t)(allocated ? *byte | bit : *byte & ~bit);
    }
    error = transfer(volume, SPATE_WRITE, first_byte, (((stop + 7u) / 8u + block_mask) & ~block_mask) - first_byte);
    if (error != SPATE_OK) {
      volume->window_bytes = 0; /* it is not what the drive holds: read it again */
      return error;
    }
  }
  return SPATE_OK;
}

enum spate_error exfat_trim(struct spate_exfat *volume, uint32_t first, uint32_t clusters) {
  struct spate_block *device = volume->config.block;

  /* Where others left a contradiction, two files may share clusters, and a deleted one's are another's data. */
  if (!device->can_trim || clusters == 0 || volume->foreign_dirty || volume->corrupt) return SPATE_OK;
  return spate_block_erase(device, SPATE_TRIM, exfat_cluster_lba(volume, first), exfat_cluster_blocks(volume, clusters),
                           TRIM_PIECE_BYTES >> device->block_shift, NULL, NULL);
}
