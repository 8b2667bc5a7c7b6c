# SPDX-License-Identifier: Apache-2.0
#
# Spate in a standalone application of Vitis Unified. At the end of the application's UserConfig.cmake:
#
#   set(SPATE_DESIGN_DIR "${CMAKE_CURRENT_SOURCE_DIR}")   # the folder of design.h
#   include("/path/to/spate/integrations/vitis/spate.cmake")
#
# It adds to the lists that the application's CMakeLists.txt compiles and searches. The CMake of Vitis is older than the
# one that this repository's own CMakeLists.txt needs, so that file is not used.
cmake_minimum_required(VERSION 3.16)

get_filename_component(spate_folder "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
if(NOT EXISTS "${SPATE_DESIGN_DIR}/design.h")
  message(FATAL_ERROR "SPATE_DESIGN_DIR (\"${SPATE_DESIGN_DIR}\") has no design.h. Make one with "
                      "integrations/vitis/design_header.py, and set SPATE_DESIGN_DIR to its folder before this include().")
endif()

foreach(spate_list IN ITEMS src/files.txt integrations/vitis/files.txt)
  file(STRINGS "${spate_folder}/${spate_list}" spate_files REGEX ".")
  foreach(spate_file IN LISTS spate_files)
    list(APPEND USER_COMPILE_SOURCES "${spate_folder}/${spate_file}")
  endforeach()
endforeach()

list(APPEND USER_INCLUDE_DIRECTORIES
  "${spate_folder}/include"
  "${spate_folder}/integrations/vitis/port"
  "${spate_folder}/integrations/vitis"
  "${SPATE_DESIGN_DIR}")
