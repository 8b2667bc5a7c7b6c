# SPDX-License-Identifier: Apache-2.0
"""Measures those figures of README.md again that are cheap to measure, and compares them within the rounding of the text."""

import json
import os
import re
import sys

import program
import pytest

from conftest import ROOT

README = (ROOT / "README.md").read_text()
SIZE_TOLERANCE = 0.02  # a share, so that a fix of a few hundred bytes needs no change of the README


def bench(name):
    """Runs a benchmark, and returns {name: figure}."""
    program.run(sys.executable, ROOT / f"bench/{name}.py", env=os.environ | {"PYTHONPATH": str(ROOT / "tools")}, timeout_s=300)
    figures = json.loads((ROOT / f"build/bench/{name}.json").read_text())["figures"]
    return {figure["name"].strip(): figure["value"] for figure in figures}


def row(begins):
    """The second column, which has the figures, of a row in the README's table."""
    found = re.search(rf"^\| {re.escape(begins)}[^|]*\| ([^|]*)\|", README, re.M)
    assert found, f"README.md has no row that begins with {begins!r}"
    return found[1]


def first_number(text):
    return float(re.search(r"\d+(?:\.\d+)?", text.replace(" ", ""))[0])


@pytest.fixture(scope="module")
def size():
    assert (ROOT / "build/qemu-virt-size/libspate.a").exists(), "make build-qemu-virt-size"
    return bench("size")


@pytest.fixture(scope="module")
def instructions():
    return bench("instructions")


def test_the_size_of_a_recorder(size):
    now, said = size["mount, record, close: in all"], first_number(row("code and data to mount, record and close"))
    assert said == pytest.approx(now, rel=SIZE_TOLERANCE), f"README.md: write {now} bytes"


@pytest.mark.parametrize("module,words", [("nvme", "are the NVMe driver"), ("exfat", "exFAT"), ("pcie", "PCIe"),
                                          ("recorder", "the recorder")])
def test_the_size_of_each_part(size, module, words):
    now = size[f"mount, record, close: {module}"] / 1000
    said = re.search(rf"([\d.]+) KB {re.escape(words)}", README.replace("\n", " "))
    assert said and float(said[1]) == pytest.approx(now, abs=0.3), f"README.md: write {now:.1f} KB {words}"


def test_instructions_of_a_command(instructions):
    at = "write 4 KiB at queue depth 32"
    submits = [instructions[f"write {size} KiB at queue depth 32: submit"] for size in (4, 128, 1024)]
    assert row("instructions to submit a command").startswith(" / ".join(str(value) for value in submits) + " ")
    assert first_number(row("… to ring the doorbell")) == pytest.approx(instructions[f"{at}: doorbell, shared by 32"], abs=0.005)
    assert first_number(row("… to complete it")) == pytest.approx(instructions[f"{at}: complete"], abs=0.051)
    assert first_number(row("**… in all")) == pytest.approx(instructions[f"{at}: in all"], abs=0.11)
    assert first_number(row("a poll that finds nothing")) == instructions["a poll that finds nothing"]
