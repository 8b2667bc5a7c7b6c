// SPDX-License-Identifier: Apache-2.0
//
// Accesses to the host of a drive that is not part of the board. Its writes are handed to the bridge and proceed on
// their own, in order. For its reads the board runs until they are answered.
#ifndef SPATE_RTL_BRIDGE_MASTER_H
#define SPATE_RTL_BRIDGE_MASTER_H

#include "bridge.h"

#include <cstdint>
#include <functional>

namespace testbench {

class BridgeMaster {
public:
  // `edge` advances the board to its next edge.
  BridgeMaster(Board &board, Bridge &bridge, std::function<void()> edge);

  // Reads in requests of at most `request_bytes` (MRRS), writes in packets of at most `payload_bytes` (MPS), split at
  // multiples of these sizes. A bridge that is reset drops its accesses; the rest of the data is then zeros.
  void read(uint64_t address, uint8_t *data, uint64_t bytes, uint32_t request_bytes);
  void write(uint64_t address, const uint8_t *data, uint64_t bytes, uint32_t payload_bytes);

  struct Counters {
    uint64_t reads, reads_lost, read_bytes, writes, written_bytes;
    uint64_t read_cycles_max; // the longest read, in cycles of the core
  };
  const Counters &counters() const { return counters_; }

private:
  void begin(uint64_t address);

  Board &board_;
  Bridge &bridge_;
  std::function<void()> edge_;
  uint32_t posted_bytes_ = 0;
  Counters counters_{};
};

} // namespace testbench

#endif
