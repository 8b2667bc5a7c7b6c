# SPDX-License-Identifier: Apache-2.0
"""make mutants: its verdicts are right, and the tests notice a handful of mutants that they must notice."""

import dataclasses
import importlib.util
import io
import json
import os
import pathlib
import shutil
import sys
import time

import program
import pytest

sys.path.insert(0, str(program.ROOT / "bench"))

from mutants import draw, judge, library, meaning, recorded, semantic, show, tree, written  # noqa: E402

pytestmark = pytest.mark.thorough

# (file, line, mutated line, the program that must notice). A line that no longer exists is skipped, but most must exist.
NOTICED = [
    ("src/exfat/name.c", "return *code < smallest[more] || *code > 0x10ffff || surrogate ? 0 : more + 1u;",
     "return *code < smallest[more] || *code > 0x10ffff && surrogate ? 0 : more + 1u;", "test_exfat_names"),
    ("src/core/crc32c.c", "for (; at < end && ((uintptr_t)at & (WORD - 1u)) != 0; at++)",
     "for (; at < end && ((uintptr_t)at & (WORD + 1u)) != 0; at++)", "test_crc32c"),
    ("src/pcie/capability.c", "offset = (capability >> 8) & 0xfc;", "offset = (capability >> 0) & 0xfc;", "test_pcie"),
    ("src/nvme/prp.c", "if (more > 1) prps->second = region->list_dma + page * 8u;",
     "if (more > 1) prps->second = region->list_dma + page * (8u + 1);", "test_incoherent"),
    ("src/nvme/queue.c", "if (tail == queue->sq_rung) return;", "if (0 && (tail == queue->sq_rung)) return;", "test_nvme_events"),
    ("src/nvme/queue.c", "queue->free = slot->next_free;", ";", "replay_nvme"),
    ("src/stripe/superblock.c", "for (; offset + 4u <= bytes; offset += 4u)", "for (; offset + (4u + 1) <= bytes; offset += 4u)",
     "test_stripe_superblock"),
    ("src/recorder/heat.c", "if (watch->point_count < 2) return SPATE_NEVER_MS;",
     "if (1 || (watch->point_count < 2)) return SPATE_NEVER_MS;", "test_heat"),
]


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    """A bench without the results of earlier runs."""
    return library.Bench(2, tmp_path_factory.mktemp("kept"))


# ---- which mutants ----

SOURCE = """\
/* if (a < b) in a comment */
#include <spate/error.h>

static int first(int a, int b) {
  if (a < b) return a; /* a < b, too */
  return b + 1;
}

int second(int a) {
  say("a < b", a + 1);
  return a;
}
"""


@pytest.fixture
def sources(tmp_path):
    """A tree with two files, and a call that draws all mutants of it by seed."""
    folder = tmp_path / "src/part"
    folder.mkdir(parents=True)
    (folder / "one.c").write_text(SOURCE)
    (folder / "two.c").write_text(SOURCE)

    def all_of(seed=1):
        return sorted((m for file in ("src/part/one.c", "src/part/two.c") for m in draw.mutants_of(tmp_path, file, seed)),
                      key=lambda m: m.key)

    return tmp_path, all_of


def test_comments_strings_and_includes_have_no_mutants(sources):
    _, all_of = sources
    found = all_of()
    assert {m.line for m in found} == {5, 6, 10, 11}
    assert any(m.mutated == "if (a <= b) return a;" for m in found)
    assert not any("a <= b\"" in m.mutated or "a >= b\"" in m.mutated for m in found)


def test_an_edit_draws_other_mutants_of_its_line_only(sources):
    root, all_of = sources
    before = all_of()
    two = root / "src/part/two.c"
    two.write_text("int new;\n\n" + SOURCE.replace("return b + 1;", "return b + 2;"))
    after = all_of()

    def named(mutants):
        return [(m.file, m.original, m.mutated) for m in mutants if "b + " not in m.original]

    assert named(before) == named(after)
    assert [m for m in before if m.file.endswith("one.c")] == [m for m in after if m.file.endswith("one.c")]


def test_another_seed_draws_another_sample(sources):
    _, all_of = sources
    assert [m.identity for m in all_of(1)] != [m.identity for m in all_of(2)]
    assert {m.identity for m in all_of(1)} == {m.identity for m in all_of(2)}


def test_the_sample_is_spread_over_the_modules(bench):
    shares = draw.shares(program.ROOT, bench.sources.files, 400)
    assert set(shares) == {draw.module_of(file) for file in bench.sources.files}
    assert min(shares.values()) >= 1 and 400 <= sum(shares.values()) <= 400 + len(shares)
    assert shares["src/exfat"] > shares["src/partition"]


# ---- mutants that compile to the same code, or do not compile ----

CRC = "src/core/crc32.c"


def test_equal_code_is_equivalent_and_nonsense_is_invalid(bench):
    text = bench.sources.original(CRC)
    assert bench.code(CRC, text) == bench.code(CRC, text + "\n/* a comment */\n")
    assert bench.code(CRC, text) != bench.code(CRC, text + "\nint spate_more(void) { return 1; }\n")
    assert bench.code(CRC, text + "\nnonsense;\n") == ""


KILLED_INSIDE = "gcc: fatal error: Killed signal terminated program cc1"
DISK_FULL = "<stdin>:1:1: fatal error: error writing to /tmp/a.s: No space left on device"
BUG = "<stdin>:5:3: internal compiler error: in some_pass, at some.cc:1"
WRONG = "<stdin>:5:3: error: expected expression"


@pytest.fixture
def compiler(bench, tmp_path, monkeypatch):
    """Replaces the compiler by a shell script."""

    def be(script):
        path = tmp_path / "compiler"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        monkeypatch.setitem(bench.sources.commands, CRC, [str(path)])

    return be


@pytest.mark.parametrize("script", ["kill -KILL $$", "kill -TERM $$", "exit 1", f"echo '{WRONG}' >&2; exit 4", "echo gone; exit 127",
                                    *(f"echo '{said}' >&2; exit 1" for said in (KILLED_INSIDE, DISK_FULL, BUG))])
def test_a_compiler_that_could_not_finish_gives_no_verdict(bench, compiler, monkeypatch, script):
    text = bench.sources.original(CRC) + f"\n/* {script} */\n"
    compiler(script)
    with pytest.raises(program.Failed):
        bench.code(CRC, text)
    monkeypatch.undo()  # the real compiler
    assert bench.code(CRC, text) != ""  # no result was stored


def test_a_compiler_that_ends_with_the_command_gives_no_verdict(bench, compiler, monkeypatch):
    compiler(f"echo '{WRONG}' >&2; exit 1")
    monkeypatch.setattr(program, "is_ending", lambda: True)
    with pytest.raises(program.Stopped):
        bench.code(CRC, "/* ended */")


def test_a_compiler_that_refuses_the_text_says_so_in_english(bench, compiler):
    compiler(f"test \"$LC_ALL\" = C || exit 3; echo '{WRONG}' >&2; exit 1")
    assert bench.code(CRC, "/* refused */") == ""


# ---- verdicts ----


def found(bench, file, original, mutated):
    return next((m for m in draw.mutants_of(program.ROOT, file, 1) if m.identity == (file, original, mutated)), None)


def only_by(bench, name, monkeypatch):
    """Makes the bench use one program only, which then needs no coverage."""
    bench.seconds[name] = 5.0
    monkeypatch.setattr(bench, "order", lambda mutant: [bench.programs[name]])


def test_the_library_as_it_is_survives(bench):
    """The original library is compiled and linked in the same way as a mutant."""
    objects = bench.original_objects()
    for name in ("test_core", "test_nvme", "test_exfat_clips"):
        ending = bench.run(objects, bench.programs[name], 5.0)
        assert ending.passed, ending.said


@pytest.mark.parametrize(("file", "original", "mutated", "name"), NOTICED)
def test_it_is_noticed(bench, monkeypatch, file, original, mutated, name):
    mutant = found(bench, file, original, mutated)
    if mutant is None:
        pytest.skip("the line has changed")
    only_by(bench, name, monkeypatch)
    result = bench.judge(mutant)
    assert (result.status, result.killer) == (library.KILLED, name), f"{result}: no test notices this any more"


def test_most_of_them_are_still_there(bench):
    there = [entry for entry in NOTICED if found(bench, *entry[:3]) is not None]
    assert 2 * len(there) > len(NOTICED), "most lines of NOTICED have changed: choose others, from build/mutants/library.json"


def ending_of(script, tmp_path, **limits):
    path = tmp_path / "program"
    path.write_text(f"#!{sys.executable}\n{script}\n")
    path.chmod(0o755)
    return judge.run(path, [], dict(os.environ), tmp_path, 0.1)


def test_a_program_that_computes_for_ever_is_timed_out(tmp_path, monkeypatch):
    monkeypatch.setattr(judge, "CPU_S_MIN", 1)
    ending = ending_of("while True: pass", tmp_path)
    assert not ending.passed and ending.timed_out and ending.seconds >= 0.9  # the kernel's limit is in whole ticks


def test_a_program_that_waits_for_ever_is_timed_out(tmp_path, monkeypatch):
    monkeypatch.setattr(judge, "STALLED_S", 1)
    ending = ending_of("import time; time.sleep(600)", tmp_path)
    assert not ending.passed and ending.timed_out


def test_waiting_does_not_count_as_computing(tmp_path, monkeypatch):
    """On a loaded machine a program takes more wall-clock time, but no more processor time."""
    monkeypatch.setattr(judge, "CPU_S_MIN", 1)
    ending = ending_of("import time; time.sleep(4)", tmp_path)
    assert ending.passed and not ending.timed_out


def test_a_program_that_takes_all_memory_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(judge, "RESIDENT_BYTES", 300 << 20)
    ending = ending_of("kept = []\nwhile len(kept) < 4096: kept.append(b'x' * (1 << 20))", tmp_path)
    assert not ending.passed and not ending.timed_out


def test_a_program_that_is_killed_from_outside_gives_no_verdict(tmp_path):
    """The kernel does this when the machine is out of memory."""
    with pytest.raises(program.Failed, match="SIGKILL"):
        ending_of("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", tmp_path)


def test_a_program_that_fails_by_another_signal_has_failed(tmp_path):
    ending = ending_of("import os; os.abort()", tmp_path)
    assert not ending.passed and not ending.timed_out


def test_a_full_disk_ends_the_command_before_it_begins(monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: shutil._ntuple_diskusage(1 << 40, 1 << 40, 0))
    with pytest.raises(program.NoSpace):
        library.run("src/core", 1, 1, 1)


def test_a_program_that_fills_the_disk_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(judge, "FILE_BLOCKS", 2048)
    ending = ending_of("import os\nwhile True: os.write(1, b'x' * 65536)", tmp_path)
    assert not ending.passed
    assert (tmp_path / "output").stat().st_size <= 2048 * 512


def test_what_a_program_leaves_behind_ends_with_it(tmp_path):
    ending = ending_of("import subprocess\nprint(subprocess.Popen(['sleep', '600']).pid)", tmp_path)
    assert ending.passed
    left = int(ending.said)
    deadline = time.monotonic() + 10
    while pathlib.Path(f"/proc/{left}").exists() and "Z" not in pathlib.Path(f"/proc/{left}/stat").read_text().split()[2]:
        assert time.monotonic() < deadline
        time.sleep(0.01)


# ---- the list of equivalent mutants ----

ENTRY = '[[equivalent]]\nfile = "{}"\noriginal = "{}"\nmutated = "{}"\nreason = "{}"\n'


def listed(tmp_path, *entries):
    path = tmp_path / "mutants.toml"
    path.write_text("".join(ENTRY.format(*entry) for entry in entries))
    return recorded.read(path)


def test_an_entry_for_a_line_that_no_longer_exists_is_an_error(tmp_path, sources):
    root, _ = sources
    good = ("src/part/one.c", "if (a < b) return a;", "if (a <= b) return a;", "a and b are the same there.")
    recorded.check(root, listed(tmp_path, good))
    with pytest.raises(recorded.Wrong, match="The line has changed"):
        recorded.check(root, listed(tmp_path, good, ("src/part/one.c", "if (a < c) return a;", "if (a <= c) return a;", "Why.")))
    with pytest.raises(recorded.Wrong, match="The line has changed"):
        recorded.check(root, listed(tmp_path, ("src/part/gone.c", "a", "b", "Why.")))


def test_an_entry_for_two_lines_that_read_the_same_is_an_error(tmp_path):
    """A reason is that of one place."""
    entry = listed(tmp_path, ("src/part/one.c", "a = 0;", ";", "It is 0 there."))
    mutant = some_mutant()
    mutant = type(mutant)(**{**vars(mutant), "file": "src/part/one.c", "original": "a = 0;", "mutated": ";"})
    (tmp_path / "src/part").mkdir(parents=True)
    (tmp_path / "src/part/one.c").write_text("a = 0;\na = 0;\n")
    recorded.check(tmp_path, entry, lambda *_: [mutant])
    with pytest.raises(recorded.Wrong, match="several mutants"):
        recorded.check(tmp_path, entry, lambda *_: [mutant, mutant])


def test_an_entry_needs_a_reason(tmp_path):
    with pytest.raises(recorded.Wrong, match="has no reason"):
        listed(tmp_path, ("src/part/one.c", "a", "b", " "))


def test_an_entry_that_is_noticed_is_an_error(bench, monkeypatch):
    mutant = some_mutant()
    monkeypatch.setattr(bench, "judge", lambda mutant, most_s: library.Result(mutant, library.KILLED, killer="test_part"))
    with pytest.raises(recorded.Wrong, match="test_part notices"):
        bench.judge_all([mutant], {mutant.identity: "A reason that is wrong."})


def some_mutant(number=0):
    """A mutant that the operators make of the present source."""
    return draw.mutants_of(program.ROOT, CRC, 1)[number]


@pytest.fixture
def run_with(tmp_path, monkeypatch):
    """Calls library.run() with a list of equivalent mutants, a sample, and a verdict for each mutant. Returns its document."""

    def run(entries, sample, status):
        path = tmp_path / "mutants.toml"
        path.write_text("".join(ENTRY.format(*(field.replace('"', '\\"') for field in (*mutant.identity, "Why."))) for mutant in entries))
        kind = dataclasses.replace(library.MECHANICAL, name=f"test-{os.getpid()}", recorded=path)
        stub = library.Bench(1, tmp_path, kind)
        stub.sample, stub.baseline, stub.cover = (lambda *_: (sample, [])), (lambda: None), (lambda: None)
        stub.judge = lambda mutant, most_s=0: library.Result(mutant, status(mutant), killer="test_part")
        monkeypatch.setattr(library, "Bench", lambda jobs, kind: stub)
        try:
            library.run("src/core", 1, 1, 1, kind)
            return json.loads(kind.out.read_text())
        finally:
            kind.out.unlink(missing_ok=True)

    return run


def test_an_entry_outside_of_the_sample_is_judged_too(run_with):
    entry, other = some_mutant(0), some_mutant(1)
    with pytest.raises(recorded.Wrong, match="test_part notices"):
        run_with([entry], [other], lambda _: library.KILLED)


def test_an_entry_outside_of_the_sample_does_not_count(run_with):
    entry, other = some_mutant(0), some_mutant(1)
    document = run_with([entry], [other], lambda mutant: library.SURVIVED if mutant == entry else library.KILLED)
    assert document["complete"] and [found["mutated"] for found in document["mutants"]] == [other.mutated]


def test_an_entry_in_the_sample_is_judged_once(run_with):
    entry, judged = some_mutant(), []
    document = run_with([entry], [entry], lambda mutant: judged.append(mutant) or library.SURVIVED)
    assert judged == [entry] and [found["status"] for found in document["mutants"]] == [library.RECORDED_AS]


@pytest.mark.parametrize("kind", [library.MECHANICAL, semantic.KIND], ids=lambda kind: kind.name)
def test_the_kept_list_fits_the_sources(kind):
    recorded.check(program.ROOT, recorded.read(kind.recorded), kind.all_of)


# ---- semantic mutants ----

MEANING = """\
#define FIELD_MASK UINT32_C(0xf0)

static enum error arm(struct queue *queue, uint32_t depth, const struct config *config) {
  enum error error = put_record(queue);
  if (error != SPATE_OK) return error;
  error = put_entry(queue);
  if (error == SPATE_OK) error = flush(queue);
  write32(queue->doorbell, depth);
  port_write_barrier();
  write32(queue->other, depth);
  if (queue->resets != depth) return SPATE_E_RESET;
  if (queue->count > depth) return SPATE_E_FULL;
  bool may = queue->count < 3 && !queue->closed;
  queue->age = (uint16_t)depth;
  queue->waiting = false;
  queue->needs &= ~FIRST;
  uint32_t granted = depth < queue->most ? depth : queue->most;
  if (granted > queue->limit) granted = queue->limit;
  write32(queue->width, depth);
  if (read32(queue->width) == depth) use(queue->depth, config->size, queue->size);
  for (uint32_t i = 0; i < 4; i++) use(i);
  return may ? error : SPATE_OK;
}
"""

EXPECTED = {
    ("two writes swapped", "enum error error = put_record(queue); if (error != SPATE_OK) return error; error = put_entry(queue);",
     "enum error error = put_entry(queue); if (error != SPATE_OK) return error; error = put_record(queue);"),
    ("a write and a barrier swapped", "error = put_entry(queue); if (error == SPATE_OK) error = flush(queue);",
     "error = flush(queue); if (error == SPATE_OK) error = put_entry(queue);"),
    ("a write and a barrier swapped", "write32(queue->doorbell, depth); port_write_barrier();",
     "port_write_barrier(); write32(queue->doorbell, depth);"),
    ("a write and a barrier swapped", "port_write_barrier(); write32(queue->other, depth);",
     "write32(queue->other, depth); port_write_barrier();"),
    ("no second look", "if (queue->resets != depth) return SPATE_E_RESET;", ";"),
    ("no second look", "bool may = queue->count < 3 && !queue->closed;", "bool may = queue->count < 3;"),
    ("another width", "#define FIELD_MASK UINT32_C(0xf0)", "#define FIELD_MASK UINT32_C(0x70)"),
    ("another width", "#define FIELD_MASK UINT32_C(0xf0)", "#define FIELD_MASK UINT32_C(0x1f0)"),
    ("another width", "queue->age = (uint16_t)depth;", "queue->age = (uint8_t)depth;"),
    ("another width", "queue->age = (uint16_t)depth;", "queue->age = (uint32_t)depth;"),
    ("another width", "uint32_t granted = depth < queue->most ? depth : queue->most;",
     "uint16_t granted = depth < queue->most ? depth : queue->most;"),
    ("a flag stays", "queue->waiting = false;", ";"),
    ("a flag stays", "queue->needs &= ~FIRST;", ";"),
    ("asked, not granted", "uint32_t granted = depth < queue->most ? depth : queue->most;", "uint32_t granted = depth;"),
    ("asked, not granted", "uint32_t granted = depth < queue->most ? depth : queue->most;", "uint32_t granted = queue->most;"),
    ("asked, not granted", "if (granted > queue->limit) granted = queue->limit;", ";"),
    ("asked, not granted", "if (read32(queue->width) == depth) use(queue->depth, config->size, queue->size);",
     "if ((depth) == depth) use(queue->depth, config->size, queue->size);"),
    ("asked, not granted", "if (read32(queue->width) == depth) use(queue->depth, config->size, queue->size);",
     "if (read32(queue->width) == depth) use(depth, config->size, queue->size);"),
    ("asked, not granted", "if (read32(queue->width) == depth) use(queue->depth, config->size, queue->size);",
     "if (read32(queue->width) == depth) use(queue->depth, config->size, config->size);"),
}


@pytest.fixture
def meaning_of(tmp_path):
    """A tree with one file, and its mutants."""
    (tmp_path / "src/part").mkdir(parents=True)
    (tmp_path / "src/part/one.c").write_text(MEANING)
    return tmp_path, lambda: meaning.mutants_of(tmp_path, "src/part/one.c", 1)


def test_each_operator_makes_what_it_should(meaning_of):
    _, all_of = meaning_of
    assert {(mutant.operator, mutant.original, mutant.mutated) for mutant in all_of()} == EXPECTED
    assert {operator for operator, _, _ in EXPECTED} == set(meaning.OPERATORS)


def test_a_mutant_of_several_lines_leaves_the_others_in_place(meaning_of):
    root, all_of = meaning_of
    two = next(mutant for mutant in all_of() if mutant.lines == 3)
    lines = draw.mutated_text(root, two).splitlines()
    assert lines[3:6] == [two.mutated, "", ""] and lines[6:] == MEANING.splitlines()[6:]


def test_each_operator_has_its_turn(bench):
    mutants = draw.in_turn(m for file in semantic.KIND.files(bench.sources) for m in meaning.mutants_of(program.ROOT, file, 1))
    assert {mutant.operator for mutant in mutants[:len(meaning.OPERATORS)]} == set(meaning.OPERATORS)
    assert len(mutants) > 2000 and {draw.module_of(m.file) for m in mutants} == {draw.module_of(file) for file in bench.sources.files}


def test_a_header_is_compiled_with_all_that_include_it(bench, tmp_path):
    header = "src/core/crc32.h"
    units = bench.sources.units(header)
    assert CRC in units and len(units) > 1 and bench.sources.units(CRC) == [CRC]
    text = bench.sources.original(header)
    same, other = bench.code(header, text + "\n"), bench.code(header, text + "\n__attribute__((used)) static int spate_more = 1;\n")
    assert same and other and same != other
    objects = bench.sources.compile_changed(header, text, tmp_path)
    assert [str(made.relative_to(tmp_path).with_suffix(".c")) for made in objects] == units


@pytest.mark.parametrize(("endings", "status", "killer"), [("late killed", "killed", "killed"), ("late", "timed out", "late"),
                                                          ("late late late killed", "timed out", "late"), ("", "survived", "")])
def test_a_time_out_alone_does_not_kill_a_semantic_mutant(tmp_path, monkeypatch, endings, status, killer):
    judged = library.Bench(1, tmp_path, semantic.KIND)
    monkeypatch.setattr(judged.sources, "compile_changed", lambda *_: [tmp_path])
    tests = [dataclasses.replace(next(iter(judged.programs.values())), name=name, identity=str(number))
             for number, name in enumerate(endings.split())]
    judged.seconds = {test.name: 0.1 for test in tests}
    monkeypatch.setattr(judged, "order", lambda mutant: tests)
    monkeypatch.setattr(judged, "run", lambda objects, test, baseline_s: judge.Ending(False, test.name == "late", 0.1, "said"))
    result = judged.judge(some_mutant())
    assert (result.status, result.killer) == (status, killer)


ENTRY_WRITTEN = '[[written]]\nname = "kept"\nfile = "src/part/one.c"\noriginal = \'{}\'\nmutated = \'{}\'\n'


def test_what_is_written_down_fits_the_sources():
    assert len(written.read(program.ROOT, semantic.LIST)) >= 14


def test_a_written_mutant_is_applied(meaning_of):
    root, _ = meaning_of
    path = root / "list.toml"
    path.write_text(ENTRY_WRITTEN.format("queue->waiting = false;", "queue->waiting = true;"))
    (mutant,) = written.read(root, path)
    assert draw.mutated_text(root, mutant).strip() == MEANING.replace("  queue->waiting = false;", "queue->waiting = true;").strip()
    assert MEANING.splitlines()[mutant.function_line - 1].startswith("static enum error arm(")


@pytest.mark.parametrize("original", ["queue->waiting = maybe;", "write32("])
def test_a_written_mutant_that_does_not_fit_is_an_error(meaning_of, original):
    root, _ = meaning_of
    path = root / "list.toml"
    path.write_text(ENTRY_WRITTEN.format(original, "other"))
    with pytest.raises(recorded.Wrong, match="kept"):
        written.read(root, path)


# ---- the documents of the two halves ----


@pytest.fixture
def half(tmp_path, monkeypatch):
    """bench/mutants.py with a test script as one half. A document of an earlier run exists."""
    described = importlib.util.spec_from_file_location("mutants_command", program.ROOT / "bench/mutants.py")
    command = importlib.util.module_from_spec(described)
    monkeypatch.setitem(sys.modules, "mutants_command", command)
    described.loader.exec_module(command)
    monkeypatch.setattr(command, "BUILD", tmp_path)
    script = tmp_path / "part.py"
    made = command.Half("part", str(script), str(pathlib.Path(sys.executable).parents[1]), 1, 98.0)
    made.document.parent.mkdir()
    made.document.write_text(json.dumps({"complete": True, "mutants": [{"status": "killed"}]}))

    def run(document, status):
        write = f"pathlib.Path({str(made.document)!r}).write_text({json.dumps(document)!r})" if document is not None else ""
        script.write_text(f"import pathlib, sys\n{write}\nsys.exit({status})\n")
        return made.run("", 1, 1)

    return run


COMPLETE = {"complete": True, "mutants": [{"status": "survived"}]}


def test_a_document_that_is_complete_is_read(half):
    assert half(COMPLETE, 1) == COMPLETE["mutants"]


@pytest.mark.parametrize("document,status", [(None, 1), (None, 0), ({"complete": False, "mutants": []}, 1), ({"mutants": []}, 0),
                                             (COMPLETE, 70)])
def test_a_half_that_was_not_finished_ends_the_command(half, capsys, document, status):
    with pytest.raises(SystemExit):
        half(document, status)
    assert "before all mutants were judged" in capsys.readouterr().out


# ---- progress and summary ----


def test_without_a_terminal_there_are_plain_lines():
    out, now = io.StringIO(), iter(range(0, 1000, 4))
    progress = show.Progress("mutants", 10, out, terminal=False, now=lambda: next(now))
    for _ in range(10):
        progress.step()
    assert "\r" not in out.getvalue() and 1 < out.getvalue().count("\n") <= 10


def test_a_terminal_s_line_fits():
    out, now = io.StringIO(), iter(range(0, 1000, 4))
    progress = show.Progress("mutants" * 20, 10, out, terminal=True, now=lambda: next(now))
    progress.step()
    assert all(len(line) <= 79 for line in out.getvalue().split("\r"))


def test_equivalent_ones_do_not_count():
    mutant = draw.Mutant("src/part/one.c", 5, 4, "a", "b", "0")
    results = [library.Result(mutant, status) for status in [library.KILLED] * 3 + [library.SURVIVED, library.RECORDED_AS, library.EQUIVALENT, library.INVALID]]
    counts = library.counted(results)
    assert counts["src/part"] == {"sampled": 5, "invalid": 1, "equivalent": 2, "killed": 3, "timed out": 0, "survived": 1}
    assert show.percent(counts["src/part"]) == 75.0


@pytest.mark.parametrize("only", ["src/nothing", "src/nvme/queue", "rtl"])
def test_only_must_name_something(bench, only):
    with pytest.raises(library.Refused, match="as src/nvme/queue.c"):
        library.files_of(only, bench.sources.files)


def test_only_names_a_file_or_a_folder(bench):
    assert library.files_of("src/nvme/queue.c", bench.sources.files) == ["src/nvme/queue.c"]
    assert len(library.files_of("src/nvme/", bench.sources.files)) > 10
