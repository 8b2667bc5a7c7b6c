# SPDX-License-Identifier: Apache-2.0
# Bare-metal AArch64 with Debian's cross compiler. Queue memory may be of a kind that faults on unaligned accesses.
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(SPATE_COMPILER aarch64-linux-gnu-gcc)
# GCC 12 forgets -mstrict-align where it clears structures with SIMD registers; firmware has no use for them.
set(SPATE_CPU_FLAGS "-mcpu=cortex-a53 -mstrict-align -mgeneral-regs-only -fomit-frame-pointer")
include(${CMAKE_CURRENT_LIST_DIR}/bare.cmake)
