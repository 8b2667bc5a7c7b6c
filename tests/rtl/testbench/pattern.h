// SPDX-License-Identifier: Apache-2.0
//
// The contents of blocks: a function of the block's address and a version, so that nothing has to be stored for the
// comparison. The first word of a block encodes both; every other word follows from it and its position.
#ifndef SPATE_BENCH_PATTERN_H
#define SPATE_BENCH_PATTERN_H

#include <cstdint>
#include <cstring>
#include <optional>

namespace testbench {

constexpr unsigned kVersionBits = 24;
constexpr uint32_t kVersionMask = (1u << kVersionBits) - 1;
constexpr uint64_t kPatternFactor = UINT64_C(0x9e3779b97f4a7c15); // odd, so the product is invertible
constexpr uint64_t kPatternStep = UINT64_C(0xd1342543de82ef95);

constexpr uint64_t pattern_inverse() {
  uint64_t inverse = 1; // Newton's method: each step doubles the number of correct bits
  for (int turn = 0; turn < 6; turn++)
    inverse *= 2 - kPatternFactor * inverse;
  return inverse;
}
static_assert(pattern_inverse() * kPatternFactor == 1);

inline void pattern_fill(uint8_t *block, uint32_t block_bytes, uint64_t lba, uint32_t version) {
  const uint64_t first = (lba << kVersionBits | (version & kVersionMask)) * kPatternFactor;
  uint64_t place = 0;
  for (uint32_t offset = 0; offset < block_bytes; offset += 8, place += kPatternStep) {
    const uint64_t word = first ^ place;
    std::memcpy(block + offset, &word, sizeof word);
  }
}

// The version in the block's contents, if they are those of this block at all.
inline std::optional<uint32_t> pattern_version(const uint8_t *block, uint32_t block_bytes, uint64_t lba) {
  uint64_t first;
  std::memcpy(&first, block, sizeof first);
  const uint64_t says = first * pattern_inverse();
  uint64_t difference = (says >> kVersionBits) ^ lba, place = 0;
  for (uint32_t offset = 0; offset < block_bytes; offset += 8, place += kPatternStep) {
    uint64_t word;
    std::memcpy(&word, block + offset, sizeof word);
    difference |= word ^ first ^ place;
  }
  return difference == 0 ? std::optional<uint32_t>(says & kVersionMask) : std::nullopt;
}

} // namespace testbench

#endif
