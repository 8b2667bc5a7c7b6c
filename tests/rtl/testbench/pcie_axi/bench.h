// SPDX-License-Identifier: Apache-2.0
//
// spate_pcie_axi between a bridge and a memory in the core's place, and what a test does with their resets and clocks.
#ifndef SPATE_BENCH_PCIE_AXI_BENCH_H
#define SPATE_BENCH_PCIE_AXI_BENCH_H

#include "board.h"
#include "core.h"
#include "master.h"
#include "register_port.h"
#include "slave.h"

#include <cstdint>

namespace testbench {

// The adapter's parameters WindowBase and BarAxiBase, and the default of DeviceConfigOffset.
constexpr uint64_t kAdapterWindowBase = UINT64_C(0x1'4020'0000);
constexpr uint64_t kAdapterBarBase = UINT64_C(0x2'6000'0000);
constexpr uint32_t kDeviceOffset = 0x10'0000;
constexpr uint64_t kBarBytes = UINT64_C(1) << 20;
constexpr uint64_t kControlBytes = UINT64_C(1) << 21;
// With reset_i or without a bridge, a response comes within these cycles of the core's clock.
constexpr uint64_t kAtOnceCycles = 20;

struct Bench {
  // Ends when the bridge's link is up.
  Bench(const BoardConfig &config, unsigned stall_percent);

  Random &random() { return board.random(); }
  // Steps until done() is true. Fails with `what` if that takes too long.
  template <typename Done> void wait(Done done, const char *what, uint64_t cycles_max = 200'000) {
    if (!board.run_until(done, cycles_max)) board.fail("%s", what);
  }
  void core_cycles(uint64_t count) { board.run(count); }
  void axi_cycles(uint64_t count);
  void quiet();
  void check(bool kept, const char *what) {
    if (!kept) board.fail("%s", what);
  }

  void adapter_reset(bool active);
  void core_reset(bool active);
  void bridge_out_of_reset();
  void bridge_into_reset();
  void wait_for_link();

  Board board;
  const unsigned stall_percent;
  Core core;
  RegisterPort registers;
  Master master;
  BarSlave bar;
  ControlSlave control;
};

} // namespace testbench

#endif
