// SPDX-License-Identifier: Apache-2.0
//
// The board: the Verilated top `spate_nvme_axi` and its three clocks.
//
// Everything around the core is a Part in one of the clocks. At each rising edge of that clock two functions are
// called:
//
//   sample()   the pins have their values from before the edge: detect the handshakes and act on them
//   drive()    the edge has happened: set the core's inputs for the next cycle
//
// So a part is a Moore machine like the logic that it represents, and the order of the calls cannot matter to the core.
// No combinational path leads through the core from an input to an output, so sample() sees what the edge sees.
//
// A program has one model, whose class is set at build time (SPATE_BENCH_MODEL). The width of its data path is a
// constant here (kBeatBytes); programs for other widths are other builds of the same sources.
#ifndef SPATE_BENCH_BOARD_H
#define SPATE_BENCH_BOARD_H

#define SPATE_BENCH_QUOTE(text)        #text
#define SPATE_BENCH_HEADER(class_name) SPATE_BENCH_QUOTE(class_name.h)
#include SPATE_BENCH_HEADER(SPATE_BENCH_MODEL)

#include "failure.h"
#include "random.h"

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace testbench {

using Model = SPATE_BENCH_MODEL;

constexpr unsigned kBeatBytes = sizeof(decltype(Model::s_axi_rdata_o));
using Beat = std::array<uint8_t, kBeatBytes>;

enum class Clock { Core, Axi, User };

class Part {
public:
  virtual ~Part() = default;
  virtual void sample() = 0;
  virtual void drive() = 0;
};

struct BoardConfig {
  uint64_t seed = 1;
  uint32_t core_ps = 4000; // periods; clocks with equal periods rise together
  uint32_t axi_ps = 4000;
  uint32_t user_ps = 4000;
};

class Board {
public:
  explicit Board(const BoardConfig &config);
  ~Board();
  Board(const Board &) = delete;
  Board &operator=(const Board &) = delete;

  Model &pins() { return *model_; }
  Random &random() { return random_; }
  uint64_t now_ps() const { return now_ps_; }
  uint64_t cycles() const { return cycles_; } // of the core's clock
  const BoardConfig &config() const { return config_; }

  void attach(Clock clock, Part &part); // the part must outlive the board's last step
  // All resets low for some cycles of every clock, then high.
  void reset();
  // A bridge's clock stops when its link's reference clock stops.
  void run_axi_clock(bool runs);
  // Advances to the next rising edge of any clock.
  void step();
  // Steps until `done()` is true; false when that takes more core cycles than `cycles_max`.
  template <typename Done> bool run_until(Done done, uint64_t cycles_max) {
    const uint64_t end = cycles_ + cycles_max;
    while (!done()) {
      if (cycles_ >= end) return false;
      step();
    }
    return true;
  }
  void run(uint64_t cycles) {
    run_until([] { return false; }, cycles);
  }

  // Reports a failure: throws Failure with the message, the seed and the cycle.
  [[noreturn]] void fail(const char *format, ...) __attribute__((format(printf, 2, 3)));

private:
  struct Domain {
    uint32_t period_ps = 0;
    uint64_t next_ps = 0;
    bool runs = true;
    bool rises = false; // at this instant
    std::vector<Part *> parts;
  };

  void set_clocks(bool high);

  BoardConfig config_;
  Random random_;
  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<Model> model_;
  std::array<Domain, 3> domains_;
  uint64_t now_ps_ = 0;
  uint64_t cycles_ = 0;
};

// A pin of up to 64 bits has the smallest type that holds it.
template <typename Pin, typename Value> void put(Pin &pin, Value value) { pin = static_cast<Pin>(value); }

// Data pins are arrays of 32-bit words, lowest first.
template <std::size_t Words> void put_beat(VlWide<Words> &pin, const Beat &beat) {
  static_assert(Words * 4 == kBeatBytes);
  __builtin_memcpy(pin.data(), beat.data(), kBeatBytes);
}
template <std::size_t Words> void get_beat(const VlWide<Words> &pin, Beat &beat) {
  static_assert(Words * 4 == kBeatBytes);
  __builtin_memcpy(beat.data(), pin.data(), kBeatBytes);
}

} // namespace testbench

#endif
