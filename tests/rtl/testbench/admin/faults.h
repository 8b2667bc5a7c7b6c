// SPDX-License-Identifier: Apache-2.0
//
// Faults of a drive that was ready, of its link, and of the data path.
#ifndef SPATE_ADMIN_FAULTS_H
#define SPATE_ADMIN_FAULTS_H

#include "bench.h"

namespace testbench {

enum class Fault { None, DataPath, Link, LinkForLong, Fatal, HealthLost, Stuck, AccessError };

// Makes the fault. One cycle passes.
void make(AdminBench &bench, Fault fault);

} // namespace testbench

#endif
