# SPDX-License-Identifier: Apache-2.0
"""The steps of make test and make test-all: their list, what is run when there is not time for all, and how tests are divided."""

import os
import re
import subprocess
import time

import make_commands
import pytest
import shares
import suite

from conftest import ROOT, run

STEPS = suite.steps()
REST = [step for step in STEPS if step.suite == "test-all"]


def step(make, sources=("src",), cpu_s=10.0):
    return suite.Step(make, "test-all", cpu_s, sources)


# ---- the list ----


def test_each_step_is_a_command_of_the_makefile():
    targets = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.M))
    assert {step.make.split()[0] for step in STEPS} <= targets
    assert {step.suite for step in STEPS} == {"test", "test-all"}
    assert all(step.cpu_s > 0 and step.sources for step in STEPS)
    missing = {source for step in STEPS for source in step.sources if not (ROOT / source).exists()}
    assert not missing, "tests/steps.toml names sources that do not exist"


def test_the_parts_of_a_step_are_all_there():
    parts = {}
    for words in (step.make.split() for step in STEPS):
        for word in (word for word in words if word.startswith("PART=")):
            number, count = map(int, word.removeprefix("PART=").split("/"))
            parts.setdefault((words[0], count), set()).add(number)
    assert parts and all(numbers == set(range(1, count + 1)) for (_, count), numbers in parts.items())


# ---- every command ----


def test_every_command_is_run():
    steps = {step.make.split()[0] for step in STEPS}
    run_here = make_commands.RUNS.keys() | make_commands.ELSEWHERE.keys() | make_commands.OF_OTHERS
    missing = make_commands.commands().keys() - steps - run_here
    assert not missing, "add a step to tests/steps.toml, or a row to tests/support/make_commands.py"
    assert run_here <= make_commands.commands().keys(), "no such command"
    for command, path in make_commands.ELSEWHERE.items():
        assert re.search(rf'"make", (?:[^)\n]*, )?"{command}"', (ROOT / path).read_text()), f"{path} does not run make {command}"


def test_what_runs_others_runs_commands_that_are_run():
    steps = {step.make.split()[0] for step in STEPS}
    for name in ("bench", "lint"):
        others = [word for word in make_commands.commands()[name] if not word.startswith(("groups-", "build-"))]
        assert others and set(others) <= make_commands.RUNS.keys() | steps, name


# ---- what is run when there is not time for all ----


@pytest.mark.parametrize("between", [1, 2, 3, 5, 8, 13, 40])
@pytest.mark.parametrize("steps", [REST, [step(str(number)) for number in range(6)], [step("only")]], ids=len)
def test_every_step_comes_first_in_turn(steps, between):
    """However little time there is, whatever has changed, and however many commits lie between two runs."""
    period = suite.next_prime(len(steps))
    between += between % period == 0
    for changed in (set(), {"src/a.c"}, {"rtl/x.sv", "tests/b.c"}):
        first = {suite.in_order(steps, changed, 100 + run * between)[0].make for run in range(period)}
        assert first == {step.make for step in steps}


def test_the_first_step_fits_after_the_longest_make_test():
    """A step that never fits would never be run. make test may take 15 minutes; its budgets say how many seconds a CPU second takes."""
    test_s = 15 * 60
    pace = test_s / sum(step.cpu_s for step in STEPS if step.suite == "test")
    setup_s = 5 * 60
    assert not [step.make for step in REST if not suite.fits(step, pace, 0, test_s + setup_s)]


def test_then_come_steps_whose_sources_changed():
    steps = [step("a"), step("b", ("rtl", "tools/run")), step("c", ("docs",)), step("d", ("rtl",))]
    for count in range(20):
        turn = suite.rotated(steps, count)[0]
        order = suite.in_order(steps, {"rtl/x.sv"}, count)
        assert order[0] == turn and {"b", "d"} <= {one.make for one in order[:3]}
        assert sorted(one.make for one in order) == ["a", "b", "c", "d"]
        assert "b" in {one.make for one in suite.in_order(steps, {"tools/run"}, count)[:2]}
    assert suite.in_order(steps, {"docsx/a", "srcs"}, 0) == suite.in_order(steps, set(), 0)


def test_a_change_of_any_folder_selects_a_step():
    files = run("git", "-C", ROOT, "ls-files").stdout.splitlines()
    folders = {name.split("/")[0] for name in files if "/" in name and not name.startswith(".")}
    named = {source.split("/")[0] for step in STEPS for source in step.sources}
    assert len(folders) >= 15 and folders - named == set()


def test_what_changed_is_what_the_last_hours_committed(tmp_path):
    def commit(name, hours_ago):
        (tmp_path / name).write_text("")
        date = f"{int(time.time() - hours_ago * 3600)} +0000"
        words = ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--message", name]
        run("git", "-C", tmp_path, "add", name)
        run("git", "-C", tmp_path, *words, env=os.environ | {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date})

    run("git", "init", "--quiet", tmp_path)
    for name, hours_ago in (("old", 100), ("before", 60), ("in time", 51), ("last", 40)):
        commit(name, hours_ago)
    assert suite.changed_files(tmp_path) == {"in time", "last"}
    assert suite.commit_count(tmp_path) == 4


def test_no_step_begins_that_would_end_too_late():
    begin = 1000.0
    assert suite.fits(step("a", cpu_s=1800), 0.5, begin, begin + 2700)
    assert not suite.fits(step("a", cpu_s=1801), 0.5, begin, begin + 2700)


# ---- a run ----


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder with steps that pass, fail and cost something."""
    (tmp_path / "Makefile").write_text("fine:\n\t@echo fine\nbroken:\n\t@exit 7\nlater:\n\t@echo never\n"
                                       "busy:\n\t@i=0; while [ $$i -lt 200000 ]; do i=$$((i + 1)); done\n")
    monkeypatch.setattr(suite.program, "ROOT", tmp_path)
    monkeypatch.setattr(suite, "TIMES", tmp_path / "times.json")
    monkeypatch.setattr(suite, "LINES", tmp_path / "lines")
    return tmp_path


def test_the_last_lines_of_a_failed_suite_say_how_to_run_its_step_alone(project, capfd):
    rows, left = suite.run_all("test", [step("fine"), step("broken"), step("later")], [])
    assert suite.end("test", rows, left) == 1
    out = capfd.readouterr().out
    assert "never" not in out
    assert re.search(r"== test 1/3, after 0:0\d min: fine\nfine\n== test 2/3, after 0:0\d min: broken\n", out)
    assert re.search(r"not run, because a step failed or they might end too late:\n    make later\n"
                     r"make test: broken failed \(exit 2\); its lines above say why. To run it alone: make broken\n"
                     r"steps: 1 passed, 1 failed, 1 skipped in 0:0\d minutes; make test-times prints what each took\n$", out)


def test_a_step_beyond_its_budget_is_named(project, capfd):
    rows, left = suite.run_all("test", [step("fine"), step("busy", cpu_s=0.01), step("later")], [], lambda one: one.make != "later")
    assert suite.end("test-rest", rows, left) == 0
    out = capfd.readouterr().out
    assert [one.make for one in left] == ["later"] and "never" not in out
    assert re.search(r"beyond its budget: busy took \d+ CPU seconds, the budget is 0 \(tests/steps.toml\)\nnot run, because", out)
    assert re.search(r"minutes; other commits begin with them:\n    make later\nsteps: 2 passed, 0 failed, 1 skipped ", out)
    assert suite.json.loads(suite.TIMES.read_text())["command"] == "make test"
    suite.print_times()
    assert re.search(r"busy +[\d.]+ +[\d.]+ +0  beyond its budget\n", capfd.readouterr().out)


def test_the_times_name_the_slowest_tests(project):
    (project / "lines").write_text("".join(f"{number}.5 {number} tests/a.py::test_{number}\n" for number in range(40)))
    suite.write_times("test", [])
    tests = suite.json.loads(suite.TIMES.read_text())["tests"]
    assert len(tests) == suite.SLOWEST and tests[0] == {"name": "tests/a.py::test_39", "seconds": 39.0, "cpu_s": 39.5}


@pytest.mark.parametrize(("words", "called"), [(["--rest", "12.5"], ("rest", 12.5)), (["--times"], ("times",))])
def test_the_command_line(words, called, monkeypatch):
    calls = []
    monkeypatch.setattr(suite, "rest", lambda begin: calls.append(("rest", begin)) or 0)
    monkeypatch.setattr(suite, "print_times", lambda: calls.append(("times",)))
    monkeypatch.setattr("sys.argv", ["suite.py", *words])
    assert suite.main() == 0
    assert calls == [called]


@pytest.mark.parametrize("words", [[], ["tests"], ["test", "all"]])
def test_a_wrong_command_line_is_refused(words, monkeypatch):
    monkeypatch.setattr("sys.argv", ["suite.py", *words])
    with pytest.raises(SystemExit) as ended:
        suite.main()
    assert ended.value.code == 2


# ---- parts ----


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_parts_are_disjoint_complete_and_take_equally_long(count, monkeypatch):
    times = {f"n{number}": float(number) for number in range(1, 30)}
    monkeypatch.setattr(shares, "known", lambda: times)
    names = [*times, "new", "newer"]
    parts = [shares.part(names, f"{number}/{count}") for number in range(1, count + 1)]
    assert sorted(name for part in parts for name in part) == sorted(names)
    sums = [sum(times.get(name, shares.UNKNOWN_S) for name in part) for part in parts]
    assert max(sums) - min(sums) <= 3
    assert all(part == shares.longest_first(part) for part in parts)


@pytest.mark.parametrize("which", ["0/2", "3/2"])
def test_a_part_that_does_not_exist_is_refused(which):
    with pytest.raises(SystemExit, match="1/2 is the first"):
        shares.part(["a"], which)


def test_the_list_of_times_names_what_exists():
    tasks = set(re.findall(r"^\[(\S+)\]$", "\n".join(path.read_text() for path in (ROOT / "tests/rtl/formal").glob("*.toml")), re.M))
    assert {"/" in name for name in shares.known()} == {True, False}
    for name in shares.known():
        assert (ROOT / name).exists() if "/" in name else any(name.endswith(f"-{task}") for task in tasks), name


def test_ci_calls_make_test_and_then_the_others():
    script = (ROOT / ".ci/run").read_text()
    assert re.search(r"^clean make test && clean make test-rest BEGIN=", script, re.M)
    done = subprocess.run(["bash", "-n", ROOT / ".ci/run"], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
