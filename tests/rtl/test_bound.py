# SPDX-License-Identifier: Apache-2.0
"""The checks that bench/rtl.py makes on its rows: a share above 100 % is an error, and quick runs are not judged."""

import figures
import rtl

MODEL = rtl.MODELS[0]
CORE = {"command_to_doorbell": 17.0, "fetch_to_entry": 14.0, "completion_to_response": 13.0}


def row(least_seconds: float, random: bool = False) -> dict:
    return {"mix": "write", "bytes": 4096, "random": random, "mps": 256, "mrrs": 512, "generation": 3, "rate": 3e9,
            "seconds": 1.0, "least_seconds": least_seconds, "payload_limit": 3.65e9, "in_flight_max": 96}


def test_beyond_bound() -> None:
    rows = [row(0.999), row(1.0), row(1.0000001), row(1.02, random=True)]
    assert len(rtl.beyond_bound([rtl.Result(MODEL, CORE, rows)])) == 2


def collected(quick: bool) -> list[dict]:
    bench = figures.Bench("rtl", "make bench-rtl")
    rtl.collect(bench, rtl.Result(MODEL, CORE, [row(0.5), row(0.5, random=True)]), quick)
    rtl.collect_stripe(bench, {f"{kind}_bytes_per_cycle{one}": 1.0 for kind in ("write", "read") for one in ("", "_one")},
                       quick)
    return bench.figures


def test_long_runs_judge() -> None:
    missed = [figure["name"] for figure in collected(quick=False) if figures.Bench.missed(figure)]
    assert len(missed) == 4  # the share, the commands per second, and both kinds of two drives as one


def test_quick_runs_do_not_judge() -> None:
    assert all(figure["aim"] is None and figure["aim_is"] == "none" for figure in collected(quick=True))
