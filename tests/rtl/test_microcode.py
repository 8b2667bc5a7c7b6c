# SPDX-License-Identifier: Apache-2.0
"""The assembler of the microcode: what is generated is up to date, instructions get the words that SystemVerilog gives them, and
each check finds what it is for."""

import pathlib
import random
import re
import sys

import pytest

import filelist
import microcode
import program
from assembler import instructions, machine, output, parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
KIND = microcode.read_machine()
# `//!` marks the line of a finding. The lines before a program:
DECLARED = """
parameter int unsigned Limit = 4
scratch temp = r1
scratch other = r2
register life = r2 shares other
register deadline = r5
register error = r31
error ErrNone = 0 | none | |
error ErrSome = 1 | some | |
"""
ANY_USE = """
handler end:
        endless until reset
        catch   end
        move    temp, Limit
        move    other, temp
        move    life, other
        arm     deadline, temp
        move    deadline, life
        compare deadline, now
        move    error, ErrSome
        fill    error
        jump    end
"""

WRONG = dict(re.findall(r"^=== (.*?) \| (.*?)(?=^=== |\Z)",  # {name: the message, and the program in the next lines}
                        pathlib.Path(__file__).with_name("wrong_programs.asm").read_text(), re.M | re.S))


def findings(text: str) -> list[tuple[int, str]]:
    assembled, wrong = parse.parse(text, KIND)
    return [(one.line, one.text) for one in wrong or microcode.check(assembled, KIND)[1]]


def version(text: str, dropped: str) -> str:
    """The program without the lines that begin with `dropped`, and with the others."""
    lines = [line.lstrip("-+") for line in text.splitlines() if not line.startswith(dropped)]
    return DECLARED + "\n".join(lines) + ANY_USE


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found_in_its_line(name):
    message, text = WRONG[name].split("\n", 1)
    wrong = version(text, "+")
    marked = next(number for number, line in enumerate(wrong.splitlines(), 1) if line.endswith("//!"))
    found = findings(wrong)
    # Where a name could not be declared, its uses are found, too.
    assert found and found[0][0] == marked and message in found[0][1], found
    assert findings(version(text, "-")) == []


def test_a_path_beyond_the_end_is_found():
    text = DECLARED + ANY_USE.replace("jump    end", "jump    enabled, end")
    assert findings(text) == [(text.count("\n"), "the program ends here: jump somewhere, or return")]


def test_a_line_without_its_end_is_found():
    text = DECLARED + ANY_USE
    expected = (text.count("\n") + 1, "the file ends before this line does: delete the `\\`")
    assert findings(text + "        fill \\\n    0 \\\n") == [expected]


def test_a_program_that_is_too_long_is_found():
    rest = len(parse.parse(DECLARED + ANY_USE, KIND)[0].instructions)
    texts = [DECLARED + "        fill 0\n" * (KIND.size - rest + more) + ANY_USE for more in (0, 1)]
    assert findings(texts[0]) == [] and f"{KIND.size + 1} instructions do not fit" in findings(texts[1])[0][1]


def test_the_program_of_the_examples_is_right():
    assert findings(DECLARED + ANY_USE) == []


def test_a_label_at_the_end_is_found():
    text = DECLARED + ANY_USE.replace("jump    end", "jump    enabled, end\n        jump last") + "last:\n"
    assert findings(text) == [(text.count("\n"), "`last` is at the end of the program, where no instruction follows: delete it")]


def test_a_message_names_file_and_line(capsys):
    with pytest.raises(SystemExit) as stopped:
        microcode.assemble("        fill 0 0\n", KIND)
    assert str(stopped.value).startswith("rtl/core/spate_microcode.asm:1: ")


# ---- words ----

OPERATIONS = {"move": "DoMove", "add": "DoAdd", "sub": "DoSub", "compare": "DoCompare", "and": "DoAnd", "test": "DoTest",
              "xor": "DoXor", "read": "DoRead", "page": "DoPage"}
SOURCES = {"now": "InNow", "raw": "InRaw", "side_status": "InSideStatus", "written": "InWritten"}
CONDITIONS = {"zero": "IfZero", "not_carry": "IfNotCarry", "no_command": "IfNoCommand", "told": "IfTold"}
OUTPUTS = {"step": "OutStep", "health0": "OutHealth0", "block4096": "OutBlock4096", "respond": "OutRespond"}


def random_operand(dice: random.Random) -> tuple[str, str]:
    """In the assembly, and its source and immediate in SystemVerilog."""
    number = dice.randrange(1, 2 ** 16)
    word, name = dice.choice(list(SOURCES.items()))
    register = dice.randrange(32)
    return dice.choice([(str(number), f"InImmediate, 16'd{number}"), (f"{number:#x}_0000", f"InHigh, 16'h{number:x}"),
                        (f"{number} << 16", f"InHigh, 16'd{number}"), (f"x{register}", f"InRegister, 16'd{register}"),
                        (word, f"{name}, 16'd0"), ("OffsetCq", "InHigh, 16'(OffsetCq >> 16)"),
                        (f"bit({register})", f"{'InHigh' if register > 15 else 'InImmediate'}, 16'd{1 << register % 16}")])


def random_instruction(dice: random.Random) -> tuple[str, list[str]]:
    text, operand = random_operand(dice)
    register, wide = dice.randrange(32), dice.randrange(2 ** 32)
    operation, name = dice.choice(list(OPERATIONS.items()))
    condition, output_ = dice.choice(list(CONDITIONS.items())), dice.choice(list(OUTPUTS.items()))
    label = dice.randrange(2)
    target = ("first", "16'd0") if label else ("second", "16'd1")
    return dice.choice([
        (f"{operation} x{register}, {text}", [f"{name}, 5'd{register}, {operand}"]),
        (f"write {text}, x{register}", [f"DoWrite, 5'd{register}, {operand}"]),
        (f"shift x{register}, 7", [f"DoShift, 5'd{register}, InImmediate, 16'd7"]),
        (f"out {output_[0]}, {text}", [f"DoOut, {output_[1]}, {operand}"]),
        (f"entry {register % 16}, {text}", [f"DoEntry, 5'd{register % 16}, {operand}"]),
        (f"fill {text}", [f"DoFill, 5'd0, {operand}"]),
        (f"jump {condition[0]}, {target[0]}", [f"DoJump, {condition[1]}, InImmediate, {target[1]}"]),
        (f"jump {target[0]}", [f"DoJump, IfAlways, InImmediate, {target[1]}"]),
        ("call first", ["DoCall, 5'd0, InImmediate, 16'd0"]), ("return", ["DoReturn, 5'd0, InImmediate, 16'd0"]),
        (f"catch {target[0]}", [f"DoCatch, 5'd0, InImmediate, {target[1]}"]),
        (f"fail {condition[0]}, ErrSome", [f"DoFail, {condition[1]}, InImmediate, 16'd1"]),
        ("enter StepSome", ["DoOut, OutStep, InImmediate, 16'd0"]),
        (f"arm x{register}, {text}", [f"DoMove, 5'd{register}, InNow, 16'd0", f"DoAdd, 5'd{register}, {operand}"]),
        (f"wide x{register}, {wide:#x}", [f"DoMove, 5'd{register}, InHigh, 16'd{wide >> 16}",
                                          f"DoAdd, 5'd{register}, InImmediate, 16'd{wide & 0xffff}"])])


def elaborate(tmp_path: pathlib.Path, conditions: list[str]) -> None:
    """Each condition is true where the design is elaborated."""
    lines = [f"  if (!({condition})) begin : gen_{number}\n    $error(\"condition {number}\");\n  end"
             for number, condition in enumerate(conditions)]
    bench = tmp_path / "words.sv"
    bench.write_text("\n".join(["module words import spate_pkg::*; import spate_microcode_pkg::*; ();", *lines, "endmodule\n"]))
    program.run("tools/rtl/verilator", "--lint-only", "--top-module", "words", *microcode.PACKAGES, bench, cwd=ROOT)


def test_random_instructions_have_the_words_of_systemverilog(tmp_path):
    """The packages say what the words are; Verilator reads them, and the names are those of the package."""
    dice = random.Random(1)
    made = [random_instruction(dice) for _ in range(400)]
    text = "\n".join([*(f"register x{n} = r{n}" for n in range(32)), "step StepSome = 0 | |", "error ErrNone = 0 | | |",
                      "error ErrSome = 1 | | |", "routine first:", "fill 0", "second:", *(line for line, _ in made)])
    assembled, wrong = parse.parse(text, KIND)
    encoder = output.Encoder(assembled, KIND)
    assert wrong == []
    words = [encoder.word(one) for one in assembled.instructions][1:]
    expected = [word for _, parts in made for word in parts]
    assert len(words) == len(expected)
    elaborate(tmp_path, [f"{{{text}}} == 30'h{word:08x}" for text, word in zip(expected, words)]
              + [f"{{{text}}} == {encoder.systemverilog(one)}" for text, one in zip(expected, assembled.instructions[1:])])


def test_what_a_parameter_decides_is_left_to_systemverilog(tmp_path):
    text = """
        parameter bit CtrlBitsSome = 1'b1
        parameter logic [63:0] Base = 64'h12_3456_7890
        parameter int unsigned Few = 5
        parameter int unsigned Many = 21
        register x = r3
        move    x, Few * 2 + 1
        wide    x, Base[63:32]
        wide    x, Base[31:0]
        xor     x, bit(Few - 1)
        xor     x, bit(Many)
        jump    when(!CtrlBitsSome), a
    a:
        return
    """
    assembled, wrong = parse.parse(text, KIND)
    assert wrong == []
    encoder = output.Encoder(assembled, KIND)
    values = {"Base": "64'h12_3456_7890", "Few": "32'd5", "Many": "32'd21", "CtrlBitsSome": "1'b1"}
    found = [re.sub("|".join(values), lambda match: values[match[0]], encoder.systemverilog(one)) for one in assembled.instructions]
    found = [re.sub(r"(64'h[0-9a-f_]+)\[(\d+):0\]", r"\1", re.sub(r"(64'h[0-9a-f_]+)\[63:32\]", r"\1 >> 32", one)) for one in found]
    expected = ["DoMove, 5'd3, InImmediate, 16'd11", "DoMove, 5'd3, InHigh, 16'd0", "DoAdd, 5'd3, InImmediate, 16'h12",
                "DoMove, 5'd3, InHigh, 16'h3456", "DoAdd, 5'd3, InImmediate, 16'h7890", "DoXor, 5'd3, InImmediate, 16'h10",
                "DoXor, 5'd3, InHigh, 16'h20", "DoJump, IfNever, InImmediate, 16'd8", "DoReturn, 5'd0, InImmediate, 16'd0"]
    assert [encoder.word(one) is None for one in assembled.instructions] == [True] * 8 + [False]
    elaborate(tmp_path, [f"{one} == {{{want}}}" for one, want in zip(found, expected, strict=True)])


# ---- the packages, and what is generated ----

def test_an_instruction_that_the_assembler_does_not_know_is_found(monkeypatch):
    monkeypatch.delitem(instructions.FORMS, "page")
    with pytest.raises(SystemExit, match="differ in: page"):
        parse.parse("", KIND)


def test_a_package_that_cannot_be_read_is_found():
    text = (ROOT / microcode.PACKAGES[1]).read_text()
    with pytest.raises(machine.Unreadable, match="CallDepth"):
        machine.read(text.replace("CallDepth", "Depth"))
    with pytest.raises(machine.Unreadable, match="IfNever has the code"):
        machine.read(text.replace("IfNever = 5'd1", "IfNever = IfAlways + 1"))


def test_the_sequencer_has_the_stack_that_is_checked():
    text = (filelist.ROOT / "rtl/core/spate_admin.sv").read_text()
    assert "stack[CallDepth]" in text and "logic [$clog2(CallDepth)-1:0] depth_q" in text


def test_what_is_generated_is_up_to_date(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["microcode.py", "--check"])
    assert microcode.main() == 0, capsys.readouterr().out


def test_what_is_generated_is_compared(monkeypatch, capsys, tmp_path):
    for path in (microcode.SOURCE, microcode.MODULE, microcode.PAGE, *microcode.PACKAGES):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text((ROOT / path).read_text())
    monkeypatch.setattr(microcode, "ROOT", tmp_path)
    monkeypatch.setattr(sys, "argv", ["microcode.py", "--check"])
    (tmp_path / microcode.SOURCE).write_text((ROOT / microcode.SOURCE).read_text().replace("LinkMs = 1000", "LinkMs = 999")
                                             .replace("did not come up", "stayed down"))
    assert microcode.main() == 1
    assert [line.split(":")[0] for line in capsys.readouterr().out.splitlines()] == [microcode.MODULE, microcode.PAGE]


def test_the_listing_names_where_errors_go():
    assembled, explored = microcode.assemble((ROOT / microcode.SOURCE).read_text(), KIND)
    listing = output.listing(assembled, KIND, explored, microcode.SOURCE)
    caught = {line.split("!")[1].strip() for line in listing.splitlines() if "! " in line}
    assert {"failed", "probe_again", "released"} <= caught and any("recover" in labels for labels in caught)
    assert len(re.findall(r"^[0-9a-f]{3}  [0-9a-f.]{8}  ", listing, re.M)) == len(assembled.instructions) <= KIND.size


def test_the_library_knows_each_bring_up_error():
    assembled, _ = parse.parse((ROOT / microcode.SOURCE).read_text(), KIND)
    library = (ROOT / "src" / "gateware" / "failure.c").read_text()
    meanings = {name: int(code) for code, name in re.findall(r"\[(\d+)\] = SPATE_E_\w+,\s*/\* (\w+) \*/", library)}
    assert meanings and meanings == {name: code.number for name, code in assembled.errors.items()}
