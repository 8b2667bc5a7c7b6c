/* SPDX-License-Identifier: Apache-2.0 */
/* A volume with a log of its requests. Included by one test program each. */
#ifndef ORDER_FIXTURE_H
#define ORDER_FIXTURE_H

#include "exfat_fixture.h"

static inline uint64_t lba_of(uint32_t cluster) { return image.volume.heap_lba + (cluster - 2) * (MIB >> 9); }

static inline void open_image(uint32_t block_bytes) {
  image_open(&image, 32 * MIB, block_bytes, 64);
  image_format(&image);
  image.ram.keep_log = true;
}

#endif
