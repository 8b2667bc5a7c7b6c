/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metadata blocks in memory, written through. Each block has one image and at most one write in flight, because NVMe
 * does not order two writes to one block. The image does not change while it is being written. Every write has FUA:
 * what an operation wrote is durable before it writes the next block, and the streams' data in the drive's cache need
 * not be flushed for that. The links of a join are written past the cache (chain.c).
 */
#include "internal.h"

#define NO_LBA          UINT64_MAX
#define AHEAD_BYTES_MAX (UINT32_C(64) << 10) /* so little that streams hardly wait for it */

void spate_exfat_cache_open(struct spate_exfat *volume) {
  const struct spate_exfat_config *config = &volume->config;
  const uint32_t count_max = config->cache_block_count < SPATE_EXFAT_CACHE_BLOCKS_MAX ? config->cache_block_count
                                                                                      : SPATE_EXFAT_CACHE_BLOCKS_MAX;
  size_t left_bytes = config->cache_bytes;
  uint32_t count = 0;

  volume->blocks = config->cache_blocks;
  for (; count < count_max && left_bytes >= spate_exfat_block_bytes(volume); count++) {
    uint8_t *data = (uint8_t *)config->cache + ((size_t)count << spate_exfat_block_shift(volume));
    volume->blocks[count] = (struct spate_exfat_block){.lba = NO_LBA, .data = data, .volume = volume};
    left_bytes -= spate_exfat_block_bytes(volume);
  }
  volume->block_count = count;
}

/* The least recently used block that can be replaced. There always is one: see spate_exfat_cache_room(). */
static struct spate_exfat_block *choose_victim(struct spate_exfat *volume) {
  struct spate_exfat_block *victim = NULL;

  for (uint32_t i = 0; i < volume->block_count; i++) {
    struct spate_exfat_block *block = &volume->blocks[i];
    if (block->pins > 0 || block->writing) continue;
    if (block->lba == NO_LBA) return block;
    if (victim == NULL || volume->used_now - block->used > volume->used_now - victim->used) victim = block;
  }
  return victim;
}

struct spate_exfat_block *spate_exfat_block_scratch(struct spate_exfat *volume) {
  struct spate_exfat_block *block = choose_victim(volume);

  block->lba = NO_LBA;
  block->used = ++volume->used_now;
  return block;
}

/* How many blocks from `lba` on may be read at once. Not those in the cache, because their images may be newer, and not
 * those of another cluster, which may be data that a stream writes past the cache. */
static uint32_t blocks_ahead(const struct spate_exfat *volume, uint64_t lba) {
  uint64_t cluster_blocks = spate_exfat_cluster_blocks(volume, 1);
  uint64_t left_blocks = lba < volume->heap_lba ? volume->heap_lba - lba
                                                : cluster_blocks - ((lba - volume->heap_lba) & (cluster_blocks - 1u));
  uint32_t most = AHEAD_BYTES_MAX >> spate_exfat_block_shift(volume);

  if (volume->block_count / 2u < most) most = volume->block_count / 2u;
  if (left_blocks < most) most = (uint32_t)left_blocks;
  for (uint32_t i = 0; i < volume->block_count; i++) {
    uint64_t ahead = volume->blocks[i].lba - lba; /* a large number for an empty block, and for one before */
    if (ahead < most) most = (uint32_t)ahead;
  }
  return most;
}

/* Adjacent blocks in memory that can be replaced; NULL: there are none. */
static struct spate_exfat_block *choose_victims(struct spate_exfat *volume, uint32_t blocks) {
  uint32_t run = 0;

  for (uint32_t i = 0; i < volume->block_count; i++) {
    run = volume->blocks[i].pins > 0 || volume->blocks[i].writing ? 0 : run + 1u;
    if (run == blocks) return &volume->blocks[i + 1u - blocks];
  }
  return NULL;
}

struct spate_exfat_block *spate_exfat_blocks_scratch(struct spate_exfat *volume, uint32_t *blocks) {
  if (*blocks > volume->block_count / 2u) *blocks = volume->block_count / 2u;
  for (; *blocks > 1u; *blocks /= 2u) {
    struct spate_exfat_block *first = choose_victims(volume, *blocks);
    if (first == NULL) continue;
    for (uint32_t i = 0; i < *blocks; i++)
      first[i].lba = NO_LBA;
    return first;
  }
  return spate_exfat_block_scratch(volume);
}

static enum spate_error read_blocks(struct spate_exfat *volume, uint64_t lba, uint32_t blocks,
                                    struct spate_exfat_block **found) {
  struct spate_exfat_block *first = spate_exfat_blocks_scratch(volume, &blocks);
  enum spate_error error = spate_block_read(volume->config.block, lba, blocks, first->data);
  if (error != SPATE_OK) return error;
  for (uint32_t i = 0; i < blocks; i++) {
    first[i].lba = lba + i;
    first[i].used = ++volume->used_now;
  }
  volume->next_lba = lba + blocks;
  *found = first;
  return SPATE_OK;
}

enum spate_error spate_exfat_block_get(struct spate_exfat *volume, uint64_t lba, struct spate_exfat_block **found) {
  for (uint32_t i = 0; i < volume->block_count; i++) {
    if (volume->blocks[i].lba != lba) continue;
    volume->blocks[i].used = ++volume->used_now;
    *found = &volume->blocks[i];
    return SPATE_OK;
  }
  /* A directory is read in sequence, so read ahead. If that fails, read only this block: the others may be damaged. */
  uint32_t blocks = lba == volume->next_lba ? blocks_ahead(volume, lba) : 1;
  enum spate_error error = read_blocks(volume, lba, blocks, found);
  return error != SPATE_OK && blocks > 1 ? read_blocks(volume, lba, 1, found) : error;
}

void spate_exfat_block_settle(struct spate_exfat_block *block) {
  block->claimed = true; /* or lengths that are published meanwhile could keep the block busy without end */
  while (block->writing)
    spate_block_yield(block->volume->config.block);
  block->claimed = false;
}

enum spate_error spate_exfat_block_edit(struct spate_exfat *volume, uint64_t lba, struct spate_exfat_block **block) {
  enum spate_error error = spate_exfat_block_get(volume, lba, block);

  if (error == SPATE_OK) spate_exfat_block_settle(*block);
  return error;
}

enum spate_error spate_exfat_block_commit(struct spate_exfat_block *block) {
  block->io = (struct spate_io){
      .op = SPATE_WRITE, .flags = SPATE_IO_FUA | SPATE_IO_CPU, .lba = block->lba, .blocks = 1, .buffer = block->data};
  block->writing = true;
  enum spate_error error = spate_block_do(block->volume->config.block, &block->io);
  block->writing = false;
  /* After a failed write the media's content is unknown. A pinned block is kept, because its clips need the image. */
  if (error != SPATE_OK && block->pins == 0) block->lba = NO_LBA;
  if (block->written != NULL) block->written(block);
  return error;
}

enum spate_error spate_exfat_flush_data(struct spate_exfat *volume) {
  struct spate_block *device = volume->config.block;
  enum spate_error error = spate_block_flush(device);

  if (error != SPATE_OK) return error;
  /* After a power loss the flush may have succeeded because the cache was empty. */
  return spate_block_power_mark(device) == volume->power_mark ? SPATE_OK : SPATE_E_POWER_LOST;
}

void spate_exfat_cache_forget(struct spate_exfat *volume, uint64_t lba, uint64_t blocks) {
  for (uint32_t i = 0; i < volume->block_count; i++)
    if (volume->blocks[i].pins == 0 && volume->blocks[i].lba >= lba && volume->blocks[i].lba - lba < blocks)
      volume->blocks[i].lba = NO_LBA;
}

uint32_t spate_exfat_cache_room(const struct spate_exfat *volume) {
  uint32_t pinned = 0;

  for (uint32_t i = 0; i < volume->block_count; i++)
    if (volume->blocks[i].pins > 0) pinned++;
  return volume->block_count - SPATE_EXFAT_CACHE_BLOCKS_MIN - pinned;
}
