# SPDX-License-Identifier: Apache-2.0
"""The admin sequencer and its program, with a drive that makes faults on request. By default some cases of each kind run, in
half a minute; ALL=1 runs all."""

import os

import pytest

import runner

PARAMETERS = {"WindowBase": "64'h1240000000", "WindowBits": 22, "BarBase": "64'ha0000000", "DeadlineMs": 300,
              "HealthMs": 200}


@pytest.mark.parametrize("testbench", ["testbench_admin", "testbench_admin_commands", "testbench_admin_recovery"])
def test_admin(testbench):
    runner.run("spate_admin", testbench, parameters=PARAMETERS, env={"ALL": os.environ.get("ALL", "0")})
