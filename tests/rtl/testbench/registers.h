// SPDX-License-Identifier: Apache-2.0
//
// A processor that accesses the core's registers: AXI4-Lite, one access at a time. The board runs during an access.
#ifndef SPATE_BENCH_REGISTERS_H
#define SPATE_BENCH_REGISTERS_H

#include "board.h"

#include <cstdint>

namespace testbench {

class Registers : public Part {
public:
  explicit Registers(Board &board);
  // Fails when the response is an error, or does not come within 10 000 cycles.
  uint32_t read(uint32_t offset);
  void write(uint32_t offset, uint32_t value);

  void sample() override;
  void drive() override;

private:
  Board &board_;
  Model &pins_;
  uint32_t offset_ = 0, value_ = 0;
  bool reading_ = false, writing_ = false;
  bool ar_ = false, aw_ = false, w_ = false; // still offered
};

} // namespace testbench

#endif
