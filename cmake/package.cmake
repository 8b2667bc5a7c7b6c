# SPDX-License-Identifier: Apache-2.0
#
# Makes an installed library findable:   spate_install_package(spate-ring)
#
# installs the targets of the export set of that name as the CMake package of that name, for find_package(), and
# NAME.pc, configured from NAME.pc.in, for pkg-config. Both name files relative to their own place, so that the prefix
# can be moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Installs NAME.pc. Programs with a shared library get its folder as their run path (@rpath@ in NAME.pc.in), so that they
# start. Not from /usr: every loader searches that, and distributions allow no run path. The prefix is known only when
# files are installed, so the file is chosen then.
function(spate_install_pkg_config name)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/pkgconfig")
  set(rpath "")
  configure_file(${name}.pc.in "${folder}/system/${name}.pc" @ONLY)
  set(rpath " -Wl,-rpath,\${libdir}")
  configure_file(${name}.pc.in "${folder}/other/${name}.pc" @ONLY)
  install(CODE "
    set(kind other)
    if(CMAKE_INSTALL_PREFIX MATCHES \"^/(usr/?)?$\")
      set(kind system)
    endif()
    file(COPY_FILE \"${folder}/\${kind}/${name}.pc\" \"${folder}/${name}.pc\")")
  install(FILES "${folder}/${name}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endfunction()

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
    spate_install_pkg_config(${name})
  endif()
endfunction()
