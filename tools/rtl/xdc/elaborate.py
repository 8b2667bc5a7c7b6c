# SPDX-License-Identifier: Apache-2.0
"""The elaborated netlist of a top, as Yosys with slang writes it: one module for each instance, so hierarchy and names are kept.
Flip-flops and memories are still words, and nothing is optimised."""

import json
import pathlib

import filelist
import yowasp

FOLDER = filelist.ROOT / "build" / "rtl" / "constraints"


def elaborate(top: str, parameters: dict[str, int | str], name: str, sources: list[str] | None = None,
              boxes: tuple[str, ...] = ()) -> dict:
    """The modules of Yosys's JSON. `name` is that of the files below build/; `sources` are read instead of those of rtl/spate.f.
    Of the modules in `boxes` only the ports are taken."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    netlist, log = FOLDER / f"{name}.json", FOLDER / f"{name}.log"
    values = " ".join(f"-G{parameter}={value}" for parameter, value in parameters.items())
    files = " ".join(sources or filelist.needed_by(top))
    black = " ".join(f"--blackboxed-module {module}" for module in boxes)
    script = (f"read_slang --threads 1 --ignore-assertions --keep-hierarchy --top {top} {black} {values} {files}; "
              f"proc; memory_collect; write_json {pathlib.Path(netlist).relative_to(filelist.ROOT)}")
    yowasp.run(script, log, name)
    return json.loads(netlist.read_text())["modules"]
