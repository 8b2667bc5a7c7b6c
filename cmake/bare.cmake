# SPDX-License-Identifier: Apache-2.0
# Shared by all bare-metal builds. The compiler was built for Linux, so options disable what a system provides: no C
# library, no start-up files, no position-independent code. ports/common has the few functions of <string.h> that are
# needed.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_C_COMPILER ${SPATE_COMPILER})
set(CMAKE_ASM_COMPILER ${SPATE_COMPILER})
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)

string(JOIN " " CMAKE_C_FLAGS_INIT
  "${SPATE_CPU_FLAGS} -ffreestanding -fno-pic -fno-pie -fno-stack-protector -fno-asynchronous-unwind-tables -fno-unwind-tables"
  "-ffunction-sections -fdata-sections -isystem \"${CMAKE_CURRENT_LIST_DIR}/../ports/common/freestanding\"")
set(CMAKE_ASM_FLAGS_INIT "${SPATE_CPU_FLAGS} -fno-pic")
set(CMAKE_C_FLAGS_RELEASE "-O2 -g")
set(CMAKE_C_FLAGS_MINSIZEREL "-Os -g")
set(CMAKE_EXE_LINKER_FLAGS_INIT
  "-nostdlib -static -no-pie -Wl,--gc-sections -Wl,--build-id=none -Wl,--no-warn-rwx-segments")

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
