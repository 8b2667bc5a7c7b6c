# SPDX-License-Identifier: Apache-2.0
"""Code and memory of the library for Cortex-A53 at -Os: per module and source, the part that a recorder links, and that part with
link-time optimisation.

With link-time optimisation the linker does not know objects any more, so the debug information says whose an instruction is: the
innermost source of the library in its chain of inlined calls. What the board's header adds counts as the library's, because the
library calls it."""

import collections
import pathlib
import re
import tempfile

import c_numbers
import compiler
import figures
import program
import qemu

FOLDER = qemu.BUILD / "qemu-virt-size"
FOLDER_LTO = qemu.BUILD / "qemu-virt-size-lto"
PORT = "ports/qemu-virt"
AIM_BYTES = 40 * 1024
AIM_OWN_BYTES = 27 * 1024
AIM_RAM_BYTES = 64 * 1024
UPCASE_SYMBOL = re.compile(r"upcase", re.I)
HEADER = f"{PORT}/spate_board.h"
# Memory of a recorder of one stream, as firmware/recorder_only has it. The region's table grows with the ring.
FOLDERS = [PORT, "ports", "ports/common", "ports/common/freestanding"]
MEMORY = {
    "host, controller and queue": "sizeof host + sizeof controller + sizeof queue + sizeof queue_slots + sizeof ring",
    "volume": "sizeof volume + sizeof blocks",
    "recorder, stream and 32 pieces": "sizeof recorder + sizeof stream + sizeof pieces",
    "queue memory: the controller": "SPATE_NVME_CONTROLLER_MEMORY_BYTES",
    "queue memory: a queue of 32 commands": "SPATE_NVME_QUEUE_MEMORY_BYTES(DEPTH, 1u)",
    "file system's blocks, 512 bytes each": "CACHE_BLOCKS * 512u",
    "window on the allocation bitmap": "BITMAP_BYTES",
}
MEMORY_APART = {"file system's blocks, 4096 bytes each": "CACHE_BLOCKS * 4096u",
                "table of the region, for each MiB of ring": "SPATE_REGION_TABLE_BYTES(64u << 20) / 64u"}


def sizes_of_objects(archive) -> dict[str, tuple[int, int, int]]:
    """text (with read-only data), data, bss by object file."""
    answer = program.run("aarch64-linux-gnu-size", "-B", archive)
    rows = {}
    for line in answer.stdout.splitlines()[1:]:
        text, data, bss, _, _, name = line.split(None, 5)
        rows[name.split(" ")[0]] = (int(text), int(data), int(bss))
    return rows


def module_of_source() -> dict[str, str]:
    """{object: module}, from the list of sources."""
    text = (qemu.ROOT / "src" / "files.txt").read_text()
    sources = re.findall(r"^src/(\w+)/(\w+)\.c$", text, re.M)
    modules = {f"{name}.c.obj": f"{module}/{name}" for module, name in sources}
    if len(modules) != len(sources):
        figures.die("telling the modules apart", "two sources of src/ have the same name, and the link map has only names")
    return modules


def linked_sections(elf) -> list[tuple[str, str, int]]:
    """Kind, name and bytes of the sections of libspate.a that the linker kept, from the link map."""
    text = (elf.parent / f"{elf.stem}.map").read_text()
    kept = text[text.index("Linker script and memory map"):]
    pattern = re.compile(r"^ \.(text|rodata|data|bss)(\S*)\s+0x[0-9a-f]+\s+0x([0-9a-f]+)\s+\S*libspate\.a\((\S+?)\)", re.M)
    return [(kind, f"{member}{symbol}", int(size, 16)) for kind, symbol, size, member in pattern.findall(kept)]


def functions(elf) -> list[tuple[int, int]]:
    """First address and bytes of each function, once for those that have several names."""
    rows = program.run("aarch64-linux-gnu-nm", "-S", elf).stdout.splitlines()
    found = {row.split()[0]: row.split()[1] for row in rows if re.match(r"\w+ \w+ [tTwW] ", row)}
    return [(int(first, 16), int(size, 16)) for first, size in found.items()]


def source_of(chain: list[str]) -> str | None:
    """The innermost file of the library in a chain of inlined calls, or else the board's header if a function is its own."""
    for file in chain:
        if re.match(r"(src|include/spate)/", file):
            return file
    return HEADER if chain == [HEADER] else None


def sources_of_instructions(elf) -> dict[str, int]:
    """Bytes by source of what link-time optimisation left of the library."""
    addresses = [at for first, size in functions(elf) for at in range(first, first + size, 4)]
    with tempfile.NamedTemporaryFile("w") as words:
        words.write("\n".join(hex(at) for at in addresses))
        words.flush()
        answer = program.run("aarch64-linux-gnu-addr2line", "-a", "-i", "-e", elf, f"@{words.name}", timeout_s=120).stdout
    chains = [[str(pathlib.Path(line.rsplit(":", 1)[0]).resolve()).removeprefix(f"{qemu.ROOT}/") for line in chain.split("\n")[1:] if line]
              for chain in re.split(r"^0x", answer, flags=re.M)[1:]]
    if len(chains) != len(addresses):
        figures.die("reading the debug information", f"{len(chains)} answers for {len(addresses)} addresses")
    sources = collections.Counter(filter(None, map(source_of, chains)))
    return {source: 4 * count for source, count in sources.items()}


def constants_of(app: str) -> int:
    """Of the library. Counted without link-time optimisation, which makes none."""
    return sum(size for kind, _, size in linked_sections(FOLDER / "firmware" / f"{app}.elf") if kind == "rodata")


def add_lto(bench: figures.Bench) -> None:
    constants = constants_of("recorder_only")
    sources = sources_of_instructions(FOLDER_LTO / "firmware" / "recorder_only.elf")
    modules: dict[str, int] = collections.Counter()
    for source, size in sources.items():
        folder = re.match(r"src/(\w+)/", source)
        modules[folder[1] if folder else "headers"] += size
    for name, size in [*sorted(sources.items()), *sorted(modules.items())]:
        bench.add(f"with link-time optimisation: {name}", size, "bytes")
    bench.add("with link-time optimisation: constants", constants, "bytes")
    bench.add("with link-time optimisation: in all", sum(modules.values()) + constants, "bytes", aim=AIM_BYTES, aim_is="max",
              peer="a bare-metal driver with FatFs", peer_value=27 * 1024)


def add_own(bench: figures.Bench) -> None:
    """firmware/recorder_own: spate_exfat_mount_own(), and no partition tables."""
    code = sum(sources_of_instructions(FOLDER_LTO / "firmware" / "recorder_own.elf").values())
    bench.add("own volumes only, with link-time optimisation: in all", code + constants_of("recorder_own"), "bytes",
              aim=AIM_OWN_BYTES, aim_is="max", peer="a bare-metal driver with FatFs", peer_value=27 * 1024)
    bench.add("own volumes only: in all", sum(size for *_, size in linked_sections(FOLDER / "firmware" / "recorder_own.elf")),
              "bytes")


def add_memory(bench: figures.Bench) -> None:
    expressions = MEMORY | MEMORY_APART
    numbers = dict(zip(expressions, c_numbers.work_out(["firmware/recorder_only/main.c"], FOLDERS, list(expressions.values()))))
    for name in MEMORY:
        bench.add(f"memory of one stream: {name}", numbers[name], "bytes")
    bench.add("memory of one stream: in all, without ring and its table", sum(numbers[name] for name in MEMORY), "bytes",
              aim=AIM_RAM_BYTES, aim_is="max")
    for name in MEMORY_APART:
        bench.add(f"memory, not in that sum: {name}", numbers[name], "bytes")


def main() -> None:
    module_of = module_of_source()
    bench = figures.Bench("size", "make bench-size", compiler.of(FOLDER, FOLDER_LTO))
    modules: dict[str, int] = collections.Counter()
    objects = sizes_of_objects(FOLDER / "libspate.a")
    for name, (text, data, bss) in objects.items():
        if name not in module_of:
            figures.die("reading the archive", f"{name} is not in src/files.txt")
        modules[module_of[name].split("/")[0]] += text + data + bss
        bench.add(f"{module_of[name]}", text + data + bss, "bytes")
    kept = linked_sections(FOLDER / "firmware" / "recorder_only.elf")
    if not kept:
        figures.die("reading the link map", "it has no sections of libspate.a")
    by_module: dict[str, int] = collections.Counter()
    by_source: dict[str, int] = collections.Counter()
    for _, symbol, size in kept:
        source = module_of[symbol.split(".c.obj")[0] + ".c.obj"]
        by_module[source.split("/")[0]] += size
        by_source[source] += size
    for module, size in sorted(modules.items()):
        bench.add(f"module {module}, all of it", size, "bytes")
    for name, size in sorted((by_source | by_module).items()):
        bench.add(f"mount, record, close: {name}", size, "bytes")
    total = sum(by_module.values())
    bench.add("mount, record, close: in all", total, "bytes")
    upcase = sum(size for _, symbol, size in kept if UPCASE_SYMBOL.search(symbol))
    bench.add("  of which the up-case table and its reader", upcase, "bytes")
    add_lto(bench)
    add_own(bench)
    add_memory(bench)
    bench.show()
    bench.write()


if __name__ == "__main__":
    main()
