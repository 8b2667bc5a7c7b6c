// SPDX-License-Identifier: Apache-2.0
//
// The bridge's master port: bursts of every size and kind, with several in flight. Each channel stalls by itself.
// Checks the responses: identifiers, order, RLAST, OKAY, that valid outputs stay until they are taken, and that nothing
// is valid during the bridge's reset.
#ifndef SPATE_BENCH_MASTER_H
#define SPATE_BENCH_MASTER_H

#include "beat_count.h"
#include "board.h"
#include "bursts.h"
#include "stable.h"
#include "stall.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

namespace testbench {

class Master : public Part {
public:
  using Bytes = std::vector<uint8_t>;
  Master(Board &board, unsigned stall_percent);

  // done() gets the bytes of all beats, in their order.
  void read(const Burst &burst, std::function<void(const Bytes &)> done);
  // `data` has the bytes of all beats. Those whose place in `written` is false have no strobe.
  void write(const Burst &burst, Bytes data, std::vector<bool> written, std::function<void()> done);
  bool idle() const { return reads_.empty() && writes_.empty(); }
  uint64_t cycles() const { return cycles_; } // of the bridge's clock
  // The bridge's reset: everything in flight is forgotten, and the pins are not valid.
  void drop();

  BeatCount read_beats;
  // While one is true, its channel pauses.
  bool holds_responses = false; // RREADY and BREADY
  bool holds_write_addresses = false, holds_write_data = false;

  void sample() override;
  void drive() override;

private:
  struct Read {
    Burst burst;
    uint8_t id;
    std::function<void(const Bytes &)> done;
    unsigned beat;
    Bytes data;
  };
  struct Write {
    Burst burst;
    uint8_t id;
    Bytes data;
    std::vector<bool> written;
    std::function<void()> done;
    unsigned beat;
    std::size_t sent; // bytes
  };
  struct ReadOutput {
    uint8_t id, response, last;
    Beat data;
    bool operator==(const ReadOutput &other) const {
      return id == other.id && response == other.response && last == other.last && data == other.data;
    }
  };

  void take_beat(const ReadOutput &output);
  void sample_read();
  void sample_write();
  void sample_response();
  void drive_read();
  void drive_write_address();
  void drive_write_data();
  uint8_t any_id() { return static_cast<uint8_t>(board_.random().below(16)); }
  void check(bool kept, const char *what);

  Board &board_;
  Model &pins_;
  Stall ar_stall_, r_stall_, aw_stall_, w_stall_, b_stall_;
  uint64_t cycles_ = 0;
  std::deque<Read> reads_;   // in order, until their last beat
  std::size_t ar_next_ = 0;  // index of the read whose address is next
  std::deque<Write> writes_; // in order, until their response
  std::size_t aw_next_ = 0, w_next_ = 0;
  bool ar_valid_ = false, r_ready_ = false, aw_valid_ = false, w_valid_ = false, b_ready_ = false;
  Stable<ReadOutput> stable_r_;
  Stable<uint64_t> stable_b_;
};

} // namespace testbench

#endif
