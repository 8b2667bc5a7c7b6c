# SPDX-License-Identifier: Apache-2.0
"""The adapter for the UltraScale+ block: both widths with equal clocks, and different clocks."""

import pytest

import runner

EXTRA = ("tests/rtl/support/stream_rule.sv", "tests/rtl/support/packet_rule.sv",
         "tests/rtl/cocotb/pcie_usp_top.sv")


@pytest.mark.parametrize("width", [128, 256])
def test_pcie_usp(width):
    runner.run("pcie_usp_top", "testbench_pcie_usp", parameters={"DataWidth": width}, extra=EXTRA)


@pytest.mark.parametrize("core_ps, user_ps", [(3334, 4000), (8000, 4000)])
def test_pcie_usp_clocks(core_ps, user_ps):
    runner.run("pcie_usp_top", "testbench_pcie_usp", parameters={"DataWidth": 128}, extra=EXTRA, name=f"{core_ps}-{user_ps}",
               env={"CORE_PS": str(core_ps), "USER_PS": str(user_ps)})


@pytest.mark.parametrize("width", [128, 256])
def test_pcie_usp_device(width):
    runner.run("pcie_usp_top", "testbench_pcie_usp_device", parameters={"DataWidth": width}, extra=EXTRA)
