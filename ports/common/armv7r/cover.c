/* SPDX-License-Identifier: Apache-2.0 */
#include "mpu.h"

#define PAGE_LOG  12u
#define SPACE_LOG 32u
#define EIGHTHS   8u

/* Where a region of this size would end, if it begins with the eighth at `start`; `start` if no eighth fits. */
static uint64_t end_of(uint64_t start, uint64_t end, unsigned size_log) {
  const uint64_t eighth = UINT64_C(1) << (size_log - 3u);
  const uint64_t region_end = (start >> size_log << size_log) + (eighth * EIGHTHS);
  const uint64_t last = (end < region_end ? end : region_end) & ~(eighth - 1u);

  return start % eighth == 0 && last > start ? last : start;
}

static uint32_t left_out(uint64_t start, uint64_t end, unsigned size_log) {
  const uint64_t base = start >> size_log << size_log;
  const unsigned first = (unsigned)((start - base) >> (size_log - 3u));
  const unsigned behind = (unsigned)((end - base) >> (size_log - 3u));
  uint32_t all = 0;

  for (unsigned i = 0; i < EIGHTHS; i++)
    if (i < first || i >= behind) all |= 1u << i;
  return all;
}

uint64_t mpu_cover(uint64_t start, uint64_t end, struct mpu_region *region) {
  uint64_t best = start;

  for (unsigned size_log = PAGE_LOG; size_log <= SPACE_LOG; size_log++) {
    const uint64_t reached = end_of(start, end, size_log);
    if (reached <= best) continue;
    best = reached;
    region->base = (uint32_t)(start >> size_log << size_log);
    region->size_log = size_log;
    region->left_out = left_out(start, reached, size_log);
  }
  return best;
}
