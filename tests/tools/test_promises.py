# SPDX-License-Identifier: Apache-2.0
"""tests/promises.toml: each promise has a test that make test runs."""

import ast
import json
import re
import tomllib

import pytest

from conftest import HOST_BUILD, ROOT, run

PROMISES = tomllib.loads((ROOT / "tests/promises.toml").read_text())["promise"]
TESTS = sorted({test for promise in PROMISES for test in promise["tests"]})


def plain(text):
    """A page without line breaks and emphasis."""
    return re.sub(r"\s+", " ", text.replace("**", ""))


def thorough_programs():
    """The C programs that make test leaves out: a line of their file says so."""
    return {path.stem for path in (ROOT / "tests").rglob("test_*.c") if re.search(r"^/\* thorough: ", path.read_text(), re.M)}


def is_run(file):
    """Does make test run this C program?"""
    path = file.relative_to(ROOT / "tests")
    if path.parts[0] == "power_cut":
        text = (ROOT / "tests/power_cut/CMakeLists.txt").read_text()
        return re.search(rf"^spate_crash_test\(\w+ {file.name} ", text, re.M) is not None
    folders = re.search(r"^set\(folders((?:\s+[\w/*]+)+)\)", (ROOT / "tests/CMakeLists.txt").read_text(), re.M)[1].split()
    patterns = [f"{folder}/{kind}test_*.c" for folder in folders for kind in ("", "simulated/", "qemu/")]
    return any(path.match(pattern) for pattern in patterns) and file.stem not in thorough_programs()


def is_thorough(node):
    marks = [ast.unparse(decorator) for decorator in getattr(node, "decorator_list", [])]
    return any("mark.thorough" in mark for mark in marks)


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise["says"][:40])
def test_a_promise_stands_on_its_page(promise):
    assert plain(promise["says"]) in plain((ROOT / promise["page"]).read_text())
    assert promise["tests"]


def test_no_promise_of_the_readme_is_missing():
    section = (ROOT / "README.md").read_text().partition("## What it promises")[2].partition("\n## ")[0]
    said = {plain(text) for text in re.findall(r"^- \*\*(.*?)\*\*", section, re.M | re.S)}
    rows = {plain(promise["says"]) for promise in PROMISES if promise["page"] == "README.md"}
    assert len(said) >= 5 and said <= rows, said - rows


@pytest.mark.parametrize("test", TESTS)
def test_make_test_runs_it(test):
    path, _, name = test.partition("::")
    file = ROOT / path
    assert file.exists()
    if file.suffix == ".c":
        assert is_run(file)
        if name:
            assert re.search(rf"\b(?:cmocka_unit_test\w*|[a-z_]+)\({name}\b", file.read_text()), f"{path} has no test {name}"
        return
    tree = ast.parse(file.read_text())
    assert "pytestmark = pytest.mark.thorough" not in file.read_text()
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}
    wanted = [functions[name]] if name else list(functions.values())
    assert wanted and not any(is_thorough(node) for node in wanted)


def test_make_test_leaves_out_what_says_so():
    """CMake gives exactly these programs the label by which make test leaves them out."""
    listed = run("ctest", "--test-dir", HOST_BUILD, "--show-only=json-v1").stdout
    labels = {test["name"]: {label for kind in test.get("properties", []) if kind["name"] == "LABELS" for label in kind["value"]}
              for test in json.loads(listed)["tests"]}
    assert len(thorough_programs()) > 10
    assert {name for name, found in labels.items() if "thorough" in found} == thorough_programs()
