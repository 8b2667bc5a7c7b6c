# SPDX-License-Identifier: Apache-2.0
# Writes the monitor's page as C arrays: cmake -DOUTPUT=page.c -DFOLDER=linux/command/monitor -P embed.cmake. Without Python, which
# the command does not need.
set(text "/* Written by embed.cmake. */\n#include \"internal.h\"\n")
foreach(name html css js)
  file(READ "${FOLDER}/page.${name}" bytes HEX)
  string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND text "const unsigned char page_${name}[] = {\n${bytes}};\nconst size_t page_${name}_bytes = sizeof page_${name};\n")
endforeach()
file(WRITE "${OUTPUT}" "${text}")
