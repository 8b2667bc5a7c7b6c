// SPDX-License-Identifier: Apache-2.0
#include "config_space.h"

#include "config_offsets.h"

namespace testbench {

namespace {

constexpr uint32_t kBar0 = 0x10, kBar1 = 0x14;
constexpr uint32_t kPower = 0x40, kInterruptsOff = 0x400;

} // namespace

ConfigSpace::ConfigSpace(uint32_t bar_bytes, uint32_t link_generation, uint32_t link_lanes)
    : bar_bytes_(bar_bytes), generation_(link_generation), lanes_(link_lanes) {
  reset();
}

void ConfigSpace::reset() {
  words_.fill(0);
  words_[0] = 0x5ba7'1d1d;
  words_[kCommand / 4] = 0x0010'0000;
  words_[0x08 / 4] = 0x0108'0200; // NVM Express
  words_[kBar0 / 4] = 0x4;        // 64 bits
  words_[0x2c / 4] = 0x0001'1d1d;
  words_[0x34 / 4] = kPower;
  words_[kPower / 4] = 0x0003'0001 | kExpress << 8;
  words_[kExpress / 4] = 0x0002'0010;          // version 2, endpoint, the last capability
  words_[(kExpress + 0x04) / 4] = 0x1000'8022; // MPS up to 512, function-level reset
  words_[kDeviceControl / 4] = 0x0000'2810;
  words_[kDeviceControl2 / 4] = kTimeout210Ms; // from 65 ms on; bring-up must set the default
  words_[(kExpress + 0x0c) / 4] = 0x0000'0c00 | lanes_ << 4 | generation_;
  words_[kLinkControl / 4] = (lanes_ << 4 | generation_) << 16;
}

uint32_t ConfigSpace::writable(uint32_t offset) const {
  switch (offset) {
  case kCommand: return 0x0000'0547;
  case kBar0: return ~(bar_bytes_ - 1);
  case kBar1: return 0xffff'ffff;
  case 0x3c: return 0x0000'00ff;
  case kPower + 4: return 0x0000'0003;
  case kDeviceControl: return 0x0000'ffff;
  case kLinkControl: return 0x0000'0fff;
  case kDeviceControl2: return 0x0000'ffff;
  default: return 0;
  }
}

uint32_t ConfigSpace::read(uint32_t offset) const { return at(offset); }

void ConfigSpace::write(uint32_t offset, uint32_t value) {
  const uint32_t mask = writable(offset);
  uint32_t &word = words_[offset / 4];
  word = (word & ~mask) | (value & mask);
}

std::optional<uint32_t> ConfigSpace::decode(uint64_t bus_address) const {
  const uint64_t base = static_cast<uint64_t>(at(kBar1)) << 32 | (at(kBar0) & ~UINT32_C(0xf));
  if (!(at(kCommand) & kMemoryEnable) || bus_address < base || bus_address - base >= bar_bytes_) return std::nullopt;
  return static_cast<uint32_t>(bus_address - base);
}

bool ConfigSpace::bus_master() const { return at(kCommand) & kMasterEnable; }
bool ConfigSpace::interrupts_off() const { return at(kCommand) & kInterruptsOff; }
bool ConfigSpace::times_out_by_default() const { return (at(kDeviceControl2) & kCompletionTimeout) == 0; }
uint32_t ConfigSpace::payload_bytes() const { return 128u << ((at(kDeviceControl) >> 5) & 7); }
uint32_t ConfigSpace::read_request_bytes() const { return 128u << ((at(kDeviceControl) >> 12) & 7); }

} // namespace testbench
