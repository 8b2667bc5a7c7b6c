# SPDX-License-Identifier: Apache-2.0
"""bench/mutants/gateware.py: the testbench of a small module kills its mutants, and mutants that are no mistakes are
recognised."""

import dataclasses
import json
import os
import pathlib
import shutil
import sys

import pytest

import filelist
import program

sys.path.append(str(filelist.ROOT / "bench"))
from mutants import gateware, rtl_equal, rtl_netlist, rtl_sample, rtl_tests  # noqa: E402: found by the line above

FENCE = rtl_netlist.Module("spate_fence", (("CommandsMax", "32'h41"),))
TABLE = '[[equivalent]]\nmodule = "spate_fence"\noriginal = "{}"\nmutated = "{}"\nreason = "why"\n'
LEAVE = "free_q + (granted ? asked_q : '0) - CountWidth'(leave)"


@pytest.fixture(autouse=True, scope="module")
def work():
    yield
    shutil.rmtree(rtl_netlist.WORK, ignore_errors=True)


def fence_mutants(line: str) -> list[rtl_netlist.Mutant]:
    return [mutant for mutant in rtl_netlist.pool(FENCE, 1) if mutant.original == line]


def test_a_reset_that_a_module_makes_is_not_held():
    module = rtl_netlist.Module("spate_cdc_reset", ())
    held = {port: rtl_netlist._held(port, seen) for port, seen in rtl_netlist.netlist(module)["ports"].items()}
    assert held["rst_no"] == "rst_no" and "!=" in held["rst_ni"]


def counter_mutant(mode: str, bit: int) -> rtl_netlist.Mutant:
    """A mutant of the sum in an event counter."""
    module = rtl_netlist.Module("spate_event_counters", ())
    adder = next(cell for cell in rtl_netlist.cells(rtl_netlist.netlist(module)).values()
                 if cell.kind == "$add" and "count_q + 32'(amount_q)" in rtl_netlist.source(cell.src, module.name)[2])
    return rtl_netlist.Mutant(module.name, adder, mode, "Y", bit, None, *rtl_netlist.source(adder.src, module.name), mode)


def test_a_testbench_kills_what_it_can_notice(tmp_path):
    """Both mutants are in one build; no test has 2^31 events."""
    tb = next(tb for tb in rtl_tests.testbenches() if tb.module == "testbench_event_counters")
    judged = [gateware.Judged(1, counter_mutant("inv", 3), [tb]), gateware.Judged(2, counter_mutant("const0", 31), [tb])]
    gateware.Judge(judged, 2, gateware.Progress(2), tmp_path / "gateware.json").run()
    assert [(one.status, one.met) for one in judged] == [("killed", 1), ("", 1)]
    document = json.loads((tmp_path / "gateware.json").read_text())
    entry, = document["mutants"]
    assert not document["complete"]  # the other one has no result yet
    assert entry["status"] == "killed" and entry["where"].startswith("rtl/regs/spate_event_counters.sv:")
    assert entry["killer"].startswith("tests/rtl/test_registers.py::test_event_counters")


def test_a_testbench_in_cpp_kills_what_it_can_notice(tmp_path):
    """The second mutant holds a bit at 0 that is always 0: the upper ones of the operand 1'b1."""
    bench = next(bench for bench in rtl_tests.programs() if bench.top == "spate_fifo")
    module = next(module for module in bench.design.modules if module.name == "spate_fifo")
    adder = next(cell for cell in rtl_netlist.cells(rtl_netlist.netlist(module)).values()
                 if cell.kind == "$add" and "tail_q + 1'b1" in rtl_netlist.source(cell.src, module.name)[2])
    place = rtl_netlist.source(adder.src, module.name)
    mutants = [rtl_netlist.Mutant(module.name, adder, "const0", port, 1, None, *place, "") for port in ("Y", "B")]
    judged = [gateware.Judged(number, mutant, [bench]) for number, mutant in enumerate(mutants, 1)]
    gateware.Judge(judged, 2, gateware.Progress(2), tmp_path / "gateware.json").run()
    assert [(one.status, one.met) for one in judged] == [("killed", 1), ("", 1)]
    assert judged[0].killer == "ctest --preset gateware -R ^testbench_fifo$"


def test_a_testbench_in_cpp_with_shared_sources_kills_what_it_can_notice(tmp_path):
    """The mutant: a burst's last beat is not marked, or is marked too early. The bench's folder is not its only source."""
    bench = next(bench for bench in rtl_tests.programs() if bench.top == "spate_pcie_axi_flat")
    pool = rtl_netlist.pool(gateware.home("spate_pcie_axi_read"), 1)
    mutant = next(mutant for mutant in pool if mutant.original == "read_last_i && owed_final")
    judged = [gateware.Judged(1, mutant, [bench])]
    gateware.Judge(judged, 1, gateware.Progress(1), tmp_path / "gateware.json").run()
    assert judged[0].status == "killed"
    assert judged[0].killer.startswith(f"{bench.test} what_was_written_is_read")


def programs_of(module: str) -> list[str]:
    return [test.name for test in gateware.tests_of(module) if isinstance(test, rtl_tests.Program)]


def test_programs_are_tests_of_their_modules():
    assert programs_of("spate_admin") == ["testbench_admin"]
    widths = ["testbench_pcie_axi_128", "testbench_pcie_axi_256", "testbench_pcie_axi_512"]
    for module in ("spate_pcie_axi", "spate_pcie_axi_read", "spate_pcie_axi_write", "spate_pcie_axi_mmio"):
        assert programs_of(module) == widths


@pytest.mark.parametrize("only", ["rtl/pattern/spate_pattern_rate.sv", "spate_pattern_rate", "pattern_rate"])
def test_only_is_a_module_by_its_file_or_its_name(only):
    assert gateware.modules_of(only) == ["spate_pattern_rate"]


def test_only_is_a_folder():
    assert gateware.modules_of("rtl") == gateware.modules_of("rtl/") == gateware.modules_of("")
    assert "spate_fence" not in gateware.modules_of("rtl/pattern/")


def test_only_is_something_else():
    with pytest.raises(SystemExit, match="is called 'rtl/nowhere'"):
        gateware.modules_of("rtl/nowhere")


def test_the_command_judges_a_small_sample(tmp_path):
    output = tmp_path / "gateware.json"
    program.run(sys.executable, "bench/mutants/gateware.py", "--sample", "3", "--only", "pattern_rate", "--output", output,
                cwd=filelist.ROOT)
    document = json.loads(output.read_text())
    assert document["complete"] and [entry["status"] for entry in document["mutants"]] == ["killed"] * 3


# ---- results that judge nothing ----


def limited(script: str, tmp_path, limit_s: int = 100) -> tuple[int, float]:
    return rtl_tests.limited(["sh", "-c", script], tmp_path / "log", limit_s, dict(os.environ), tmp_path)


@pytest.mark.parametrize("number", ["KILL", "XCPU"])
def test_a_test_that_somebody_else_kills_is_no_answer(tmp_path, number):
    """As the kernel does when memory is short."""
    with pytest.raises(program.Failed, match=f"SIG{number}"):
        limited(f"kill -{number} $$", tmp_path)


def test_a_test_whose_shell_is_killed_is_no_answer(tmp_path):
    with pytest.raises(program.Failed, match="SIGKILL"):
        limited("kill -KILL $PPID; sleep 1", tmp_path)


def test_a_test_that_computes_too_long_is_over_its_limit(tmp_path):
    status, cpu_s = limited("while :; do :; done", tmp_path, 1)
    assert status in rtl_tests.OVER_LIMIT and 0.8 <= cpu_s < 10  # the kernel's limit and its account differ by a tenth


def test_a_test_that_ends_with_the_command_is_no_answer(tmp_path, monkeypatch):
    monkeypatch.setattr(program, "is_ending", lambda: True)
    with pytest.raises(program.Stopped):
        limited("exit 1", tmp_path)


# ---- checks before a mutant is judged ----

TESTBENCH = rtl_tests.Testbench("test_it", "top", "bench_it", (), (), "", ())


class Simulations:
    """Judges with a testbench whose build and run are stubs: returns which (build, mutant) ran, and how each ends."""

    def __init__(self, monkeypatch):
        self.builds, self.ran, self.endings = 0, [], {}
        monkeypatch.setattr(rtl_netlist, "elaborate", lambda *_: rtl_netlist.Elaborated((), {}))
        monkeypatch.setattr(rtl_netlist, "overlay", lambda mutants, *_: ({}, set(mutants)))
        monkeypatch.setattr(rtl_tests, "build", self.build)
        monkeypatch.setattr(rtl_tests, "simulate", self.simulate)
        monkeypatch.setattr(gateware, "_names_in", lambda test: [])
        monkeypatch.setattr(gateware.Judge, "_compare", lambda judge, one: None)

    def build(self, *_):
        self.builds += 1

    def simulate(self, test, folder, number, limit_s):
        self.ran.append((self.builds, test.test, number))
        return rtl_tests.Verdict(self.endings.get((self.builds, number), "passed"), 1.0, test.test)


def judge(rounds: int, tmp_path, recorded: str = "", count: int = 1) -> list[gateware.Judged]:
    judged = [gateware.Judged(number, fence_mutants(LEAVE)[0], [TESTBENCH] * rounds, recorded=recorded)
              for number in range(1, count + 1)]
    gateware.Judge(judged, 1, gateware.Progress(count), tmp_path / "gateware.json").run()
    return judged


def test_each_build_passes_without_a_mutant_first(tmp_path, monkeypatch):
    """Each round builds other netlists."""
    simulations = Simulations(monkeypatch)
    judge(2, tmp_path, count=2)
    assert simulations.ran == [(1, "test_it", 0), (1, "test_it", 1), (1, "test_it", 2),
                               (2, "test_it", 0), (2, "test_it", 1), (2, "test_it", 2)]


def test_a_later_build_that_fails_without_a_mutant_ends_the_command(tmp_path, monkeypatch):
    Simulations(monkeypatch).endings[2, 0] = "failed"
    with pytest.raises(SystemExit, match="test_it fails without a mutant"):
        judge(2, tmp_path)


# ---- recorded mutants ----


def test_a_recorded_mutant_that_is_noticed_is_an_error(tmp_path, monkeypatch):
    Simulations(monkeypatch).endings[1, 1] = "failed"
    with pytest.raises(SystemExit, match="mutants-rtl.toml calls a mutant equivalent that test_it notices"):
        judge(1, tmp_path, recorded="It was thought so.")


def test_a_recorded_mutant_meets_its_tests(tmp_path, monkeypatch):
    simulations = Simulations(monkeypatch)
    mutant = fence_mutants(LEAVE)[0]
    entry = rtl_sample.Recorded(mutant.module, mutant.original, mutant.mutated, "It was thought so.")
    monkeypatch.setattr(rtl_sample, "recorded", lambda: [entry])
    monkeypatch.setattr(rtl_sample, "check_recorded", lambda *_: None)
    monkeypatch.setattr(gateware, "drawn", lambda *_: [gateware.Judged(1, mutant, [TESTBENCH])])
    found, = gateware.run(output=tmp_path / "gateware.json")
    assert (1, "test_it", 1) in simulations.ran
    assert (found["status"], found["reason"]) == ("equivalent", "It was thought so.")


def test_a_proof_fails_with_a_mutant_and_holds_without():
    """The mutant treats each question as answered at once."""
    mutant = dataclasses.replace(fence_mutants("asking_q && answered")[0], mode="const1", port="B", port_bit=0,
                                 control_bit=None)
    proof = next(proof for proof in rtl_tests.proofs() if proof.task_name == "fence-order")
    command = rtl_tests.command_in(proof, mutant)
    assert command and rtl_tests.prove(proof, command, 1, 600).ending == "failed"
    assert rtl_tests.prove(proof, "", 0, 600).ending == "passed"


def test_only_what_is_the_same_is_proven_equivalent():
    """The operand `leave` has one bit, extended by zeros: holding one of these zeros at zero is no mistake."""
    same = dataclasses.replace(fence_mutants(LEAVE)[0], port="B", mode="const0", port_bit=1, control_bit=None)
    assert "every state" in rtl_equal.proven(same, FENCE)
    other = dataclasses.replace(same, mode="const1")
    assert rtl_equal.proven(other, FENCE) == ""


def test_the_sample_depends_on_the_seed_and_not_on_line_numbers():
    pool = rtl_netlist.pool(FENCE, 1)
    first = rtl_sample.chosen(pool, 10, 1)
    assert len(first) == 10 and rtl_sample.chosen(pool[::-1], 10, 1) == first != rtl_sample.chosen(pool, 10, 2)
    moved = [dataclasses.replace(mutant, line=mutant.line + 7) for mutant in pool]
    assert [mutant.mutated for mutant in rtl_sample.chosen(moved, 10, 1)] == [mutant.mutated for mutant in first]


def test_shares_are_by_size_and_none_goes_without():
    sizes = {"large": 60, "middle": 30, "small": 1}
    assert rtl_sample.shares(sizes, 91) == sizes
    assert rtl_sample.shares(sizes, 10) == {"large": 6, "middle": 3, "small": 1}
    assert rtl_sample.shares(sizes, 2) == {"large": 1, "middle": 1}


@pytest.mark.parametrize("original,mutated,fits", [
    (LEAVE, "bit 1 of input B of $sub always 0", True),
    (LEAVE, "bit 99 of input B of $sub always 0", False),
    (LEAVE, "bit 1 of input B of $add always 0", False),
    ("free_q + leave", "bit 1 of input B of $sub always 0", False),
    (LEAVE, "nonsense", False)])
def test_what_is_recorded_is_there(tmp_path, original, mutated, fits):
    path = pathlib.Path(tmp_path / "recorded.toml")
    path.write_text(TABLE.format(original, mutated))
    entries = rtl_sample.recorded(path)
    if fits:
        rtl_sample.check_recorded(entries, lambda name: FENCE)
    else:
        with pytest.raises(SystemExit, match="change or delete the entry"):
            rtl_sample.check_recorded(entries, lambda name: FENCE)


def test_each_mutant_of_the_sample_can_be_recorded():
    """What is printed for a mutant is the text of its entry."""
    entries = [rtl_sample.Recorded("spate_fence", mutant.original, mutant.mutated, "why")
               for mutant in rtl_sample.chosen(rtl_netlist.pool(FENCE, 1), 60, 1)]
    rtl_sample.check_recorded(entries, lambda name: FENCE)


def test_an_entry_without_a_reason_is_an_error(tmp_path):
    path = pathlib.Path(tmp_path / "recorded.toml")
    path.write_text(TABLE.format(LEAVE, "bit 1 of input B of $sub always 0").replace('"why"', '""'))
    with pytest.raises(SystemExit, match="reason"):
        rtl_sample.recorded(path)
