# SPDX-License-Identifier: Apache-2.0
#
# Makes an installed library findable:   spate_install_package(spate-ring)
#
# installs the targets of the export set of that name as the CMake package of that name, for find_package(), and
# NAME.pc, configured from NAME.pc.in, for pkg-config. Both name files relative to their own place, so that the prefix
# can be moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

function(spate_install_package name)
  set(package "${CMAKE_INSTALL_LIBDIR}/cmake/${name}")
  install(EXPORT ${name} NAMESPACE spate:: FILE ${name}-config.cmake DESTINATION "${package}")
  write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/${name}-config-version.cmake"
                                   VERSION ${spate_VERSION} COMPATIBILITY SameMinorVersion)
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/${name}-config-version.cmake" DESTINATION "${package}")

  # Bare-metal builds do not use pkg-config.
  if(NOT CMAKE_SYSTEM_NAME STREQUAL "Generic")
    cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_INCLUDEDIR BASE_DIRECTORY "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig"
               OUTPUT_VARIABLE include_from_here)
    configure_file(${name}.pc.in ${name}.pc @ONLY)
    install(FILES "${CMAKE_CURRENT_BINARY_DIR}/${name}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
  endif()
endfunction()
