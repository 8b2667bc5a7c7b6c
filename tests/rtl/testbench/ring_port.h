// SPDX-License-Identifier: Apache-2.0
//
// The other port of the memory beside the core, through which the core itself keeps a ring there (ring_axi). The drive
// accesses the same memory through the bridge (bridge.h).
//
// Data are stored with the response and not before, and each response is late by a random time. So a reader that does
// not wait for the response finds the old data.
//
// The rules of the port are checked: whole beats, bursts within 4 KiB and within the ring, WLAST, and requests that do
// not change until they are taken.
#ifndef SPATE_BENCH_RING_PORT_H
#define SPATE_BENCH_RING_PORT_H

#include "board.h"
#include "memory.h"
#include "stable.h"

#include <cstdint>
#include <deque>
#include <vector>

namespace testbench {

struct RingPortConfig {
  uint64_t base = 0, bytes = 0;                        // the ring, at this port
  uint64_t bus_base = 0;                               // the ring, as the drive sees it
  unsigned stall_percent = 0;                          // percentage of cycles in which each channel stalls
  uint32_t write_ns_least = 100, write_ns_most = 6000; // from the last beat to the response
  uint32_t read_ns_least = 0, read_ns_most = 600;
};

class RingPort : public Part {
public:
  RingPort(Board &board, Memory &memory, const RingPortConfig &config);

  void sample() override;
  void drive() override;

  uint64_t beats() const { return beats_; } // in both directions
  // Answers the write burst with this number, from 0 on, with an error, and loses its data.
  void refuse(uint64_t burst) { refused_ = burst; }

private:
  struct Burst {
    uint64_t bus_address = 0;
    uint32_t beats = 0;
    uint64_t number = 0;   // of writes
    uint64_t ready_ps = 0; // of reads
  };
  struct Stored { // the data of a write
    uint64_t ready_ps = 0;
    std::vector<uint8_t> data;
  };

  bool go() { return config_.stall_percent == 0 || !board_.random().percent(config_.stall_percent); }
  Burst burst(uint64_t address, unsigned length, unsigned size, unsigned kind, const char *channel);
  void sample_write();
  void answer_write();
  void sample_read();
  void check_stable();

  Board &board_;
  Model &pins_;
  Memory &memory_;
  RingPortConfig config_;
  std::deque<Burst> writes_;     // addresses, in order
  std::deque<Stored> stored_;    // data, in the same order
  std::vector<uint8_t> storing_; // of the current burst
  std::deque<Burst> reads_;
  bool aw_ready_ = false, w_ready_ = false, b_valid_ = false, b_error_ = false, ar_ready_ = false, r_valid_ = false;
  uint64_t last_write_ps_ = 0, last_read_ps_ = 0;
  uint64_t bursts_written_ = 0, refused_ = UINT64_MAX, beats_ = 0;
  Beat r_beat_{};
  Stable<uint64_t> stable_aw_, stable_ar_;
  Stable<Beat> stable_w_;
};

} // namespace testbench

#endif
