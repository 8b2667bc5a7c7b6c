# SPDX-License-Identifier: Apache-2.0
"""make bench-linux: the scripts that it sends to the guest, and how it parses the answers. No machine is started here."""

import json
import sys

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "bench"))

from linux import cases, parse  # noqa: E402 - the path comes first

MIB = 1 << 20
CONSOLE = """/drives/rec: exFAT volume SPATE
count record/x/0/short user 1000 kernel 5000 switches 10 interrupts 4
count record/x/0/long user 3000 kernel 25000 switches 30 interrupts 8
count record/x/1/short user 1000 kernel 5000 switches 10 interrupts 4
count record/x/1/long user 1000 kernel 905000 switches 10 interrupts 4
count record/x/2/short user 1000 kernel 5000 switches 10 interrupts 4
count record/x/2/long user 3000 kernel 35000 switches 30 interrupts 8
found # lspci
found 00:00.0 Host bridge
failed record/y/0/long
"""


def case(**words):
    return cases.Case(**({"key": "record/x", "command": "write {total}", "short": 2 * MIB, "long": 12 * MIB, "repeats": 3}
                         | words))


def test_a_cost_is_the_median_difference_of_a_long_and_a_short_run():
    cost = parse.cost(case(), parse.counts(CONSOLE))
    assert (cost.user, cost.kernel, cost.switches, cost.interrupts) == (200, 3000, 2, 0.4)
    assert cost.instructions == 3200


def test_a_missing_count_is_an_error():
    with pytest.raises(parse.Wrong, match="record/x/3/short"):
        parse.cost(case(repeats=4), parse.counts(CONSOLE))
    assert parse.failures(CONSOLE) == ["record/y/0/long"]


def test_the_last_of_several_tries_counts():
    again = CONSOLE + "count record/x/0/long user 1000 kernel 5000 switches 10 interrupts 4\n"
    assert parse.counts(again)["record/x/0/long"].instructions == 6000


def test_the_lines_of_a_word():
    assert parse.section(CONSOLE, "found") == "# lspci\n00:00.0 Host bridge"


def test_costs_of_the_librarys_calls():
    text = ("cost write 4096 submit 52 doorbell 25 complete 860 batch 32\n"
            "cost read 4096 submit 53 doorbell 32 complete 864 batch 32\ncost callback 5\ncost idle poll 97\n")
    found, idle = parse.calls(text)
    assert idle == 97 and found["read", 4096] == parse.Call(53, 1.0, 22.0) and found["read", 4096].all == 76
    with pytest.raises(parse.Wrong):
        parse.calls(text.replace("cost callback 5\n", ""))


def test_requests_of_fio_and_of_spate():
    job = {"jobname": "x", "error": 0, "read": {"total_ios": 0}, "write": {"total_ios": 800}}
    assert parse.requests(json.dumps({"fio version": "fio-3.33", "jobs": [job]})) == 800
    assert parse.requests(json.dumps({"jobs": [{"jobname": "write", "write": {"total_ios": 7}}]})) == 7
    with pytest.raises(parse.Wrong):
        parse.requests(json.dumps({"jobs": [job | {"error": 5}]}))


def test_a_case_runs_short_and_long_after_what_comes_before():
    script = case(before="rm -f clip", tries=2, repeats=1).script().splitlines()
    short = f"{{ rm -f clip; count record/x/0/short write {2 * MIB}; }}"
    assert script[0] == f"{short} || {short} || echo 'failed record/x/0/short'"
    assert len(script) == 2 and f"count record/x/0/long write {12 * MIB}" in script[1]


@pytest.mark.parametrize("quick", [True, False])
def test_every_cost_has_a_key_of_its_own(quick):
    for machine in cases.machines(("6.1", "6.12"), quick):
        all_cases = [case for group in machine.groups for case in group.cases]
        keys = [case.key for case in all_cases]
        assert len(keys) == len(set(keys)) and not any(set(key) & set(" \t'") for key in keys)
        assert machine.counts == sum(case.counts for case in all_cases)
        assert machine.script().count("; count ") == sum(case.counts * case.tries for case in all_cases)


def test_runs_are_whole_requests_and_long_enough():
    for quick in (True, False):
        for size in cases.SIZES:
            short, long = cases.stretch(size, quick)
            assert short % size == long % size == 0 and long >= 7 * short > 0
