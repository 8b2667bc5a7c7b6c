// SPDX-License-Identifier: Apache-2.0
//
// Whether a channel pauses in this cycle: in runs of cycles, so that queues fill up and run empty.
#ifndef SPATE_BENCH_STALL_H
#define SPATE_BENCH_STALL_H

#include "random.h"

namespace testbench {

class Stall {
public:
  Stall(Random &random, unsigned percent) : random_(random), percent_(percent) {}
  bool next() {
    if (left_ == 0) {
      left_ = random_.between(1, 8);
      pauses_ = random_.percent(percent_);
    }
    left_--;
    return pauses_;
  }

private:
  Random &random_;
  unsigned percent_;
  uint64_t left_ = 0;
  bool pauses_ = false;
};

} // namespace testbench

#endif
