# SPDX-License-Identifier: Apache-2.0
"""linux/boards/: dtc compiles the device-tree fragments without a warning, and fio runs the job files. tools/linux_boards.py has
the checks that need the kernel's source."""

import ctypes
import errno
import json
import os
import re

import program
import pytest

from conftest import ROOT

pytestmark = pytest.mark.thorough

LINUX = ROOT / "linux/boards"
OVERLAYS = sorted((LINUX / "devicetree").glob("*.dtso"))
SWEEPS = [LINUX / "fio" / "sweep-read.fio", LINUX / "fio" / "sweep-write.fio"]
RUNS = [(job, engine) for job in SWEEPS for engine in ("libaio", "io_uring")]
RUNS.append((LINUX / "fio" / "sequential-write.fio", "io_uring"))
IO_URING_SETUP = 425  # on every architecture
MIB = 1 << 20


def test_there_is_something_to_test():
    assert [path.stem for path in OVERLAYS] == ["versal-cpm", "versal-qdma", "zynqmp-xdma"]
    assert {path for path, _ in RUNS} == set((LINUX / "fio").glob("*.fio"))


@pytest.mark.parametrize("overlay", OVERLAYS, ids=lambda path: path.stem)
def test_an_overlay_compiles_without_a_warning_and_brings_its_nodes(overlay, tmp_path):
    target = tmp_path / "overlay.dtbo"
    # The command of linux/boards/README.md
    done = program.run("dtc", "-Wno-avoid_unnecessary_addr_size", "-@", "-o", target, overlay.name, cwd=overlay.parent)
    assert done.stderr == ""
    # Everything that the overlay refers to exists in the tree into which it is merged.
    board = tmp_path / "board.dtb"
    program.run("dtc", "-Wno-avoid_unnecessary_addr_size", "-@", "-o", board, ROOT / "tests/linux/boards/versal.dts")
    program.run("fdtoverlay", "-i", board, "-o", tmp_path / "merged.dtb", target)
    text = program.run("dtc", "-I", "dtb", "-O", "dts", tmp_path / "merged.dtb").stdout
    assert re.search(r"pcie@[0-9a-f]+ {", text) and "ring@60000000 {" in text and "ikwzm,u-dma-buf" in text


def blocks_of(job):
    """{job: (block size as fio prints it, engine)}"""
    found, shared, section = {}, {}, None
    for line in job.read_text().splitlines():
        if match := re.fullmatch(r"\[(.*)\]", line):
            section = shared if match[1] == "global" else found.setdefault(match[1], {})
        elif "=" in line and not line.startswith(";"):
            key, value = line.split("=")
            section[key] = value
    return {name: shared | options for name, options in found.items()}


def io_uring_is_forbidden():
    ctypes.CDLL(None, use_errno=True).syscall(IO_URING_SETUP, 0, None)
    return ctypes.get_errno() in (errno.EPERM, errno.ENOSYS)


@pytest.mark.parametrize("job,engine", RUNS, ids=lambda value: getattr(value, "stem", value))
def test_fio_runs_a_job_file_to_its_end(job, engine, tmp_path):
    """The job is shortened, and runs on a file without O_DIRECT, so that the file may be on any file system."""
    wanted = blocks_of(job)
    if engine == "io_uring" and io_uring_is_forbidden():
        pytest.skip("io_uring is forbidden here")
    text = job.read_text()
    for long, short in [("size=8g", "size=8m"), ("runtime=10s", "runtime=50ms"), ("direct=1", "direct=0")]:
        assert long in text or (long.startswith("runtime") and job.stem == "sequential-write")
        text = text.replace(long, short)
    shortened = tmp_path / job.name
    shortened.write_text(text)
    target = tmp_path / "target"
    target.write_bytes(bytes(8 * MIB))
    environment = os.environ | {"TARGET": str(target), "ENGINE": engine}
    program.run("fio", "--parse-only", job, env=environment)
    said = program.run("fio", "--output-format=json", shortened, env=environment, cwd=tmp_path, timeout_s=120).stdout
    jobs = json.loads(said)["jobs"]
    assert [entry["jobname"] for entry in jobs] == list(wanted)
    for entry in jobs:
        options = wanted[entry["jobname"]]
        moved = entry[options["rw"]]
        assert entry["error"] == 0 and moved["io_bytes"] > 0
        assert moved["io_bytes"] == moved["total_ios"] * to_bytes(options["bs"])


def to_bytes(size):
    return int(size.rstrip("km")) * {"k": 1 << 10, "m": 1 << 20}.get(size[-1], 1)


def test_the_sweeps_go_from_512_bytes_to_1_mib_in_both_directions():
    expected = [512 << step for step in range(12)]
    for job, direction in zip(SWEEPS, ("read", "write")):
        options = blocks_of(job).values()
        assert [to_bytes(step["bs"]) for step in options] == expected
        assert all(step["rw"] == direction and step["direct"] == "1" for step in options)
