/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The allocation bitmap (specification, 7.1.5) through a section of the caller's size: bit i of byte j is cluster
 * 2 + 8 j + i. If the whole bitmap fits, it is read once. Writes go through the section. The cache then forgets its
 * blocks of the bitmap, because they are older.
 */
#include "internal.h"

#define TRIM_PIECE_BYTES (UINT32_C(1) << 30)

/* Read or write the section's blocks from byte `first_byte` of the bitmap, cluster by cluster: it may be fragmented. */
static enum spate_error transfer(struct spate_exfat *volume, enum spate_op op, uint32_t first_byte, uint32_t bytes) {
  struct spate_block *device = volume->config.block;
  uint8_t *at = (uint8_t *)volume->config.bitmap + (first_byte - volume->loaded_first_byte);

  while (bytes > 0) {
    uint32_t in_cluster = first_byte & volume->cluster_mask;
    uint32_t now_bytes = spate_exfat_cluster_bytes(volume) - in_cluster;
    uint64_t lba;
    enum spate_error error = spate_exfat_chain_lba(volume, &volume->bitmap, first_byte, &lba);
    if (error != SPATE_OK) return error;
    if (now_bytes > bytes) now_bytes = bytes;
    uint32_t now_blocks = now_bytes >> device->block_shift;
    error = op == SPATE_READ ? spate_block_read(device, lba, now_blocks, at)
                             : spate_block_write(device, lba, now_blocks, at, SPATE_IO_FUA);
    if (op == SPATE_WRITE) spate_exfat_cache_forget(volume, lba, now_blocks);
    if (error != SPATE_OK) return error;
    first_byte += now_bytes;
    at += now_bytes;
    bytes -= now_bytes;
  }
  return SPATE_OK;
}

/* Load byte `byte` of the bitmap into the section. */
static enum spate_error load(struct spate_exfat *volume, uint32_t byte) {
  uint32_t block_mask = volume->block_mask;
  uint32_t end_byte = (((volume->cluster_count + 7u) / 8u) + block_mask) & ~block_mask;

  if (byte - volume->loaded_first_byte < volume->loaded_bytes) return SPATE_OK;
  volume->loaded_bytes = 0;
  volume->loaded_first_byte = volume->config.bitmap_bytes >= end_byte ? 0 : byte & ~block_mask;
  uint32_t bytes = end_byte - volume->loaded_first_byte;
  if (bytes > volume->config.bitmap_bytes) bytes = (uint32_t)volume->config.bitmap_bytes;
  enum spate_error error = SPATE_OK;
  if (volume->bitmap.bytes == 0)
    memset(volume->config.bitmap, 0xff, bytes); /* without a bitmap nothing is known to be free */
  else
    error = transfer(volume, SPATE_READ, volume->loaded_first_byte, bytes);
  if (error == SPATE_OK) volume->loaded_bytes = bytes;
  return error;
}

static uint8_t *section_at(const struct spate_exfat *volume, uint32_t byte) {
  return (uint8_t *)volume->config.bitmap + (byte - volume->loaded_first_byte);
}

#define LOOK_MASK 63u /* the clock is looked at once in 64 words */

void spate_exfat_give_turn(struct spate_exfat *volume, uint64_t at, uint64_t *since_ticks) {
  struct spate_block *device = volume->config.block;

  if ((at / EXFAT_WORD_BITS & LOOK_MASK) != 0 || device->while_waiting == NULL) return;
  if (spate_port_ticks() - *since_ticks < volume->turn_ticks) return;
  spate_block_yield(device);
  *since_ticks = spate_port_ticks();
}

/* Not the compiler's built-in function: without an instruction for it, that calls the compiler's library. */
static uint32_t count_ones(uint64_t word) {
  word -= word >> 1 & UINT64_C(0x5555555555555555);
  word = (word & UINT64_C(0x3333333333333333)) + (word >> 2 & UINT64_C(0x3333333333333333));
  word = (word + (word >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
  return (uint32_t)(word * UINT64_C(0x0101010101010101) >> 56);
}

/* How many of the lowest bits are zeros; 64: all. */
static uint32_t zeros_below(uint64_t word) { return count_ones(~word & (word - 1u)); }

/* Find the runs of ones in `unused`. *run is the length of a run at the end of the previous word. */
static void scan_word(uint64_t unused, uint32_t at, uint32_t enough, uint32_t *run, struct spate_exfat_free *found) {
  for (uint32_t bit = 0; bit < EXFAT_WORD_BITS && found->run_clusters < enough;) {
    uint64_t rest = unused >> bit;
    uint32_t used = zeros_below(rest);
    if (used > 0) *run = 0;
    if (used >= EXFAT_WORD_BITS) return;
    uint32_t length = zeros_below(~(rest >> used));
    bit += used + length;
    *run += length;
    found->clusters += length;
    if (*run <= found->run_clusters) continue;
    found->run_clusters = *run;
    found->run_first = EXFAT_FIRST_CLUSTER + at + bit - *run;
  }
}

static enum spate_error scan(struct spate_exfat *volume, uint32_t enough, struct spate_exfat_free *found) {
  uint64_t since_ticks = spate_port_ticks();
  uint32_t count = volume->cluster_count;
  uint32_t run = 0;
  uint64_t at = 0;

  *found = (struct spate_exfat_free){0};
  for (; at < count && found->run_clusters < enough; at += EXFAT_WORD_BITS) {
    spate_exfat_give_turn(volume, at, &since_ticks);
    enum spate_error error = load(volume, (uint32_t)(at / 8u));
    if (error != SPATE_OK) return error;
    uint64_t word = spate_field_get64(section_at(volume, (uint32_t)(at / 8u)));
    scan_word(~word & spate_exfat_word_mask(at, 0, count), (uint32_t)at, enough, &run, found);
  }
  if (found->run_clusters >= enough) return SPATE_OK; /* the rest was not read */
  volume->free = *found;
  volume->free_known = true;
  volume->run_known = true;
  return SPATE_OK;
}

enum spate_error spate_exfat_bitmap_scan(struct spate_exfat *volume, uint32_t enough, struct spate_exfat_free *found) {
  *found = volume->free;
  if (!volume->free_known) return scan(volume, enough, found);
  /* It is known that there is no such run, or the longest run is asked for. */
  if (volume->run_known && volume->free.run_clusters < enough) return SPATE_OK;
  if (enough == UINT32_MAX || volume->free.clusters >= enough) return scan(volume, enough, found);
  found->run_clusters = 0;
  return SPATE_OK;
}

/* `changed` clusters of a run have changed. A run that is freed may join its neighbours into a longer one. */
static void note_change(struct spate_exfat *volume, uint32_t first, uint32_t clusters, uint64_t changed,
                        bool allocated) {
  const struct spate_exfat_free *known = &volume->free;
  bool overlap =
      first < known->run_first + (uint64_t)known->run_clusters && known->run_first < first + (uint64_t)clusters;

  if (!allocated || overlap) volume->run_known = false;
  volume->free.clusters = allocated ? known->clusters - changed : known->clusters + changed;
}

enum spate_error spate_exfat_bitmap_allocated(struct spate_exfat *volume, uint32_t first, uint32_t clusters,
                                              bool *all) {
  uint64_t since_ticks = spate_port_ticks();
  uint64_t start = first - EXFAT_FIRST_CLUSTER;
  uint64_t end = start + clusters;
  uint64_t at = start & ~(uint64_t)(EXFAT_WORD_BITS - 1u);

  for (*all = true; at < end && *all; at += EXFAT_WORD_BITS) {
    spate_exfat_give_turn(volume, at, &since_ticks);
    enum spate_error error = load(volume, (uint32_t)(at / 8u));
    if (error != SPATE_OK) return error;
    *all = (~spate_field_get64(section_at(volume, (uint32_t)(at / 8u))) & spate_exfat_word_mask(at, start, end)) == 0;
  }
  return SPATE_OK;
}

/* The bits of one word, from bit `from` of the bitmap on, that call clusters free. */
static enum spate_error free_bits(struct spate_exfat *volume, uint64_t from, uint64_t *bits) {
  const uint64_t at = from & ~(uint64_t)(EXFAT_WORD_BITS - 1u);
  enum spate_error error = load(volume, (uint32_t)(at / 8u));

  if (error != SPATE_OK) return error;
  *bits = ~spate_field_get64(section_at(volume, (uint32_t)(at / 8u))) &
          spate_exfat_word_mask(at, from, volume->cluster_count);
  return SPATE_OK;
}

enum spate_error spate_exfat_bitmap_next(struct spate_exfat *volume, uint32_t index, uint32_t *first,
                                         uint32_t *clusters) {
  const uint64_t count = volume->cluster_count;
  uint64_t since_ticks = spate_port_ticks(), at = index, bits = 0;
  enum spate_error error = SPATE_OK;

  *clusters = 0;
  for (; at < count; at = (at | (EXFAT_WORD_BITS - 1u)) + 1u) {
    spate_exfat_give_turn(volume, at, &since_ticks);
    error = free_bits(volume, at, &bits);
    if (error != SPATE_OK) return error;
    if (bits != 0) break;
  }
  if (at >= count) return SPATE_OK;
  at = (at & ~(uint64_t)(EXFAT_WORD_BITS - 1u)) + zeros_below(bits);
  *first = EXFAT_FIRST_CLUSTER + (uint32_t)at;
  while (at < count) { /* the rest of this word, then whole words */
    spate_exfat_give_turn(volume, at, &since_ticks);
    error = free_bits(volume, at, &bits);
    if (error != SPATE_OK) return error;
    const uint32_t bit = (uint32_t)(at & (EXFAT_WORD_BITS - 1u)), length = zeros_below(~(bits >> bit));
    const uint32_t left = EXFAT_WORD_BITS - bit;
    *clusters += length < left ? length : left;
    at += left;
    if (length < left) break;
  }
  return SPATE_OK;
}

/* Block by block, and each is forgotten: the bitmap is cached in the section only. */
enum spate_error spate_exfat_bitmap_marked(struct spate_exfat *volume, uint32_t index, uint32_t end, bool *marked) {
  *marked = true;
  while (index < end && *marked) {
    struct spate_exfat_block *block;
    uint64_t lba;
    enum spate_error error = spate_exfat_chain_lba(volume, &volume->bitmap, index / 8u, &lba);
    if (error == SPATE_OK) error = spate_exfat_block_get(volume, lba, &block);
    if (error != SPATE_OK) return error;
    do {
      *marked = spate_exfat_bit(block->data[index / 8u & volume->block_mask], index);
      index++;
    } while (index < end && *marked && (index / 8u & volume->block_mask) + (index & 7u) != 0);
    spate_exfat_cache_forget(volume, lba, 1);
  }
  return SPATE_OK;
}

enum spate_error spate_exfat_bitmap_find(struct spate_exfat *volume, uint32_t clusters, uint32_t *first) {
  struct spate_exfat_free found;
  enum spate_error error = spate_exfat_bitmap_scan(volume, clusters, &found);

  if (error != SPATE_OK) return error;
  *first = found.run_first;
  if (found.run_clusters >= clusters) return SPATE_OK;
  return found.clusters >= clusters ? SPATE_E_FRAGMENTED : SPATE_E_NO_SPACE;
}

/* Change the bits from *at up to `end`, or up to the end of the section. Returns how many were different. */
static uint64_t set_bits(struct spate_exfat *volume, uint64_t *at, uint64_t end, bool allocated,
                         uint64_t *since_ticks) {
  uint64_t section_end = ((uint64_t)volume->loaded_first_byte + volume->loaded_bytes) * 8u;
  uint64_t start = *at;
  uint64_t changed = 0;

  if (end > section_end) end = section_end;
  for (*at &= ~(uint64_t)(EXFAT_WORD_BITS - 1u); *at < end; *at += EXFAT_WORD_BITS) {
    uint8_t *bytes = section_at(volume, (uint32_t)(*at / 8u));
    uint64_t word = spate_field_get64(bytes);
    uint64_t mask = spate_exfat_word_mask(*at, start, end);
    spate_exfat_give_turn(volume, *at, since_ticks);
    spate_field_put64(bytes, allocated ? word | mask : word & ~mask);
    changed += count_ones(mask & (allocated ? ~word : word));
  }
  *at = end;
  return changed;
}

enum spate_error spate_exfat_bitmap_set(struct spate_exfat *volume, uint32_t first, uint32_t clusters, bool allocated) {
  uint64_t since_ticks = spate_port_ticks();
  uint32_t block_mask = volume->block_mask;
  uint64_t at = first - EXFAT_FIRST_CLUSTER;
  uint64_t end = at + clusters;
  uint64_t changed = 0;

  /* Cached blocks of these clusters belong to their previous owner. */
  spate_exfat_cache_forget(volume, spate_exfat_cluster_lba(volume, first),
                           spate_exfat_cluster_blocks(volume, clusters));
  while (at < end) {
    enum spate_error error = load(volume, (uint32_t)(at / 8u));
    if (error == SPATE_OK) {
      uint32_t first_byte = (uint32_t)(at / 8u) & ~block_mask;
      changed += set_bits(volume, &at, end, allocated, &since_ticks);
      uint32_t end_byte = ((uint32_t)((at + 7u) / 8u) + block_mask) & ~block_mask;
      error = transfer(volume, SPATE_WRITE, first_byte, end_byte - first_byte);
    }
    if (error != SPATE_OK) {
      volume->loaded_bytes = 0;   /* the section differs from the media: read it again, ... */
      volume->free_known = false; /* ... and count again */
      return error;
    }
  }
  note_change(volume, first, clusters, changed, allocated);
  return SPATE_OK;
}

enum spate_error spate_exfat_trim(struct spate_exfat *volume, uint32_t first, uint32_t clusters) {
  struct spate_block *device = volume->config.block;

  /* On a damaged volume two files may share clusters: those of a deleted file may hold the data of another one. */
  if (!device->can_trim || clusters == 0 || volume->foreign_dirty || volume->corrupt) return SPATE_OK;
  const enum spate_error error = spate_block_erase(device, SPATE_TRIM, spate_exfat_cluster_lba(volume, first),
                                                   spate_exfat_cluster_blocks(volume, clusters),
                                                   TRIM_PIECE_BYTES >> device->block_shift, NULL, NULL);
  return error == SPATE_E_UNSUPPORTED ? SPATE_OK : error; /* advice only */
}
