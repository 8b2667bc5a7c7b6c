// SPDX-License-Identifier: Apache-2.0
#include "bridge.h"
#include "memory.h"
#include "page.h"

#include <algorithm>

namespace testbench {

namespace {

constexpr unsigned kResetCycles = 16;

} // namespace

Bridge::Bridge(Board &board, const BridgeConfig &config, Model *pins)
    : board_(board), pins_(pins ? *pins : board.pins()), config_(config) {
  bar_write_.write = config_write_.write = true;
  board.attach(Clock::Axi, *this);
}

void Bridge::sample() {
  const bool perst = !pins_.perst_no;
  if (!perst_seen_ || perst != perst_) {
    perst_seen_ = true;
    perst_ = perst;
    if (perst && config_.reset_with_perst) {
      root_port_ = RootPort();
      drop();
    }
  }
  reset_below();
  if (reset_cycles_ != 0) reset_cycles_--;
  below_->tick(board_.now_ps());
  look_at_link();
  if (in_reset()) return;
  sample_read();
  sample_write();
  sample_registers();
}

void Bridge::drive() {
  pins_.user_link_up_i = link_shown_;
  if (config_.reset_with_perst || reset_cycles_ != 0 || was_in_reset_) pins_.axi_aresetn_i = !in_reset();
  was_in_reset_ = in_reset();
  drive_read();
  drive_write();
  drive_registers();
}

void Bridge::reset() {
  reset_cycles_ = kResetCycles;
  root_port_ = RootPort();
  drop();
}

// The drive is in reset while PERST# is low, if PERST# is wired, and while the root port resets its bus.
void Bridge::reset_below() {
  const bool reset = (perst_ && config_.perst_wired) || root_port_.resets_bus();
  if (passed_reset_ == reset) return;
  passed_reset_ = reset;
  below_->perst(reset);
}

// A link whose other end fell silent is shown until Recovery has timed out. Both ends train again after that: in
// between the link is seen to be down.
void Bridge::look_at_link() {
  constexpr uint64_t kPsPerUs = 1000000;
  const uint64_t now_ps = board_.now_ps();
  const bool up = below_->link_up();
  if (was_up_ && !up) shows_until_ps_ = now_ps + config_.link_fall_us * kPsPerUs;
  if (!was_up_ && up && now_ps < shows_until_ps_) hides_until_ps_ = now_ps + kPsPerUs;
  was_up_ = up;
  link_shown_ = up ? now_ps >= hides_until_ps_ : now_ps < shows_until_ps_;
}

bool Bridge::in_reset() const {
  return reset_cycles_ != 0 || !board_.pins().rst_ni || (config_.reset_with_perst && perst_);
}

void Bridge::drop() {
  for (Access *access : {&bar_write_, &bar_read_, &config_write_, &config_read_}) {
    const bool write = access->write;
    const uint64_t number = access->number + 1;
    *access = Access();
    access->write = write;
    access->number = number;
  }
  reads_.clear();
  reads_asked_ = 0;
  read_bursts_.clear();
  writes_.clear();
  write_bursts_.clear();
  aw_next_ = w_next_ = w_write_ = 0;
  ar_valid_ = r_ready_ = aw_valid_ = w_valid_ = b_ready_ = memory_b_valid_ = false;
  bursts_acknowledged_ = bursts_made_;
  for (Stable<uint64_t> *stable :
       {&stable_b_, &stable_m_aw_, &stable_m_ar_, &stable_c_aw_, &stable_c_w_, &stable_c_ar_})
    stable->drop();
  stable_r_.drop();
  stable_m_w_.drop();
}

void Bridge::read(Read read) {
  if (in_reset()) return;
  PendingRead pending;
  pending.read = std::move(read);
  pending.read.data.resize(pending.read.bytes);
  pending.after_writes = bursts_made_;
  reads_.push_back(std::move(pending));
}

void Bridge::write(Write write) {
  if (in_reset()) return;
  PendingWrite pending;
  pending.write = std::move(write);
  const uint32_t bytes = static_cast<uint32_t>(pending.write.data.size());
  for (uint32_t offset = 0; offset < bytes;) {
    Burst burst = cut(pending.write.address + offset, bytes - offset);
    burst.offset = offset;
    offset += burst.bytes;
    burst.last = offset == bytes;
    burst.id = static_cast<uint8_t>(bursts_made_++ % kIds);
    pending.bursts++;
    write_bursts_.push_back(burst);
  }
  writes_.push_back(std::move(pending));
}

// The first burst of `bytes` from here on.
Bridge::Burst Bridge::cut(uint64_t address, uint32_t bytes) const {
  Burst burst;
  burst.address = address;
  const uint64_t to_page = kPageBytes - address % kPageBytes;
  const uint32_t lane = static_cast<uint32_t>(address % kBeatBytes);
  burst.bytes =
      static_cast<uint32_t>(std::min<uint64_t>({bytes, to_page, config_.burst_bytes - lane, 256 * kBeatBytes - lane}));
  burst.beats = std::max<uint32_t>((lane + burst.bytes + kBeatBytes - 1) / kBeatBytes, 1);
  const uint64_t aperture = UINT64_C(1) << config_.window_bits;
  burst.to_memory = config_.window_bits != 0 && address - config_.window_base >= aperture;
  return burst;
}

void Bridge::check(bool kept, const char *what) {
  if (!kept) board_.fail("%s", what);
}

} // namespace testbench
