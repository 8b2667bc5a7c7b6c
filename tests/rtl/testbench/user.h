// SPDX-License-Identifier: Apache-2.0
//
// The user's side of the core, at the pins: it gives commands, takes responses, offers and takes beats. Their meaning
// is defined by the callbacks (traffic.h).
#ifndef SPATE_BENCH_USER_H
#define SPATE_BENCH_USER_H

#include "board.h"
#include "stable.h"

#include <cstdint>
#include <deque>
#include <functional>

namespace testbench {

enum class Op : uint8_t { Flush, Write, Read, Deallocate, Format, Sanitize, Shutdown, Restart };
enum class Source : uint8_t { Stream, Address, Mailbox };

struct UserCommand {
  Op op = Op::Flush;
  Source source = Source::Stream;
  bool fua = false;
  uint16_t tag = 0;
  uint64_t lba = 0;
  uint32_t blocks = 0;
  uint64_t address = 0;
};

struct UserResponse {
  uint16_t tag = 0;
  uint16_t status = 0;
  uint64_t done = 0;
};

class User : public Part {
public:
  // Each of the four channels stalls in `stall_percent` of the cycles.
  User(Board &board, unsigned stall_percent);

  void submit(const UserCommand &command) { commands_.push_back(command); }
  std::size_t waiting() const { return commands_.size(); } // submitted and not taken by the core
  void set_stall(unsigned percent) { stall_percent_ = percent; }

  std::function<void(const UserCommand &)> on_accepted;
  std::function<void(const UserResponse &)> on_response;
  std::function<bool(Beat &)> next_beat; // sets the next beat to write; false: there is none now
  std::function<void(const Beat &, bool last, bool error)> on_beat;

  void sample() override;
  void drive() override;

private:
  bool go() { return stall_percent_ == 0 || !board_.random().percent(stall_percent_); }
  void sample_response();
  void sample_beats();

  Board &board_;
  Model &pins_;
  unsigned stall_percent_;
  std::deque<UserCommand> commands_;
  bool command_valid_ = false, response_ready_ = false, in_valid_ = false, out_ready_ = false;
  bool in_fresh_ = false; // the beat at the pins must be set
  Beat in_beat_{};
  Stable<uint64_t> stable_response_;
  Stable<Beat> stable_beat_;
};

} // namespace testbench

#endif
