// SPDX-License-Identifier: Apache-2.0
//
// Time, the link, resets, configuration space and the controller's registers.
#include "drive.h"

#include "check.h"

#include <algorithm>

namespace testbench {

AdminDrive::AdminDrive(const Profile &properties, Random &random) : profile(properties), random_(random) {
  if (profile.perst_wired) resets_ = PerstReset;
  power_up();
  if (resets_ == 0) train_in(*profile.link_cycles);
}

uint32_t AdminDrive::at(const Registers &registers, uint32_t address) {
  const auto found = registers.find(address);
  return found == registers.end() ? 0 : found->second;
}

uint32_t AdminDrive::configured(Space space, uint32_t address) const {
  return at(space == Space::Local ? local_ : device_, address);
}

// ---- time ----

void AdminDrive::after(uint64_t cycles, std::function<void()> action) {
  later_.emplace(cycle_ + std::max<uint64_t>(1, cycles), std::move(action));
}

void AdminDrive::run_due() {
  while (!later_.empty() && later_.begin()->first <= cycle_) {
    const auto action = std::move(later_.begin()->second);
    later_.erase(later_.begin());
    action();
  }
}

// ---- the link and resets ----

// The root port's view: it notices late that the other end is silent.
bool AdminDrive::shown_link_up() const { return link_up_ || cycle_ < falls_at_; }

void AdminDrive::silence() {
  if (link_up_) falls_at_ = cycle_ + profile.link_fall_ms * kMs;
  link_up_ = false;
  power_up();
}

void AdminDrive::power_up() {
  generation_++;
  device_since_ = cycle_;
  reset_configuration();
  restart();
}

void AdminDrive::restart() {
  reset_controller();
  // A reset by CC.EN keeps these (NVMe 1.4, 7.3.2).
  for (const uint32_t address : {kCc, kAqa, kAsq, kAsq + 4, kAcq, kAcq + 4})
    registers_[address] = 0;
}

void AdminDrive::reset_configuration() {
  const uint32_t capability = profile.express_version << 16;
  device_ = {{0x00, 0xa808144d},
             {0x04, 0x0010'0000},
             {0x08, profile.class_code << 8},
             {0x0c, profile.header << 16},
             {0x10, profile.bar_type},
             {0x34, 0x40},
             {0x40, 0x5001 | 0x0003'0000},
             {0x50, profile.capability ? 0x7005 : 0x0005},
             {0x70, capability | 0x0010},
             {0x74, profile.payload | (profile.extended_tags ? 1u << 5 : 0)},
             {kDeviceControl, 0x2810},
             {0x80, 0x1043'0000},
             {kDeviceControl2, kTimeout210Ms}};
  // The root port's own registers survive a reset of the drive, but for its capability, which goes with the link.
  local_.emplace(0x34, 0x60);
  local_[0x60] = capability | 0x8010;
  local_[0x64] = profile.root_payload;
  local_[kLocalControl] = 0x5810;
  local_[kLocalControl2] = kTimeout210Ms;
}

void AdminDrive::reset_controller() {
  registers_[kCapLow] = profile.mqes | profile.timeout << 24 | 1u << 16;
  registers_[kCapHigh] = profile.stride | profile.command_sets << 5 | profile.mpsmin << 16;
  registers_[kVs] = profile.version;
  registers_[kCsts] = 0;
  admin_head_ = admin_given_ = admin_rung_ = 0;
  queues_ = {};
  life_++;
  drop_completions();
}

void AdminDrive::drop_link(std::optional<uint64_t> cycles) {
  silence();
  if (cycles) train_in(*cycles);
}

// Both ends train, but not before the root port has noticed that the link was down.
void AdminDrive::train_in(uint64_t cycles) {
  const uint64_t noticed = falls_at_ + 8 > cycle_ ? falls_at_ + 8 - cycle_ : 0;
  after(std::max(cycles, noticed), [this, generation = generation_] {
    if (generation_ != generation || resets_ != 0) return;
    link_up_ = true;
    trained_at_ = device_since_ = cycle_;
  });
}

void AdminDrive::see_perst(bool low) {
  if (profile.perst_wired) see_reset(PerstReset, low);
}

void AdminDrive::see_reset(Reset kind, bool held) {
  if (held == ((resets_ & kind) != 0)) return;
  const bool was_reset = resets_ != 0;
  resets_ ^= kind;
  if (!was_reset)
    silence();
  else if (resets_ == 0 && profile.link_cycles)
    train_in(*profile.link_cycles);
}

// ---- accesses ----

std::optional<Answer> AdminDrive::access(const Access &access) {
  if (access.write) write_log.push_back(access);
  const auto fault = access_faults.find({access.space, access.address});
  if (fault != access_faults.end()) {
    if (fault->second == AccessFault::Lost) return {};
    return Answer{fault->second == AccessFault::Error, fault->second == AccessFault::Ones ? UINT32_MAX : 0};
  }
  if (access.space != Space::Local) return access_device(access);
  if (access.write && access.address == kBridgeControl && profile.bus_reset) see_reset(BusReset, access.data >> 22 & 1);
  return configure(access);
}

Answer AdminDrive::access_device(const Access &access) {
  if (!link_up_ || !(at(local_, kBridgeEnable) & 1)) return {true, UINT32_MAX};
  if (first_access_at_ < trained_at_) first_access_at_ = cycle_;
  if (access.space == Space::Device) {
    if (cycle_ - device_since_ < profile.retry_cycles) return {false, 0xffff'0001};
    check(at(local_, 0x18) == 0x0001'0100, "a device access before the bus numbers are set");
    return configure(access);
  }
  if (!(at(device_, 0x04) & 2) || (at(device_, 0x10) & ~0xfu) != kBarBase) return {true, UINT32_MAX};
  check(access.address < profile.bar_bytes, "an access beyond the BAR: 0x%x", access.address);
  return access_controller(access);
}

Answer AdminDrive::configure(const Access &access) {
  Registers &registers = configuration(access.space);
  const bool device = access.space == Space::Device;
  const bool read_only = device && (access.address == 0x00 || access.address == 0x08 || access.address == 0x74);
  if (access.write && device && access.address == 0x10) {
    const uint32_t size = profile.bar_bytes;
    registers[0x10] = (size != 0 ? access.data & ~(size - 1) : 0) | profile.bar_type;
  } else if (access.write && access.address == 0x04) {
    registers[0x04] = (at(registers, 0x04) & 0xffff'0000) | (access.data & 0xffff);
  } else if (access.write && !read_only) {
    registers[access.address] = access.data;
  }
  return {false, at(registers, access.address)};
}

Answer AdminDrive::access_controller(const Access &access) {
  const uint32_t old = at(registers_, access.address);
  if (!access.write) return {false, access.address == kCsts && fatal_now ? old | 2 : old};
  if (access.address >= kDoorbells) {
    doorbell(access.address, access.data);
    return {};
  }
  registers_[access.address] = access.data;
  if (access.address == kCc) write_cc(old, access.data);
  return {};
}

void AdminDrive::write_cc(uint32_t old, uint32_t data) {
  if ((old ^ data) & 1) {
    if (data & 1)
      enable();
    else
      disable();
  }
  if ((data & 0xc000) && !(old & 0xc000) && profile.shutdown_cycles) {
    registers_[kCsts] |= 4;
    after(*profile.shutdown_cycles, [this] { registers_[kCsts] = (registers_[kCsts] & ~0xcu) | 8; });
  }
}

// What must be set up when CC.EN is set.
void AdminDrive::check_enable() {
  const uint32_t timeout = profile.express_version >= 2 ? 0 : kTimeout210Ms;
  check(at(local_, kLocalControl2) == timeout && at(device_, kDeviceControl2) == timeout,
        "a completion timeout is not the default, or was set without a register");
  check((at(device_, 0x04) & 0x406) == 0x406, "bus master, memory, no INTx before CC.EN");
  const auto wide = [this](uint32_t address) {
    return at(registers_, address) | static_cast<uint64_t>(at(registers_, address + 4)) << 32;
  };
  expect("ASQ", wide(kAsq), base_);
  expect("ACQ", wide(kAcq), base_ + kAdminCqOffset);
  expect("AQA", at(registers_, kAqa), 0x0003'0003u);
  expect("CC", at(registers_, kCc), 0x0046'0001u);
}

void AdminDrive::enable() {
  base_ = kWindowBase + (static_cast<uint64_t>(core.epoch) << (kWindowBits - 1));
  check_enable();
  if (profile.fatal) {
    registers_[kCsts] = 2;
  } else if (profile.ready_cycles) {
    after(*profile.ready_cycles, [this, life = life_] {
      if (life == life_) registers_[kCsts] = 1;
    });
  }
}

void AdminDrive::disable() {
  life_++;
  fatal_now = false;
  if (!profile.disable_cycles) return;
  after(*profile.disable_cycles, [this, life = life_] {
    if (life == life_) reset_controller();
  });
}

} // namespace testbench
