/* SPDX-License-Identifier: Apache-2.0 */
/* One volume in memory, and its contents as the oracle reads them. */
#ifndef SPATE_TESTS_EXFAT_FIXTURE_H
#define SPATE_TESTS_EXFAT_FIXTURE_H

#include "exfat_image.h"
#include "exfat_oracle.h"

#include <spate/bytes.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MIB (UINT64_C(1) << 20)

static struct image image;
static struct oracle oracle;

/* The library's copies of the volume's blocks must equal the media: writing back an older copy would undo later
 * changes. The block of an open clip may hold lengths that are not written yet. */
static inline void assert_memory_is_the_medium(void) {
  const struct spate_exfat *volume = &image.volume;
  const uint32_t block_bytes = UINT32_C(1) << image.ram.block.block_shift;
  if (volume->mounted != volume) return;
  for (uint32_t i = 0; i < volume->block_count; i++) {
    const struct spate_exfat_block *block = &volume->blocks[i];
    if (block->lba == UINT64_MAX || block->writing || block->pins > 0) continue;
    assert_memory_equal(block->data, image.ram.memory + (block->lba << image.ram.block.block_shift), block_bytes);
  }
}

/* The volume is in order, everything allocated has an owner, and it is marked clean (or dirty, with a clip open). */
static inline void assert_whole(bool dirty) {
  uint64_t bytes = image.config.blocks << image.ram.block.block_shift;
  if (!oracle_read(&oracle, image_start(&image), bytes)) fail_msg("%s", oracle.fault);
  oracle_free(&oracle);
  assert_int_equal(oracle.cross_linked, 0);
  assert_int_equal(oracle.unallocated, 0);
  assert_int_equal(oracle.strays, 0);
  assert_int_equal(oracle.overlong, 0);
  if (!dirty) assert_int_equal(oracle.leaked, 0);
  assert_int_equal(oracle.dirty, dirty);
  assert_int_equal(image.ram.overlaps, 0);
  assert_memory_is_the_medium();
}

static inline void put_file(const char *path, const void *data, uint64_t bytes) {
  struct spate_exfat_clip clip;
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, path, bytes > 0 ? bytes : 1), SPATE_OK);
  if (data != NULL) memcpy(image.ram.memory + (clip.first_lba << image.ram.block.block_shift), data, bytes);
  assert_int_equal(spate_exfat_close(&clip, bytes), SPATE_OK);
}

static inline void delete_file(const char *path) {
  assert_int_equal(spate_exfat_delete(&image.volume, path), SPATE_OK);
}

/* The FAT's entry of a cluster, on a volume of 512-byte blocks. */
static inline uint8_t *fat_entry(uint32_t cluster) {
  return image.ram.memory + ((size_t)spate_get32(image.ram.memory + 80) << 9) + 4 * (size_t)cluster;
}

#endif
