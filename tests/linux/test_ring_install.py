# SPDX-License-Identifier: Apache-2.0
"""libspate-ring after cmake --install: other projects find it with pkg-config and with CMake, in C and in C++, and their programs
find it when they start, without any help of the environment. So does the Python package."""

import os
import sys

import pytest
import program

from conftest import ROOT, run
from ring_programs import LIBRARY_USER

pytestmark = pytest.mark.thorough

PROJECT = """cmake_minimum_required(VERSION 3.25)
project(camera LANGUAGES C CXX)
find_package(spate-ring 0.1 REQUIRED)
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
add_executable(shared ../camera.c)
target_link_libraries(shared PRIVATE spate::ring)
install(TARGETS shared)
add_executable(static ../camera.cpp)
target_link_libraries(static PRIVATE spate::ring_static)
"""

# Nothing in it helps a program to find the library.
ALONE = {name: value for name, value in os.environ.items() if name not in ("LD_LIBRARY_PATH", "SPATE_RING_LIBRARY")}


@pytest.fixture
def installed(tmp_path):
    """The installed library, moved to another folder, as a package manager does."""
    program.run("cmake", "--install", ROOT / "build" / "linux", "--prefix", tmp_path / "first")
    (tmp_path / "first").rename(tmp_path / "prefix")
    for name in ("camera.c", "camera.cpp"):
        (tmp_path / name).write_text(LIBRARY_USER)
    return tmp_path / "prefix"


def test_with_pkg_config(installed, tmp_path):
    environment = os.environ | {"PKG_CONFIG_PATH": str(installed / "lib" / "pkgconfig")}
    flags = program.run("pkg-config", "--cflags", "--libs", "spate-ring", env=environment).stdout.split()
    program.run("gcc", "-Wall", "-Wextra", "-Wpedantic", "-Werror", tmp_path / "camera.c", *flags, "-o", tmp_path / "camera")
    run(tmp_path / "camera", env=ALONE)


def test_with_cmake(installed, tmp_path):
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "CMakeLists.txt").write_text(PROJECT)
    program.run("cmake", "-G", "Ninja", "-S", tmp_path / "project", "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={installed}")
    program.run("cmake", "--build", tmp_path / "build")
    program.run("cmake", "--install", tmp_path / "build", "--prefix", tmp_path / "camera")
    for path in ("build/shared", "build/static", "camera/bin/shared"):
        run(tmp_path / path, env=ALONE)


@pytest.mark.parametrize("prefix, has_run_path", [("/usr", False), ("/usr/local", True), ("/opt/spate", True)])
def test_the_run_path_is_for_prefixes_that_loaders_do_not_search(tmp_path, prefix, has_run_path):
    run("cmake", "--install", ROOT / "build" / "linux", "--prefix", prefix, env=os.environ | {"DESTDIR": str(tmp_path)})
    for name in ("spate-ring", "spate"):
        text = (tmp_path / prefix.lstrip("/") / "lib" / "pkgconfig" / f"{name}.pc").read_text()
        assert ("-Wl,-rpath,${libdir}" in text) == (has_run_path and name == "spate-ring") and "@" not in text


# ---- the Python package ----


LOAD = """import cffi, os, sys
real = cffi.FFI.dlopen
def dlopen(self, name):
    if "/" not in name: raise OSError("the system's loader has none")
    return real(self, name)
if os.environ["HOME"]: cffi.FFI.dlopen = dlopen
try: import spate_ring
except OSError as error: sys.exit(str(error))
print(next(line.split()[-1] for line in open("/proc/self/maps") if "libspate-ring" in line))
"""


def load(home, **environment):
    """The library's file that `import spate_ring` loads, or the sentence why it loads none. With a home, the loader finds none,
    even if the library is installed on this machine."""
    environment = ALONE | {"PYTHONPATH": str(ROOT / "linux/python"), "HOME": str(home)} | environment
    done = run(sys.executable, "-c", LOAD, env=environment, statuses=(0, 1))
    return done.stdout.strip() or done.stderr.strip()


def test_the_python_package_asks_the_loader(installed):
    assert load("", LD_LIBRARY_PATH=str(installed / "lib")) == str((installed / "lib" / "libspate-ring.so.0").resolve())


def test_the_python_package_finds_the_library_of_the_users_prefix(installed, tmp_path):
    for folder in ("lib", "lib64"):
        home = tmp_path / folder
        (home / ".local").mkdir(parents=True)
        (home / ".local" / folder).symlink_to(installed / "lib")
        assert load(home) == str((installed / "lib" / "libspate-ring.so.0").resolve())


def test_the_python_package_loads_the_file_that_the_environment_names(installed, tmp_path):
    library = installed / "lib" / "libspate-ring.so.0"
    assert load(tmp_path, SPATE_RING_LIBRARY=str(library)) == str(library.resolve())


def test_the_python_package_says_where_it_looked(tmp_path):
    nowhere = tmp_path / "libspate-ring.so.0"
    said = load(tmp_path, SPATE_RING_LIBRARY=str(nowhere))
    assert said == f"libspate-ring was not found as {nowhere}. `make install` installs it; SPATE_RING_LIBRARY may name its file"
    nowhere.write_text("no library")
    assert f". cannot load library '{nowhere}': {nowhere}: file too short" in load(tmp_path, SPATE_RING_LIBRARY=str(nowhere))


def test_the_wheel(tmp_path):
    """pip checks the names and hashes of its files. It is the same whenever it is made, and nothing is left beside its sources."""
    before = sorted((ROOT / "linux/python").iterdir())
    names = [run(sys.executable, "-c", "import backend, sys; print(backend.build_wheel(sys.argv[1]))", folder,
                 cwd=ROOT / "linux/python").stdout.strip() for folder in (tmp_path, tmp_path.parent)]
    first, second = tmp_path / names[0], tmp_path.parent / names[1]
    assert first.read_bytes() == second.read_bytes()
    run(sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--target", tmp_path / "site", first)
    assert (tmp_path / "site/spate_ring/__init__.py").read_bytes() == (ROOT / "linux/python/spate_ring/__init__.py").read_bytes()
    shown = run(sys.executable, "-m", "pip", "show", "spate-ring", env=os.environ | {"PYTHONPATH": str(tmp_path / "site")}).stdout
    assert "Name: spate-ring" in shown and "Requires: cffi, numpy" in shown and "License: Apache-2.0" in shown
    assert sorted((ROOT / "linux/python").iterdir()) == before


def test_it_needs_only_the_c_library(installed):
    needed = program.run("readelf", "--dynamic", installed / "lib" / "libspate-ring.so.0").stdout
    assert [line.split("[")[1].rstrip("]") for line in needed.splitlines() if "NEEDED" in line] == ["libc.so.6"]
