# SPDX-License-Identifier: Apache-2.0
"""Places and routes open cores as `make place` does our designs, to find what a frequency of it means.

The cores are those of bench/place_cores.toml. --keep adds the results of five seeds to bench/place_cores.json, and writes
docs/reference/gateware-timing.md, which compares them with what others have published.
"""

import argparse

import figures
import only
import place_cores
import place_kept
import place_page
import place_ratio
import rtl_place
from place import report


def arguments_given() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("only", nargs="?", default="", help="a core of bench/place_cores.toml, or the beginning of its name")
    parser.add_argument("--keep", action="store_true", help="add the results to bench/place_cores.json, and write the page")
    return parser.parse_args()


def measure(core: place_cores.Core, keep: bool) -> dict[int, report.Result]:
    """Each seed is kept at once: a core may take an hour, and what is kept is not measured again."""
    found = {}
    for seed in place_kept.GATE_SEEDS:
        netlist, results = rtl_place.measure(core.design, (seed,))
        found |= results
        if keep:
            kept = place_kept.load(place_ratio.PATH)
            entry = place_kept.entry({"commit": core.commit[:12], "netlist": netlist, **rtl_place.tools()}, results)
            kept[core.name] = place_kept.merged(kept.get(core.name), entry)
            place_ratio.PATH.write_text(place_kept.text(kept))
            place_page.write(place_kept.load())
    return found


def main() -> None:
    given, bench = arguments_given(), figures.Bench("place-calibrate", "make place-calibrate")
    cores = only.choose("core", place_cores.load(), lambda core: (core.name,), given.only)
    for core in cores:
        place_cores.need_sources(core)
    for core in cores:
        found = measure(core, given.keep)
        rtl_place.add_figures(bench, core.design, found)
        for figure, ratio in place_ratio.of_core(core, [result.fmax_mhz for result in found.values()]):
            bench.add(f"{core.name}: published on {figure.part}, by the median here", round(ratio, 2), "times")
    bench.show()
    bench.write()


if __name__ == "__main__":
    main()
