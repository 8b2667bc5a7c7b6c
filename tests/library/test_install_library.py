# SPDX-License-Identifier: Apache-2.0
"""The library in other projects, in C and C++: installed and found, added as a folder, cross-compiled for bare metal, or compiled
from the plain list of its sources. Also checks that its version is the same everywhere."""

import json
import os
import re
import shutil

import pytest

from conftest import ROOT, run

pytestmark = pytest.mark.thorough

EXAMPLE = ROOT / "examples" / "library"
FREE_BYTES = f"{59 << 20} bytes free"  # of 64 MiB: the boot regions with the FAT, bitmap, up-case table, root directory, record
VERSION = ".".join(re.findall(r"^#define SPATE_VERSION_[A-Z]+ (\d+)$", (ROOT / "include/spate/version.h").read_text(), re.M))
C_FLAGS = ("-std=c17", "-Wall", "-Wextra", "-Wpedantic", "-Werror")
CPP_FLAGS = ("-std=c++17", *C_FLAGS[1:])


def configure(source, build, *options, **environment):
    run("cmake", "-G", "Ninja", "-S", source, "-B", build, *options, env=os.environ | environment)
    return build


def build(source, folder, *options, **environment):
    configure(source, folder, *options, **environment)
    run("cmake", "--build", folder, "-j", "2")
    return folder


def cache(folder):
    """The names of the variables in a build's cache that users may set."""
    variables = re.findall(r"^([^#/\n][^:]*):(\w+)=", (folder / "CMakeCache.txt").read_text(), re.M)
    return {name for name, kind in variables if kind not in ("STATIC", "INTERNAL")}


def check_programs(folder):
    """Runs the example's two programs, and checks their output."""
    volume = run(folder / "memory_volume").stdout
    assert volume == f"spate {VERSION}: volume MEMORY, {FREE_BYTES}\n"
    assert run(folder / "from_cpp").stdout == f"spate {VERSION}: chunk 7 of 4096 bytes\n"


# ---- installed ----


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The prefix of an installation that was moved afterwards, as a package manager does."""
    folder = tmp_path_factory.mktemp("installed")
    run("cmake", "--preset", "library", "-B", folder / "build", cwd=ROOT)
    run("cmake", "--build", folder / "build", "-j", "2")
    run("cmake", "--install", folder / "build", "--prefix", folder / "first")
    (folder / "first").rename(folder / "prefix")
    shutil.rmtree(folder / "build")
    return folder / "prefix"


def pkg_config(installed, *words):
    return run("pkg-config", *words, "spate", env=os.environ | {"PKG_CONFIG_PATH": str(installed / "lib/pkgconfig")}).stdout.split()


def test_what_is_installed(installed):
    files = {str(path.relative_to(installed)) for path in installed.rglob("*") if path.is_file()}
    assert files == {
        *(str(path.relative_to(ROOT)) for path in (ROOT / "include/spate").rglob("*.h")),
        "include/spate/port/spate_board.h", "include/spate/port/linux_port.h", "lib/libspate.a", "lib/pkgconfig/spate.pc",
        *(f"lib/cmake/spate/spate-config{end}.cmake" for end in ("", "-release", "-version"))}


def test_nothing_installed_names_the_sources_or_the_first_prefix(installed):
    for path in installed.rglob("*.*"):
        if path.suffix in (".cmake", ".pc", ".h"):
            text = path.read_text()
            assert str(ROOT) not in text and str(installed.parent) not in text, path


def test_found_by_cmake(installed, tmp_path):
    check_programs(build(EXAMPLE, tmp_path / "build", f"-DCMAKE_PREFIX_PATH={installed}"))
    shutil.copytree(installed, tmp_path / "elsewhere")
    check_programs(build(EXAMPLE, tmp_path / "again", f"-DCMAKE_PREFIX_PATH={tmp_path}/elsewhere"))


def test_found_by_a_project_of_cpp_alone(installed, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(alone LANGUAGES CXX)\nfind_package(spate REQUIRED)\n"
        f"add_executable(from_cpp {EXAMPLE}/from_cpp.cpp)\ntarget_link_libraries(from_cpp PRIVATE spate::spate)\n")
    folder = build(tmp_path, tmp_path / "build", f"-DCMAKE_PREFIX_PATH={installed}")
    assert VERSION in run(folder / "from_cpp").stdout


def test_a_newer_version_is_not_found(installed, tmp_path):
    major, minor, _ = VERSION.split(".")
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(newer LANGUAGES C)\n"
        f"find_package(spate {major}.{int(minor) + 1} REQUIRED)\n")
    errors = run("cmake", "-G", "Ninja", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={installed}",
               statuses=(1,)).stderr
    assert f"version: {VERSION}" in errors


def test_found_by_pkg_config(installed, tmp_path):
    flags = pkg_config(installed, "--cflags", "--libs")
    run("gcc", *C_FLAGS, EXAMPLE / "memory_volume.c", *flags, "-o", tmp_path / "memory_volume")
    run("g++", *CPP_FLAGS, EXAMPLE / "from_cpp.cpp", *flags, "-o", tmp_path / "from_cpp")
    check_programs(tmp_path)


def test_each_installed_header_on_its_own(installed, tmp_path):
    flags = pkg_config(installed, "--cflags")
    include = installed / "include"
    of_processors = {path.relative_to(ROOT / "include") for path in (ROOT / "include/spate/port").iterdir()}
    private = {path.relative_to(include) for path in (include / "spate/private").iterdir()}
    headers = {path.relative_to(include) for path in include.rglob("*.h")} - of_processors - private
    assert len(headers) > 15
    for header in headers:
        for language, compiler in (("c", ("gcc", *C_FLAGS)), ("c++", ("g++", *CPP_FLAGS))):
            source = tmp_path / f"header.{language}"
            source.write_text(f"#include <{header}>\n#include <{header}>\nextern int something;\n")  # ISO C forbids an empty file
            run(*compiler, "-x", language, "-fsyntax-only", *flags, source)


def test_a_private_header_names_the_public_one(installed, tmp_path):
    include = installed / "include"
    private = sorted((include / "spate/private").iterdir())
    assert private
    source = tmp_path / "header.c"
    for header in private:
        source.write_text(f"#include <{header.relative_to(include)}>\n")
        errors = run("gcc", "-fsyntax-only", *pkg_config(installed, "--cflags"), source, statuses=(1,)).stderr
        assert f"include <spate/{header.name}>" in errors


def test_the_headers_of_a_port_can_be_installed():
    """They are in the port's folder, and include no other headers of the repository."""
    headers = [header for board in ROOT.glob("ports/*/spate_board.h") for header in board.parent.glob("*.h")]
    assert len(headers) > 5
    for header in headers:
        for name in re.findall(r'^#include "(.*)"$', header.read_text(), re.M):
            assert (header.parent / name).parent == header.parent and (header.parent / name).exists(), f"{header}: {name}"


def test_it_is_installed_with_the_command(tmp_path):
    """Together with libspate-ring, which is another package in the same prefix."""
    run("cmake", "--install", ROOT / "build/linux", "--prefix", tmp_path / "prefix")
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(both LANGUAGES C)\n"
        "find_package(spate REQUIRED)\nfind_package(spate-ring REQUIRED)\n"
        f"add_executable(memory_volume {EXAMPLE}/memory_volume.c)\n"
        "target_link_libraries(memory_volume PRIVATE spate::spate spate::ring_static)\n")
    folder = build(tmp_path, tmp_path / "build", f"-DCMAKE_PREFIX_PATH={tmp_path}/prefix")
    assert FREE_BYTES in run(folder / "memory_volume").stdout


# ---- added as a folder ----


@pytest.fixture(scope="module")
def added(tmp_path_factory):
    """The build of a project that adds the sources. The library must not overrule the project's settings."""
    return build(EXAMPLE, tmp_path_factory.mktemp("added") / "build", f"-DSPATE_SOURCE={ROOT}",
                 "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-DBUILD_TESTING=ON")


def test_added_as_a_folder(added):
    check_programs(added)


def test_only_the_library_is_built(added):
    commands = json.loads((added / "compile_commands.json").read_text())
    files = {os.path.relpath(command["file"], ROOT) for command in commands}
    listed = (ROOT / "src/files.txt").read_text().split()
    assert files == {*listed, "ports/linux/spate_board.c", "examples/library/memory_volume.c", "examples/library/from_cpp.cpp"}
    assert not [command for command in commands if "-Werror" in command["command"] or "-Wall" in command["command"]]
    assert "Total Tests: 0" in run("ctest", "--test-dir", added, "-N").stdout


def test_the_cache_of_the_project_is_its_own(added, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(library_example LANGUAGES C CXX)\n")
    without = cache(configure(tmp_path, tmp_path / "build", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-DBUILD_TESTING=ON"))
    assert cache(added) - without == {"SPATE_SOURCE"}


def test_it_is_installed_with_the_project_only_when_told(added, tmp_path):
    run("cmake", "--install", added, "--prefix", tmp_path / "prefix")
    assert not (tmp_path / "prefix").exists()
    with_install = build(EXAMPLE, tmp_path / "with-install", f"-DSPATE_SOURCE={ROOT}", "-DSPATE_INSTALL=ON")
    run("cmake", "--install", with_install, "--prefix", tmp_path / "prefix")
    check_programs(build(EXAMPLE, tmp_path / "build", f"-DCMAKE_PREFIX_PATH={tmp_path}/prefix"))


def test_a_port_of_the_projects_own(tmp_path):
    check_programs(build(EXAMPLE, tmp_path / "build", f"-DSPATE_SOURCE={ROOT}", f"-DSPATE_PORT_DIR={EXAMPLE}/board"))


# ---- bare metal ----

TOOLCHAIN = """set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR @PROCESSOR@)
set(CMAKE_C_COMPILER @COMPILER@)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_C_FLAGS_INIT "-ffreestanding -fno-pic -fno-stack-protector @ALIGNMENT@")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-nostdlib -static -no-pie -Wl,-e,main")
"""
FIRMWARE = """cmake_minimum_required(VERSION 3.25)
project(firmware LANGUAGES C)
if(SPATE_SOURCE)
  set(SPATE_PORT_DIR "${CMAKE_CURRENT_SOURCE_DIR}/my_board")
  add_subdirectory("${SPATE_SOURCE}" spate)
else()
  find_package(spate REQUIRED)
endif()
add_executable(firmware main.c "@STRING@")
target_link_libraries(firmware PRIVATE -Wl,--whole-archive spate::spate -Wl,--no-whole-archive gcc)
"""
MAIN = """#include <spate/clock.h>
#include <stdint.h>
uint64_t ticks;
int raise(int number);
int raise(int number) { return number; } /* the libgcc of a Linux compiler calls it on a division by zero */
int main(void) { return spate_clock_check() == SPATE_OK ? 0 : 1; }
"""


@pytest.fixture(params=("aarch64-linux-gnu", "arm-linux-gnueabihf"))
def firmware(request, tmp_path):
    """A project with its own board and toolchain file, for a machine without an operating system."""
    toolchain = TOOLCHAIN.replace("@COMPILER@", f"{request.param}-gcc").replace("@PROCESSOR@", request.param.split("-")[0])
    toolchain = toolchain.replace("@ALIGNMENT@", "-mstrict-align" if "aarch64" in request.param else "-mno-unaligned-access")
    project = tmp_path / "project"
    project.mkdir()
    (project / "toolchain.cmake").write_text(toolchain)
    (project / "CMakeLists.txt").write_text(FIRMWARE.replace("@STRING@", str(ROOT / "ports/common/string.c")))
    (project / "main.c").write_text(MAIN)
    board = (EXAMPLE / "board/spate_board.h").read_text()
    clock = "uint64_t spate_port_ticks(void);"
    assert clock in board
    (project / "my_board").mkdir()
    (project / "my_board/spate_board.h").write_text(
        board.replace(clock, "extern uint64_t ticks;\nstatic inline uint64_t spate_port_ticks(void) { return ticks++; }"))
    return project


def check_firmware(folder):
    """The program is linked, and contains every function of the library."""
    program = folder / "firmware"
    assert run("readelf", "--file-header", program).stdout.count("EXEC (Executable file)") == 1
    symbols = run("readelf", "--symbols", "--wide", program).stdout
    assert " spate_recorder_open\n" in symbols and " UND spate" not in symbols


def test_bare_metal_added_as_a_folder(firmware, tmp_path):
    check_firmware(build(firmware, tmp_path / "build", f"-DSPATE_SOURCE={ROOT}", f"-DCMAKE_TOOLCHAIN_FILE={firmware}/toolchain.cmake"))


def test_bare_metal_installed(firmware, tmp_path):
    toolchain = f"-DCMAKE_TOOLCHAIN_FILE={firmware}/toolchain.cmake"
    build(ROOT, tmp_path / "library", "-DSPATE_LIBRARY_ONLY=ON", f"-DSPATE_PORT_DIR={firmware}/my_board", toolchain)
    run("cmake", "--install", tmp_path / "library", "--prefix", tmp_path / "prefix")
    check_firmware(build(firmware, tmp_path / "build", f"-DCMAKE_PREFIX_PATH={tmp_path}/prefix", toolchain))
    assert not (tmp_path / "prefix/lib/pkgconfig").exists()


def test_a_cross_build_without_a_port_says_what_to_do(firmware, tmp_path):
    errors = run("cmake", "-G", "Ninja", "-S", EXAMPLE, "-B", tmp_path / "build", f"-DSPATE_SOURCE={ROOT}",
               f"-DCMAKE_TOOLCHAIN_FILE={firmware}/toolchain.cmake", "-DCMAKE_CXX_COMPILER=g++", "-Ddefault_port=8080", statuses=(1,)).stderr
    assert 'SPATE_PORT_DIR ("") has no spate_board.h' in " ".join(errors.split())
    assert "Name a folder of ports/" in errors and "docs/use/porting.md" in errors


# ---- from the list of the sources ----


def test_the_list_of_the_sources_is_complete():
    listed = (ROOT / "src/files.txt").read_text().split()
    assert sorted(listed) == sorted(str(path.relative_to(ROOT)) for path in (ROOT / "src").rglob("*.c"))


def test_the_list_of_the_sources_is_all_that_a_compiler_needs(tmp_path):
    """Links the objects themselves instead of an archive, so each is linked even if it is not needed."""
    run("cc", "-Wall", "-Wextra", "-Werror", "-Iinclude", f"-I{EXAMPLE}/board", "@src/files.txt", EXAMPLE / "board/spate_board.c",
        EXAMPLE / "memory_volume.c", "-o", tmp_path / "memory_volume", cwd=ROOT)
    assert FREE_BYTES in run(tmp_path / "memory_volume").stdout


def test_the_makefile_of_the_page(tmp_path):
    """Builds the example with the page's makefile, after replacing the names in it."""
    page = (ROOT / "docs/use/install-library.md").read_text()
    text = re.search(r"^```make\n(.*?)^```$", page, re.M | re.S)[1]
    (tmp_path / "Makefile").write_text(text.replace("my_board", "board").replace("my_program", "memory_volume"))
    for folder in ("src", "include"):
        shutil.copytree(ROOT / folder, tmp_path / "spate" / folder)
    shutil.copytree(EXAMPLE, tmp_path, dirs_exist_ok=True)
    run("make", "-j2", "memory_volume", cwd=tmp_path)
    assert FREE_BYTES in run(tmp_path / "memory_volume").stdout


# ---- the version ----


def test_one_version_everywhere(installed, tmp_path):
    run("cmake", "--install", ROOT / "build/linux", "--prefix", tmp_path)
    assert re.fullmatch(r"\d+\.\d+\.\d+", VERSION)
    versions = {
        "spate --version": run(ROOT / "build/linux/bin/spate", "--version").stdout.removeprefix("spate ").strip(),
        "pkg-config spate": " ".join(pkg_config(installed, "--modversion")),
        "pkg-config spate-ring": re.search(r"^Version: (.*)$", (tmp_path / "lib/pkgconfig/spate-ring.pc").read_text(), re.M)[1],
        "changelog of the packages": re.match(r"spate \((.*)-\d+\)", (ROOT / "linux/packaging/debian/changelog").read_text())[1],
        "spate.core": re.search(r"^name: spate:storage:spate:(.*)$", (ROOT / "spate.core").read_text(), re.M)[1],
        "package of Python": re.search(r'^version = "(.*)"$', (ROOT / "linux/python/pyproject.toml").read_text(), re.M)[1],
    }
    assert versions == dict.fromkeys(versions, VERSION)
