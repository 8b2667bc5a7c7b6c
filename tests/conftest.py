# SPDX-License-Identifier: Apache-2.0
"""Shared by all tests in Python: the paths of the programs under test, and how to run other programs."""

import os
import pathlib
import shutil
import signal
import time

import program
import pytest
import shares

ROOT = pathlib.Path(__file__).resolve().parent.parent
IMAGES_BYTES = 1_000_000_000 # limit for one test; images are sparse, and few tests fill theirs
HOST_BUILD = ROOT / "build" / os.environ.get("SPATE_HOST_BUILD", "host-gcc-asan")

# A failed assert of a shared module shows its values, like one of a test file.
pytest.register_assert_rewrite(*(path.stem for path in (ROOT / "tests" / "support").glob("*.py")))

# A shell without job control starts background programs with Ctrl-C ignored. A test could not interrupt programs that inherit
# this.
signal.signal(signal.SIGINT, signal.default_int_handler)


def run(*words, statuses=(0,), **options):
    """program.run, for at most 300 s; a failure fails the test without a Python traceback."""
    try:
        return program.run(*words, statuses=statuses, timeout_s=300, **options)
    except program.Failed as failed:
        pytest.fail(str(failed), pytrace=False)


def pytest_addoption(parser):
    parser.addoption("--part", help="2/4: the second of four parts that take equally long (tools/shares.py)")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Files that take long come first. The order inside a file stays. Last: what -m leaves out must not count in a part."""
    names = {item.nodeid.split("::")[0] for item in items}
    which = config.getoption("--part")
    order = {name: place for place, name in enumerate(shares.part(names, which) if which else shares.longest_first(names))}
    items[:] = sorted((item for item in items if item.nodeid.split("::")[0] in order),
                      key=lambda item: order[item.nodeid.split("::")[0]])


def cpu_s():
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    """Writes what each test costs, for tools/suite.py. A fixture of a module counts for the test that needs it first."""
    begin, before = time.monotonic(), cpu_s()
    yield
    if path := os.environ.get("SPATE_TEST_TIMES"):
        with open(path, "a") as file:
            file.write(f"{cpu_s() - before:.2f} {time.monotonic() - begin:.2f} {item.nodeid}\n")


@pytest.fixture(scope="session")
def tool():
    """The path of a program of tests/support/programs/ by name."""

    def path_of(name):
        path = HOST_BUILD / "tools" / name
        assert path.exists(), f"{path} is not built: make build-{HOST_BUILD.name}"
        return path

    return path_of


@pytest.fixture
def make_image(tmp_path):
    """Sparse image files of the given sizes, deleted after the test."""
    count = 0

    def make(size_bytes):
        nonlocal count
        count += 1
        path = tmp_path / f"drive{count}.img"
        try:
            program.need_space(tmp_path, IMAGES_BYTES, "a test with images of drives")
        except program.NoSpace as full:
            pytest.exit(f"{full}. TMPDIR=FOLDER puts them into another folder", returncode=1)
        with open(path, "wb") as file:
            file.truncate(size_bytes)
        return path

    yield make
    shutil.rmtree(tmp_path, ignore_errors=True)
