# SPDX-License-Identifier: Apache-2.0
"""The registers: the RTL between a bus master and a random core; and a check that the generated files are up to date."""

import sys

import pytest

import registers
import runner


@pytest.mark.parametrize("ram_bytes", [8192, 262144])
def test_registers(ram_bytes):
    runner.run("spate_registers_flat", "testbench_registers", parameters={"RamBytes": ram_bytes}, env={"RAM_BYTES": str(ram_bytes)})


def test_event_counters():
    runner.run("spate_event_counters", "testbench_event_counters")


def test_command_arbiter():
    runner.run("spate_command_arbiter", "testbench_command_arbiter")


@pytest.mark.parametrize("streams, frames", [(0, 0), (1, 0), (1, 1)])
def test_user_side(streams, frames):
    runner.run("spate_user_side_flat", "testbench_user_side", parameters={"HasStreams": streams, "ResponseDepth": 16, "WriteFrames": frames},
               env={"STREAMS": str(streams), "RESPONSES": "16", "FRAMES": str(frames)})


def test_what_is_generated_is_up_to_date(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["registers.py", "--check"])
    assert registers.main() == 0, capsys.readouterr().out
