// SPDX-License-Identifier: Apache-2.0
//
// The root port's own configuration space: a type 1 header, the PCI Express capability, and the two registers of
// Xilinx's bridges that bring-up needs (PG194): PHY Status/Control (0x144, bit 11: link up) and Root Port
// Status/Control (0x148, bit 0: bridge enable).
#ifndef SPATE_BENCH_ROOT_PORT_H
#define SPATE_BENCH_ROOT_PORT_H

#include <array>
#include <cstdint>

namespace testbench {

class RootPort {
public:
  RootPort();
  uint32_t read(uint32_t offset, bool link_up) const;
  void write(uint32_t offset, uint32_t value);

  // Whether configuration accesses reach bus 1, memory accesses this bus address, and the drive's accesses the host.
  bool forwards_config() const;
  bool forwards_memory(uint64_t bus_address) const;
  bool forwards_upstream() const;
  bool resets_bus() const;           // the secondary one
  bool times_out_by_default() const; // completion timeout: between 50 us and 50 ms
  uint32_t payload_bytes() const;    // as set in Device Control

private:
  uint32_t at(uint32_t offset) const { return words_[offset / 4]; }

  std::array<uint32_t, 1024> words_{};
};

} // namespace testbench

#endif
