# SPDX-License-Identifier: Apache-2.0
"""Code and data of the library for Cortex-A53 at -Os: per module, and the part that a recorder links."""

import collections
import re

import figures
import program
import qemu

FOLDER = qemu.BUILD / "qemu-virt-size"
AIM_BYTES = 24 * 1024
UPCASE_SYMBOL = re.compile(r"upcase", re.I)


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


def linked_symbols(elf) -> dict[str, int]:
    """Bytes by symbol of the parts of libspate.a that the linker kept, from the link map."""
    sizes: dict[str, int] = collections.Counter()
    text = (elf.parent / f"{elf.stem}.map").read_text()
    kept = text[text.index("Linker script and memory map"):]
    pattern = re.compile(r"^ \.(text|rodata|data|bss)(\S*)\s+0x[0-9a-f]+\s+0x([0-9a-f]+)\s+\S*libspate\.a\((\S+?)\)", re.M)
    for _, symbol, size, member in pattern.findall(kept):
        sizes[f"{member}{symbol}"] += int(size, 16)
    return sizes


def main() -> None:
    module_of = module_of_source()
    bench = figures.Bench("size", "make bench-size")
    modules: dict[str, int] = collections.Counter()
    objects = sizes_of_objects(FOLDER / "libspate.a")
    for name, (text, data, bss) in objects.items():
        if name not in module_of:
            figures.die("reading the archive", f"{name} is not in src/files.txt")
        modules[module_of[name].split("/")[0]] += text + data + bss
        bench.add(f"{module_of[name]}", text + data + bss, "bytes")
    kept = linked_symbols(FOLDER / "apps" / "recorder_only.elf")
    if not kept:
        figures.die("reading the link map", "it has no symbols of libspate.a")
    by_module: dict[str, int] = collections.Counter()
    by_source: dict[str, int] = collections.Counter()
    for symbol, size in kept.items():
        source = module_of[symbol.split(".c.obj")[0] + ".c.obj"]
        by_module[source.split("/")[0]] += size
        by_source[source] += size
    for module, size in sorted(modules.items()):
        bench.add(f"module {module}, all of it", size, "bytes")
    for name, size in sorted((by_source | by_module).items()):
        bench.add(f"mount, record, close: {name}", size, "bytes")
    total = sum(by_module.values())
    bench.add("mount, record, close: in all", total, "bytes", aim=AIM_BYTES, aim_is="max",
                peer="a bare-metal driver with FatFs", peer_value=27 * 1024)
    upcase = sum(size for symbol, size in kept.items() if UPCASE_SYMBOL.search(symbol))
    bench.add("  of which the up-case table and its reader", upcase, "bytes")
    bench.show()
    bench.write()


if __name__ == "__main__":
    main()
