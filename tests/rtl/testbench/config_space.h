// SPDX-License-Identifier: Apache-2.0
//
// An NVMe drive's configuration space: a type 0 header with a 64-bit BAR 0, power management and the PCI Express
// capability.
#ifndef SPATE_BENCH_CONFIG_SPACE_H
#define SPATE_BENCH_CONFIG_SPACE_H

#include <array>
#include <cstdint>
#include <optional>

namespace testbench {

class ConfigSpace {
public:
  ConfigSpace(uint32_t bar_bytes, uint32_t link_generation, uint32_t link_lanes);
  void reset(); // as after PERST#
  uint32_t read(uint32_t offset) const;
  void write(uint32_t offset, uint32_t value);
  // The offset in BAR 0 of a bus address, while memory decoding is on.
  std::optional<uint32_t> decode(uint64_t bus_address) const;
  bool bus_master() const;
  bool interrupts_off() const;       // command register, bit 10
  bool times_out_by_default() const; // completion timeout: between 50 us and 50 ms
  uint32_t payload_bytes() const;
  uint32_t read_request_bytes() const;

private:
  uint32_t at(uint32_t offset) const { return words_[offset / 4]; }
  uint32_t writable(uint32_t offset) const;

  uint32_t bar_bytes_, generation_, lanes_;
  std::array<uint32_t, 1024> words_{};
};

} // namespace testbench

#endif
