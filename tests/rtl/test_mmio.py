# SPDX-License-Identifier: Apache-2.0
"""The port for registers and configuration space, with an adapter that is late or does not answer."""

import runner


def test_mmio():
    runner.run("spate_mmio", "testbench_mmio", parameters={"DeadlineUs": 40})


def test_the_deadline_is_longer_than_a_completion_time_out():
    runner.run("spate_mmio", "testbench_mmio_timeout")
