# SPDX-License-Identifier: Apache-2.0
"""The Debian package: lintian finds nothing, it holds what it should, and what it holds runs."""

import gzip
import re

import pytest

from conftest import ROOT, run
from test_spate_image import spate
from test_spate_shell import PAGE

COMPLETION = "share/bash-completion/completions/spate"
HOLDS = {"bin/spate", COMPLETION, "share/man/man1/spate.1.gz", "share/doc/spate/LINUX.md.gz",
         "share/doc/spate/changelog.gz", "share/doc/spate/changelog.Debian.gz", "share/doc/spate/copyright",
         "share/lintian/overrides/spate"}


def sources():
    """Every file of the sources, and when it was changed."""
    outside = ("build", ".git")
    return {path: path.stat().st_mtime_ns for entry in ROOT.iterdir() if entry.name not in outside
            for path in [entry, *entry.rglob("*")] if "__pycache__" not in path.parts}


def programs(folder):
    """A PATH of what `make deb` installs, and nothing else."""
    text = (ROOT / "setup" / "debian-12.txt").read_text()
    (folder / "list.txt").write_text(text[:text.index("[all]\n")])
    run(ROOT / "setup" / "programs", folder / "programs", "--list", folder / "list.txt")
    return str(folder / "programs")


@pytest.mark.slow
def test_the_package(tmp_path):
    before = sources()
    environment = {"PATH": programs(tmp_path), "HOME": str(tmp_path)}
    run(ROOT / "packaging" / "deb", tmp_path / "deb", env=environment)  # fails if lintian finds anything
    assert sources() == before
    package, = (tmp_path / "deb").glob("spate_*.deb")
    listed = [line.split(maxsplit=5) for line in run("dpkg-deb", "--contents", package).stdout.splitlines()]
    assert {words[5] for words in listed if not words[0].startswith("d")} == {f"./usr/{path}" for path in HOLDS}
    assert {words[1] for words in listed} == {"root/root"}

    usr = tmp_path / "root" / "usr"
    run("dpkg", "--extract", package, tmp_path / "root")
    version = run("dpkg-deb", "--field", package, "Version").stdout.strip()
    assert run(usr / "bin/spate", "--version").stdout == f"spate {version.rsplit('-', 1)[0]}\n"
    image = tmp_path / "rec.img"
    run(usr / "bin/spate", "format", image, "--size", "64MiB", "--yes")
    run(usr / "bin/spate", "record", image, "run.raw", "--from", "synthetic", "--size", "5MB")
    assert "run.raw" in spate("ls", image).stdout

    assert (usr / COMPLETION).read_bytes() == (ROOT / "hosted/completion/spate.bash").read_bytes()
    page = gzip.decompress((usr / "share/man/man1/spate.1.gz").read_bytes()).decode()
    built = PAGE.read_text()
    date = re.compile(r'^\.TH .*\n', re.MULTILINE)
    assert date.sub("", page) == date.sub("", built)
