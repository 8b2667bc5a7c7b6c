// SPDX-License-Identifier: Apache-2.0
//
// The core as an adapter sees it: a memory behind the read and write ports. Checks the adapter's requests: valid
// outputs stay until they are taken, reads have 1 to 257 beats, writes are aligned to a beat.
#ifndef SPATE_BENCH_CORE_H
#define SPATE_BENCH_CORE_H

#include "beat_count.h"
#include "board.h"
#include "stable.h"
#include "stall.h"

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

namespace testbench {

constexpr uint64_t kApertureBytes = UINT64_C(1) << 21;

class Core : public Part {
public:
  Core(Board &board, unsigned stall_percent);

  std::vector<uint8_t> memory; // the aperture
  uint64_t stray_reads = 0, stray_writes = 0;
  BeatCount writes;

  void sample() override;
  void drive() override;

private:
  struct Owed {
    uint64_t from_cycle; // earliest
    bool stray;
    uint64_t address;
    bool last;
  };
  struct WriteBeat {
    uint64_t request;
    uint64_t strobes;
    Beat data;
    bool operator==(const WriteBeat &other) const {
      return request == other.request && strobes == other.strobes && data == other.data;
    }
  };

  void take_read();
  void take_write(const WriteBeat &beat);
  Beat next_beat() const;

  Board &board_;
  Model &pins_;
  Stall read_stall_, data_stall_, write_stall_;
  uint64_t cycle_ = 0;
  std::deque<Owed> owed_;
  bool shown_ = false;
  Stable<uint64_t> stable_read_;
  Stable<WriteBeat> stable_write_;
};

} // namespace testbench

#endif
