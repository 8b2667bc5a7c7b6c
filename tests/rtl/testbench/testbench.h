// SPDX-License-Identifier: Apache-2.0
//
// A complete testbench: board, bridge, link, ideal drive, a user at the streams, and a memory if the model has no ring.
#ifndef SPATE_BENCH_TESTBENCH_H
#define SPATE_BENCH_TESTBENCH_H

#include "bridge.h"
#include "ideal_drive.h"
#include "link.h"
#include "memory.h"
#include "registers.h"
#include "streams.h"
#include "user.h"

namespace testbench {

struct TestbenchConfig {
  BoardConfig board;
  BridgeConfig bridge;
  LinkConfig link;
  DriveConfig drive;
  MemoryConfig memory;
  unsigned user_stall_percent = 0;
};

// The addresses of the windows and the drive's BAR in every model: parameters WindowBase, BarBase, BarAxiBase.
constexpr uint64_t kWindowBase = UINT64_C(0x8000'0000);
constexpr uint64_t kBarBase = UINT64_C(0xe000'0000);
constexpr uint64_t kBarAxiBase = UINT64_C(0x1000'0000);
// Memory mode: the data are outside the aperture.
constexpr uint64_t kMemoryBase = UINT64_C(0x1'0000'0000);

struct Testbench {
  explicit Testbench(const TestbenchConfig &config)
      : board(config.board), memory(board, config.memory), bridge(board, with_bar(config.bridge)),
        link(board, bridge, config.link), drive(board, link, config.drive), user(board, config.user_stall_percent),
        registers(board) {
    link.connect(drive);
    bridge.connect(memory);
  }
  static BridgeConfig with_bar(BridgeConfig config) {
    config.bar_axi_base = kBarAxiBase;
    config.bar_bus_base = kBarBase;
    config.window_base = kWindowBase;
    return config;
  }

  Board board;
  Memory memory;
  Bridge bridge;
  Link link;
  IdealDrive drive;
  User user;
  Registers registers;
};

} // namespace testbench

#endif
