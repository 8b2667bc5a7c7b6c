# SPDX-License-Identifier: Apache-2.0
"""The queue within one clock domain, with its smallest and its usual depth."""

import pytest

import runner


@pytest.mark.parametrize("depth", [2, 16])
def test_fifo(depth):
    runner.run("spate_fifo", "testbench_fifo", parameters={"Width": 32, "Depth": depth}, env={"DEPTH": str(depth)})
