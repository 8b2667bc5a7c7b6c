# SPDX-License-Identifier: Apache-2.0
# Bare-metal AArch64 with Debian's cross compiler. Queue memory may fault on unaligned accesses.
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(SPATE_COMPILER aarch64-linux-gnu-gcc)
# Atomic operations without calls of libgcc, which would ask Linux what the processor has.
# GCC 12 ignores -mstrict-align when it clears structures with SIMD registers, which firmware does not need.
set(SPATE_CPU_FLAGS "-mcpu=cortex-a53 -mstrict-align -mgeneral-regs-only -mno-outline-atomics -fomit-frame-pointer")
include(${CMAKE_CURRENT_LIST_DIR}/bare.cmake)
