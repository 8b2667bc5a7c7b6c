# SPDX-License-Identifier: Apache-2.0
"""firmware/disk_calls: what a call of integrations/fatfs costs, as bench/fatfs.py counts it."""

import sys

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "bench"))

import fatfs  # noqa: E402 - the path comes first
import figures  # noqa: E402 - the path comes first

pytestmark = pytest.mark.thorough


def test_calls_cost_what_they_cost():
    bench = figures.Bench("fatfs", "make bench-fatfs")
    fatfs.count_calls(bench)
    cost = {figure["name"]: figure["value"] for figure in bench.figures}
    assert list(cost) == fatfs.COUNTED
    none, some, most = (cost[name] for name in fatfs.COUNTED[:3])
    assert none < some < most  # each request is compared with those in flight
    assert most <= 1400 and none <= 700
    assert most - none <= 31 * 24
    assert cost["disk_write() of one sector, copied"] <= 1200
    assert cost["a completion, in polls of 16"] <= 60
    assert cost["a poll that finds nothing"] <= 35
