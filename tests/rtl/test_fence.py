# SPDX-License-Identifier: Apache-2.0
"""The fence of memory mode with its tap, with equal clocks and different ones."""

import pytest

import runner


@pytest.mark.parametrize("core_ps, bridge_ps", [(4000, 4000), (3334, 4000), (2000, 16000), (16000, 2002)])
def test_fence(core_ps, bridge_ps):
    runner.run("fence_top", "testbench_fence", extra=("tests/rtl/cocotb/fence_top.sv",), name=f"{core_ps}-{bridge_ps}",
               env={"CORE_PS": str(core_ps), "BRIDGE_PS": str(bridge_ps)})
