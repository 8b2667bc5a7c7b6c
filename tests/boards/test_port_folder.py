# SPDX-License-Identifier: Apache-2.0
"""A board's folder outside the repository, with exactly what docs/use/porting.md lists: the applications link."""

import dataclasses
import json
import os
import re
import shutil

import pytest
import qemu

from conftest import ROOT, run

PAGE = (ROOT / "docs/use/porting.md").read_text()

# A definition of each name in the page's list. The programs are not run, because memory and registers belong to no board.
SUPPLIED = {
    "board_layout": "const struct board_layout board_layout = {.ring = {(void *)0x50000000, 0x10000000}};",
    "map_ranges": "#include <map.h>\nconst struct map_range map_ranges[] = {{0x50000000, 0x10000000, MAP_NOT_CACHED}, {0}};",
    "board_pcie_open": """enum spate_error board_pcie_open(struct spate_pcie_host *host, uint64_t *perst_released_ticks) {
  static const struct spate_pcie_ecam_config config = {.config_base = 0x3f000000};
  *perst_released_ticks = 0;
  return spate_pcie_ecam_open(host, &config);
}""",
    "board_start": "void board_start(void);\nvoid board_start(void) { board_exit(app_main()); }",
    "board_name": 'const char *board_name(void) { return "a board"; }',
    "board_write": "void board_write(const char *text, size_t bytes) { (void)text, (void)bytes; }",
    "board_now": "void board_now(void *context, struct spate_exfat_time *time) { (void)context, (void)time; }",
    "board_exit": "void board_exit(int status) { (void)status; for (;;) { } }",
    "board_absent_register": "uintptr_t board_absent_register(void) { return 0x1000; }",
    "board_host_open": "int board_host_open(const char *path) { return (void)path, -1; }",
    "board_host_size": "int64_t board_host_size(int file) { return (void)file, -1; }",
    "board_host_read": "int64_t board_host_read(int file, void *to, size_t bytes) { return (void)file, (void)to, (void)bytes, -1; }",
    "board_host_close": "void board_host_close(int file) { (void)file; }",
}


def presets():
    return {board["name"]: board for board in json.loads((ROOT / "ports/boards.json").read_text())["configurePresets"]}


def test_only_the_list_names_the_boards():
    """A new board needs no change in what starts, tests or measures the boards. The default board may be named, and a
    command for one family of devices may name its boards."""
    boards = set(presets())
    own = ("#", "lint-c:", "\t@$(call clang-tidy", "ELF ?=", "boot-image:", "bench-ocm:")
    starting = [path for path in (ROOT / "tools").glob("*.py") if "import qemu" in path.read_text()]
    for file in [ROOT / "Makefile", ROOT / "tests/boards/qemu/test_boards.py", ROOT / "tools/qemu.py", *starting]:
        lines = [line for line in file.read_text().splitlines() if not line.startswith(own)]
        assert not (boards - {"board", "qemu-virt", "qemu-virt-size", "qemu-virt-size-lto"}) & set(re.findall(r"[\w-]+", "\n".join(lines))), file


def test_the_pages_entry_in_the_list_is_complete():
    configure, build = (json.loads(block) for block in re.findall(r"^```json\n(.*?)^```", PAGE, re.M | re.S))
    board = presets()["qemu-riscv"]
    assert configure.keys() == board.keys() - {"displayName", "vendor"}
    assert (configure["inherits"], configure["toolchainFile"]) == (board["inherits"], board["toolchainFile"])
    assert build == {"name": configure["name"], "configurePreset": configure["name"]}
    rows = re.search(r"^\| field \| what \|\n\|---\|---\|\n(.*?)\n\n", PAGE, re.M | re.S)[1].splitlines()
    named = [name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])]
    assert sorted(named) == sorted(field.name for field in dataclasses.fields(qemu.Board))


def test_the_names_that_a_board_may_or_must_define_are_on_the_page():
    """Those of machine.h, those of design.h (the page, or the example that it names), and all weak functions."""
    common = {path: path.read_text() for path in (ROOT / "ports/common").rglob("*.[chS]")}
    used = set(re.findall(r"\b(?:MACHINE|DESIGN)_\w+", "\n".join(
        text for path, text in common.items() if path.parent.name in ("aarch64", "armv7", "armv7r", "riscv64", "xilinx"))))
    rows = re.findall(r"^\|(?: `[a-z]\w*` \|)? (`[MD][A-Z]+_.*?) \|", PAGE, re.M)  # by processor, or of all
    named = set(re.findall(r"`((?:MACHINE|DESIGN)_\w+)`", "\n".join(rows)))
    example = set(re.findall(r"#define (DESIGN_\w+)", (ROOT / "ports/zynqmp/design.h").read_text()))
    assert {"MACHINE_SCU", "MACHINE_COUNTER", "DESIGN_BRIDGE_REGISTERS"} <= named
    assert used == named | example
    weak = set(re.findall(r"^__attribute__\(\(weak\)\) [\w ]+?\*?(\w+)\(", "\n".join(common.values()), re.M))
    assert {"board_ltssm", "machine_start", "pl310_board"} <= weak
    assert {name for name in weak if f"`{name}()`" not in PAGE} == set()


@pytest.mark.parametrize("started, maintained, refused", [
    ("0xF8F02000", "0xF8F02000u", None), (None, None, None), ("0xF8F02000", None, "has two names"),
    (None, "0xF8F02000u", "has two names"), ("0xF8F02000", "0xF8F00000u", "name one outer cache")])
def test_an_outer_cache_that_is_only_started_or_only_maintained_is_refused(started, maintained, refused, tmp_path):
    """No emulator would show it."""
    latencies = "#define MACHINE_PL310_TAG_LATENCY 0x111\n#define MACHINE_PL310_DATA_LATENCY 0x121\n"
    (tmp_path / "machine.h").write_text(latencies + (f"#define MACHINE_PL310 {started}\n" if started else ""))
    header = (ROOT / "ports/qemu-virt-a15/spate_board.h").read_text()
    (tmp_path / "spate_board.h").write_text((f"#define SPATE_PORT_PL310 {maintained}\n" if maintained else "") + header)
    common = [f"-I{folder}" for folder in (tmp_path, ROOT / "include", ROOT / "ports/common/freestanding")]
    result = run("arm-linux-gnueabihf-gcc", "-mcpu=cortex-a9", "-marm", "-mfloat-abi=hard", "-mfpu=vfpv3-d16", "-ffreestanding",
                 "-fsyntax-only", *common, ROOT / "ports/common/armv7/pl310.c", statuses=(1,) if refused else (0,))
    assert not refused or refused in result.stderr


def listed():
    """The names in the page's table, and the line of its CMakeLists.txt."""
    rows = PAGE[PAGE.index("### What `board.c` supplies"):PAGE.index("### What `start.S`")].splitlines()
    names = [name for row in rows if row.startswith("| `") for name in re.findall(r"`(\w+)`", row.split("|")[1])]
    return names, re.search(r"^\| `CMakeLists.txt` \| `([^`]*)` \|", PAGE, re.M)[1]


@pytest.fixture
def folder(tmp_path):
    """Everything that the page requires. The port's header and the linker script are copied from another board."""
    board = tmp_path / "my-board"
    board.mkdir()
    for name in ("spate_board.h", "link.ld"):
        shutil.copy(ROOT / "ports/qemu-virt" / name, board)
    (board / "board.c").write_text("#include <bare.h>\n\n" + "\n".join(SUPPLIED.values()) + "\n")
    (board / "CMakeLists.txt").write_text(listed()[1] + "\n")
    return board


def build(folder):
    """The linked applications, without inlining, so that every function is a symbol."""
    result = folder.parent / "build"
    run("cmake", "-G", "Ninja", "-S", ROOT, "-B", result, f"-DCMAKE_TOOLCHAIN_FILE={ROOT}/cmake/aarch64.cmake",
        f"-DSPATE_PORT_DIR={folder}", "-DCMAKE_BUILD_TYPE=Release", env=os.environ | {"CFLAGS": "-fno-inline"})
    run("cmake", "--build", result, "-j", "2")
    return sorted((result / "firmware").glob("*.elf"))


def symbols(programs):
    return {line.split()[-1] for line in run("aarch64-linux-gnu-nm", "--defined-only", *programs).stdout.splitlines()
            if line and not line.endswith(":")}


def test_the_list_is_what_a_board_supplies(folder):
    """No name is missing: the applications link. None is superfluous: the linker drops none."""
    assert sorted(listed()[0]) == sorted(SUPPLIED)
    programs = build(folder)
    assert {"demo.elf", "hello.elf", "recorder_only.elf"} <= {program.name for program in programs}
    assert not set(SUPPLIED) - symbols(programs)


def test_a_board_has_its_own_random_numbers_and_log(folder):
    """A board may define the log in its header or in board.c."""
    source = folder / "board.c"
    source.write_text(source.read_text() + "__attribute__((noipa)) uint64_t my_generator(void);\nuint64_t my_generator(void) { return 4; }\n"
                      "uint64_t board_random(void) { return my_generator(); }\n")
    header = folder / "spate_board.h"
    include = "#include <spate/port/same_address.h>"
    assert include in header.read_text()
    header.write_text(header.read_text().replace(
        include, f"static inline void spate_port_log(const char *text, uint64_t value) {{ (void)text, (void)value; }}\n{include}"))
    present = symbols(build(folder))
    assert "my_generator" in present
    assert "spate_port_log" not in present


def test_link_time_optimisation_where_the_compilers_path_has_a_blank(tmp_path):
    """GCC starts make for the parts of a program, and make divides the compiler's path at the blank."""
    programs = tmp_path / "my programs"
    programs.mkdir()
    (programs / "aarch64-linux-gnu-gcc").symlink_to(shutil.which("aarch64-linux-gnu-gcc"))
    run("cmake", "-G", "Ninja", "-S", ROOT, "-B", tmp_path / "build", f"-DCMAKE_TOOLCHAIN_FILE={ROOT}/cmake/aarch64.cmake",
        f"-DSPATE_PORT_DIR={ROOT}/ports/qemu-virt", "-DCMAKE_BUILD_TYPE=MinSizeRel", "-DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON",
        env=os.environ | {"PATH": f"{programs}:{os.environ['PATH']}"})
    run("cmake", "--build", tmp_path / "build", "-j", "2", "--target", "hello")
