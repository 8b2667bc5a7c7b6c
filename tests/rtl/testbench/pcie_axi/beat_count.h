// SPDX-License-Identifier: Apache-2.0
//
// Counts beats, and the cycles from the first to the last of them.
#ifndef SPATE_BENCH_BEAT_COUNT_H
#define SPATE_BENCH_BEAT_COUNT_H

#include <cstdint>

namespace testbench {

class BeatCount {
public:
  void add(uint64_t cycle) {
    if (beats_++ == 0) first_ = cycle;
    last_ = cycle;
  }
  void clear() { beats_ = 0; }
  uint64_t beats() const { return beats_; }
  uint64_t cycles() const { return beats_ == 0 ? 0 : last_ - first_ + 1; }

private:
  uint64_t beats_ = 0, first_ = 0, last_ = 0;
};

} // namespace testbench

#endif
