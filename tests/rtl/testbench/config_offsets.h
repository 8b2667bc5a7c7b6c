// SPDX-License-Identifier: Apache-2.0
//
// What the configuration spaces of the root port and of the device have in common: offsets, and bits of the registers.
// Both have the PCI Express capability at the same place.
#ifndef SPATE_BENCH_CONFIG_OFFSETS_H
#define SPATE_BENCH_CONFIG_OFFSETS_H

#include <cstdint>

namespace testbench {

constexpr uint32_t kCommand = 0x04, kMemoryEnable = 2, kMasterEnable = 4;
constexpr uint32_t kExpress = 0x70;
constexpr uint32_t kDeviceControl = kExpress + 0x08, kLinkControl = kExpress + 0x10;
constexpr uint32_t kDeviceControl2 = kExpress + 0x28, kCompletionTimeout = 0x1f, kTimeout210Ms = 6;

} // namespace testbench

#endif
