# SPDX-License-Identifier: Apache-2.0
"""Figures name the compiler that made them. The page's numbers are compared with those of its version, and another one's with the
aims. The page and the results are made up."""

import json

import page_lines
import pytest

import compiler

PAGE_BY, SAME, OTHER = "made-up-gcc 12.2.0", "made-up-gcc 12.9.1", "made-up-gcc 99.1.0"
TEMPLATE = ["All with {size.compiler} -Os.", "| all | {size[all]:.0f} bytes (aim ≤ {size[all].aim:.0f}: **missed**) |",
            "| a part | {size[part].k:.1f} KB (aim ≤ {size[part].aim:.0f}) |"]
PAGE = [f"All with {PAGE_BY} -Os.", "| all | 50000 bytes (aim ≤ 40000: **missed**) |", "| a part | 8.0 KB (aim ≤ 9000) |"]


@pytest.fixture
def judged(tmp_path):
    """Writes results, and returns what is said about them."""
    def judge(by, everything=50000, part=8000, aim=9000, exactly=False):
        figures = [{"name": "all", "value": everything, "unit": "bytes", "aim": 40000, "aim_is": "max"},
                   {"name": "part", "value": part, "unit": "bytes", "aim": aim, "aim_is": "max"},
                   {"name": "without an aim", "value": 1e9, "unit": "bytes", "aim": None, "aim_is": "none"}]
        path = tmp_path / "size.json"
        path.write_text(json.dumps({"bench": "size", "compiler": by, "figures": figures}))
        fields = page_lines.figures_page.fields(tmp_path)
        said = page_lines.compiler_on(TEMPLATE, PAGE, "size")
        lines = [page_lines.judge(page_lines.values(template, page, fields), exactly, said, fields["size"].compiler)
                 for template, page in zip(TEMPLATE[1:], PAGE[1:], strict=True)]
        wrong = [value.field for values, _ in lines for value in values]
        return wrong, [columns for _, columns in lines], page_lines.aims_missed(path, page_lines.documented(TEMPLATE, PAGE, "size"))
    return judge


def test_the_pages_compiler_is_compared(judged):
    assert judged(SAME) == ([], [None, None], [])
    assert judged(SAME, everything=50900)[0] == []
    assert judged(SAME, everything=51100)[0] == ["size[all]"]
    assert judged(SAME, everything=48900)[0] == ["size[all]"], "a page that says too much"
    assert judged(SAME, everything=50001, exactly=True)[0] == ["size[all]"]


def test_another_compiler_shows_both_columns(judged):
    wrong, columns, missed = judged(OTHER, everything=45000, part=8900)
    assert (wrong, missed) == ([], [])
    assert columns == [f"{PAGE_BY}: 50000; {OTHER}: 45000", f"{PAGE_BY}: 8.0; {OTHER}: 8.9"]


@pytest.mark.parametrize("by", [SAME, OTHER])
def test_an_aim_is_an_aim_with_every_compiler(judged, by):
    assert judged(by, part=9001)[2] == ["part: 9001 bytes, aim 9000"]
    assert judged(by, aim=9500)[0] == ["size[part].aim"], "the page has another aim than the benchmark"


@pytest.mark.parametrize("by", [SAME, OTHER])
def test_an_aim_that_the_page_says_is_missed_is_missed_by_no_more(judged, by):
    assert judged(by, everything=51000)[2] == []
    assert judged(by, everything=51001)[2] == ["all: 51001 bytes, aim 40000, on the page 50000"]
    assert judged(by, everything=30000)[2] == []


def test_another_program_is_another_compiler():
    assert not page_lines.same_compiler("one-gcc 12.2.0", "other-gcc 12.2.0")


def test_a_line_with_another_text_has_no_values(judged):
    judged(SAME)
    assert page_lines.said_by(TEMPLATE[1], PAGE[1].replace("bytes", "KB")) is None


def test_results_without_a_compiler_are_made_again(tmp_path):
    (tmp_path / "size.json").write_text(json.dumps({"bench": "size", "figures": []}))
    with pytest.raises(page_lines.figures_page.Missing, match="make bench-size"):
        page_lines.figures_page.fields(tmp_path)["size"].compiler


# ---- what compiled a build ----


@pytest.mark.parametrize("comment", ["GCC: (Debian 12.2.0-14) 12.2.0", "GCC: (15:12.2.rel1-1) 12.2.0 20221205"])
def test_the_version_is_that_in_the_objects(comment):
    assert compiler.version({comment}, "a build") == "12.2.0"


@pytest.mark.parametrize("comments", [set(), {"GCC: (Debian 12.2.0-14) 12.2.0", "GCC: (Debian 14.2.0-19) 14.2.0"}])
def test_a_build_of_two_compilers_has_no_figures(comments, capsys):
    with pytest.raises(SystemExit):
        compiler.version(comments, "a build")
    assert "the objects of a build" in capsys.readouterr().out
