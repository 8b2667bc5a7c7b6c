# SPDX-License-Identifier: Apache-2.0
"""The adapter for an AXI-PCIe bridge: every width with equal clocks, and one width with different clocks."""

import pytest

import runner

EXTRA = ("tests/rtl/support/stream_rule.sv", "tests/rtl/cocotb/pcie_axi_top.sv")


@pytest.mark.parametrize("width", [128, 256, 512])
def test_pcie_axi(width):
    runner.run("pcie_axi_top", "testbench_pcie_axi", parameters={"DataWidth": width}, extra=EXTRA)


@pytest.mark.parametrize("core_ps, bridge_ps", [(4000, 16000), (3334, 4000), (8000, 4000), (10000, 2002)])
def test_pcie_axi_clocks(core_ps, bridge_ps):
    runner.run("pcie_axi_top", "testbench_pcie_axi", parameters={"DataWidth": 128}, extra=EXTRA,
               name=f"{core_ps}-{bridge_ps}", env={"CORE_PS": str(core_ps), "BRIDGE_PS": str(bridge_ps)})
