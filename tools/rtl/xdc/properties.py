# SPDX-License-Identifier: Apache-2.0
"""Names of properties that Vivado knows, from properties.toml. An unknown one is an error there only for some objects; for an IP's
CONFIG it is a warning that scrolls by, and the IP keeps its default."""

import difflib
import fnmatch
import pathlib
import tomllib

from .interpreter import Wrong

KNOWN = tomllib.loads(pathlib.Path(__file__).with_name("properties.toml").read_text())


def check(kind: str, name: str) -> None:
    """`kind` is a section of properties.toml, such as cell, port or ip.pcie4_uscale_plus."""
    section = KNOWN
    for part in kind.split("."):
        if part not in section:
            raise Wrong(f"tools/rtl/xdc/properties.toml has no section [{kind}]: add the names, and where they are documented")
        section = section[part]
    names = [known.upper() for known in section["names"]]
    if not any(fnmatch.fnmatchcase(name.upper(), known) for known in names):
        near = difflib.get_close_matches(name.upper(), names, 1)
        raise Wrong(f"{name} is no property of {kind} that tools/rtl/xdc/properties.toml knows" +
                    (f"; did you mean {section['names'][names.index(near[0])]}?" if near else ""))
