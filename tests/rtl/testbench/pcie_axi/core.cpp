// SPDX-License-Identifier: Apache-2.0
#include "core.h"

#include <algorithm>

namespace testbench {

namespace {

constexpr uint64_t kLatencyCycles = 5; // from a request to its first beat, at least
constexpr uint64_t kBeatsMax = 257;

// The fields of window_read_t and window_write_t (rtl/spate_pkg.sv).
uint64_t read_beats(uint64_t request) { return request & 0x1ff; }
uint64_t read_address(uint64_t request) { return request >> 9 & UINT32_MAX; }
bool read_is_stray(uint64_t request) { return request >> 41 & 1; }
uint64_t write_address(uint64_t request) { return request & UINT32_MAX; }
bool write_is_stray(uint64_t request) { return request >> 32 & 1; }

} // namespace

Core::Core(Board &board, unsigned stall_percent)
    : memory(kApertureBytes), board_(board), pins_(board.pins()), read_stall_(board.random(), stall_percent),
      data_stall_(board.random(), stall_percent), write_stall_(board.random(), stall_percent) {
  pins_.read_ready_i = pins_.write_ready_i = pins_.read_data_valid_i = 0;
  board.attach(Clock::Core, *this);
}

void Core::take_read() {
  const uint64_t request = pins_.read_o, beats = read_beats(request);
  const uint64_t address = read_address(request) / kBeatBytes * kBeatBytes;
  const bool stray = read_is_stray(request);
  if (beats < 1 || beats > kBeatsMax) board_.fail("a read of %u beats", static_cast<unsigned>(beats));
  if (!stray && address + beats * kBeatBytes > kApertureBytes) board_.fail("a read that leaves the aperture");
  stray_reads += stray;
  for (uint64_t index = 0; index < beats; index++)
    owed_.push_back({cycle_ + kLatencyCycles, stray, address + index * kBeatBytes, index + 1 == beats});
}

void Core::take_write(const WriteBeat &beat) {
  const uint64_t address = write_address(beat.request);
  writes.add(cycle_);
  if (address % kBeatBytes != 0) board_.fail("a write that is not aligned to a beat");
  if (write_is_stray(beat.request)) {
    stray_writes++;
    return;
  }
  if (address >= kApertureBytes) board_.fail("a write outside of the aperture");
  for (unsigned lane = 0; lane < kBeatBytes; lane++)
    if (beat.strobes >> lane & 1) memory[address + lane] = beat.data[lane];
}

void Core::sample() {
  cycle_++;
  if (shown_ && pins_.read_data_ready_o) {
    owed_.pop_front();
    shown_ = false;
  }
  if (!pins_.rst_ni) {
    stable_read_.drop();
    stable_write_.drop();
    return;
  }
  WriteBeat beat{pins_.write_o, pins_.write_strobe_o, {}};
  get_beat(pins_.write_data_o, beat.data);
  if (!stable_read_.check(pins_.read_valid_o, pins_.read_ready_i, pins_.read_o)) board_.fail("a waiting read changed");
  if (!stable_write_.check(pins_.write_valid_o, pins_.write_ready_i, beat)) board_.fail("a waiting write changed");
  if (pins_.read_valid_o && pins_.read_ready_i) take_read();
  if (pins_.write_valid_o && pins_.write_ready_i) take_write(beat);
}

Beat Core::next_beat() const {
  const Owed &owed = owed_.front();
  Beat beat{};
  if (!owed.stray) std::copy_n(memory.begin() + static_cast<std::ptrdiff_t>(owed.address), kBeatBytes, beat.begin());
  return beat;
}

void Core::drive() {
  if (!shown_ && !owed_.empty() && cycle_ >= owed_.front().from_cycle && !data_stall_.next()) {
    shown_ = true;
    put_beat(pins_.read_data_i, next_beat());
    pins_.read_last_i = owed_.front().last;
  }
  pins_.read_data_valid_i = shown_;
  pins_.read_ready_i = pins_.rst_ni && !read_stall_.next();
  pins_.write_ready_i = pins_.rst_ni && !write_stall_.next();
}

} // namespace testbench
