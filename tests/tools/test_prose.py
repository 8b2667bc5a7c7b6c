# SPDX-License-Identifier: Apache-2.0
"""make lint-words finds wrong words in text, comments and strings, and nothing in code."""

import os
import pathlib
import sys

import program
import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools/prose"))

import lint  # noqa: E402 - the path comes first
import prose  # noqa: E402


def words(text: str, name: str = "page.md") -> list[str]:
    path = pathlib.Path(name)
    return lint.banned(path, prose.of(path, text), lint.rules("zonk | say that it does not answer\nheld against | compare"))


def run(root, *paths, status):
    words = [sys.executable, ROOT / "tools/prose/lint.py", "--root", root, *paths]
    return program.run(*words, statuses=(status,), timeout_s=60, env=os.environ | {"PYTHONPATH": str(ROOT / "tools")}).stdout


# ---- prose and code ----


@pytest.mark.parametrize(("name", "text"), [
    ("page.md", "A zonk drive."), ("a.c", "/* A zonk drive. */"), ("a.sv", "x <= 1; // zonk"), ("a.c", 'say("zonk");'),
    ("a.py", "x = 1  # zonk"), ("a.py", '"""Zonk."""'), ("a.sh", "x=1 # zonk"), ("CMakeLists.txt", "# zonk"),
    ("workflow.yml", "# zonk"), ("a.svg", '<svg><text x="1">zonk</text></svg>')])
def test_people_read_this(name, text):
    assert len(words(text, name)) == 1


@pytest.mark.parametrize(("name", "text"), [
    ("page.md", "`zonk`"), ("page.md", "```sh\nzonk\n```\n"), ("page.md", "[a page](zonk.md)"), ("a.c", "int zonk;"),
    ("a.py", "zonk = 1"), ("a.sh", "x=$zonk"), ("a.svg", '<svg class="zonk"/>'), ("a.md", "zonking"), ("a.bin", "zonk")])
def test_people_do_not_read_this(name, text):
    assert words(text, name) == []


def test_a_finding_says_where_and_what_to_write():
    assert words("one\n  two zonk\n") == ['page.md:2:7: words: "zonk": say that it does not answer']


@pytest.mark.parametrize(("name", "text"), [("page.md", "held\nagainst"), ("a.c", "/* it is held\n * against it */"),
                                            ("a.sh", "# held\n# against")])
def test_a_line_end_may_separate_words(name, text):
    assert len(words(text, name)) == 1


@pytest.mark.parametrize(("name", "text", "count"), [
    ("a.md", "it is is", 1), ("a.c", "/* it\n * it */", 1), ("a.c", "x; // is\ny; // is", 0), ("a.py", "'mount mount'", 0),
    ("a.md", "all that that says", 0), ("a.md", "0 0", 0), ("a.c", "/* write   write */", 0)])
def test_a_word_stands_twice(name, text, count):
    path = pathlib.Path(name)
    assert len(lint.twice(path, prose.of(path, text, strings=False), text)) == count


def test_a_rule_without_advice_is_refused():
    with pytest.raises(ValueError, match="line 1 is no rule"):
        lint.rules("zonk\n")


# ---- the command ----


@pytest.mark.parametrize(("text", "who"), [("A drive that is deaf.", "words"), ("It recieves data.", "codespell"),
                                           ("It is is wrong.", "words"),
                                           ("A preventative check.", "needless_variants")])
def test_each_checker_bites(tmp_path, text, who):
    (tmp_path / "good.md").write_text("A drive receives data.\n")
    (tmp_path / "bad.md").write_text(f"Fine.\n\n{text}\n")
    said = run(tmp_path, ".", status=1).splitlines()
    assert len(said) == 1 and said[0].startswith("bad.md:3") and f": {who}" in said[0], said


def test_good_text_passes(tmp_path):
    (tmp_path / "good.md").write_text("A drive receives data.\n")
    assert run(tmp_path, "good.md", status=0) == "prose  1 files, no finding\n"


def test_a_missing_folder_is_reported(tmp_path):
    with pytest.raises(program.Failed, match="gone does not exist; PROSE_IN"):
        run(tmp_path, "gone", status=0)


# Not text for people, or nearly none.
UNREAD = {"LICENSE", "CMakePresets.json", "spate.core", "spate.pc.in", "build"}


def test_every_folder_is_read():
    """A new kind of file in the top folder is added to PROSE_IN, or here."""
    listed = program.run("make", "-s", "-C", ROOT, "--eval", "listed:; @echo $(PROSE_IN)", "listed").stdout.split()
    assert "build" not in listed
    names = {name.split("/")[0] for name in program.run("git", "-C", ROOT, "ls-files").stdout.splitlines()}
    entries = {name for name in names if name == ".github" or not name.startswith(".")}
    assert entries - UNREAD - set(listed) == set()
