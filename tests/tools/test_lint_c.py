# SPDX-License-Identifier: Apache-2.0
"""When tools/lint_c.py reads a file again: on a made-up tree with one preset, and a program in the place of clang-tidy."""

import dataclasses
import json

import lint_c
import program
import pytest

from conftest import ROOT, run

# Counts its calls in the file "calls", and reports each line with "wrong".
CLANG_TIDY = """#!/bin/sh
for last; do :; done
echo "$last" >>calls
! grep -n wrong "$last"
"""
NINJA = """rule compile
  command = gcc -MD -MF $out.d -o $out -c $in
  depfile = $out.d
  deps = gcc
build a.o: compile ../../src/a.c
"""


@pytest.fixture
def tree(tmp_path, monkeypatch):
    build = tmp_path / "build" / "made-up"
    for folder in (tmp_path / "src", build, tmp_path / "cache"):
        folder.mkdir(parents=True)
    (tmp_path / ".clang-tidy").write_text("Checks: '*'\n")
    (tmp_path / "src" / "a.c").write_text('#include "a.h"\n')
    (tmp_path / "src" / "a.h").write_text("extern int a;\n")
    (tmp_path / "clang-tidy").write_text(CLANG_TIDY)
    (tmp_path / "clang-tidy").chmod(0o755)
    (build / "build.ninja").write_text(NINJA)
    entry = {"directory": str(build), "file": str(tmp_path / "src" / "a.c"), "command": "gcc -o a.o -c ../../src/a.c"}
    (build / "compile_commands.json").write_text(json.dumps([entry]))
    monkeypatch.setattr(program, "ROOT", tmp_path)
    monkeypatch.setattr(program, "BUILD", tmp_path / "build")
    monkeypatch.setattr(lint_c, "CLANG_TIDY", tmp_path / "clang-tidy")
    monkeypatch.setattr(lint_c, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(lint_c, "FILES", {"made-up": "src/.*"})
    monkeypatch.setattr(lint_c, "ABSENT", {})
    monkeypatch.setattr(lint_c, "version", lambda: "1.0")
    run("ninja", "-C", build)
    return tmp_path


def only_job():
    [job] = lint_c.jobs("made-up")
    lint_c.digest.cache_clear()  # as in another run of the command
    return job


def calls(tree):
    path = tree / "calls"
    return len(path.read_text().splitlines()) if path.exists() else 0


def test_a_job_has_the_headers_that_the_compiler_read(tree):
    assert any(name.endswith("src/a.h") for name in only_job().headers)


def test_a_file_without_a_finding_is_read_once(tree):
    assert lint_c.check(only_job()) == "" and calls(tree) == 1
    assert lint_c.check(only_job()) == "" and calls(tree) == 1


@pytest.mark.parametrize("name", ["src/a.c", "src/a.h", ".clang-tidy"])
def test_a_changed_file_is_read_again(tree, name):
    assert lint_c.check(only_job()) == ""
    (tree / name).write_text((tree / name).read_text() + "\n")
    assert lint_c.check(only_job()) == "" and calls(tree) == 2


def test_settings_of_its_folder_are_read(tree):
    before = lint_c.key(only_job())
    (tree / "src" / ".clang-tidy").write_text("InheritParentConfig: true\n")
    assert lint_c.key(only_job()) != before


def test_another_command_or_version_is_another_key(tree, monkeypatch):
    job = only_job()
    keys = {lint_c.key(job), lint_c.key(dataclasses.replace(job, command=job.command + " -DX"))}
    monkeypatch.setattr(lint_c, "EXTRA", {"made-up": ["-extra-arg=-DY"]})
    keys.add(lint_c.key(job))
    monkeypatch.setattr(lint_c, "version", lambda: "2.0")
    keys.add(lint_c.key(job))
    assert len(keys) == 4


def test_a_finding_is_reported_in_each_run(tree):
    (tree / "src" / "a.c").write_text("int wrong;\n")
    assert "1:int wrong;" in lint_c.check(only_job())
    assert "1:int wrong;" in lint_c.check(only_job()) and calls(tree) == 2


def test_a_file_whose_headers_are_not_known_is_always_read(tree):
    job = dataclasses.replace(only_job(), headers=())
    assert lint_c.check(job) == lint_c.check(job) == "" and calls(tree) == 2


def test_a_finding_fails_the_command(tree, capsys):
    lint_c.main()
    (tree / "src" / "a.c").write_text("int wrong;\n")
    lint_c.digest.cache_clear()
    with pytest.raises(SystemExit) as ended:
        lint_c.main()
    assert ended.value.code == 1 and "1:int wrong;" in capsys.readouterr().out


def test_a_failure_without_a_message_is_reported(tree):
    (tree / "clang-tidy").write_text("#!/bin/sh\nexit 1\n")
    assert "src/a.c" in lint_c.check(only_job())


def test_clang_tidy_that_does_not_work_is_an_error(tree):
    (tree / "clang-tidy").write_text("#!/bin/sh\nexit 127\n")
    with pytest.raises(program.Failed):
        lint_c.check(only_job())


def test_the_absent_files_are_there():
    assert all((ROOT / name).is_file() for names in lint_c.ABSENT.values() for name in names)


def test_a_preset_without_files_is_an_error(tree, monkeypatch):
    monkeypatch.setattr(lint_c, "FILES", {"made-up": "elsewhere/.*"})
    with pytest.raises(SystemExit, match="no file of elsewhere"):
        lint_c.main()
