# SPDX-License-Identifier: Apache-2.0
"""What a small program is linked without: features that it does not call are not reached through those that it calls."""

import re

import pytest

from conftest import ROOT

pytestmark = pytest.mark.thorough

APPS = ROOT / "build/qemu-virt-size/firmware"
NEVER = ["admin_request", "salvage", "format", "upcase_write", "gpt_write", "stripe", "heat", "player", "roll_over", "loop", "join"]
NOT_FOR_OWN_VOLUMES = ["recover", "met", "owners", "reclaim", "shared", "gpt", "mbr", "find"]


def linked_objects(app):
    """Objects of the library of which the linker kept code."""
    path = APPS / f"{app}.map"
    assert path.exists(), "make build-qemu-virt-size"
    text = path.read_text()
    kept = text[text.index("Linker script and memory map"):]
    return set(re.findall(r"^ \.text\S*\s+0x[0-9a-f]+\s+0x[1-9a-f][0-9a-f]*\s+\S*libspate\.a\((\w+)\.c\.obj\)", kept, re.M))


@pytest.mark.parametrize("app, without", [("recorder_only", NEVER), ("recorder_own", NEVER + NOT_FOR_OWN_VOLUMES)])
def test_a_program_is_linked_without(app, without):
    linked = linked_objects(app)
    assert {"volume", "clip", "queue", "recorder"} <= linked
    assert linked & set(without) == set()


def test_a_program_that_mounts_any_volume_recovers_it():
    assert {"recover", "owners", "reclaim", "gpt", "mbr"} <= linked_objects("recorder_only")
