/* SPDX-License-Identifier: Apache-2.0 */
/* Volumes for tests: volumes of the library in memory, and volumes with small clusters as other systems make them. */
#ifndef SPATE_TESTS_EXFAT_IMAGE_H
#define SPATE_TESTS_EXFAT_IMAGE_H

#include "ram_block.h"

#include <spate/exfat.h>

#define IMAGE_CACHE_BLOCKS 16u
#define IMAGE_WINDOW_BYTES 8192u
#define IMAGE_SERIAL       0x12345678u /* of a volume made by image_format */

struct image {
  struct ram_block ram;
  struct spate_exfat_config config;
  struct spate_exfat volume;
  struct spate_exfat_block blocks[SPATE_EXFAT_CACHE_BLOCKS_MAX];
  struct spate_exfat_mounted found;
  _Alignas(64) uint8_t cache[IMAGE_CACHE_BLOCKS * 4096u];
  _Alignas(64) uint8_t bitmap[IMAGE_WINDOW_BYTES];
};

/* A drive of that size. The volume takes all of it, except the first `first_lba` blocks. */
void image_open(struct image *image, uint64_t bytes, uint32_t block_bytes, uint64_t first_lba);
void image_close(struct image *image);
uint8_t *image_start(struct image *image); /* the volume's first byte */
/* Format with clusters of 1 MiB, and mount. */
void image_format(struct image *image);
enum spate_error image_mount(struct image *image); /* as a host that restarts, unless it was unmounted */

/* What became of a length. */
struct image_published {
  unsigned calls;
  enum spate_error error;
};

/* A spate_exfat_published. */
static inline void image_published(void *context, enum spate_error error) {
  struct image_published *published = context;
  published->calls++;
  published->error = error;
}

/* Publish a length, and poll the device until it is known what became of it. */
static inline enum spate_error image_publish(struct spate_block *block, struct spate_exfat_clip *clip, uint64_t bytes) {
  for (;;) {
    struct image_published published = {.calls = 0};
    enum spate_error error = spate_exfat_publish(clip, bytes, image_published, &published);
    while (error == SPATE_OK && published.calls == 0)
      (void)spate_block_poll(block, 1);
    if (error == SPATE_OK) error = published.error;
    if (error != SPATE_E_BUSY && error != SPATE_E_FULL) return error;
    (void)spate_block_poll(block, 1);
  }
}

/* A volume without the record's file, of clusters of 2^cluster_shift bytes: a minimal up-case table, an empty root
 * directory of one cluster. `image` is zeros. */
void small_format(uint8_t *image, uint64_t bytes, uint32_t block_shift, uint32_t cluster_shift);
/* The same with two FATs and two bitmaps, of which the second ones are active. The first ones are outdated. */
void small_format_twice(uint8_t *image, uint64_t bytes, uint32_t block_shift, uint32_t cluster_shift);
/* Clusters for a file or directory, every `step`-th one, linked by the FAT; returns the first. */
uint32_t small_allocate(uint8_t *image, uint32_t clusters, uint32_t step);
/* Append an entry set to the root directory's first cluster: ASCII only. Returns its offset there. */
uint32_t small_add(uint8_t *image, const char *name, uint16_t attributes, uint32_t first, uint64_t bytes,
                   uint64_t valid_bytes, bool contiguous);
void small_seal(uint8_t *set); /* put the entry set's checksum in */
uint8_t *small_cluster(uint8_t *image, uint32_t cluster);
void small_checksum_boot(uint8_t *image); /* and copy the main region over the backup */

#endif
