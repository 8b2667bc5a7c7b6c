# SPDX-License-Identifier: Apache-2.0
"""The Debian packages: lintian finds nothing, they contain the right files, and the programs in them work."""

import gzip
import os
import re

import pytest

from conftest import ROOT, run
from ring_programs import LIBRARY_USER
from spate_command import MANUAL_PAGE, spate

COMPLETION = "share/bash-completion/completions/spate"
LIBRARY = "lib/TRIPLET/libspate-ring"
HEADERS = {f"include/{path.relative_to(ROOT / 'include')}" for path in (ROOT / "include").rglob("*.h")}
# The files of each package below /usr, without changelog and copyright.
HOLDS = {
    "spate": {"bin/spate", COMPLETION, "share/man/man1/spate.1.gz", "share/doc/spate/linux.md.gz", "share/doc/spate/boot.md.gz",
              "lib/systemd/system/spate-record@.service", "lib/sysusers.d/spate.conf", "lib/udev/rules.d/65-spate.rules"},
    "libspate-ring0": {f"{LIBRARY}.so.0", f"{LIBRARY}.so.VERSION"},
    "libspate-ring-dev": {
        "include/spate/ring.h", f"{LIBRARY}.a", f"{LIBRARY}.so", "lib/TRIPLET/pkgconfig/spate-ring.pc",
        *(f"lib/TRIPLET/cmake/spate-ring/spate-ring-config{end}.cmake" for end in ("", "-none", "-version"))},
    "libspate-dev": {
        *HEADERS, "include/spate/port/linux_port.h", "include/spate/port/spate_board.h",
        "lib/TRIPLET/libspate.a", "lib/TRIPLET/pkgconfig/spate.pc",
        *(f"lib/TRIPLET/cmake/spate/spate-config{end}.cmake" for end in ("", "-none", "-version"))},
}


def sources():
    """Every file of the sources, and its modification time."""
    outside = ("build", ".git")
    return {path: path.stat().st_mtime_ns for entry in ROOT.iterdir() if entry.name not in outside
            for path in [entry, *entry.rglob("*")] if "__pycache__" not in path.parts}


def programs(folder):
    """A PATH with only the programs that `make deb` installs."""
    run(ROOT / "setup" / "programs", folder / "programs", "--groups", "command", "deb")
    return str(folder / "programs")


def field(package, name):
    return run("dpkg-deb", "--field", package, name).stdout.strip()


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """{name: file} of all packages that are built, without debug symbols. Fails if lintian finds anything."""
    folder = tmp_path_factory.mktemp("packages")
    before = sources()
    run(ROOT / "linux/packaging/deb", folder / "deb", env={"PATH": programs(folder), "HOME": str(folder)})
    assert sources() == before
    files = {file.name.split("_")[0]: file for file in (folder / "deb").glob("*.deb")}
    return {name: file for name, file in files.items() if not name.endswith("-dbgsym")}


@pytest.fixture
def usr(packages, tmp_path):
    """/usr of a machine on which the packages are installed."""
    for package in packages.values():
        run("dpkg", "--extract", package, tmp_path / "root")
    return tmp_path / "root" / "usr"


@pytest.mark.thorough
def test_the_files_of_the_packages(packages, usr):
    assert packages.keys() == HOLDS.keys()
    triplet, = (usr / "lib").glob("*-linux-*")
    replaced = {"TRIPLET": triplet.name, "VERSION": field(packages["spate"], "Version").rsplit("-", 1)[0]}
    for name, package in packages.items():
        listed = [line.split(maxsplit=5) for line in run("dpkg-deb", "--contents", package).stdout.splitlines()]
        files = {words[5].split(" -> ")[0] for words in listed if not words[0].startswith("d")}
        documents = {f"share/doc/{name}/{file}" for file in ("changelog.gz", "changelog.Debian.gz", "copyright")}
        holds = {re.sub("TRIPLET|VERSION", lambda word: replaced[word[0]], path) for path in HOLDS[name] | documents}
        assert files == {f"./usr/{path}" for path in holds}
        assert {words[1] for words in listed} == {"root/root"}


@pytest.mark.thorough
def test_the_package_of_the_command(packages, usr, tmp_path):
    version = field(packages["spate"], "Version")
    assert run(usr / "bin/spate", "--version").stdout == f"spate {version.rsplit('-', 1)[0]}\n"
    image = tmp_path / "rec.img"
    run(usr / "bin/spate", "format", image, "--size", "64MiB", "--yes")
    run(usr / "bin/spate", "record", image, "run.raw", "--from", "synthetic", "--size", "5MB")
    assert "run.raw" in spate("ls", image).stdout

    assert (usr / COMPLETION).read_bytes() == (ROOT / "linux/command/completion/spate.bash").read_bytes()
    page = gzip.decompress((usr / "share/man/man1/spate.1.gz").read_bytes()).decode()
    built = MANUAL_PAGE.read_text()
    date = re.compile(r'^\.TH .*\n', re.MULTILINE)
    assert date.sub("", page) == date.sub("", built)


@pytest.mark.thorough
def test_the_package_enables_no_recorder(packages, usr):
    """It makes the service's user, and leaves the rest to the administrator: also a recording during an upgrade."""
    unit = (usr / "lib/systemd/system/spate-record@.service").read_text()
    assert "ExecStart=/usr/bin/spate record $SPATE_RECORD\n" in unit
    scripts = {name: run("dpkg-deb", "--info", packages["spate"], name).stdout
               for name in run("dpkg-deb", "--info", packages["spate"]).stdout.split() if name in ("preinst", "postinst", "prerm", "postrm")}
    assert "systemd-sysusers" in scripts["postinst"]
    assert not [text for text in scripts.values() if re.search(r"deb-systemd|systemctl|spate-record", text)]


@pytest.mark.thorough
def test_the_packages_of_the_library(packages, usr, tmp_path):
    version = field(packages["spate"], "Version")
    assert field(packages["libspate-ring-dev"], "Depends") == f"libspate-ring0 (= {version})"
    shlibs = run("dpkg-deb", "--info", packages["libspate-ring0"], "shlibs").stdout.split(maxsplit=2)
    assert shlibs[:2] == ["libspate-ring", "0"] and shlibs[2].startswith("libspate-ring0 ")

    listed = run("dpkg-deb", "--info", packages["libspate-ring0"], "symbols").stdout
    header = (ROOT / "linux/ring/include/spate/ring.h").read_text()
    assert set(re.findall(r"^ (\w+)@", listed, re.M)) == set(re.findall(r"\b(spate_ring_\w+)\(", header))

    folder, = (usr / "lib").glob("*-linux-*")
    flags = run("pkg-config", "--cflags", "--libs", "spate-ring",
                env=os.environ | {"PKG_CONFIG_PATH": str(folder / "pkgconfig")}).stdout.split()
    assert not [flag for flag in flags if "rpath" in flag]
    (tmp_path / "camera.c").write_text(LIBRARY_USER)
    strict = ("gcc", "-Wall", "-Wextra", "-Wpedantic", "-Werror", tmp_path / "camera.c")
    run(*strict, *flags, "-o", tmp_path / "shared")
    run(tmp_path / "shared", env=os.environ | {"LD_LIBRARY_PATH": str(folder)})
    run(*strict, f"-I{usr}/include", folder / "libspate-ring.a", "-o", tmp_path / "static")
    run(tmp_path / "static")


@pytest.mark.thorough
def test_the_package_of_the_core_library(usr, tmp_path):
    folder, = (usr / "lib").glob("*-linux-*")
    flags = run("pkg-config", "--cflags", "--libs", "spate",
                env=os.environ | {"PKG_CONFIG_PATH": str(folder / "pkgconfig")}).stdout.split()
    run("gcc", "-std=c17", ROOT / "examples/library/memory_volume.c", *flags, "-o", tmp_path / "memory_volume")
    assert "volume MEMORY" in run(tmp_path / "memory_volume").stdout
