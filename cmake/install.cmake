# SPDX-License-Identifier: Apache-2.0
# Installs the library: the archive, the public headers, and the headers of the port that it was compiled for, which
# spate/port.h includes.
include(cmake/package.cmake)

set(port_headers "${CMAKE_INSTALL_INCLUDEDIR}/spate/port")
target_include_directories(spate PUBLIC "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>"
                                        "$<INSTALL_INTERFACE:${port_headers}>")
install(TARGETS spate EXPORT spate)
install(DIRECTORY include/spate TYPE INCLUDE)
file(GLOB headers CONFIGURE_DEPENDS "${SPATE_PORT_DIR}/*.h")
install(FILES ${headers} DESTINATION "${port_headers}")
spate_install_package(spate)
