/* SPDX-License-Identifier: Apache-2.0 */
#include "exfat_image.h"

#include <spate/bytes.h>
#include <stdlib.h>
#include <string.h>

void image_open(struct image *image, uint64_t bytes, uint32_t block_bytes, uint64_t first_lba) {
  memset(image, 0, sizeof *image);
  ram_block_open(&image->ram, bytes / block_bytes, block_bytes);
  image->config = (struct spate_exfat_config){.block = &image->ram.block,
                                              .first_lba = first_lba,
                                              .blocks = bytes / block_bytes - first_lba,
                                              .cache = image->cache,
                                              .cache_bytes = IMAGE_CACHE_BLOCKS * block_bytes,
                                              .cache_blocks = image->blocks,
                                              .cache_block_count = SPATE_EXFAT_CACHE_BLOCKS_MAX,
                                              .bitmap = image->bitmap,
                                              .bitmap_bytes = IMAGE_WINDOW_BYTES};
}

void image_close(struct image *image) { ram_block_close(&image->ram); }

uint8_t *image_start(struct image *image) {
  return image->ram.memory + (image->config.first_lba << image->ram.block.block_shift);
}

enum spate_error image_mount(struct image *image) {
  host_starts_again(&image->ram.block);
  return spate_exfat_mount(&image->volume, &image->config, &image->found);
}

void image_format(struct image *image) {
  struct spate_exfat_format format = {.label = "TEST", .serial = IMAGE_SERIAL, .cluster_bytes = 1u << 20};
  if (spate_exfat_format(&image->config, &format) != SPATE_OK || image_mount(image) != SPATE_OK) abort();
}

static uint32_t boot32(const uint8_t *image, uint32_t at) { return spate_get32(image + at); }

uint8_t *small_cluster(uint8_t *image, uint32_t cluster) {
  uint64_t heap = (uint64_t)boot32(image, 88) << image[108];
  return image + heap + ((uint64_t)(cluster - 2) << (image[108] + image[109]));
}

static uint32_t active_fat(const uint8_t *image) { return image[110] == 2 ? image[106] & 1u : 0; }

static void put_fat(uint8_t *image, uint32_t cluster, uint32_t next) {
  uint64_t fat_block = boot32(image, 80) + (uint64_t)active_fat(image) * boot32(image, 84);
  spate_put32(image + (fat_block << image[108]) + 4ull * cluster, next);
}

static uint32_t bitmap_clusters(const uint8_t *image) {
  uint32_t bytes = (boot32(image, 92) + 7) / 8;
  uint32_t shift = (uint32_t)image[108] + image[109];
  return (bytes + (1u << shift) - 1) >> shift;
}

uint32_t small_allocate(uint8_t *image, uint32_t clusters, uint32_t step) {
  uint8_t *bitmap = small_cluster(image, 2 + active_fat(image) * bitmap_clusters(image));
  uint32_t at = 0;
  uint32_t last = 0;
  uint32_t first = 0;
  while (bitmap[at / 8] >> (at % 8) & 1)
    at++;
  for (uint32_t i = 0; i < clusters; i++, at += step) {
    if (at >= boot32(image, 92)) abort();
    bitmap[at / 8] |= (uint8_t)(1u << (at % 8));
    if (last != 0) put_fat(image, last, at + 2);
    if (first == 0) first = at + 2;
    last = at + 2;
  }
  put_fat(image, last, UINT32_MAX);
  return first;
}

void small_checksum_boot(uint8_t *image) {
  uint32_t block_bytes = 1u << image[108];
  uint32_t sum = 0;
  for (uint32_t i = 0; i < 11 * block_bytes; i++)
    if (i != 106 && i != 107 && i != 112) sum = ((sum & 1u) << 31) + (sum >> 1) + image[i];
  for (uint32_t i = 0; i < block_bytes; i += 4)
    spate_put32(image + 11 * block_bytes + i, sum);
  memcpy(image + 12 * block_bytes, image, 12 * block_bytes);
}

static uint32_t put_upcase(uint8_t *table) {
  static const uint16_t words[] = {0xffff, 'a'};
  uint32_t bytes = 0;
  uint32_t sum = 0;
  for (uint32_t i = 0; i < 2; i++, bytes += 2)
    spate_put16(table + bytes, words[i]);
  for (uint16_t unit = 'A'; unit <= 'Z'; unit++, bytes += 2)
    spate_put16(table + bytes, unit);
  spate_put16(table + bytes, 0xffff);
  spate_put16(table + bytes + 2, 0x10000 - 'z' - 1);
  bytes += 4;
  for (uint32_t i = 0; i < bytes; i++)
    sum = ((sum & 1u) << 31) + (sum >> 1) + table[i];
  spate_put32(table + 508, sum); /* kept for the entry; the block is cleared after it */
  return bytes;
}

static void put_bitmap(uint8_t *entry, uint32_t number, uint32_t first, uint32_t bytes) {
  entry[0] = 0x81;
  entry[1] = (uint8_t)number;
  spate_put32(entry + 20, first);
  spate_put64(entry + 24, bytes);
}

static void format(uint8_t *image, uint64_t bytes, uint32_t block_shift, uint32_t cluster_shift, uint32_t fats) {
  uint32_t blocks = (uint32_t)(bytes >> block_shift);
  uint32_t fat_blocks = (uint32_t)((((bytes >> cluster_shift) + 2) * 4 + (1u << block_shift) - 1) >> block_shift);
  memcpy(image,
         "\xeb\x76\x90"
         "EXFAT   ",
         11);
  spate_put64(image + 72, blocks);
  spate_put32(image + 80, 24);
  spate_put32(image + 84, fat_blocks);
  spate_put32(image + 88, 24 + fats * fat_blocks);
  spate_put32(image + 92, (blocks - 24 - fats * fat_blocks) >> (cluster_shift - block_shift));
  spate_put32(image + 100, 0x0badcafe);
  spate_put16(image + 104, 0x100);
  image[108] = (uint8_t)block_shift;
  image[109] = (uint8_t)(cluster_shift - block_shift);
  image[106] = (uint8_t)(fats - 1); /* ActiveFat */
  image[110] = (uint8_t)fats;
  spate_put16(image + 510, 0xaa55);
  put_fat(image, 0, 0xfffffff8);
  put_fat(image, 1, UINT32_MAX);
  /* The active bitmap shows which clusters are free, also while its own clusters are allocated. */
  uint32_t bitmap = small_allocate(image, bitmap_clusters(image), 1);
  if (fats == 2) (void)small_allocate(image, bitmap_clusters(image), 1);
  uint32_t upcase = small_allocate(image, 1, 1);
  uint32_t root = small_allocate(image, 1, 1);
  spate_put32(image + 96, root);
  uint8_t *entry = small_cluster(image, root);
  for (uint32_t i = 0; i < fats; i++, entry += 32)
    put_bitmap(entry, i, bitmap + i * bitmap_clusters(image), (boot32(image, 92) + 7) / 8);
  entry[0] = 0x82;
  uint32_t table_bytes = put_upcase(small_cluster(image, upcase));
  memcpy(entry + 4, small_cluster(image, upcase) + 508, 4);
  memset(small_cluster(image, upcase) + 508, 0, 4);
  spate_put32(entry + 20, upcase);
  spate_put64(entry + 24, table_bytes);
  small_checksum_boot(image);
}

void small_format(uint8_t *image, uint64_t bytes, uint32_t block_shift, uint32_t cluster_shift) {
  format(image, bytes, block_shift, cluster_shift, 1);
}

void small_format_twice(uint8_t *image, uint64_t bytes, uint32_t block_shift, uint32_t cluster_shift) {
  format(image, bytes, block_shift, cluster_shift, 2);
  /* The first ones call all clusters free, and end all chains. */
  uint8_t *fat = image + ((uint64_t)boot32(image, 80) << block_shift);
  memset(fat, 0xff, (size_t)boot32(image, 84) << block_shift);
  memset(small_cluster(image, 2), 0, (boot32(image, 92) + 7) / 8);
}

static uint16_t hash_of(const char *name) {
  uint16_t hash = 0;
  for (; *name; name++) {
    uint8_t upper = (uint8_t)(*name >= 'a' && *name <= 'z' ? *name - 32 : *name);
    hash = (uint16_t)(((hash & 1u) << 15) + (hash >> 1) + upper);
    hash = (uint16_t)(((hash & 1u) << 15) + (hash >> 1));
  }
  return hash;
}

void small_seal(uint8_t *set) {
  uint16_t sum = 0;
  for (uint32_t i = 0; i < 32 * (set[1] + 1u); i++)
    if (i != 2 && i != 3) sum = (uint16_t)(((sum & 1u) << 15) + (sum >> 1) + set[i]);
  spate_put16(set + 2, sum);
}

uint32_t small_add(uint8_t *image, const char *name, uint16_t attributes, uint32_t first, uint64_t bytes,
                   uint64_t valid_bytes, bool contiguous) {
  uint8_t *root = small_cluster(image, boot32(image, 96));
  uint32_t count = (uint32_t)strlen(name);
  uint32_t entries = 2 + (count + 14) / 15;
  uint32_t at = 0;
  while (root[at] != 0)
    at += 32;
  uint8_t *set = root + at;
  set[0] = 0x85;
  set[1] = (uint8_t)(entries - 1);
  spate_put16(set + 4, attributes);
  for (uint32_t time = 8; time < 20; time += 4)
    spate_put32(set + time, UINT32_C(0x00210000)); /* 1980-01-01: The Sleuth Kit requires a valid date */
  set[32] = 0xc0;
  set[33] = contiguous ? 3 : 1;
  set[35] = (uint8_t)count;
  spate_put16(set + 36, hash_of(name));
  spate_put64(set + 40, valid_bytes);
  spate_put32(set + 52, first);
  spate_put64(set + 56, bytes);
  for (uint32_t i = 0; i < count; i++) {
    set[64 + 32 * (i / 15)] = 0xc1;
    set[64 + 32 * (i / 15) + 2 + 2 * (i % 15)] = (uint8_t)name[i];
  }
  small_seal(set);
  return at;
}
