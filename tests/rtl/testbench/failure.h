// SPDX-License-Identifier: Apache-2.0
//
// What a test throws when a check fails. A program's main() prints it and ends with status 1.
#ifndef SPATE_BENCH_FAILURE_H
#define SPATE_BENCH_FAILURE_H

#include <stdexcept>

namespace testbench {

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

} // namespace testbench

#endif
