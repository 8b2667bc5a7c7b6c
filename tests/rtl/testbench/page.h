// SPDX-License-Identifier: Apache-2.0
//
// The size of a drive's pages, and the boundary that no burst of AXI crosses.
#ifndef SPATE_BENCH_PAGE_H
#define SPATE_BENCH_PAGE_H

#include <cstdint>

namespace testbench {

constexpr uint64_t kPageBytes = 4096;

} // namespace testbench

#endif
