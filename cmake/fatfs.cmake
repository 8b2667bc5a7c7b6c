# SPDX-License-Identifier: Apache-2.0
# FatFs as its author ships it, compiled from where setup/install unpacked it. None of it is in the tree.

set(spate_fatfs "${PROJECT_SOURCE_DIR}/build/fatfs-source")

# This target uses FatFs's headers with these settings, which replace those of ffconf.h.
function(spate_with_fatfs target settings)
  target_include_directories(${target} SYSTEM PRIVATE "${spate_fatfs}")
  target_compile_options(${target} PRIVATE -include "${settings}")
endfunction()

# FatFs's objects, without the project's warnings. There is no target if FatFs is not there.
function(spate_fatfs_objects target settings)
  if(EXISTS "${spate_fatfs}/ff.c")
    add_library(${target} OBJECT "${spate_fatfs}/ff.c" "${spate_fatfs}/ffunicode.c")
    spate_with_fatfs(${target} "${settings}")
  else()
    message(STATUS "FatFs is not in ${spate_fatfs}: what needs it is left out. make setup brings it")
  endif()
endfunction()
