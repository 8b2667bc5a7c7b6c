# SPDX-License-Identifier: Apache-2.0
"""Measures the resources of the gateware on an UltraScale+ device with Yosys: total and per block, compared with the baseline.

Fails if a total grows by more than 5 %, if a path gets longer, or if a memory is mapped to another kind of RAM than in
bench/rtl-area.baseline.json. --keep writes that file and docs/reference/gateware-area.md again; use it after checking the difference.
"""

import argparse
import concurrent.futures
import json

import figures
import filelist
import only
import synth
import tops

BASELINE = filelist.ROOT / "bench" / "rtl-area.baseline.json"
PAGE = filelist.ROOT / "docs" / "reference" / "gateware-area.md"
TEXT = """# Area of the gateware

Written by `make bench-rtl-area KEEP=1`, with Yosys for UltraScale+, not placed. Counts are comparable between versions of this
core. They are less comparable with a vendor's tool, which also packs two small LUTs into one. A LUT site that is memory counts
as LUT. A level is a LUT, a multiplexer, a LUTRAM's read or a whole carry chain. Ring and page memory of the stream cores are
UltraRAM (URAM, 288 Kbit) where the tool chooses it for them. A RAMB36 counts as two BRAM18.

LiteNVMe's CPU-less core (June 2026, 256 bit at 125 MHz), by `synth_xilinx -family xcup -noiopad -flatten -uram`, has 7936 LUTs, of
which 2064 are LUTRAM, and 5532 flops. It contains its adapter to the hard block and a window of 256 KiB, carries out one command
at a time through a staging buffer, and has no recovery. It compares with our whole host on the hard block, which also has
registers, the application's clock crossing, and ports for commands and streams. The same rate takes 256 bit at 125 MHz or 128 bit at
250 MHz. Neither contains the vendor's PCIe wrapper.

The published size of the stock AXI-PCIe bridge alone is 12960 LUTs. That may include the vendor's PCIe wrapper (LiteNVMe's takes 2960).
"""
GROWTH_MAX = 1.05
JOBS = 2
COMPARED = ("LUT", "FF", "BRAM18", "URAM")


def parameters_of(area: tops.Area) -> str:
    return ", ".join(f"{name} {value}" for name, value in area.parameters.items()) or "defaults"


def by_size(result: synth.Result) -> list:
    return sorted(result.blocks.items(), key=lambda block: -block[1][2]["LUT"])


def show(area: tops.Area, result: synth.Result, bench: figures.Bench) -> None:
    for unit in synth.UNITS:
        aim = area.luts_max if unit == "LUT" else None
        aim_is = "max" if aim else "none"
        bench.add(f"{area.name}: {unit}", result.total[unit], unit.split()[-1], aim=aim, aim_is=aim_is)
    aim_is = "max" if area.levels_max else "none"
    bench.add(f"{area.name}: longest path", result.levels, "levels", aim=area.levels_max, aim_is=aim_is)
    print(f"{area.name}  ({area.module}, {parameters_of(area)})")
    print(f"  longest path: {' → '.join(result.path)}")
    for memory, kind in result.memories.items():
        print(f"  memory {memory} → {kind}")
    if result.blocks:
        print(f"  {'block (own, then total)':<40} {'LUT':>12} {'FF':>12} {'BRAM18':>8} {'URAM':>8}")
    for module, (instances, own, total) in by_size(result):
        name = f"{module} × {instances}" if instances > 1 else module
        print(f"  {name:<40} {own['LUT']:>5} {total['LUT']:>6} {own['FF']:>5} {total['FF']:>6} {total['BRAM18']:>8} "
              f"{total['URAM']:>8}")
        bench.add(f"{area.name}: own LUT of {name}", own["LUT"], "LUT")
    print()


def block_table(area: tops.Area, result: synth.Result) -> list[str]:
    lines = ["", f"## {area.name[0].upper()}{area.name[1:]}, block by block", "",
             "Each block is mapped by itself, so their sum is more than the whole. Each count is without, then with the blocks inside.", "",
             "| block | LUT | with all | FF | with all | BRAM18 | URAM |", "|---|---|---|---|---|---|---|"]
    for module, (instances, own, total) in by_size(result):
        name = f"`{module}` × {instances}" if instances > 1 else f"`{module}`"
        lines.append(f"| {name} | {own['LUT']} | {total['LUT']} | {own['FF']} | {total['FF']} | {total['BRAM18']} | "
                     f"{total['URAM']} |")
    return lines


def write_page(results: list[tuple[tops.Area, synth.Result]]) -> None:
    lines = [TEXT, "| design | LUT | aim | of which LUTRAM | FF | BRAM18 | URAM | levels | aim |",
             "|---|---|---|---|---|---|---|---|---|"]
    for area, result in results:
        total, aim = result.total, f"≤ {area.luts_max}" if area.luts_max else ""
        levels_aim = f"≤ {area.levels_max}" if area.levels_max else ""
        lines.append(f"| {area.name}: `{area.module}`, {parameters_of(area)} | {total['LUT']} | {aim} | "
                     f"{total['of which LUTRAM']} | {total['FF']} | {total['BRAM18']} | {total['URAM']} | "
                     f"{result.levels} | {levels_aim} |")
    for area, result in results:
        if area.luts_max:
            lines += block_table(area, result)
    PAGE.write_text("\n".join(lines) + "\n")
    print(f"tables in {PAGE.relative_to(filelist.ROOT)}")


def kept(result: synth.Result) -> dict:
    return {**{unit: result.total[unit] for unit in COMPARED}, "levels": result.levels, "memories": result.memories}


def worse(name: str, now: dict, before: dict | None) -> list[str]:
    if before is None:
        return [f"{name}: is not in {BASELINE.name}"]
    found = [f"{name}: {unit} {before[unit]} → {now[unit]}" for unit in COMPARED
             if now[unit] > before[unit] * GROWTH_MAX]
    if now["levels"] > before["levels"]:
        found.append(f"{name}: logic levels {before['levels']} → {now['levels']}")
    for memory in sorted({*now["memories"], *before["memories"]}):
        was, is_now = before["memories"].get(memory, "none"), now["memories"].get(memory, "none")
        if was != is_now:
            found.append(f"{name}: memory {memory} {was} → {is_now}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="Synthesise the areas of tools/rtl/tops.py and compare.")
    parser.add_argument("only", nargs="?", default="", help="an area, a module, or the beginning of its name")
    parser.add_argument("--keep", action="store_true", help=f"write bench/{BASELINE.name}")
    arguments = parser.parse_args()
    baseline = json.loads(BASELINE.read_text()) if BASELINE.exists() else {}
    bench, now, found, results = figures.Bench("rtl-area", "make bench-rtl-area"), {}, [], []
    areas = only.choose("area", tops.AREAS, lambda area: (area.name, area.module), arguments.only)
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        for area, result in zip(areas, pool.map(synth.synthesise, areas)):
            results.append((area, result))
            show(area, result, bench)
            now[area.name] = kept(result)
            found += worse(area.name, now[area.name], baseline.get(area.name))
    bench.show()
    if not arguments.only:
        bench.write()
        gone = sorted(set(baseline) - set(now))
        found += [f"{name}: is in {BASELINE.name} but not in tools/rtl/tops.py" for name in gone]
    if arguments.keep:
        merged = baseline | now if arguments.only else now
        BASELINE.write_text(json.dumps(merged, indent=1, sort_keys=True) + "\n")
        print(f"kept in bench/{BASELINE.name}")
        if not arguments.only:
            write_page(results)
    elif found:
        found.append("make bench-rtl-area KEEP=1 keeps these figures, if they are right")
        figures.die("comparing", "\n  ".join(["", *found]))


if __name__ == "__main__":
    main()
