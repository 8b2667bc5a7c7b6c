# SPDX-License-Identifier: Apache-2.0
"""The structure of the library and of the command as the linker sees it: the names of the library's functions, and which file
uses which. The structure of the tests: what they share, and which of them start QEMU."""

import ast
import collections
import functools
import pathlib
import re
import subprocess
import tomllib

import pytest
from spate_command import SPATE

from conftest import HOST_BUILD, ROOT

COMMAND = SPATE.parent.parent / "command"

# The parts whose calls go down only, and the folders with their object files.
PARTS = {
    "src": [HOST_BUILD / "CMakeFiles/spate.dir/src"],
    "linux/command": [COMMAND / f"CMakeFiles/{target}.dir" for target in ("spate_targets", "spate_command", "spate_board")],
    "linux/ring": [COMMAND / "ring/CMakeFiles/spate_ring_static.dir"],
    "sim": [HOST_BUILD / "sim/CMakeFiles/spate_sim.dir"],
}
# These define the functions of other files, for builds without those.
REPLACEMENTS = {"linux/command": {"target/sim_absent.c", "target/blkid_absent.c"}}

# docs/understand/design.md, 2: the folders that each folder of src/ uses, besides the port. Calls to others go through pointers.
BELOW = {
    "core": set(), "pcie": set(), "nvme": {"core", "pcie"}, "gateware": set(), "stripe": {"core"}, "partition": {"core"},
    "exfat": {"core"}, "recorder": {"core", "exfat"}, "loop": {"core", "exfat", "recorder"},
    "doctor": {"core", "nvme", "pcie"},
}


def compiled(part, name):
    """The object file of a source file."""
    found = [path for path in (folder / f"{name}.o" for folder in PARTS[part]) if path.exists()]
    assert found, f"{part}/{name} is not compiled: make build-{PARTS[part][0].relative_to(ROOT / 'build').parts[0]}"
    return found[0]


@functools.cache
def symbols_of(part):
    """{file of the part without .c: (names that it defines, names that it uses)}, for names that other files can see."""
    found = {}
    for source in sorted((ROOT / part).rglob("*.c")):
        name = source.relative_to(ROOT / part)
        if str(name) in REPLACEMENTS.get(part, ()):
            continue
        words = ["nm", "--extern-only", "--format=posix", compiled(part, name)]
        lines = subprocess.run(words, check=True, capture_output=True, text=True)
        kinds = [line.split()[:2] for line in lines.stdout.splitlines()]
        found[str(name.with_suffix(""))] = ({symbol for symbol, kind in kinds if kind != "U"},
                                            {symbol for symbol, kind in kinds if kind == "U"})
    assert found
    return found


def uses_of(part):
    """{file: files whose functions or objects it uses}."""
    symbols = symbols_of(part)
    home = {symbol: name for name, (defined, _) in symbols.items() for symbol in defined}
    return {name: {home[symbol] for symbol in used if symbol in home} - {name} for name, (_, used) in symbols.items()}


@pytest.fixture(scope="module")
def symbols():
    return symbols_of("src")


@pytest.fixture(scope="module")
def uses():
    return uses_of("src")


def reachable(uses, start):
    seen, waiting = set(), collections.deque([start])
    while waiting:
        for name in uses[waiting.popleft()] - seen:
            seen.add(name)
            waiting.append(name)
    return seen


def circles(uses):
    """The groups of files of which each one calls itself through the others."""
    below = {name: reachable(uses, name) for name in uses}
    groups = {frozenset(other for other in below[name] if name in below[other]) for name in uses if name in below[name]}
    return sorted(sorted(group) for group in groups)


def folder(name):
    return pathlib.PurePath(name).parts[0]


def test_all_names_begin_with_spate(symbols):
    others = {f"{name}.c: {symbol}" for name, (defined, _) in symbols.items() for symbol in defined
              if not symbol.startswith(("spate_", "__asan_", "__odr_asan"))}
    assert not others, "a program that links the library may have these names itself: make them static, or spate_..."


@pytest.mark.parametrize("part", PARTS)
def test_no_file_calls_itself_through_others(part):
    assert circles(uses_of(part)) == [], "these call each other in a circle: give what they share a file of its own, below both"


def test_the_list_of_the_drives_files_runs_down():
    head = (ROOT / "sim/drive/drive_internal.h").read_text().split("*/")[1]
    lines = [line for line in head.splitlines() if line.startswith(" *   ")]
    order = [f"drive/{name}" for line in lines for name in re.findall(r"(\w+)\.c", line)]
    uses = {name: used for name, used in uses_of("sim").items() if folder(name) == "drive"}
    assert sorted(order) == sorted(uses)
    upwards = [f"{name}.c calls {other}.c" for i, name in enumerate(order) for other in order[:i] if other in uses[name]]
    assert not upwards, "each file calls only what the list names after it"


def test_no_folder_includes_the_internal_header_of_another():
    others = {f"{path.relative_to(ROOT)}: {name}" for path in sorted((ROOT / "src").rglob("*.[ch]"))
              for name in re.findall(r'^#include "(\.\./.*internal\.h)"', path.read_text(), re.M)}
    assert not others, "what another folder uses stands in a header of its own, as src/nvme/shared.h"


def test_folders_use_only_what_is_below(uses):
    used = {part: {folder(other) for name, others in uses.items() if folder(name) == part for other in others} - {part}
            for part in BELOW}
    assert used == BELOW, "docs/understand/design.md says which folder may use which"


def test_nothing_uses_the_measurements():
    """bench/ may use what it measures, and the command's text."""
    sources = [path for top in ("include", "src", "sim", "ports", "firmware", "linux") for path in (ROOT / top).rglob("*")
               if path.suffix in (".c", ".h") or path.name == "CMakeLists.txt"]
    assert len(sources) > 300
    others = {str(path.relative_to(ROOT)) for path in sources
              if re.search(r'#include.*\bbench/|SOURCE_DIR\}/bench/(?!linux" bench EXCLUDE_FROM_ALL)', path.read_text())}
    assert not others, "bench/ uses these, so they use nothing of bench/"


# ---- the tests: tests/README.md ----

TESTS = ROOT / "tests"
TEST_FILES = sorted(path for name in ("test_*", "testbench_*") for path in TESTS.rglob(name)
                    if path.suffix in (".c", ".cpp", ".py"))
# These name scripts or modules that start QEMU, and do not start it.
WITHOUT_QEMU = {TESTS / "tools/test_commands_words.py", TESTS / "boards/test_port_folder.py",
                TESTS / "tools/setup/test_failures.py", pathlib.Path(__file__)}


def imported(path):
    """The modules that a file in Python imports."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    modules = {name.name for node in nodes if isinstance(node, ast.Import) for name in node.names}
    return modules | {node.module for node in nodes if isinstance(node, ast.ImportFrom)}


def included(path):
    return {pathlib.PurePath(name).name for name in re.findall(r'^#include "(.*)"', path.read_text(), re.M)}


def leading_to(needs, goals):
    """The goals, and all that need one of them, directly or through others. `needs`: {name: names that it needs}."""
    found = set(goals)
    while more := {name for name, needed in needs.items() if needed & found} - found:
        found |= more
    return found


def test_no_test_file_is_imported():
    names = {path.stem for path in TEST_FILES if path.suffix == ".py"}
    assert len(names) > 50
    others = {f"{path.relative_to(ROOT)}: {name}" for path in TESTS.rglob("*.py") for name in imported(path) & names}
    assert not others, "what test files share has its own module in tests/support or tests/rtl/support"


def test_no_two_test_files_have_the_same_name():
    counts = collections.Counter(path.name for path in TEST_FILES)
    assert [name for name, count in counts.items() if count > 1] == [], "rename one: results and commands name a test by its file"


def test_every_test_file_in_python_is_run():
    """make test-system runs the folders that pyproject.toml lists, and make test-rtl tests/rtl."""
    run = [*tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]["testpaths"], "tests/rtl"]
    files = {path for path in TEST_FILES if path.suffix == ".py" and path.name.startswith("test_")}
    missed = {path for path in files if not any(path.is_relative_to(ROOT / folder) for folder in run)}
    assert sorted(missed) == [], "add their folder to testpaths"


def test_the_tests_that_start_qemu_are_in_folders_of_that_name():
    """A test starts QEMU through a module, through a script that runs one, or through a header."""
    shared = [*(ROOT / "tools").glob("*.py"), *(TESTS / "support").glob("*.py")]
    modules = leading_to({path.stem: imported(path) for path in shared}, {"qemu", "linux_guest"})
    headers = leading_to({path.name: included(path) for path in TESTS.rglob("*.h")}, {"qtest.h"})
    measuring = [path.name for path in (ROOT / "bench").glob("*.py") if re.search(r"\b(qemu|guest)\.run\(", path.read_text())]
    scripts = {f"tools/{name}.py" for name in modules} | {f"bench/{name}" for name in measuring}
    assert {"spate_guest", "demo"} <= modules and "qtest_port.h" in headers and "bench/speedtest.py" in scripts

    def starts_qemu(path):
        if path.suffix != ".py":
            return bool(included(path) & headers)
        return bool(imported(path) & modules) or any(script in path.read_text() for script in scripts)

    starting = {path for path in TEST_FILES if starts_qemu(path)} - WITHOUT_QEMU
    in_folders = {path for path in TEST_FILES if path.parent.name == "qemu"}
    assert sorted(starting - in_folders) == [], "these start QEMU: move them into a folder qemu/"
    assert sorted(in_folders - starting) == [], "these start no QEMU: move them out of qemu/"
