# SPDX-License-Identifier: Apache-2.0
"""The command on a Linux of any kind: what CMake does not find, it names with its packages. Without an optional part the command
is built, does less, and says so."""

import os
import re

import program
import pytest

from conftest import ROOT, run
from seccomp import PREADV, failing_calls
from spate_command import DONE, FAILED, MIB, REFUSED, SPATE, USAGE, spate

PACKAGES = {
    "C-compiler": "build-essential (Debian, Ubuntu), gcc (Fedora), base-devel (Arch)",
    "Ninja": "ninja-build (Debian, Ubuntu, Fedora), ninja (Arch)",
    "pkg-config": "pkgconf (Debian, Ubuntu, Arch), pkgconf-pkg-config (Fedora)",
    "liburing": "liburing-dev (Debian, Ubuntu), liburing-devel (Fedora), liburing (Arch)",
    "libblkid": "libblkid-dev (Debian, Ubuntu), libblkid-devel (Fedora), util-linux-libs (Arch)",
    "Python": "python3 (Debian, Ubuntu, Fedora), python (Arch)",
    "scdoc": "scdoc (Debian, Ubuntu, Fedora, Arch)",
}


def programs_without(folder, *names):
    """A PATH that lacks these programs."""
    folder.mkdir()
    for file in (ROOT / "build" / "programs").iterdir():
        if file.name not in names:
            (folder / file.name).symlink_to(os.readlink(file))
    return {"PATH": str(folder)}


def modules(folder, *names):
    """pkg-config finds these libraries only."""
    folder.mkdir()
    for name in names:
        place = run("pkg-config", "--variable=pcfiledir", name).stdout.strip()
        (folder / f"{name}.pc").symlink_to(f"{place}/{name}.pc")
    return {"PKG_CONFIG_LIBDIR": str(folder)}


def configure(build, *options, preset="linux", status=0, **environment):
    """Configures the preset in another folder. Returns what CMake says, with single blanks."""
    inherited = {name: value for name, value in os.environ.items() if name not in ("CC", "CMAKE_GENERATOR")}
    done = run("cmake", "--preset", preset, "-B", build, *options, cwd=ROOT, env=inherited | environment, statuses=(status,))
    return " ".join((done.stdout + done.stderr).split())


# ---- what the build needs ----


def check_named(said, *names):
    listed = " ".join(f"{name}: {PACKAGES[name]}" for name in names)
    assert f"This was not found. Install the packages of your system: {listed} Call Stack" in said


@pytest.mark.parametrize("preset", ["linux", "library"])
def test_the_tools_that_are_missing_are_named(tmp_path, preset):
    without = programs_without(tmp_path / "none", "ninja", "cc", "gcc", "clang")
    check_named(configure(tmp_path / "build", preset=preset, status=1, **without), "Ninja", "C-compiler")
    without = programs_without(tmp_path / "no-ninja", "ninja")
    check_named(configure(tmp_path / "build", preset=preset, status=1, **without), "Ninja")
    configure(tmp_path / "with-make", "-G", "Unix Makefiles", preset=preset, **without)


def test_a_compiler_of_another_name_is_enough(tmp_path):
    configure(tmp_path / "clang", **programs_without(tmp_path / "only-clang", "cc", "gcc"))
    assert re.search(r"^CMAKE_C_COMPILER:.*/clang$", (tmp_path / "clang" / "CMakeCache.txt").read_text(), re.M)


def test_the_libraries_that_are_missing_are_named(tmp_path):
    check_named(configure(tmp_path / "build", status=1, **modules(tmp_path / "none")), "liburing")
    said = configure(tmp_path / "build", "-DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON", status=1)
    check_named(said, "pkg-config", "liburing")
    # The library itself needs neither.
    configure(tmp_path / "library", preset="library", **modules(tmp_path / "none-either"))


# ---- what it can do without ----

WARNINGS = "-DSPATE_WARNINGS_ARE_ERRORS=ON"  # no other build compiles the files that replace parts


@pytest.fixture(scope="module")
def without_libblkid(tmp_path_factory):
    """The command where neither libblkid nor scdoc is installed."""
    folder = tmp_path_factory.mktemp("without")
    said = configure(folder / "build", WARNINGS, "-DCMAKE_IGNORE_PATH=/usr/bin;/bin;/usr/local/bin",
                     **modules(folder / "modules", "liburing"), **programs_without(folder / "programs", "scdoc"))
    assert f"Without scdoc, there is no manual page. Packages: {PACKAGES['scdoc']} " in said
    assert (f"Without libblkid, spate does not name foreign contents of a target, and finds no partitions of pci:, vfio: "
            f"and sim: drives. Packages: {PACKAGES['libblkid']} ") in said and "Without Python" not in said
    run("cmake", "--build", folder / "build", "-j", "2", "--target", "spate_command")
    built = folder / "build" / "bin" / "spate"
    assert "blkid" not in run("readelf", "--dynamic", built).stdout
    return built


@pytest.fixture(scope="module")
def without_python(tmp_path_factory):
    build = tmp_path_factory.mktemp("without-python") / "build"
    said = configure(build, WARNINGS, "-DCMAKE_DISABLE_FIND_PACKAGE_Python3=ON")
    assert f"Without Python, there are no virtual drives (sim:) and no command plan. Packages: {PACKAGES['Python']} " in said
    run("cmake", "--build", build, "-j", "2", "--target", "spate_command")
    return build / "bin" / "spate"


@pytest.fixture
def image(tmp_path):
    path = tmp_path / "rec.img"
    spate("format", path, "--size", "64MiB", "--label", "FLIGHT")
    return path


def said_by(built, *words, status=DONE, **options):
    return program.run(built, *words, statuses=(status,), timeout_s=120, **options).stderr


NOT_BLANK = "it is not blank. This spate was built without libblkid, and cannot name more of what is on it\n"


@pytest.mark.thorough
def test_info_needs_no_libblkid(without_libblkid, image):
    assert run(without_libblkid, "info", image).stdout == spate("info", image).stdout


@pytest.mark.thorough
def test_without_libblkid_a_recording_works_as_always(without_libblkid, tmp_path):
    image = tmp_path / "new.img"
    image.touch()
    os.truncate(image, 64 * MIB)
    said = said_by(without_libblkid, "format", image, "--yes")
    assert "no partition and no file system was found on it" in said and NOT_BLANK not in said
    said_by(without_libblkid, "record", image, "clip", input="data")
    assert spate("extract", image, "clip", "-").stdout == "data"


@pytest.mark.thorough
def test_without_libblkid_a_volume_of_exfat_is_named(without_libblkid, image, tmp_path):
    said = said_by(without_libblkid, "format", image, "--yes", status=REFUSED)
    assert f"{image}: partition 1: 65.0 MB, for exFAT or NTFS\n{image}: {NOT_BLANK}" in said and "holds data" in said
    whole = tmp_path / "whole.img"
    whole.touch()
    os.truncate(whole, 64 * MIB)
    run("mkfs.exfat", whole)
    assert f"{whole}: exfat\n{whole}: {NOT_BLANK}" in said_by(without_libblkid, "format", whole, "--yes", status=REFUSED)


@pytest.mark.thorough
@pytest.mark.parametrize("at_bytes", [0, 1024, 65600, 2 * MIB - 1, 63 * MIB, 64 * MIB - 1])
def test_without_libblkid_nothing_is_overwritten_by_mistake(without_libblkid, tmp_path, at_bytes):
    """One byte where a file system or an array has something, whatever it is."""
    image = tmp_path / "theirs.img"
    with open(image, "wb") as file:
        file.truncate(64 * MIB)
        file.seek(at_bytes)
        file.write(b"x")
    said = said_by(without_libblkid, "format", image, "--yes", status=REFUSED)
    assert f"{image}: {NOT_BLANK}" in said and "nothing was written" in said
    other = tmp_path / "other.img"
    other.touch()
    os.truncate(other, 64 * MIB)
    assert "nothing was written" in said_by(without_libblkid, "format", f"stripe:{other},{image}", "--yes", status=REFUSED)
    assert "its contents will be lost" in said_by(without_libblkid, "format", image, "--erase", "--yes")


@pytest.mark.thorough
def test_without_libblkid_a_target_that_cannot_be_read_is_not_blank(without_libblkid, image):
    failing = {"preexec_fn": lambda: failing_calls(PREADV, 0, 4 * MIB)}
    assert "cannot be read" in said_by(without_libblkid, "format", image, "--yes", status=FAILED, **failing)
    said = said_by(without_libblkid, "trim", image, "--yes", **failing)
    assert said.count("cannot be read") == 1 and "no known contents" not in said and "not blank" not in said
    said_by(without_libblkid, "trim", image, "--yes")
    assert "no known contents" in said_by(without_libblkid, "trim", image, "--yes")


@pytest.mark.thorough
def test_without_libblkid_partitions_of_a_drive_have_no_numbers(without_libblkid, tmp_path):
    drive = tmp_path / "kept"
    said_by(without_libblkid, "format", f"sim:ideal:{drive}", "--yes")
    said = said_by(without_libblkid, "info", f"sim:ideal/n1p1:{drive}", status=USAGE)
    assert "was built without libblkid, and cannot find a partition by its number" in said


@pytest.mark.thorough
def test_without_python_there_are_no_virtual_drives(without_python, image):
    assert run(without_python, "info", image).stdout == spate("info", image).stdout
    said = said_by(without_python, "info", "sim:980pro", status=USAGE)
    assert "this spate has no virtual drives" in said and "Python 3" in said
    assert 'unknown command "plan"' in said_by(without_python, "plan", status=USAGE)
    assert re.search(r"^  plan ", run(SPATE, "--help").stdout, re.M)
    assert not re.search(r"^  plan ", run(without_python, "--help").stdout, re.M)
