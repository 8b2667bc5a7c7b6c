# SPDX-License-Identifier: Apache-2.0
"""bench/mutants/gateware.py: mutants of a small module die by its bench, and what is no mistake is told apart."""

import dataclasses
import json
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


def counter_mutant(mode: str, bit: int) -> rtl_netlist.Mutant:
    """Of the sum that a counter of events becomes."""
    module = rtl_netlist.Module("spate_event_counters", ())
    adder = next(cell for cell in rtl_netlist.cells(rtl_netlist.netlist(module)).values()
                 if cell.kind == "$add" and "counts[turn_q] + " in rtl_netlist.source(cell.src, module.name)[2])
    return rtl_netlist.Mutant(module.name, adder, mode, "Y", bit, None, *rtl_netlist.source(adder.src, module.name), mode)


def test_a_bench_kills_what_it_can_notice(tmp_path):
    """Both are in one build; no event comes 2^31 times."""
    bench = next(bench for bench in rtl_tests.benches() if bench.module == "bench_event_counters")
    judged = [gateware.Judged(1, counter_mutant("inv", 3), [bench]), gateware.Judged(2, counter_mutant("const0", 31), [bench])]
    gateware.Judge(judged, 2, gateware.Progress(2), tmp_path / "gateware.json").run()
    assert [(one.status, one.met) for one in judged] == [("killed", 1), ("", 1)]
    entry, = json.loads((tmp_path / "gateware.json").read_text())["mutants"]
    assert entry["status"] == "killed" and entry["where"].startswith("rtl/regs/spate_event_counters.sv:")
    assert entry["killer"].startswith("tests/rtl/test_registers.py::test_event_counters")


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
    assert [entry["status"] for entry in json.loads(output.read_text())["mutants"]] == ["killed"] * 3


def test_a_proof_fails_with_a_mutant_and_holds_without():
    """The mutant takes each question for answered at once."""
    mutant = dataclasses.replace(fence_mutants("asking_q && answered")[0], mode="const1", port="B", port_bit=0,
                                 control_bit=None)
    proof = next(proof for proof in rtl_tests.proofs() if proof.task_name == "fence-order")
    command = rtl_tests.command_in(proof, mutant)
    assert command and rtl_tests.prove(proof, command, 1, 600).ending == "failed"
    assert rtl_tests.prove(proof, "", 0, 600).ending == "passed"


def test_only_what_is_the_same_is_proven_equivalent():
    """The operand leave has one bit, extended by zeros: a zero there that is always zero is no mistake."""
    same = next(each for each in fence_mutants(LEAVE) if (each.port, each.mode) == ("B", "const0") and each.port_bit > 0)
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
        with pytest.raises(SystemExit, match="change or remove the entry"):
            rtl_sample.check_recorded(entries, lambda name: FENCE)


def test_each_mutant_of_the_sample_can_be_recorded():
    """What is printed for a mutant is what an entry says."""
    entries = [rtl_sample.Recorded("spate_fence", mutant.original, mutant.mutated, "why")
               for mutant in rtl_sample.chosen(rtl_netlist.pool(FENCE, 1), 60, 1)]
    rtl_sample.check_recorded(entries, lambda name: FENCE)


def test_an_entry_without_a_reason_is_an_error(tmp_path):
    path = pathlib.Path(tmp_path / "recorded.toml")
    path.write_text(TABLE.format(LEAVE, "bit 1 of input B of $sub always 0").replace('"why"', '""'))
    with pytest.raises(SystemExit, match="reason"):
        rtl_sample.recorded(path)
