# SPDX-License-Identifier: Apache-2.0
# Shared by the static builds for Linux. The compiler has its C library; liburing's headers and library are where
# setup/install has unpacked them. A program without shared libraries runs on any root file system.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_C_COMPILER ${SPATE_TRIPLET}-gcc)
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static")

cmake_path(SET SPATE_SYSROOT NORMALIZE "${CMAKE_CURRENT_LIST_DIR}/../build/sysroot/${SPATE_DEBIAN_ARCHITECTURE}")
set(CMAKE_FIND_ROOT_PATH "${SPATE_SYSROOT}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} "${SPATE_SYSROOT}/usr/lib/${SPATE_TRIPLET}/pkgconfig")
