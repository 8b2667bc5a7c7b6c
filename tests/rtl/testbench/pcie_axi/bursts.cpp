// SPDX-License-Identifier: Apache-2.0
#include "bursts.h"

#include "page.h"

#include <algorithm>

namespace testbench {

std::vector<Burst> bursts_for(uint64_t address, uint64_t bytes, unsigned size) {
  constexpr uint64_t kBeatsMax = 256;
  const uint64_t step = UINT64_C(1) << size, end = address + bytes;
  std::vector<Burst> bursts;
  while (address < end) {
    const uint64_t first = address - address % step;
    const uint64_t stop = std::min({end, (address / kPageBytes + 1) * kPageBytes, first + kBeatsMax * step});
    Burst burst;
    burst.address = address;
    burst.size = size;
    burst.beats = static_cast<unsigned>((stop - first + step - 1) / step);
    bursts.push_back(burst);
    address = stop;
  }
  return bursts;
}

} // namespace testbench
