/* SPDX-License-Identifier: Apache-2.0 */
/* The data of a synthetic sensor: 64-bit little-endian words, word i of clip c = mix(c << 40 | i). Each word says where
 * it belongs, and the host can compute the same stream without the target (tools/pattern.py). */
#ifndef SPATE_FIRMWARE_PATTERN_H
#define SPATE_FIRMWARE_PATTERN_H

#include <stdint.h>

static inline uint64_t pattern_word(uint32_t clip, uint64_t index) {
  uint64_t word = ((uint64_t)clip << 40 | index) * UINT64_C(0x9e3779b97f4a7c15);

  return word ^ word >> 29;
}

/* Fills in `bytes` of the clip from `offset_bytes` on, both multiples of 8. (The caller may use only a part of the last
 * word.) */
static inline void pattern_fill(uint64_t *to, uint32_t clip, uint64_t offset_bytes, uint64_t bytes) {
  uint64_t first = offset_bytes >> 3;

  for (uint64_t i = 0; i < bytes >> 3; i++)
    to[i] = pattern_word(clip, first + i);
}

/* Returns the position of the first byte that differs, or UINT64_MAX. Any `bytes`. */
static inline uint64_t pattern_check(const uint64_t *from, uint32_t clip, uint64_t offset_bytes, uint64_t bytes) {
  uint64_t first = offset_bytes >> 3;
  uint64_t words = bytes >> 3;

  for (uint64_t i = 0; i < words; i++)
    if (from[i] != pattern_word(clip, first + i)) return offset_bytes + i * 8u;
  for (uint64_t i = words << 3; i < bytes; i++)
    if (((const uint8_t *)from)[i] != (uint8_t)(pattern_word(clip, first + words) >> (8u * (i & 7u))))
      return offset_bytes + i;
  return UINT64_MAX;
}

#endif
