# SPDX-License-Identifier: Apache-2.0
"""What the firmware of ports/zynqmp/ocm takes of the 256 KiB of on-chip memory, part by part."""

import re

import c_numbers
import compiler
import figures
import program
import qemu

BUILD = qemu.BUILD / "zynqmp-ocm"
OCM_BYTES = 256 * 1024
SECTIONS = {"stack of the program and of the fault handler": [".stacks"], "code": [".text"], "constants": [".rodata"],
            "variables": [".data", ".bss"], "page tables of the processor": [".tables"]}
FOLDERS = ["ports/zynqmp/ocm", "ports/zynqmp", "ports", "ports/common", "ports/common/freestanding"]
NUMBERS = ["SPATE_NVME_CONTROLLER_MEMORY_BYTES", "SPATE_NVME_QUEUE_MEMORY_BYTES(DEPTH, 1u)",
           "SPATE_REGION_TABLE_BYTES(DESIGN_RING_BYTES)", "DESIGN_QUEUE_BYTES", "DESIGN_RING_BYTES", "CACHE_BLOCKS * 512u",
           "CACHE_BLOCKS * 4096u", "BITMAP_BYTES"]


def sections(elf) -> dict[str, int]:
    answer = program.run("aarch64-linux-gnu-size", "-A", elf).stdout
    return {name: int(number) for name, number in re.findall(r"^(\.\w+)\s+(\d+)", answer, re.M)}


def main() -> None:
    bench = figures.Bench("ocm", "make bench-ocm", compiler.of(BUILD, qemu.BUILD / "zynqmp"))
    of_section = sections(BUILD / "firmware" / "recorder_only.elf")
    controller, queue, table, queue_memory, ring, cache_512, cache_4096, bitmap = c_numbers.work_out(
        ["firmware/recorder_only/main.c", "ports/zynqmp/ocm/design.h"], FOLDERS, NUMBERS)
    if of_section.get(".queue") != queue_memory or controller + queue + table > queue_memory:
        figures.die("adding up the queue memory", f"{controller} + {queue} + {table} bytes in {of_section.get('.queue')}")

    for name, parts in SECTIONS.items():
        bench.add(name, sum(of_section[part] for part in parts), "bytes")
    bench.add("queue memory: the controller", controller, "bytes")
    bench.add("queue memory: a queue of 32 commands", queue, "bytes")
    bench.add(f"queue memory: the table of a ring of {ring >> 20} MiB", table, "bytes")
    bench.add("window on the allocation bitmap", bitmap, "bytes")
    bench.add("file system's blocks, 512 bytes each", cache_512, "bytes")
    bench.add("file system's blocks, 4096 bytes each", cache_4096, "bytes")

    image = sum(of_section[part] for parts in SECTIONS.values() for part in parts)
    everything = image + queue_memory + bitmap + cache_512
    bench.add("recorder_only with all of this, blocks of 512 bytes", everything, "bytes", aim=OCM_BYTES, aim_is="max")
    bench.add("the same, blocks of 4096 bytes", everything - cache_512 + cache_4096, "bytes", aim=OCM_BYTES, aim_is="max")

    checked = sections(BUILD / "firmware" / "recorder_checked.elf")
    with_doctor = sum(checked[part] for parts in SECTIONS.values() for part in parts) + queue_memory + bitmap + cache_512
    bench.add("recorder_checked (recorder and doctor) with all of this, blocks of 512 bytes", with_doctor, "bytes",
              aim=OCM_BYTES, aim_is="max")

    checked = sections(qemu.BUILD / "zynqmp" / "firmware" / "recorder_checked.elf")
    with_doctor = sum(checked[part] for parts in SECTIONS.values() for part in parts) + bitmap + cache_512
    bench.add("recorder_checked, queue memory in DDR, blocks of 512 bytes", with_doctor, "bytes",
              aim=OCM_BYTES, aim_is="max")
    bench.show()
    bench.write()


if __name__ == "__main__":
    main()
