# SPDX-License-Identifier: Apache-2.0
#
# Says what a build needs and did not find, with the packages that have it:
#
#   spate_needs(liburing)                                  ends the configuration
#   spate_does_without(scdoc "there is no manual page")    is one line
set(spate_packages_C-compiler "build-essential (Debian, Ubuntu), gcc (Fedora), base-devel (Arch)")
set(spate_packages_Ninja "ninja-build (Debian, Ubuntu, Fedora), ninja (Arch)")
set(spate_packages_pkg-config "pkgconf (Debian, Ubuntu, Arch), pkgconf-pkg-config (Fedora)")
set(spate_packages_liburing "liburing-dev (Debian, Ubuntu), liburing-devel (Fedora), liburing (Arch)")
set(spate_packages_libblkid "libblkid-dev (Debian, Ubuntu), libblkid-devel (Fedora), util-linux-libs (Arch)")
set(spate_packages_Python "python3 (Debian, Ubuntu, Fedora), python (Arch)")
set(spate_packages_scdoc "scdoc (Debian, Ubuntu, Fedora, Arch)")

function(spate_needs)
  set(lines "")
  foreach(name ${ARGN})
    string(APPEND lines "\n  ${name}: ${spate_packages_${name}}")
  endforeach()
  message(FATAL_ERROR "This was not found. Install the packages of your system:${lines}")
endfunction()

function(spate_does_without name consequence)
  message(STATUS "Without ${name}, ${consequence}. Packages: ${spate_packages_${name}}")
endfunction()

# Before project(): CMake's own errors do not name packages. A compiler that the user names is the user's.
function(spate_check_tools)
  set(lacking "")
  if(CMAKE_GENERATOR STREQUAL "Ninja" AND NOT CMAKE_MAKE_PROGRAM)
    find_program(ninja NAMES ninja-build ninja samu NO_CACHE)
    if(NOT ninja)
      list(APPEND lacking Ninja)
    endif()
  endif()
  if(NOT CMAKE_C_COMPILER AND NOT CMAKE_TOOLCHAIN_FILE AND NOT DEFINED ENV{CC})
    find_program(compiler NAMES cc gcc clang NO_CACHE)
    if(NOT compiler)
      list(APPEND lacking C-compiler)
    endif()
  endif()
  if(lacking)
    spate_needs(${lacking})
  endif()
endfunction()
