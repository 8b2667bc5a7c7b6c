# SPDX-License-Identifier: Apache-2.0
"""Writes the packed structs of rtl/spate_pkg.sv as C++ structs, for tests/rtl/testbench/records.h.

    records_header.py FILE NAME...    the structs of these names"""

import pathlib
import sys

import records

TOP = """// Written by tests/rtl/support/records_header.py from rtl/spate_pkg.sv.
#ifndef SPATE_BENCH_RECORDS_FIELDS_H
#define SPATE_BENCH_RECORDS_FIELDS_H

#include <cstdint>

namespace testbench::records {
"""
STRUCT = """
struct {name} {{
  static constexpr unsigned kBits = {bits};
{fields}
  // Calls function(field, its number of bits), the lowest bits first.
  template <typename Function> void each(Function function) {{
{calls}
  }}
  // The name of the first field that differs, or a null pointer.
  const char *differs(const {name} &other) const {{
{comparisons}
    return nullptr;
  }}
}};
"""
BOTTOM = """
} // namespace testbench::records

#endif
"""


def struct(name: str) -> str:
    """A struct with a number of 64 bits for each field. A nested struct is one number."""
    fields = records.structs()[name]
    assert all(bits <= 64 for _, _, bits in fields), f"{name}: a field has more than 64 bits"
    return STRUCT.format(name=name, bits=records.width(name),
                         fields="\n".join(f"  uint64_t {field} = 0;" for field, _, _ in fields),
                         calls="\n".join(f"    function({field}, {bits});" for field, _, bits in reversed(fields)),
                         comparisons="\n".join(f'    if ({field} != other.{field}) return "{field}";' for field, _, _ in fields))


def write(path: pathlib.Path, names: list[str]) -> None:
    path.write_text(TOP + "".join(struct(name) for name in names) + BOTTOM)


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1]), sys.argv[2:])
