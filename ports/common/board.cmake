# SPDX-License-Identifier: Apache-2.0
# The target spate_board of a port that boots: its own sources, the sources that boards share, and its linker script.
# PROCESSOR: a folder here whose start-up code, page tables and exception handler the board uses (aarch64, armv7, armv7r, riscv64).

set(spate_ports_common "${CMAKE_CURRENT_LIST_DIR}")

function(spate_board)
  cmake_parse_arguments(board "" "LINK_SCRIPT;PROCESSOR" "SOURCES" ${ARGN})
  set(common arguments.c bring_up.c calendar.c fault.c log.c memory.c print.c random.c string.c tables.c)
  list(TRANSFORM common PREPEND "${spate_ports_common}/")
  if(board_PROCESSOR)
    file(GLOB processor CONFIGURE_DEPENDS "${spate_ports_common}/${board_PROCESSOR}/*.[cS]")
    list(APPEND common ${processor})
  endif()
  # Objects instead of an archive: nothing refers to the start-up code, but it must be linked.
  add_library(spate_board OBJECT ${board_SOURCES} ${common})
  target_include_directories(spate_board PUBLIC "${CMAKE_CURRENT_SOURCE_DIR}" "${spate_ports_common}"
                                                "${spate_ports_common}/..")
  target_link_libraries(spate_board PUBLIC spate PRIVATE spate_warnings)
  cmake_path(ABSOLUTE_PATH board_LINK_SCRIPT OUTPUT_VARIABLE script)
  target_link_options(spate_board INTERFACE "-T${script}")
  set_property(TARGET spate_board PROPERTY INTERFACE_LINK_DEPENDS "${script}") # a changed script links again
  # Divisions that the processor lacks. A toolchain file for another compiler names that compiler's library itself.
  target_link_libraries(spate_board INTERFACE $<$<C_COMPILER_ID:GNU>:gcc>)
  # With link-time optimisation the linker otherwise divides the program into parts. It copies small functions into each,
  # and starts make for them, which fails if the compiler's path has a blank.
  target_link_options(spate_board INTERFACE $<$<C_COMPILER_ID:GNU>:-flto-partition=none>)
  # The loop inside memcpy must not become a call of memcpy. (Clang knows only the first option, which is enough for
  # it.)
  set_source_files_properties("${spate_ports_common}/string.c" PROPERTIES COMPILE_OPTIONS
    "-fno-builtin;-fno-lto;$<$<C_COMPILER_ID:GNU>:-fno-tree-loop-distribute-patterns>")
endfunction()
