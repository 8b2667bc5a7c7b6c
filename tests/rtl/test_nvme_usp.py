# SPDX-License-Identifier: Apache-2.0
"""The complete top on the UltraScale+ block, with both widths: a drive behind a modelled link. By default each width runs some
cases, so that all finish in a minute; ALL=1 runs each with each, and drops the link many times."""

import os

import pytest

import runner

EXTRA = ("tests/rtl/support/stream_rule.sv", "tests/rtl/support/packet_rule.sv",
         "tests/rtl/cocotb/nvme_usp_top.sv")
CASES = {128: "smooth refused link clock function", 256: "stalled reset broken lost"}
ALL = os.environ.get("ALL", "0") != "0"


@pytest.mark.parametrize("width", CASES)
def test_nvme_usp(width):
    cases = " ".join((*CASES.values(), "long")) if ALL else CASES[width]
    runner.run("nvme_usp_top", "testbench_nvme_usp", parameters={"DataWidth": width}, extra=EXTRA, env={"CASES": cases})


def test_frames():
    """Writes that end with the stream's tlast."""
    runner.run("nvme_usp_top", "testbench_nvme_usp_frames", parameters={"DataWidth": 256, "WriteFrames": 1}, extra=EXTRA, env={"CASES": ""})
