# SPDX-License-Identifier: Apache-2.0
# Bare-metal AArch64 with Debian's cross compiler. Queue memory may be of a kind that faults on unaligned accesses.
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(SPATE_COMPILER aarch64-linux-gnu-gcc)
set(SPATE_CPU_FLAGS "-mcpu=cortex-a53 -mstrict-align")
include(${CMAKE_CURRENT_LIST_DIR}/bare.cmake)
