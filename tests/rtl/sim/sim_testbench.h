// SPDX-License-Identifier: Apache-2.0
//
// The core, the bridge, a virtual drive and a user, connected; and the main function of a test program.
#ifndef SPATE_RTL_SIM_TESTBENCH_H
#define SPATE_RTL_SIM_TESTBENCH_H

#include "memory.h"
#include "registers.h"
#include "requests.h"
#include "ring_port.h"
#include "sim_drive.h"
#include "user.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

extern "C" {
#include <spate/gateware_registers.h>
}

namespace testbench {

// The model's parameters, from CMakeLists.txt.
constexpr uint64_t kWindowBase = SPATE_MODEL_WINDOW_BASE, kWindowBytes = SPATE_MODEL_WINDOW_BYTES;
constexpr uint64_t kBarBase = SPATE_MODEL_BAR_BASE;
constexpr uint64_t kUsPerMs = SPATE_MODEL_US_PER_MS;
// A ring in memory: it is behind the aperture, within the drive's reach. 0 bytes: none.
constexpr uint64_t kRingBytes = SPATE_MODEL_RING_BYTES, kRingBase = SPATE_MODEL_RING_BASE;
constexpr uint64_t kRingDriveBase = SPATE_MODEL_RING_DRIVE_BASE;
constexpr unsigned kApertureBits = kRingBytes == 0 ? 0 : 22; // for a core without an on-chip ring

struct SimTestbenchConfig {
  uint64_t seed = 1;
  const char *profile = "ideal";
  struct sim_drive_options options {};
  struct sim_profile *changed_profile = nullptr; // replaces the named one
  unsigned stall_percent = 0;                    // for everything around the core
  uint64_t tested_blocks = 65536;                // at the start of the drive: requests stay within them
  bool reset_with_perst = false;
  NoLink no_link = NoLink::Error;
};

class SimTestbench {
public:
  explicit SimTestbench(const SimTestbenchConfig &config);
  ~SimTestbench();
  SimTestbench(const SimTestbench &) = delete;
  SimTestbench &operator=(const SimTestbench &) = delete;

  void step();
  template <typename Done> bool run_until(Done done, uint64_t cycles_max) {
    const uint64_t end = board.cycles() + cycles_max;
    while (!done()) {
      if (board.cycles() >= end) return false;
      step();
    }
    return true;
  }
  void run(uint64_t cycles) {
    run_until([] { return false; }, cycles);
  }

  // Resets, then runs until the core reports ready.
  void bring_up();
  // Resets, then runs until the core gives the drive up.
  void bring_up_in_vain();
  uint32_t status() { return registers.read(SPATE_REGS_STATUS); }
  uint8_t step_reached() { return static_cast<uint8_t>(registers.read(SPATE_REGS_BRING_UP)); }
  uint8_t error() { return static_cast<uint8_t>(registers.read(SPATE_REGS_BRING_UP) >> 8); }
  // One of the 16 event counters.
  uint32_t counter(unsigned index) { return registers.read(SPATE_REGS_COUNTERS + 4 * index); }

  // Runs a request to its end; returns the response.
  UserResponse request(Op op, uint64_t lba = 0, uint32_t blocks = 0, bool fua = false);
  uint16_t flush_by_registers(); // returns the status
  // Runs until all requests have ended. Fails when that takes longer.
  void finish(uint64_t cycles_max = 20'000'000);
  // Compares the media with their expected contents, and checks that the core did nothing that is forbidden.
  void verify();
  void check(bool good, const char *format, ...) __attribute__((format(printf, 3, 4)));

  SimTestbenchConfig config;
  struct sim *const sim;
  struct sim_drive *const drive;
  Board board;
  Memory memory;
  Bridge bridge;
  RingPort ring; // inactive, if there is none
  SimDrive link;
  User user;
  Requests requests;
  Registers registers;

private:
  uint64_t beats_ = 0;
};

// The event counters of the core's registers, by index.
enum Counter : unsigned { StrayReads, StrayWrites, Stale, Phase, Index, Identifier, Head, Retries, Recoveries, Errors };

struct Test {
  const char *name;
  std::function<void(uint64_t seed)> run;
};
// The main function of a test program: runs all tests, or those that are named; -s SEED. Returns 1 if one fails.
int run_tests(const std::vector<Test> &tests, int argc, char **argv);

} // namespace testbench

#endif
