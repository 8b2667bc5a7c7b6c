# SPDX-License-Identifier: Apache-2.0
"""make demo on an emulated board: the disk space that it uses, and its lines on a terminal."""

import contextlib
import os
import re
import sys
import time

import program
import qemu

from conftest import ROOT

ASKED = """
import runpy, sys
import program
program.need_space = lambda folder, wanted_bytes, what: print("asked", wanted_bytes, flush=True)
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def test_the_demo_asks_for_the_disk_space_that_it_needs(tmp_path):
    """It uses at most what it asked for, and at least 80 % of it, so that it does not refuse a disk with enough room."""
    folder = program.BUILD / "demo"
    folder.mkdir(parents=True, exist_ok=True)
    before = set(folder.iterdir())
    most_bytes = 0
    with open(tmp_path / "said", "w") as said, program.process(
        [sys.executable, "-c", ASKED, "tools/demo.py"], stdout=said, cwd=ROOT, env=os.environ | {"PYTHONPATH": f"{ROOT}/tools"}
    ) as running:
        while running.poll() is None:
            used_bytes = 0
            for path in set(folder.iterdir()) - before:
                with contextlib.suppress(FileNotFoundError):
                    used_bytes += sum(file.stat().st_blocks * 512 for file in path.rglob("*"))
            most_bytes = max(most_bytes, used_bytes)
            time.sleep(0.02)
    assert running.returncode == 0
    asked_bytes = int(re.search(r"^asked (\d+)$", (tmp_path / "said").read_text(), re.M)[1])
    assert 0.8 * asked_bytes < most_bytes <= asked_bytes


def test_the_demos_lines_fit_a_terminal(tmp_path):
    image = tmp_path / "drive.img"
    with open(image, "wb") as file:
        file.truncate(512 << 20)
    result = qemu.run("qemu-virt", "demo", qemu.Drive.image(image), {"clip_mib": "96"}, timeout_s=300)
    assert result.status == 0, result.report()
    assert result.output.count("\r") >= 3, "nothing was rewritten"
    for line in result.output.splitlines():
        for state in line.split("\r"):
            assert len(state) <= 79 or "\r" not in line, state
    assert "critical" not in result.output
