# SPDX-License-Identifier: Apache-2.0
# Bare-metal 32-bit Arm, as wide as a Zynq-7000, with Debian's cross compiler.
set(CMAKE_SYSTEM_PROCESSOR arm)
set(SPATE_COMPILER arm-linux-gnueabihf-gcc)
set(SPATE_CPU_FLAGS "-mcpu=cortex-a15 -marm -mfloat-abi=hard -mfpu=neon-vfpv4 -mno-unaligned-access")
include(${CMAKE_CURRENT_LIST_DIR}/bare.cmake)
