# SPDX-License-Identifier: Apache-2.0
"""make mutants: it judges rightly, and a handful of mutants that must be noticed are noticed."""

import io
import os
import pathlib
import sys
import time

import program
import pytest

sys.path.insert(0, str(program.ROOT / "bench"))

from mutants import draw, judge, library, recorded, show  # noqa: E402

# (file, line, mutated line, the program that must notice). A line that is gone is passed over, as long as most are there.
NOTICED = [
    ("src/exfat/name.c", "return *code < smallest[more] || *code > 0x10ffff || surrogate ? 0 : more + 1u;",
     "return *code < smallest[more] || *code > 0x10ffff && surrogate ? 0 : more + 1u;", "test_exfat"),
    ("src/pcie/capability.c", "offset = (capability >> 8) & 0xfc;", "offset = (capability >> 0) & 0xfc;", "test_pcie"),
    ("src/nvme/prp.c", "if (more > 1) prps->second = region->pages_dma + (page + 1u) * 8u;",
     "if (more > 1) prps->second = region->pages_dma + (page + 0) * 8u;", "test_sim_barriers"),
    ("src/nvme/queue.c", "if (tail == queue->sq_rung) return;", "if (0 && (tail == queue->sq_rung)) return;", "test_sim_events"),
    ("src/nvme/queue.c", "queue->free = slot->next_free;", ";", "replay_nvme"),
    ("src/stripe/superblock.c", "for (; offset + 4u <= bytes; offset += 4u)", "for (; offset + (4u + 1) <= bytes; offset += 4u)",
     "test_stripe_superblock"),
    ("src/recorder/heat.c", "if (watch->point_count < 2) return SPATE_NEVER_MS;",
     "if (1 || (watch->point_count < 2)) return SPATE_NEVER_MS;", "test_heat"),
]


@pytest.fixture(scope="module")
def bench():
    return library.Bench(2)


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
    shares = draw.shares(program.ROOT, bench.library.files, 400)
    assert set(shares) == {draw.module_of(file) for file in bench.library.files}
    assert min(shares.values()) >= 1 and 400 <= sum(shares.values()) <= 400 + len(shares)
    assert shares["src/exfat"] > shares["src/partition"]


# ---- what compiles to the same, or not at all ----

CRC = "src/core/crc32.c"


def test_equal_code_is_equivalent_and_nonsense_is_invalid(bench):
    text = bench.library.original(CRC)
    assert bench.code(CRC, text) == bench.code(CRC, text + "\n/* a comment */\n")
    assert bench.code(CRC, text) != bench.code(CRC, text + "\nint spate_more(void) { return 1; }\n")
    assert bench.code(CRC, text + "\nnonsense;\n") == ""


# ---- the judgement ----


def found(bench, file, original, mutated):
    return next((m for m in draw.mutants_of(program.ROOT, file, 1) if m.identity == (file, original, mutated)), None)


def only_by(bench, name, monkeypatch):
    """Judges by one program, which then needs no coverage."""
    bench.seconds[name] = 5.0
    monkeypatch.setattr(bench, "order", lambda mutant: [bench.programs[name]])


def test_the_library_as_it_is_survives(bench):
    """Through the same path: compiled and linked as a mutant is."""
    objects = bench.original_objects()
    for name in ("test_core", "test_nvme", "test_exfat"):
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


def test_waiting_is_no_computing(tmp_path, monkeypatch):
    """A loaded machine takes time by the clock, and no processor time of the program."""
    monkeypatch.setattr(judge, "CPU_S_MIN", 1)
    ending = ending_of("import time; time.sleep(4)", tmp_path)
    assert ending.passed and not ending.timed_out


def test_a_program_that_takes_all_memory_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(judge, "RESIDENT_BYTES", 300 << 20)
    ending = ending_of("kept = []\nwhile len(kept) < 4096: kept.append(b'x' * (1 << 20))", tmp_path)
    assert not ending.passed and not ending.timed_out


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


# ---- the list of those that nobody can notice ----

ENTRY = '[[equivalent]]\nfile = "{}"\noriginal = "{}"\nmutated = "{}"\nreason = "{}"\n'


def written(tmp_path, *entries):
    path = tmp_path / "mutants.toml"
    path.write_text("".join(ENTRY.format(*entry) for entry in entries))
    return recorded.read(path)


def test_an_entry_of_a_line_that_is_gone_is_an_error(tmp_path, sources):
    root, _ = sources
    good = ("src/part/one.c", "if (a < b) return a;", "if (a <= b) return a;", "a and b are the same there.")
    recorded.check(root, written(tmp_path, good))
    with pytest.raises(recorded.Wrong, match="The line has changed"):
        recorded.check(root, written(tmp_path, good, ("src/part/one.c", "if (a < c) return a;", "if (a <= c) return a;", "Why.")))
    with pytest.raises(recorded.Wrong, match="The line has changed"):
        recorded.check(root, written(tmp_path, ("src/part/gone.c", "a", "b", "Why.")))


def test_an_entry_needs_a_reason(tmp_path):
    with pytest.raises(recorded.Wrong, match="has no reason"):
        written(tmp_path, ("src/part/one.c", "a", "b", " "))


def test_an_entry_that_is_noticed_is_an_error(bench, monkeypatch):
    file, original, mutated, name = NOTICED[0]
    mutant = found(bench, file, original, mutated)
    monkeypatch.setattr(bench, "judge", lambda mutant, most_s: library.Result(mutant, library.KILLED, killer=name))
    with pytest.raises(recorded.Wrong, match=f"{name} notices"):
        bench.judge_all([mutant], {mutant.identity: "It was thought so."})


def test_the_kept_list_fits_the_sources():
    recorded.check(program.ROOT, recorded.read(library.RECORDED))


# ---- what people see ----


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
        library.files_of(only, bench.library.files)


def test_only_names_a_file_or_a_folder(bench):
    assert library.files_of("src/nvme/queue.c", bench.library.files) == ["src/nvme/queue.c"]
    assert len(library.files_of("src/nvme/", bench.library.files)) > 10
