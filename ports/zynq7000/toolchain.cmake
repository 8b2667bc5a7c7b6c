# SPDX-License-Identifier: Apache-2.0
# Bare-metal Cortex-A9, as in a Zynq-7000, with Debian's cross compiler. Registers fault on unaligned accesses.
set(CMAKE_SYSTEM_PROCESSOR arm)
set(SPATE_COMPILER arm-linux-gnueabihf-gcc)
set(SPATE_CPU_FLAGS "-mcpu=cortex-a9 -marm -mfloat-abi=hard -mfpu=vfpv3-d16 -mno-unaligned-access")
include(${CMAKE_CURRENT_LIST_DIR}/../../cmake/bare.cmake)
