# SPDX-License-Identifier: Apache-2.0
"""libspate-ring after cmake --install: other projects find it with pkg-config and with CMake, in C and in C++."""

import os

import pytest
import program

from conftest import ROOT
from ring_programs import LIBRARY_USER

PROJECT = """cmake_minimum_required(VERSION 3.25)
project(camera LANGUAGES C CXX)
find_package(spate-ring 0.1 REQUIRED)
add_executable(shared camera.c)
target_link_libraries(shared PRIVATE spate::ring)
add_executable(static camera.cpp)
target_link_libraries(static PRIVATE spate::ring_static)
"""


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
    program.run(tmp_path / "camera", env=os.environ | {"LD_LIBRARY_PATH": str(installed / "lib")})


def test_with_cmake(installed, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(PROJECT)
    program.run("cmake", "-G", "Ninja", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={installed}")
    program.run("cmake", "--build", tmp_path / "build")
    for name in ("shared", "static"):
        program.run(tmp_path / "build" / name)


def test_it_needs_only_the_c_library(installed):
    needed = program.run("readelf", "--dynamic", installed / "lib" / "libspate-ring.so.0").stdout
    assert [line.split("[")[1].rstrip("]") for line in needed.splitlines() if "NEEDED" in line] == ["libc.so.6"]
