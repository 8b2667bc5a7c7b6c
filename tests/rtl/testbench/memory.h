// SPDX-License-Identifier: Apache-2.0
//
// Memory mode: the memory beside the core, which the bridge's master accesses directly. Writes are answered after
// random delays, in any order, so that nothing orders them with accesses to the core. Contents are stored page by page.
#ifndef SPATE_BENCH_MEMORY_H
#define SPATE_BENCH_MEMORY_H

#include "board.h"
#include "page.h"

#include <array>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

namespace testbench {

struct MemoryConfig {
  uint32_t read_ns = 100;
  uint32_t write_ns_least = 40; // until the response
  uint32_t write_ns_most = 400;
};

class Memory {
public:
  Memory(Board &board, const MemoryConfig &config) : board_(board), config_(config) {}

  // ---- the bridge's side ----
  void read(uint64_t address, uint32_t beats, uint64_t now_ps);
  bool has_beat(uint64_t now_ps) const;
  void take_beat(Beat &beat);
  void write(uint64_t address, const uint8_t *data, uint32_t bytes, uint8_t id, uint64_t now_ps);
  // A write's response, if there is one in this cycle. The contents change with the response and not before: a read
  // that is too early sees the old contents.
  bool take_response(uint64_t now_ps, uint8_t *id);

  // ---- the user's side: without delay ----
  void store(uint64_t address, const uint8_t *data, uint32_t bytes);
  void load(uint64_t address, uint8_t *data, uint32_t bytes);

private:
  struct Reading {
    uint64_t address, ready_ps;
    uint32_t beats;
  };
  struct Writing {
    uint64_t address, ready_ps;
    std::vector<uint8_t> data;
    uint8_t id;
  };
  std::array<uint8_t, kPageBytes> &page(uint64_t address) { return pages_[address / kPageBytes]; }

  Board &board_;
  MemoryConfig config_;
  std::deque<Reading> readings_;
  std::deque<Writing> writings_;
  std::unordered_map<uint64_t, std::array<uint8_t, kPageBytes>> pages_;
};

} // namespace testbench

#endif
