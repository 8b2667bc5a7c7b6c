# SPDX-License-Identifier: Apache-2.0
"""The programs of long benchmarks, which no test runs, are where CMake builds them."""

import re

import pytest

from conftest import ROOT

pytestmark = pytest.mark.thorough

NAMED = {(path.name, re.sub(r'" / "', "/", parts)) for folder in ("bench", "tools") for path in (ROOT / folder).glob("*.py")
         for parts in re.findall(r'"gateware" / "([\w/ "-]+)"', path.read_text())}


def test_they_are_found():
    assert len(NAMED) >= 4


@pytest.mark.parametrize(("script", "path"), sorted(NAMED))
def test_a_program_is_built_there(script, path):
    """The build tree has the folders of the source tree."""
    folder = ROOT / path
    if not folder.is_dir():  # a program
        assert re.search(rf"\b{folder.name}\b", (folder.parent / "CMakeLists.txt").read_text()), f"{script}: {path}"
