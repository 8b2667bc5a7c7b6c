# SPDX-License-Identifier: Apache-2.0
"""ONLY accepts names and beginnings of names, in all three commands. If it selects nothing, the error lists the names."""

import sys

import pytest

import filelist
import formal
import lint
import only
import program
import tops

COMMANDS = (("tools/rtl/lint.py", "spate_fifo"), ("tools/rtl/formal.py", "fifo-prove"), ("bench/rtl_area.py", "stream mode, core"))


def formal_names(name: str) -> list[str]:
    return [task.name for task in only.choose("formal task", formal.tasks(), lambda task: (task.name, task.file), name)]


def test_the_beginning_of_a_name_is_not_found_inside_another():
    assert sorted(formal_names("cq-")) == ["cq-narrow", "cq-reach", "cq-wide"]


@pytest.mark.parametrize("name", ["fifo", "spate_fifo"])
def test_a_whole_name_wins_over_a_beginning(name):
    assert lint.modules(lint.chosen(name)) == ["spate_fifo"]


def test_a_file_of_tasks_is_a_name():
    assert set(formal_names("windows_read")) == {name for name in formal_names("") if name.startswith("windows_read-")}


def test_a_beginning_chooses_all_that_begin_so():
    assert lint.modules(lint.chosen("cdc_")) == [name for name in lint.modules(lint.chosen("")) if name.startswith("spate_cdc_")]


def test_an_area_is_chosen_by_its_name_or_its_module():
    def chosen(name):
        return [area.name for area in only.choose("area", tops.AREAS, lambda area: (area.name, area.module), name)]
    assert chosen("stream mode, core") == ["stream mode, core"]
    assert chosen("drive") == [area.name for area in tops.AREAS if area.module == "spate_drive"]


@pytest.mark.parametrize("command,known", COMMANDS, ids=lambda word: str(word).rpartition("/")[2])
@pytest.mark.parametrize("name", ["nonsense", "spate_", "q-"])
def test_a_name_that_nothing_has_is_an_error_that_lists_the_names(command, known, name):
    with pytest.raises(program.Failed) as failed:
        program.run(sys.executable, command, name, cwd=filelist.ROOT)
    assert f"is called '{name}'" in str(failed.value) and known in str(failed.value)


def test_nothing_chooses_all():
    assert len(formal_names("")) == len(formal.tasks()) > 80 and len(lint.chosen("")) > 50
