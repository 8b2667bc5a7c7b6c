// SPDX-License-Identifier: Apache-2.0
//
// Random numbers from one seed: the same seed gives the same run on any machine.
#ifndef SPATE_BENCH_RANDOM_H
#define SPATE_BENCH_RANDOM_H

#include <cstdint>

namespace testbench {

class Random {
public:
  explicit Random(uint64_t seed) : state_(seed) {}

  // 64 bits of a sequence that visits all values (SplitMix64: a mixed counter).
  uint64_t next() {
    state_ += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t word = state_;
    word = (word ^ (word >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    word = (word ^ (word >> 27)) * UINT64_C(0x94d049bb133111eb);
    return word ^ (word >> 31);
  }
  // 0 … count − 1. The bias is below 2^-32 for the counts used here.
  uint64_t below(uint64_t count) {
    return count < (UINT64_C(1) << 32) ? ((next() >> 32) * count) >> 32 : next() % count;
  }
  uint64_t between(uint64_t least, uint64_t most) { return least + below(most - least + 1); }
  bool percent(unsigned share) { return share != 0 && below(100) < share; }
  // True once in `times` calls on average; 0: never.
  bool once_in(uint64_t times) { return times != 0 && below(times) == 0; }

private:
  uint64_t state_;
};

} // namespace testbench

#endif
