# SPDX-License-Identifier: Apache-2.0
# Built only when Spate is the top-level project: warnings as errors, tests on the host, applications for a board.

set(CMAKE_C_EXTENSIONS OFF)

# Off in the preset for users: a compiler that is newer than the tested ones may warn of more.
option(SPATE_WARNINGS_ARE_ERRORS "End the build at a compiler's warning" ON)

add_library(spate_warnings INTERFACE)
target_compile_options(spate_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wcast-align -Wcast-qual -Wstrict-prototypes
  -Wmissing-prototypes -Wundef -Wvla -Wwrite-strings -Wdouble-promotion -Wformat=2
  $<$<BOOL:${SPATE_WARNINGS_ARE_ERRORS}>:-Werror>)
target_link_libraries(spate PRIVATE $<BUILD_INTERFACE:spate_warnings>)

# Adds a program as a test. When a test fails, tools/run prints its command and how it ended; ctest does not.
function(spate_test name program)
  add_test(NAME ${name} COMMAND "${CMAKE_SOURCE_DIR}/tools/run" - $<TARGET_FILE:${program}> ${ARGN})
endfunction()

if(SPATE_HOSTED)
  enable_testing()
  add_subdirectory(linux/command command)
  add_subdirectory(examples/linux)
elseif(CMAKE_CROSSCOMPILING)
  # A port that boots defines the target spate_board: start-up code, console, linker script.
  enable_language(ASM)
  include(ports/common/board.cmake)
  add_subdirectory("${SPATE_PORT_DIR}" port)
  add_subdirectory(firmware)
else()
  enable_testing()
  add_subdirectory(sim)
  if(SPATE_GATEWARE)
    enable_language(CXX)
    add_subdirectory(tests/rtl/testbench)
    add_subdirectory(bench/rtl EXCLUDE_FROM_ALL)
    add_subdirectory(tests/rtl/sim)
    add_subdirectory(tests/rtl/demo)
  else()
    include(cmake/fatfs.cmake)
    add_subdirectory(bench/lab lab)
    add_subdirectory(tests)
  endif()
endif()
