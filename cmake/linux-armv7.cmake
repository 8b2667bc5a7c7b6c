# SPDX-License-Identifier: Apache-2.0
# Static programs for Linux on 32-bit Arm (a Zynq-7000's Cortex-A9, a Cortex-A15) with Debian's cross compiler.
set(CMAKE_SYSTEM_PROCESSOR armv7l)
set(SPATE_TRIPLET arm-linux-gnueabihf)
set(SPATE_DEBIAN_ARCHITECTURE armhf)
include(${CMAKE_CURRENT_LIST_DIR}/linux-static.cmake)
