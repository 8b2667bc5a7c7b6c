// SPDX-License-Identifier: Apache-2.0
//
// Traffic of the bridge's master: several workers, each with a region of the core's memory, write and read any number
// of bytes at any address, and compare with a copy.
#ifndef SPATE_BENCH_REGIONS_H
#define SPATE_BENCH_REGIONS_H

#include "bench.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace testbench {

class Regions {
public:
  // `rounds`: accesses of each worker. It begins at once, and continues while the board steps.
  Regions(Bench &bench, unsigned workers, unsigned rounds);
  ~Regions();
  bool done() const;
  // Steps until it is done, and compares the core's memory with the copies.
  void finish();

private:
  class Worker;

  Bench &bench_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

} // namespace testbench

#endif
