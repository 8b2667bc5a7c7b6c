// SPDX-License-Identifier: Apache-2.0
#include "slave.h"

#include <algorithm>

namespace testbench {

Slave::Slave(Board &board, const char *name, uint64_t base, uint64_t bytes, unsigned stall_percent)
    : board_(board), pins_(board.pins()), name_(name), base_(base), dwords_(bytes / 4),
      aw_stall_(board.random(), stall_percent), w_stall_(board.random(), stall_percent),
      ar_stall_(board.random(), stall_percent), b_stall_(board.random(), stall_percent),
      r_stall_(board.random(), stall_percent) {
  board.attach(Clock::Axi, *this);
}

Slave::Around Slave::around(uint64_t offset) const {
  Around found{};
  std::copy_n(dwords_.begin() + static_cast<std::ptrdiff_t>(offset / 64 * 16), found.size(), found.begin());
  return found;
}

void Slave::check(bool kept, const char *what) {
  if (!kept) board_.fail("%s: %s", name_, what);
}

void Slave::drop() {
  aw_taken_ = w_taken_ = ar_taken_ = b_owed_ = false;
  pins_now_ = Answers();
  show(pins_now_);
  stable_aw_.drop();
  stable_ar_.drop();
  stable_w_.drop();
}

void Slave::check_stable(const Requests &seen) {
  check(stable_aw_.check(seen.aw_valid, pins_now_.aw_ready, seen.aw_address), "a waiting AW changed");
  check(stable_w_.check(seen.w_valid, pins_now_.w_ready, {seen.strobes, seen.data}), "a waiting W changed");
  check(stable_ar_.check(seen.ar_valid, pins_now_.ar_ready, seen.ar_address), "a waiting AR changed");
}

uint64_t Slave::offset_of(uint64_t address, unsigned size) {
  check(size == 2 && address % 4 == 0, "an access that is not of one dword");
  check(address - base_ < bytes(), "an address outside of the port");
  return address - base_;
}

void Slave::take_requests(const Requests &seen) {
  if (seen.aw_valid && pins_now_.aw_ready) {
    aw_taken_ = true;
    aw_offset_ = offset_of(seen.aw_address, seen.aw_size);
  }
  if (seen.w_valid && pins_now_.w_ready) {
    w_taken_ = true;
    w_ = {seen.strobes, seen.data};
  }
  if (seen.ar_valid && pins_now_.ar_ready) {
    ar_taken_ = true;
    ar_offset_ = offset_of(seen.ar_address, seen.ar_size);
    read_ = get(ar_offset_);
  }
}

// Address and data may arrive in any order.
void Slave::carry_out_write() {
  if (!aw_taken_ || !w_taken_ || b_owed_) return;
  const uint64_t lane = aw_offset_ % data_bytes();
  check(w_.strobes == UINT64_C(0xf) << lane, "strobes that are not those of the dword");
  uint32_t value = 0;
  __builtin_memcpy(&value, w_.data.data() + lane, sizeof value);
  if (response == 0) set(aw_offset_, value);
  b_owed_ = true;
}

void Slave::sample() {
  const Requests seen = requests();
  if (!pins_.axi_aresetn_i) {
    check(!seen.aw_valid && !seen.w_valid && !seen.ar_valid, "a request during the bridge's reset");
    return;
  }
  check_stable(seen);
  if (pins_now_.b_valid && seen.b_ready) aw_taken_ = w_taken_ = b_owed_ = pins_now_.b_valid = false;
  if (pins_now_.r_valid && seen.r_ready) ar_taken_ = pins_now_.r_valid = false;
  take_requests(seen);
  carry_out_write();
}

void Slave::drive() {
  if (!pins_.axi_aresetn_i) return;
  pins_now_.aw_ready = !aw_taken_ && !aw_stall_.next();
  pins_now_.w_ready = !w_taken_ && !w_stall_.next();
  pins_now_.ar_ready = !ar_taken_ && !ar_stall_.next();
  const bool held = silent;
  if (!pins_now_.b_valid) {
    pins_now_.b_valid = b_owed_ && !held && !b_stall_.next();
    pins_now_.b_response = response;
  }
  if (!pins_now_.r_valid) {
    pins_now_.r_valid = ar_taken_ && !held && !r_stall_.next();
    pins_now_.r_response = response;
    pins_now_.r_data = read_;
    pins_now_.r_address = ar_offset_;
  }
  show(pins_now_);
}

} // namespace testbench
