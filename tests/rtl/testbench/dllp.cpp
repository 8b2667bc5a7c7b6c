// SPDX-License-Identifier: Apache-2.0
#include "dllp.h"

#include "link.h"

namespace testbench {

namespace {

// PCI Express base specification 4.0, 3.6.3.1: the values with which the tables are computed, for up to 4 lanes.
constexpr double kTlpOverheadBytes = 28;
double ack_factor(uint32_t payload_bytes) { return payload_bytes <= 256 ? 1.4 : 1.0; }
constexpr double kInternalDelaySymbols[] = {0, 19, 70, 115, 115, 115};

double symbol_ps(unsigned generation) {
  static constexpr double kPs[] = {0, 4000, 2000, 1000, 500, 250};
  return kPs[generation];
}

} // namespace

double dllp_limit_ps(const LinkConfig &config) {
  const double symbols = (config.payload_bytes + kTlpOverheadBytes) * ack_factor(config.payload_bytes) / config.lanes +
                         kInternalDelaySymbols[config.generation];
  return symbols * symbol_ps(config.generation);
}

} // namespace testbench
