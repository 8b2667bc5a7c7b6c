/* SPDX-License-Identifier: Apache-2.0 */
/* A volume, and a recorder's operations on it, one after the other. Included by one test program each. */
#ifndef SPATE_TESTS_VOLUME_FIXTURE_H
#define SPATE_TESTS_VOLUME_FIXTURE_H

#include "witness.h"

#include "exfat_image.h"

#include <spate/bytes.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MIB         (UINT64_C(1) << 20)
#define IMAGE_BYTES (16 * MIB)
#define SMALL_BYTES MIB

static struct image image;

#define OK(call) assert_int_equal(call, SPATE_OK)

/* ---- a recorder's operations ---- */

static inline void fill(uint8_t *data, uint64_t bytes, uint32_t content, uint64_t offset) {
  for (uint64_t i = 0; i < bytes; i += 8)
    spate_put64(data + i, (uint64_t)content << 40 ^ (offset + i));
}

static inline void stream(struct spate_exfat_clip *clip, uint64_t from, uint64_t to, uint32_t content) {
  static _Alignas(64) uint8_t data[65536];
  uint32_t shift = image.ram.block.block_shift;
  for (uint64_t at = from; at < to; at += sizeof data) {
    uint64_t bytes = to - at < sizeof data ? to - at : sizeof data;
    fill(data, (bytes + 4095) & ~UINT64_C(4095), content, at);
    uint32_t blocks = (uint32_t)((bytes + (1u << shift) - 1) >> shift);
    OK(spate_block_write(&image.ram.block, clip->first_lba + (at >> shift), blocks, data, 0));
  }
}

static inline void flush(void) { OK(spate_block_flush(&image.ram.block)); }

static inline void published(struct spate_exfat_clip *clip, uint64_t bytes) {
  OK(image_publish(&image.ram.block, clip, bytes));
  assert_int_equal(clip->published_bytes, bytes);
}

static inline void checkpoint(struct spate_exfat_clip *clip, uint64_t from, uint64_t to, uint32_t content) {
  stream(clip, from, to, content);
  flush();
  published(clip, to);
}

static inline void arm(struct spate_exfat_clip *clip, const char *path, uint64_t bytes) {
  OK(spate_exfat_arm(&image.volume, clip, path, bytes));
}

static inline void record(const char *path, uint64_t bytes, uint32_t content) {
  struct spate_exfat_clip clip;
  arm(&clip, path, bytes);
  stream(&clip, 0, bytes, content);
  OK(spate_exfat_close(&clip, bytes));
}

static inline void make_directory(const char *path) { OK(spate_exfat_mkdir(&image.volume, path)); }
static inline void delete_file(const char *path) { OK(spate_exfat_delete(&image.volume, path)); }
static inline void rename_file(const char *from, const char *to) { OK(spate_exfat_rename(&image.volume, from, to)); }

/* ---- volumes ---- */

static inline void begin(uint64_t bytes, uint32_t block_bytes) {
  image_open(&image, bytes, block_bytes, 0);
  image.ram.order = RAM_RANDOM;
  image.ram.random = witness_seed();
  image.ram.trim_fill = 0x5a; /* old contents of the drive must not equal a clip's own bytes */
}

static inline void begin_formatted(uint32_t block_bytes) {
  begin(IMAGE_BYTES, block_bytes);
  image_format(&image);
}

/* As other systems make it: 512-byte blocks, small clusters, and no record. */
static inline uint8_t *begin_small(uint64_t bytes, uint32_t cluster_shift) {
  begin(bytes, 512);
  small_format(image.ram.memory, bytes, 9, cluster_shift);
  return image.ram.memory;
}

static inline void end(void) {
  assert_int_equal(image.ram.overlaps, 0);
  image_close(&image);
}

#endif
