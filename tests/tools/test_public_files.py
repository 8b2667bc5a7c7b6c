# SPDX-License-Identifier: Apache-2.0
"""The workflows and the container image, which run on other machines, use commands and files that exist."""

import re
import shutil

import pytest

from conftest import ROOT, run

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
DOCKERFILE = (ROOT / "Dockerfile").read_text()
MAKEFILE = (ROOT / "Makefile").read_text()
FORMS = sorted((ROOT / ".github").rglob("*.md")) + sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"))


def commands(text: str) -> set[str]:
    """The targets after "make" in a text, a script or CMD, and those of a workflow's matrix."""
    text = re.sub(r"apt-get install .*", "", text.replace('["make", "', "make "))
    named = re.findall(r"(?:^|[\s`:])make ((?:[a-z][a-z-]* ?)+)(?=[`\"\n]|$)", text, re.M) 
    named += [words.replace(",", "") for words in re.findall(r"command: \[(.*)\]", text)]
    return {word for words in named for word in words.split()}


def targets() -> set[str]:
    return set(re.findall(r"^([a-z][a-z-]*):", MAKEFILE, re.M))


@pytest.mark.parametrize("path", [*WORKFLOWS, ROOT / "Dockerfile"], ids=lambda path: path.name)
def test_each_command_is_one_of_the_makefile(path):
    named = commands(path.read_text())
    assert named and named <= targets(), f"not in the Makefile: {named - targets()}"


def test_the_lanes_run_what_they_should():
    lane, nightly = (commands((ROOT / f".github/workflows/{name}.yml").read_text()) for name in ("pull-request", "nightly"))
    assert {"test", "lint-c"} <= lane and "test-all" in nightly


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_is_bounded_and_pinned(path):
    text = path.read_text()
    jobs = len(re.findall(r"^    runs-on:", text, re.M))
    assert jobs > 0 and len(re.findall(r"^    timeout-minutes:", text, re.M)) == jobs
    assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v[\d.]+", used) for used in re.findall(r"uses: (.*)", text))
    assert "permissions:\n  contents: read" in text


def test_both_releases_are_tested():
    assert "ARG SUITE=trixie\nFROM debian:${SUITE}\n" in DOCKERFILE
    for path in WORKFLOWS:
        text = path.read_text()
        assert "suite: [bookworm, trixie]" in text and text.count("image: debian:") == text.count("image: debian:${{ matrix.suite }}") == 1


def test_the_image_has_the_files_that_setup_needs(tmp_path):
    """The layer with the packages has only these files."""
    copied = re.findall(r"^COPY (\S+) (\S+)$", DOCKERFILE.partition("RUN setup/install")[0], re.M)
    assert copied
    for source, target in copied:
        (tmp_path / target).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / source).is_dir():
            shutil.copytree(ROOT / source, tmp_path / target)
        else:
            shutil.copy2(ROOT / source, tmp_path / target)
    run(tmp_path / "setup/install", "command")
    assert (tmp_path / "build/programs/make").exists()


def test_the_image_leaves_out_what_was_built_here():
    ignored = (ROOT / ".dockerignore").read_text().split("\n")
    assert {"build", ".git"} <= set(ignored)
