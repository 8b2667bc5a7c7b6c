# SPDX-License-Identifier: Apache-2.0
# Bare-metal Cortex-R5F with Debian's cross compiler. Registers fault on unaligned accesses.
set(CMAKE_SYSTEM_PROCESSOR arm)
set(SPATE_COMPILER arm-linux-gnueabihf-gcc)
set(SPATE_CPU_FLAGS "-mcpu=cortex-r5 -marm -mfloat-abi=hard -mfpu=vfpv3-d16 -mno-unaligned-access")
include(${CMAKE_CURRENT_LIST_DIR}/../../cmake/bare.cmake)
# The libgcc of this compiler is one for ARMv7-A. What the linker takes from it, divisions, is the same on ARMv7-R.
string(APPEND CMAKE_EXE_LINKER_FLAGS_INIT " -Wl,--no-warn-mismatch")
