// SPDX-License-Identifier: Apache-2.0
//
// The properties of the drive behind spate_admin and of its link. A test changes the ones it is about.
#ifndef SPATE_ADMIN_PROFILE_H
#define SPATE_ADMIN_PROFILE_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace testbench {

struct Profile {
  std::string serial = "SPATE-00001";

  // Configuration space.
  uint32_t class_code = 0x010802;
  uint32_t header = 0;
  uint32_t bar_bytes = 0x4000; // 0: it has no BAR
  uint32_t bar_type = 4;
  uint32_t payload = 1; // as in Device Capabilities: 128 << n bytes
  uint32_t root_payload = 2;
  bool capability = true;
  uint32_t express_version = 2; // of the PCI Express capability; version 1 has no Device Control 2
  bool extended_tags = true;

  // Controller registers.
  uint32_t mqes = 1023;
  uint32_t timeout = 1; // CAP.TO
  uint32_t stride = 0;  // CAP.DSTRD
  uint32_t command_sets = 1;
  uint32_t mpsmin = 0;
  uint32_t version = 0x10400;

  // Identify Controller and the namespaces.
  uint32_t entry_sizes = 0x4466;
  uint32_t mdts = 5;
  bool volatile_cache = true;
  uint32_t oacs = 2;
  uint32_t oncs = 4;
  uint32_t sanicap = 2;
  bool apsta = true;
  uint32_t hmpre = 0x1000;
  std::vector<uint32_t> namespaces = {1};
  bool namespace_list = true; // otherwise the command is unknown, as in version 1.0
  uint64_t blocks = UINT64_C(0x12'3456'789a);
  uint32_t block_shift = 9;
  uint32_t metadata = 0;
  uint32_t format_index = 0;
  uint64_t eui64 = UINT64_C(0x0025'38ff'0012'3456);
  std::map<uint32_t, uint32_t> smart = {{0, 0x64'0133'00}, {1, 0x0000'050a}, {36, 7}, {40, 3}}; // dwords of the log

  // Times in cycles. Without a value, it never happens.
  uint64_t retry_cycles = 0;                // for which a configuration access is answered with a retry
  std::optional<uint64_t> link_cycles = 20; // from the end of a reset to the link
  std::optional<uint64_t> ready_cycles = 40;
  std::optional<uint64_t> disable_cycles = 40;
  std::optional<uint64_t> shutdown_cycles = 40;

  uint64_t link_fall_ms = 24; // for which the root port reports a link whose other end is silent as up
  bool perst_wired = true;    // otherwise the drive came up with the board's power
  bool bus_reset = true;      // the root port can reset its bus
  bool fatal = false;         // CSTS.CFS instead of CSTS.RDY
};

} // namespace testbench

#endif
