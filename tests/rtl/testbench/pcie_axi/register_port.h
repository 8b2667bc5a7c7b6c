// SPDX-License-Identifier: Apache-2.0
//
// The core's end of the register port: one access at a time, like spate_mmio. Checks that each request gets one
// response, which carries its identifier.
#ifndef SPATE_BENCH_REGISTER_PORT_H
#define SPATE_BENCH_REGISTER_PORT_H

#include "board.h"

#include <cstdint>

namespace testbench {

enum class Space : uint8_t { Local, Device, Bar };

struct RegisterResult {
  bool error = false;
  uint32_t data = 0;
};

class RegisterPort : public Part {
public:
  explicit RegisterPort(Board &board);

  // The request is at the pins from the next cycle on, until it is taken.
  void offer(Space space, bool write, uint32_t address, uint32_t data = 0);
  // Offers a request, and returns when it is taken.
  void request(Space space, bool write, uint32_t address, uint32_t data = 0);
  bool answered() const { return !valid_ && responses_ == requests_; }
  // The response to the last request. Fails when it does not come within `cycles_max`.
  RegisterResult response(uint64_t cycles_max);
  RegisterResult read(Space space, uint32_t address, uint64_t cycles_max = 20'000);
  bool write(Space space, uint32_t address, uint32_t data, uint64_t cycles_max = 20'000); // whether it failed

  void sample() override;
  void drive() override;

private:
  Board &board_;
  Model &pins_;
  bool valid_ = false, id_ = false;
  Space space_ = Space::Local;
  bool write_ = false;
  uint32_t address_ = 0, data_ = 0;
  uint64_t requests_ = 0, responses_ = 0;
  RegisterResult result_;
};

} // namespace testbench

#endif
