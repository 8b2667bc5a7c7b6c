// SPDX-License-Identifier: Apache-2.0
//
// The latency of the core itself, for a command to an idle drive, in cycles at its pins.
#ifndef SPATE_BENCH_LATENCY_H
#define SPATE_BENCH_LATENCY_H

#include "testbench.h"

namespace testbench {

struct Latency {
  double command_to_doorbell = 0;    // accepted by the core … the tail's doorbell is at the bridge
  double fetch_to_entry = 0;         // the bridge's read address is taken … first beat of the submission entry
  double completion_to_response = 0; // the completion's last beat is taken … the response is taken
};

// The mean of this many commands, one after the other with pauses. All three clocks have the same period.
Latency measure_latency(Testbench &testbench, bool memory_mode, unsigned commands);

} // namespace testbench

#endif
