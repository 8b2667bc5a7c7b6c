# SPDX-License-Identifier: Apache-2.0
"""rtl/sim/spate_sim, the drive that users simulate their designs with: at the ports of both tops, and as its page says."""

import os
import pathlib
import re
import sys
import types

import pytest
from spate_sim import bridge, hard_block, ports

import filelist
import program
import runner

PAGE = (filelist.ROOT / "docs/use/gateware-simulation.md").read_text()
SIMULATION = {"ClockHz": 1_000_000, "UsPerMs": 16, "AdminDeadlineMs": 1000, "CommandDeadlineMs": 2000}


@pytest.mark.parametrize("top,way,block_bytes", [("spate_nvme_usp", "hard block", 512), ("spate_nvme_axi", "bridge", 4096)])
def test_the_drive_at_the_ports_of_a_top(top, way, block_bytes):
    runner.run(top, "testbench_spate_sim", parameters=SIMULATION, env={"WAY": way, "BLOCK_BYTES": str(block_bytes)},
               random_values=False)


@pytest.mark.parametrize("names,prefix", [(hard_block.names, "pcie_"), (bridge.names, "d0_")])
@pytest.mark.parametrize("ending", ["", "_i", "_o"])
def test_ports_are_found_by_prefix_and_ending(names, prefix, ending):
    dut = types.SimpleNamespace(_name="top")
    for candidates in names(prefix).values():
        setattr(dut, f"{candidates[0]}{ending}", candidates[0])
    found = ports.Ports(dut, names(prefix))
    assert all(getattr(found, name) == stems[0] for name, stems in names(prefix).items())


def test_a_port_that_is_not_there_is_named():
    dut = types.SimpleNamespace(_name="top", pcie_m_axis_cq_tdata=0)
    with pytest.raises(AttributeError, match="^top has no port for cq_tuser. Name it pcie_m_axis_cq_tuser or cq_tuser"):
        ports.Ports(dut, {name: stems for name, stems in hard_block.names("pcie_").items() if name in ("cq_tdata", "cq_tuser")})


def block(language: str) -> str:
    return re.search(rf"^```{language}\n(.*?)^```$", PAGE, re.M | re.S)[1]


def user(folder: pathlib.Path) -> dict[str, str]:
    """The environment of a user who has installed what the page names: with our Verilator, and the variables that its makefiles
    need."""
    wrapper = filelist.ROOT / "tools" / "rtl" / "verilator"
    make_flags = re.search(r'^export MAKEFLAGS="(.*)"$', wrapper.read_text(), re.M)[1]
    programs = folder / "programs"
    programs.mkdir()
    for name, target in (("verilator", wrapper), ("python3", sys.executable)):
        (programs / name).write_text(f'#!/bin/sh\nexec "{target}" "$@"\n')
        (programs / name).chmod(0o755)
    return os.environ | {"SPATE": str(filelist.ROOT), "PATH": f"{programs}:{os.environ['PATH']}", "MAKEFLAGS": make_flags,
                         "OBJCACHE": "ccache", "CCACHE_DIR": str(filelist.ROOT / "build/cache/ccache")}


def test_the_page_shows_the_example():
    assert block("python") == (filelist.ROOT / "rtl/sim/example/test_recorder.py").read_text()
    installed = (filelist.ROOT / "setup/gateware.in").read_text()
    assert re.findall(r"`(cocotb\S*==\S+)`", PAGE) == re.findall(r"^cocotb\S*", installed, re.M)


def test_the_commands_of_the_page_record_and_play(tmp_path):
    place = tmp_path / "empty"
    place.mkdir()
    environment = user(tmp_path)
    environment.pop("PYTEST_CURRENT_TEST", None)
    said = program.run("sh", "-eu", "-c", block("sh"), cwd=place, env=environment, timeout_s=300).stdout
    assert re.search(r"TESTS=3 PASS=3 FAIL=0 SKIP=0", said), said[-3000:]
    assert (place / "test_recorder.py").read_text() == block("python")
