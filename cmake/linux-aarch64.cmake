# SPDX-License-Identifier: Apache-2.0
# Static programs for Linux on AArch64 with Debian's cross compiler.
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(SPATE_TRIPLET aarch64-linux-gnu)
set(SPATE_DEBIAN_ARCHITECTURE arm64)
include(${CMAKE_CURRENT_LIST_DIR}/linux-static.cmake)
