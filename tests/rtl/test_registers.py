# SPDX-License-Identifier: Apache-2.0
"""The registers: the RTL between a bus master and a random core; and a check that the generated files are up to date."""

import pathlib
import re
import sys

import pytest

import registers
import runner

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("ram_bytes", [8192, 262144])
def test_registers(ram_bytes):
    runner.run("spate_registers", "testbench_registers", parameters={"RamBytes": ram_bytes}, env={"RAM_BYTES": str(ram_bytes)})


def test_event_counters():
    runner.run("spate_event_counters", "testbench_event_counters")


def test_command_arbiter():
    runner.run("spate_command_arbiter", "testbench_command_arbiter")


@pytest.mark.parametrize("streams", [0, 1])
def test_user_side(streams):
    runner.run("spate_user_side", "testbench_user_side", parameters={"HasStreams": streams, "ResponseDepth": 16},
               env={"STREAMS": str(streams), "RESPONSES": "16"})


def test_what_is_generated_is_up_to_date(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["registers.py", "--check"])
    assert registers.main() == 0, capsys.readouterr().out


def test_the_library_knows_each_bring_up_error():
    core = (ROOT / "rtl" / "core" / "spate_microcode_pkg.sv").read_text()
    library = (ROOT / "src" / "gateware" / "failure.c").read_text()
    codes = {name: int(code) for name, code in re.findall(r"\b(Err\w+) = 8'd(\d+)", core)}
    meanings = {name: int(code) for code, name in re.findall(r"\[(\d+)\] = SPATE_E_\w+,\s*/\* (\w+) \*/", library)}
    assert codes and meanings == codes
