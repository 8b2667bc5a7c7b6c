# SPDX-License-Identifier: Apache-2.0
"""What Vivado reads as XDC, and a packager of IP takes, is not all of Tcl: UG903, "Valid Commands in an XDC File". It has no conditions,
loops and procedures."""

import re

VALID = ("set", "expr", "list", "filter", "get_property", "set_property", "current_design", "current_instance", "all_clocks", "get_cells",
         "get_clocks", "get_nets", "get_pins", "get_ports", "create_clock", "set_bus_skew", "set_clock_groups", "set_false_path",
         "set_input_delay", "set_max_delay", "set_output_delay")
COMMAND = re.compile(r"(?:^|[;\[])[ \t]*([a-z]\w*)", re.M)


def others(text: str) -> list[str]:
    """The commands that a managed file must not have."""
    code = re.sub(r"^[ \t]*#.*$", "", text, flags=re.M)
    return sorted(set(COMMAND.findall(code)) - set(VALID))
