# SPDX-License-Identifier: Apache-2.0
"""A model whose build failed is built again, and not linked from the remains of the failed build."""

import os
import pathlib
import shutil

import pytest

import filelist
import program

SOURCES = ["rtl/lint/waivers.vlt", "rtl/common/spate_fifo.sv"]


def build(folder: pathlib.Path, path: str) -> None:
    sources = [os.path.relpath(filelist.ROOT / source, folder) for source in SOURCES]
    program.run(filelist.ROOT / "tools" / "rtl" / "verilator", "--cc", "--build", "--quiet", "--top-module", "spate_fifo",
                "--prefix", "Vfifo", "--Mdir", ".", *sources, cwd=folder, env=os.environ | {"PATH": path})


def test_a_failed_build_is_built_again(tmp_path):
    folder, broken = filelist.ROOT / "build" / "rtl" / "failed build", tmp_path / "broken"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    broken.mkdir()
    python = broken / "python3"  # Verilator's makefile joins its sources with it
    python.write_text("#!/bin/sh\nexit 1\n")
    python.chmod(0o755)
    with pytest.raises(program.Failed, match="Vfifo__ALL.cpp"):
        build(folder, f"{broken}:{os.environ['PATH']}")
    build(folder, os.environ["PATH"])
    symbols = program.run("nm", "--demangle", folder / "libVfifo.a").stdout
    assert " T Vfifo::eval_step()" in symbols
