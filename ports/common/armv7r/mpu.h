/* SPDX-License-Identifier: Apache-2.0 */
/* How the memory protection unit of an ARMv7-R processor covers a range (Arm ARM v7 B5): a region is a power of two, at
 * a multiple of its size, and each eighth of it can be left out. */
#ifndef SPATE_PORTS_MPU_H
#define SPATE_PORTS_MPU_H

#include <stdint.h>

struct mpu_region {
  uint32_t base;
  uint32_t size_log;   /* log2 of the bytes */
  uint32_t left_out;   /* a bit for each eighth */
  uint32_t attributes; /* DRACR */
};

/* The region that covers the most of what begins at `start` and ends at `end`, and nothing else. Both are multiples of
 * 4 KiB. Returns where it ends. */
uint64_t mpu_cover(uint64_t start, uint64_t end, struct mpu_region *region);

#endif
