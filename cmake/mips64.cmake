# SPDX-License-Identifier: Apache-2.0
# Bare-metal MIPS64 release 6, little endian, with Debian's cross compiler. The program is in the sign-extended 32-bit
# segments, so that two instructions make an address (-msym32).
set(CMAKE_SYSTEM_PROCESSOR mips64)
set(SPATE_COMPILER mips64el-linux-gnuabi64-gcc)
set(SPATE_CPU_FLAGS "-march=mips64r6 -mabi=64 -mnan=2008 -mno-abicalls -msym32 -G0 -msoft-float")
include(${CMAKE_CURRENT_LIST_DIR}/bare.cmake)
