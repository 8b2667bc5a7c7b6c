# SPDX-License-Identifier: Apache-2.0
"""What is generated from the tops is up to date. The templates elaborate without a package, and FuseSoC takes the core file."""

import pathlib
import sys

import pytest

import filelist
import program
import tops_generate

TEMPLATES = sorted((filelist.ROOT / "rtl" / "templates").glob("*.veo"))
# Its wires are unconnected until a user connects them.
ALLOWED = ("-Wno-UNUSEDSIGNAL", "-Wno-UNUSEDPARAM", "-Wno-UNDRIVEN")


def test_what_is_generated_is_up_to_date(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["tops_generate.py", "--check"])
    assert tops_generate.main() == 0, capsys.readouterr().out


def test_a_file_that_is_not_generated_any_more_is_named():
    assert tops_generate.leftovers(set(tops_generate.texts())) == []
    assert tops_generate.leftovers(set(tops_generate.texts()) - {"rtl/ip/spate_nvme_axi/component.xml"}) == [
        "rtl/ip/spate_nvme_axi/component.xml"]


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.stem)
def test_a_template_fits_its_top(template, tmp_path):
    tb = tmp_path / "template_bench.sv"
    tb.write_text(f"module template_bench;\n{template.read_text()}endmodule\n")
    top = next(line.split()[0] for line in template.read_text().splitlines() if line.endswith(" #("))
    program.run("tools/rtl/verilator", "--lint-only", "-Wall", *ALLOWED, "--top-module", "template_bench",
                "rtl/lint/waivers.vlt", *filelist.needed_by(top), tb, cwd=filelist.ROOT)


@pytest.mark.parametrize("top", [top.stem for top in sorted((filelist.ROOT / "rtl" / "top" / "generated").glob("spate_nvme_*.sv"))])
def test_fusesoc_takes_each_top(top, tmp_path):
    """The core file has the files in the order of the list, the version and the targets. FuseSoC sets it up for a lint tool."""
    program.run(pathlib.Path(sys.executable).parent / "fusesoc", "--cores-root", ".", "run", f"--target={top}", "--setup",
                f"--work-root={tmp_path}", "spate:storage:spate", cwd=filelist.ROOT)
    listed = (next(tmp_path.glob("*.vc"))).read_text()
    assert f"--top-module {top}" in listed
    named = [line.split("/rtl/")[1] for line in listed.splitlines() if "/rtl/" in line and line.endswith(".sv")]
    assert named == [path.removeprefix("rtl/") for path in filelist.sources()]


def test_there_are_templates_and_they_name_no_package():
    assert len(TEMPLATES) >= 3
    assert not [path.name for path in TEMPLATES if "_pkg" in path.read_text() or "LbaWidth" in path.read_text()]
