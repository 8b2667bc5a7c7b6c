// SPDX-License-Identifier: Apache-2.0
//
// AXI bursts: which bytes each beat carries. A byte at address a is in lane a % kBeatBytes.
#ifndef SPATE_BENCH_BURSTS_H
#define SPATE_BENCH_BURSTS_H

#include "board.h"

#include <cstdint>
#include <vector>

namespace testbench {

constexpr unsigned kFullSize = kBeatBytes == 16 ? 4 : kBeatBytes == 32 ? 5 : 6;

struct Burst {
  uint64_t address = 0;
  unsigned size = kFullSize; // a beat has 2^size bytes
  unsigned beats = 1;
  bool fixed = false; // all beats at the same address, instead of INCR
};

struct BurstBeat {
  uint64_t address = 0; // of its first byte
  unsigned bytes = 0;
};

// A beat of a burst: the first one may begin inside of its 2^size bytes, the others are aligned, unless the burst is
// fixed.
inline BurstBeat beat_of(const Burst &burst, unsigned beat) {
  const uint64_t step = UINT64_C(1) << burst.size, skip = burst.address % step;
  if (beat == 0 || burst.fixed) return {burst.address, static_cast<unsigned>(step - skip)};
  return {burst.address - skip + beat * step, static_cast<unsigned>(step)};
}

// Bursts for `bytes` from an address on. None crosses 4 KiB or has more than 256 beats.
std::vector<Burst> bursts_for(uint64_t address, uint64_t bytes, unsigned size);

} // namespace testbench

#endif
