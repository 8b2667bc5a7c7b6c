# SPDX-License-Identifier: Apache-2.0
"""The adapter for an AXI-PCIe bridge, judged by models of others. The C++ bench in testbench/pcie_axi has the volume."""

import runner

EXTRA = ("tests/rtl/support/stream_rule.sv", "tests/rtl/cocotb/pcie_axi_top.sv")


def test_pcie_axi():
    runner.run("pcie_axi_top", "testbench_pcie_axi", parameters={"DataWidth": 128}, extra=EXTRA)
