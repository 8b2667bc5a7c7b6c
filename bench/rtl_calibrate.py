# SPDX-License-Identifier: Apache-2.0
"""Places and routes open cores as `make place` does our designs, to find what a frequency of it means.

The cores are those of bench/place_cores.toml. --keep writes the results of five seeds to bench/place_cores.json, and
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


def arguments_given() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("only", nargs="?", default="", help="a core of bench/place_cores.toml, or the beginning of its name")
    parser.add_argument("--keep", action="store_true", help="write the results to bench/place_cores.json, and the page")
    return parser.parse_args()


def main() -> None:
    given = arguments_given()
    bench, kept = figures.Bench("place-calibrate", "make place-calibrate"), place_kept.load(place_ratio.PATH)
    cores = only.choose("core", place_cores.load(), lambda core: (core.name,), given.only)
    for core in cores:
        place_cores.need_sources(core)
    for core in cores:
        netlist, results = rtl_place.measure(core.design, place_kept.GATE_SEEDS)
        rtl_place.add_figures(bench, core.design, results)
        entry = place_kept.entry({"commit": core.commit[:12], "netlist": netlist, **rtl_place.tools()}, results)
        for figure, ratio in place_ratio.of_core(core, entry):
            bench.add(f"{core.name}: published on {figure.part}, by the median here", round(ratio, 2), "times")
        if given.keep:
            kept[core.name] = entry
            place_ratio.PATH.write_text(place_kept.text(kept))
            place_page.write(place_kept.load())
    bench.show()
    bench.write()


if __name__ == "__main__":
    main()
