// SPDX-License-Identifier: Apache-2.0
#include "root_port.h"

#include "config_offsets.h"

namespace testbench {

namespace {

constexpr uint32_t kBusNumbers = 0x18, kMemoryWindow = 0x20;
constexpr uint32_t kPrefetchWindow = 0x24, kPrefetchBaseUpper = 0x28, kPrefetchLimitUpper = 0x2c;
constexpr uint32_t kBridgeControl = 0x3c, kSecondaryBusReset = 1u << 22;
constexpr uint32_t kPhyStatus = 0x144, kPhyLinkUp = 1u << 11;
constexpr uint32_t kPortControl = 0x148, kBridgeEnable = 1u;

// The bits that a write changes; other registers are read-only.
uint32_t writable(uint32_t offset) {
  switch (offset) {
  case kCommand: return 0x0000'0547;
  case kBusNumbers: return 0x00ff'ffff;
  case kMemoryWindow: return 0xfff0'fff0;
  case kPrefetchWindow: return 0xfff0'fff0;
  case kPrefetchBaseUpper:
  case kPrefetchLimitUpper: return 0xffff'ffff;
  case kBridgeControl: return 0xffff'00ff;
  case kDeviceControl: return 0x0000'ffff;
  case kLinkControl: return 0x0000'0fff;
  case kDeviceControl2: return 0x0000'ffff;
  case kExpress + 0x1c: return 0x0000'001f; // Root Control
  case kPortControl: return 0x0000'0001;
  default: return 0;
  }
}

} // namespace

RootPort::RootPort() {
  words_[0x00 / 4] = 0x9134'10ee; // a bridge of Xilinx, 4 lanes
  words_[kCommand / 4] = 0x0010'0000;
  words_[0x08 / 4] = 0x0604'0000;
  words_[0x0c / 4] = 0x0001'0000;
  words_[kPrefetchWindow / 4] = 0x0001'0001; // 64-bit addresses
  words_[0x34 / 4] = kExpress;
  words_[kExpress / 4] = 0x0042'0010;          // version 2, root port, no capability after it
  words_[(kExpress + 0x04) / 4] = 0x0000'8022; // MPS up to 512
  words_[kDeviceControl / 4] = 0x0000'2010;
  words_[kDeviceControl2 / 4] =
      kTimeout210Ms; // from 65 ms on, perhaps longer than the core waits; bring-up must set the default
  words_[(kExpress + 0x0c) / 4] = 0x0000'0044; // 16 GT/s, x4
  words_[kLinkControl / 4] = 0x0043'0000;
  words_[(kExpress + 0x1c) / 4] = 0x0001'0000; // configuration retry status can be made visible
}

uint32_t RootPort::read(uint32_t offset, bool link_up) const {
  if (offset == kPhyStatus) return 0x0000'0086 | (link_up ? kPhyLinkUp : 0); // 8 GT/s, 4 lanes
  if (offset == kLinkControl) return at(offset) | (link_up ? 1u << 29 : 0);
  return offset < words_.size() * 4 ? at(offset) : 0;
}

void RootPort::write(uint32_t offset, uint32_t value) {
  if (offset >= words_.size() * 4) return;
  const uint32_t mask = writable(offset);
  uint32_t &word = words_[offset / 4];
  word = (word & ~mask) | (value & mask);
}

bool RootPort::forwards_config() const {
  const uint32_t secondary = (at(kBusNumbers) >> 8) & 0xff, subordinate = (at(kBusNumbers) >> 16) & 0xff;
  return (at(kPortControl) & kBridgeEnable) && secondary == 1 && subordinate >= 1;
}

bool RootPort::forwards_memory(uint64_t bus_address) const {
  if (!(at(kCommand) & kMemoryEnable) || !(at(kPortControl) & kBridgeEnable)) return false;
  const uint32_t window = at(kMemoryWindow), prefetch = at(kPrefetchWindow);
  const uint64_t base = static_cast<uint64_t>(window & 0xfff0) << 16;
  const uint64_t limit = (static_cast<uint64_t>(window >> 16 & 0xfff0) << 16) | 0xf'ffff;
  if (bus_address >= base && bus_address <= limit) return true;
  const uint64_t base_upper = static_cast<uint64_t>(at(kPrefetchBaseUpper)) << 32;
  const uint64_t limit_upper = static_cast<uint64_t>(at(kPrefetchLimitUpper)) << 32;
  const uint64_t prefetch_base = base_upper | static_cast<uint64_t>(prefetch & 0xfff0) << 16;
  const uint64_t prefetch_limit = limit_upper | static_cast<uint64_t>(prefetch >> 16 & 0xfff0) << 16 | 0xf'ffff;
  return bus_address >= prefetch_base && bus_address <= prefetch_limit;
}

bool RootPort::resets_bus() const { return at(kBridgeControl) & kSecondaryBusReset; }

bool RootPort::forwards_upstream() const { return at(kCommand) & kMasterEnable; }

bool RootPort::times_out_by_default() const { return (at(kDeviceControl2) & kCompletionTimeout) == 0; }

uint32_t RootPort::payload_bytes() const { return 128u << ((at(kDeviceControl) >> 5) & 7); }

} // namespace testbench
