# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C ends the commands that start QEMU, and QEMU with them."""

import signal

import pytest

from stopped_command import stop

pytestmark = pytest.mark.thorough

COMMANDS = {
    "demo": ["tools/demo.py"],
    "demo-linux": ["tools/demo_linux.py"],
    "speedtest": ["bench/speedtest.py"],
}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("name", COMMANDS)
def test_a_signal_ends_the_command_and_qemu(name, number, tmp_path):
    stop(COMMANDS[name], number, tmp_path, after_a_line=name != "speedtest", after_children=2)
