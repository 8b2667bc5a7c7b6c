# SPDX-License-Identifier: Apache-2.0
"""The host model of Linux: times computed from counts, and fitted numbers that reproduce their point. No program is run here."""

import dataclasses
import sys

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "bench"))

from lab import kernel, runs, seeds  # noqa: E402 - the path comes first

pytestmark = pytest.mark.thorough

COUNTS = {
    "sweep/fio-libaio/read/4096": 256 * 5000.0,  # 5000 a request
    "ways/raw/direct": 40_000.0, "ways/raw/memcpy": 200_000.0, "ways/raw/zeros": 500_000.0,
    "ways/ext4/direct": 50_000.0, "ways/ext4/memcpy": 210_000.0, "ways/ext4/dd-direct-8": 550_000.0,
    "ways/ext4/read-buffered": 1_160_000.0, "ways/ext4/dd-cached": 2_660_000.0, "ways/ext4/dd-buffered-2": 3_660_000.0,
    "ways/ext4/mmap-write": 3_160_000.0,
}
MACHINE = kernel.Machine("a machine", clock_hz=1e9, instructions_per_cycle=1, copy_bytes_per_s=kernel.MIB * 1000)


def test_a_request_costs_its_instructions():
    assert kernel.per_io(COUNTS, "read", 4096) == 5000
    assert kernel.command_ns(MACHINE, COUNTS, "read", 4096) == 5000
    assert kernel.command_ns(dataclasses.replace(MACHINE, instructions_per_cycle=0.5), COUNTS, "read", 4096) == 10000


@pytest.mark.parametrize("way,milliseconds", [
    ("direct", 0.05), # 50 000 instructions, no bytes are moved
    ("memcpy", 0.05 + 1), # of 210 000 instructions a copy is 160 000; it also takes a millisecond of memory time
    ("dd-direct-8", 0.05 + 0.5), # of 550 000 instructions the zeros are 500 000; they take half a copy's memory time
    ("read-buffered", 1.0 + 1),
    ("dd-buffered-2", 2.0 + 1.5), # the core of dd, with copy and zeros; the other core's million takes less
    ("mmap-write", 2.0 + 1),
])
def test_what_moves_bytes_takes_memorys_time(way, milliseconds):
    assert kernel.way_seconds(MACHINE, COUNTS, way) == pytest.approx(milliseconds / 1000)


def test_one_core_does_one_thing_after_the_other():
    alone = dataclasses.replace(MACHINE, cores=1)
    assert kernel.way_seconds(alone, COUNTS, "dd-buffered-2") == pytest.approx(4.5e-3)


def test_caches_are_cleaned_where_the_device_does_not_see_them():
    cleaning = dataclasses.replace(MACHINE, clean_bytes_per_s=kernel.MIB * 500)
    assert kernel.way_seconds(cleaning, COUNTS, "direct") == pytest.approx(0.05e-3 + 2e-3)
    # The other core's part, a million instructions and the cleaning, still takes less time than dd's part.
    assert kernel.way_seconds(cleaning, COUNTS, "dd-buffered-2") == pytest.approx(3.5e-3)


def test_a_fit_meets_its_point():
    by_requests = kernel.fit_by_requests(MACHINE, COUNTS, "read", 4096, 110e3)
    assert kernel.command_ns(by_requests, COUNTS, "read", 4096) == round(1e9 / 110e3)
    by_rate = kernel.fit_by_rate(MACHINE, COUNTS, "read-buffered", "ext4", 400e6)
    assert kernel.MIB / kernel.way_seconds(by_rate, COUNTS, "read-buffered") == pytest.approx(400e6)
    cleaned = kernel.fit_cleaning(MACHINE, COUNTS, "direct", "ext4", 1.6e9, 242e6)
    serial_s = kernel.way_seconds(cleaned, COUNTS, "direct") + kernel.MIB / 1.6e9
    assert kernel.MIB / serial_s == pytest.approx(242e6)


def test_a_fit_that_no_number_meets_is_refused():
    with pytest.raises(AssertionError, match="copying alone"):
        kernel.fit_by_rate(MACHINE, COUNTS, "read-buffered", "ext4", kernel.MIB * 2000)
    with pytest.raises(AssertionError, match="without any cleaning"):
        kernel.fit_cleaning(MACHINE, COUNTS, "direct", "ext4", 1.6e9, 3e9)


def test_the_kept_counts_have_every_size_and_way():
    counts = kernel.load()
    machines = kernel.machines(counts)
    assert set(machines) == set(kernel.FITTED)
    for op in ("read", "write"):
        for size in kernel.SIZES:
            assert kernel.command_ns(machines["versal"], counts, op, size) > 0
    for point in kernel.POINTS:
        assert seeds.figure(point.key).profile == point.profile
        assert kernel.way_seconds(machines[point.machine], counts, point.way, point.volume) > 0


def test_the_same_counts_give_the_same_runs():
    assert runs.versal_linux(1 << 30) == runs.versal_linux(1 << 30) and runs.ways_linux(1 << 30) == runs.ways_linux(1 << 30)
    assert len({run.name for run in runs.full()}) == len(runs.full())


def test_each_machine_has_one_fitted_point():
    """A processor's number is fitted to one figure that depends on the host; every other figure of Linux is a prediction."""
    from lab import compare

    fitted = [point for point in kernel.POINTS if compare.fitted(point.key, point.profile)]
    assert sorted(point.machine for point in fitted) == ["zynq7", "zynqmp"]
    assert compare.fitted("gen4-iops-4k", "990pro") and not compare.fitted("gen4-write-iops-4k", "990pro")
