# SPDX-License-Identifier: Apache-2.0
# Bare-metal 64-bit RISC-V without floating point, with Debian's cross compiler. Many processors trap unaligned accesses.
# medany: the program is linked beyond the low 2 GiB, each part of it within 2 GiB of the others.
set(CMAKE_SYSTEM_PROCESSOR riscv64)
set(SPATE_COMPILER riscv64-linux-gnu-gcc)
set(SPATE_CPU_FLAGS "-march=rv64imac_zicsr -mabi=lp64 -mcmodel=medany -mstrict-align -msmall-data-limit=0")
include(${CMAKE_CURRENT_LIST_DIR}/bare.cmake)
