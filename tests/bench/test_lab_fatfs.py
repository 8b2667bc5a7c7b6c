# SPDX-License-Identifier: Apache-2.0
"""FatFs over integrations/fatfs in the lab: what `make bench-fatfs` measures, on fewer bytes."""

import os
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

import fatfs  # noqa: E402 - the path comes first
import figures  # noqa: E402 - the path comes first
from lab import runner, runs, seeds  # noqa: E402 - the path comes first

pytestmark = pytest.mark.thorough

PROGRAMS = pathlib.Path(os.environ.get("SPATE_LAB_PROGRAMS", ROOT / "build/host-release/lab"))
FILES = 4


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    assert (PROGRAMS / "spate-lab-diskio").exists(), f"{PROGRAMS} has no spate-lab-diskio: make setup build-host-release"
    lab = runner.Lab(PROGRAMS, tmp_path_factory.mktemp("lab"))
    lab.all(runs.one_gib_files(FILES * runs.GIB))
    return lab


def test_fat32_is_as_fast_as_system_1_states(lab):
    assert lab.rate("gib-fat32") > seeds.figure("fat32-1g").value


@pytest.mark.parametrize("form", ["fat32", "exfat"])
def test_waiting_only_for_overlaps_costs_no_rate(lab, form):
    assert lab.rate(f"gib-{form}") >= lab.rate(f"gib-{form}-published")


def test_fat32_gains_from_it(lab):
    """FatFs reads and writes the table every 8 MiB. The published layer drains its queue for that."""
    assert lab.rate("gib-fat32") > 1.03 * lab.rate("gib-fat32-published")


def test_all_ways_make_the_same_files(lab):
    assert {lab.result(name)["files"] for name in runs.ONE_GIB_FILES if name != "gib-raw"} == {FILES}
    for name in ("gib-spate", "gib-exfat", "gib-exfat-expand"):
        walk = lab.results[name]["walk"]
        assert walk["wrong_pages"] == 0 and walk["pages"] * 4096 == FILES * runs.GIB
    for form in ("fat32", "exfat"): # both disk layers are asked for the same by FatFs
        one, other = lab.result(f"gib-{form}"), lab.result(f"gib-{form}-published")
        assert all(one[key] == other[key] for key in ("data_requests", "metadata_reads", "metadata_writes", "flushes"))


def test_every_way_is_a_figure(lab):
    bench = figures.Bench("fatfs", "make bench-fatfs")
    fatfs.collect(lab, bench)
    names = {figure["name"] for figure in bench.figures}
    assert {f"rate, {what}" for what in runs.ONE_GIB_FILES.values()} <= names
    assert not any(bench.missed(figure) for figure in bench.figures)
