// SPDX-License-Identifier: Apache-2.0
// Time, link drops and link training, and the registers.
#include "ideal_drive.h"

namespace testbench {

namespace {

constexpr uint32_t kBarBytes = 0x4000, kDoorbells = 0x1000;
constexpr uint32_t kEnable = 1, kReady = 1, kFatal = 2;
constexpr uint64_t kPsPerNs = 1000;
constexpr uint64_t kUnheardPs = 10'000'000; // the longest time from a host's decision to reset until the drive sees it

} // namespace

IdealDrive::IdealDrive(Board &board, HostMemory &host, const DriveConfig &config)
    : board_(board), host_(host), config_(config), config_space_(kBarBytes, config.link_generation, config.link_lanes),
      contents_(config.tracked_blocks), random_(board.random().next()) {}

void IdealDrive::at(uint64_t delay_ns, std::function<void()> act) {
  events_.emplace(now_ps_ + delay_ns * kPsPerNs, std::move(act));
}

void IdealDrive::tick(uint64_t now_ps) {
  now_ps_ = now_ps;
  while (!events_.empty() && events_.begin()->first <= now_ps) {
    const std::function<void()> act = std::move(events_.begin()->second);
    events_.erase(events_.begin());
    act();
  }
}

// ---- the link ----

void IdealDrive::perst(bool asserted) {
  perst_ = asserted;
  lose_link(asserted ? UINT64_MAX : config_.train_ns);
}

// Everything becomes as after power-up. The link trains in `for_ns`, or never.
void IdealDrive::lose_link(uint64_t for_ns) {
  link_up_ = config_ready_ = false;
  link_life_++;
  config_space_.reset();
  reset_controller();
  cc_ = aqa_ = interrupt_mask_ = shutdown_status_ = 0;
  asq_ = acq_ = 0;
  shut_down_ = false;
  if (for_ns == UINT64_MAX) return;
  at(for_ns, [this, life = link_life_] {
    if (life == link_life_) link_comes_up();
  });
}

void IdealDrive::link_comes_up() {
  link_up_ = true;
  at(config_.config_retry_ns, [this, life = link_life_] { config_ready_ = config_ready_ || life == link_life_; });
}

// Resets the controller's state. Work in flight now belongs to an earlier life.
void IdealDrive::reset_controller() {
  life_++;
  // A host that has decided to reset accepts no completion, so the last one may not have counted.
  if (now_ps_ - oldest_ended_ps_ < kUnheardPs) oldest_ended_ = false;
  ready_ = fatal_ = false;
  for (Queue *queue : {&sq_[0], &sq_[1], &cq_[0], &cq_[1]})
    *queue = Queue();
  known_head_[0] = known_head_[1] = 0;
  in_flight_ = fetching_ = 0;
  completions_.clear();
  held_.clear();
}

uint32_t IdealDrive::config_read(uint32_t offset) {
  if (!config_ready_) return offset == 0 ? 0xffff'0001 : UINT32_MAX;
  return config_space_.read(offset);
}

// ---- registers ----

uint32_t IdealDrive::register_read(uint32_t offset) {
  switch (offset) {
  // MQES, CQR, a timeout of 10 s; then DSTRD and the NVM command set. Only pages of 4 KiB.
  case 0x00: return static_cast<uint32_t>(config_.queue_entries - 1) | 1u << 16 | 20u << 24;
  case 0x04: return config_.doorbell_stride | 1u << 5;
  case 0x08: return 0x0001'0400;
  case 0x0c:
  case 0x10: return interrupt_mask_;
  case 0x14: return cc_;
  case 0x1c: return (ready_ ? kReady : 0) | (fatal_ ? kFatal : 0) | shutdown_status_ << 2;
  case 0x24: return aqa_;
  case 0x28: return static_cast<uint32_t>(asq_);
  case 0x2c: return static_cast<uint32_t>(asq_ >> 32);
  case 0x30: return static_cast<uint32_t>(acq_);
  case 0x34: return static_cast<uint32_t>(acq_ >> 32);
  default: return 0;
  }
}

void IdealDrive::register_write(uint32_t offset, uint32_t value) {
  constexpr uint64_t kHigh = UINT64_C(0xffff'ffff) << 32;
  if (offset >= kDoorbells) {
    const uint32_t stride = 4u << config_.doorbell_stride;
    if ((offset - kDoorbells) % stride != 0) board_.fail("a write to 0x%x, between two doorbells", offset);
    doorbell((offset - kDoorbells) / stride, value);
    return;
  }
  if (offset >= 0x24 && offset <= 0x34 && (cc_ & kEnable))
    board_.fail("a write to 0x%x while the controller is enabled", offset);
  switch (offset) {
  case 0x0c: interrupt_mask_ |= value; break;
  case 0x10: interrupt_mask_ &= ~value; break;
  case 0x14: control(value); break;
  case 0x24: aqa_ = value & 0x0fff'0fff; break;
  case 0x28: asq_ = (asq_ & kHigh) | (value & ~UINT32_C(0xfff)); break;
  case 0x2c: asq_ = (asq_ & ~kHigh) | static_cast<uint64_t>(value) << 32; break;
  case 0x30: acq_ = (acq_ & kHigh) | (value & ~UINT32_C(0xfff)); break;
  case 0x34: acq_ = (acq_ & ~kHigh) | static_cast<uint64_t>(value) << 32; break;
  default: board_.fail("a write to the read-only register 0x%x", offset);
  }
}

void IdealDrive::control(uint32_t value) {
  const uint32_t before = cc_;
  cc_ = value;
  if ((value & kEnable) && !(before & kEnable))
    enable();
  else if (!(value & kEnable) && (before & kEnable))
    disable();
  if (((value >> 14) & 3) != 0 && ((before >> 14) & 3) == 0) {
    shutdown_status_ = 1;
    at(config_.ready_ns, [this, life = link_life_] {
      if (life != link_life_) return;
      shutdown_status_ = 2;
      shut_down_ = true;
    });
  }
}

void IdealDrive::enable() {
  if (!config_space_.bus_master() || !config_space_.interrupts_off())
    board_.fail("enabled with bus mastering off, or with INTx not disabled");
  if (!config_space_.times_out_by_default()) board_.fail("enabled with a completion timeout that is not the default");
  if (((cc_ >> 4) & 7) != 0 || ((cc_ >> 7) & 0xf) != 0 || (aqa_ & 0xfff) == 0 || (aqa_ >> 16) == 0)
    board_.fail("enabled with CC 0x%08x, AQA 0x%08x", cc_, aqa_);
  if (ready_) board_.fail("enabled before CSTS.RDY was 0");
  was_in_vain_ = counters.enables++ != 0 && !oldest_ended_;
  oldest_ended_ = false;
  oldest_.reset();
  shutdown_status_ = 0;
  shut_down_ = false;
  at(config_.ready_ns, [this, life = life_] {
    if (life != life_ || !(cc_ & kEnable)) return;
    ready_ = true;
    sq_[0].exists = cq_[0].exists = true;
    sq_[0].base = asq_;
    cq_[0].base = acq_;
    sq_[0].entries = (aqa_ & 0xfff) + 1;
    cq_[0].entries = (aqa_ >> 16 & 0xfff) + 1;
  });
}

void IdealDrive::disable() {
  const bool was_ready = ready_;
  reset_controller();
  // RDY falls when the controller is idle.
  ready_ = was_ready;
  at(config_.ready_ns, [this, life = life_] {
    if (life == life_ && !(cc_ & kEnable)) ready_ = false;
  });
}

void IdealDrive::doorbell(uint32_t number, uint32_t value) {
  counters.doorbells++;
  if (fatal_ || !ready_ || !(cc_ & kEnable)) return; // a host in recovery may still ring
  const bool completion = number & 1, admin = number < 2;
  Queue &queue = completion ? cq_[!admin] : sq_[!admin];
  if (number >= 4 || !queue.exists || value >= queue.entries) board_.fail("doorbell %u is written %u", number, value);
  const uint32_t step = (value + queue.entries - (completion ? queue.head : queue.tail)) % queue.entries;
  if (completion) {
    if (step > (queue.tail + queue.entries - queue.head) % queue.entries)
      board_.fail("the completion queue's head doorbell passes its tail: %u", value);
    queue.head = value;
    post();
  } else {
    if (step > (queue.head + queue.entries - queue.tail - 1) % queue.entries)
      board_.fail("the submission queue's tail doorbell passes its head: %u", value);
    queue.tail = value;
    fetch(admin);
  }
}

} // namespace testbench
