# SPDX-License-Identifier: Apache-2.0
"""make check-linux-boards: checks the files in linux/boards/ with the kernel's source and with Yocto's linter.

The kernel's source is Debian's linux-source-6.12. It is unpacked in a temporary folder, because its makefiles need a path
without blanks. A check that fails ends the program with a report.
"""

import hashlib
import pathlib
import re
import shutil
import sys
import tempfile

import program

LINUX = program.ROOT / "linux/boards"
PACKAGES = program.BUILD / "linux-source" / "packages"
PYTHON_TOOLS = program.BUILD / "venv-boards" / "bin"
VERSAL = program.ROOT / "tests" / "linux" / "boards" / "versal.dts"
ARM64 = ("ARCH=arm64", "CROSS_COMPILE=aarch64-linux-gnu-")
# As in the kernel's own makefile: a fragment has the address cells of the tree into which it is merged.
DTC = ("dtc", "-Wno-avoid_unnecessary_addr_size", "-@", "-I", "dts", "-O", "dtb")
# The board in the kernel whose tree each fragment is merged into. None: the kernel has no such board.
BOARDS = {"zynqmp-xdma": "zynqmp-zcu102-rev1.0", "versal-qdma": None, "versal-cpm": None}
UNKNOWN = "/udmabuf-spate: failed to match any schema with compatible: ['ikwzm,u-dma-buf']"


class Wrong(Exception):
    pass


def package(name: str) -> pathlib.Path:
    found = sorted(PACKAGES.glob(f"{name}_*.deb"))
    if len(found) != 1:
        raise Wrong(f"{PACKAGES} has {len(found)} packages of {name}: make check-linux-boards fetches it")
    return found[0]


def unpack(folder: pathlib.Path) -> pathlib.Path:
    """Unpacks the parts of the kernel's source for Kconfig, the bindings and the boards' trees."""
    for name in ("linux-source-6.12", "linux-config-6.12"):
        program.run("dpkg-deb", "--extract", package(name), folder)
    source = folder / "usr" / "src"
    wanted = ("*/Makefile", "*/Kconfig*", "*/scripts/*", "*/arch/arm64/*", "*/include/dt-bindings/*",
              "*/include/uapi/linux/input-event-codes.h",
              "*/Documentation/devicetree/bindings/*")
    program.run("tar", "-xJf", source / "linux-source-6.12.tar.xz", "-C", folder, "--wildcards", *wanted)
    return folder / "linux-source-6.12"


def fragment() -> list[str]:
    lines = (LINUX / "kernel" / "spate.config").read_text().splitlines()
    return [line for line in lines if line and (not line.startswith("# ") or line.endswith(" is not set"))]


def check_configuration(kernel: pathlib.Path, base: pathlib.Path, name: str) -> None:
    """Checks that Kconfig keeps each line of the fragment. It drops options that are wrong or do not exist."""
    output = kernel.parent / name
    output.mkdir()
    config = output / ".config"
    make = ("make", "-C", kernel, f"O={output}", *ARM64)
    ours = shutil.copy(LINUX / "kernel" / "spate.config", output)  # merge_config.sh needs a path without blanks, too
    program.run("sh", kernel / "scripts/kconfig/merge_config.sh", "-m", "-O", output, base, ours, cwd=kernel)
    program.run(*make, "olddefconfig")
    result = set(config.read_text().splitlines())
    dropped = [line for line in fragment() if line not in result]
    if dropped:
        raise Wrong(f"spate.config in {name}: olddefconfig does not keep {', '.join(dropped)}")
    print(f"spate.config  {len(fragment())} options stay after olddefconfig, in {name}")


def compiled(kernel: pathlib.Path, board: str, folder: pathlib.Path) -> pathlib.Path:
    """The compiled device tree of a board in the kernel, or the tests' own tree."""
    target = folder / f"{board or 'versal'}.dtb"
    if board is None:
        program.run(*DTC, "-o", target, VERSAL)
        return target
    folder_of_boards = kernel / "arch/arm64/boot/dts/xilinx"
    text = program.run("cpp", "-nostdinc", "-undef", "-x", "assembler-with-cpp", "-D__DTS__", "-P", "-I", kernel / "include",
                       "-I", folder_of_boards, folder_of_boards / f"{board}.dts").stdout
    program.run(*DTC, "-o", target, "-", input=text)
    return target


def complaints(schemas: pathlib.Path, tree: pathlib.Path) -> set[str]:
    """The violations of bindings in a tree, and its nodes that no binding describes."""
    done = program.run(PYTHON_TOOLS / "dt-validate", "--show-unmatched", "--schema", schemas, tree)
    return {line.removeprefix(f"{tree}: ") for line in (done.stdout + done.stderr).splitlines()}


def merged(base: pathlib.Path, overlay: pathlib.Path, target: pathlib.Path) -> pathlib.Path:
    done = program.run(*DTC, "-i", LINUX / "devicetree", "-o", target.with_suffix(".dtbo"), overlay)
    if done.stderr:
        raise Wrong(f"dtc reports for {overlay.name}: {done.stderr}")
    program.run("fdtoverlay", "-i", base, "-o", target, target.with_suffix(".dtbo"))
    return target


def check_tree(schemas: pathlib.Path, name: str, base: pathlib.Path, folder: pathlib.Path) -> None:
    """Checks that a fragment adds no complaints to those of the board's tree, except for u-dma-buf's node."""
    overlay = LINUX / "devicetree" / f"{name}.dtso"
    tree = merged(base, overlay, folder / f"{name}.dtb")
    before = complaints(schemas, base)
    more = complaints(schemas, tree) - before
    if more != {UNKNOWN}:
        raise Wrong("\n".join([f"dt-validate reports for {name}:", *sorted(more - {UNKNOWN})]) if more - {UNKNOWN} else
                    f"dt-validate did not see the node of u-dma-buf in {name}")
    # Checks the check: dt-validate must find a property that no binding describes.
    broken = folder / "broken.dtso"
    broken.write_text(overlay.read_text() + f"\n&{{/{root_port(name)}}} {{ spate-unknown; }};\n")
    if not any("spate-unknown" in line for line in complaints(schemas, merged(base, broken, folder / "broken.dtb"))):
        raise Wrong(f"dt-validate does not check the root port of {name}")
    print(f"{name + '.dtso':18}agrees with the kernel's bindings, merged into {base.stem}")


def root_port(name: str) -> str:
    return re.search(r"pcie@[0-9a-f]+", (LINUX / "devicetree" / f"{name}.dtsi").read_text())[0]


def check_recipe() -> None:
    """The project has no home page. The linter's "info" messages are a matter of taste."""
    layer = LINUX / "yocto"
    recipe = layer / "recipes-spate" / "spate" / "spate_git.bb"
    program.run(PYTHON_TOOLS / "python", "-m", "oelint_adv", "--quiet", "--hide", "info",
                "--suppress", "oelint.var.mandatoryvar.HOMEPAGE", recipe, layer / "conf" / "layer.conf")
    licence = hashlib.md5((program.ROOT / "LICENSE").read_bytes(), usedforsecurity=False).hexdigest()
    if f"file://LICENSE;md5={licence}" not in recipe.read_text():
        raise Wrong(f"{recipe.name}: the checksum of LICENSE is {licence}")
    print(f"{recipe.name:18}oelint-adv finds nothing")


def main() -> None:
    check_recipe()
    with tempfile.TemporaryDirectory(prefix="spate-linux-") as name:
        folder = pathlib.Path(name)
        kernel = unpack(folder)
        debians = folder / "debian.config"
        debians.write_bytes(program.run("xz", "-dc", folder / "usr/src/linux-config-6.12/config.arm64_none_arm64.xz",
                                        text=False).stdout)
        check_configuration(kernel, kernel / "arch/arm64/configs/defconfig", "defconfig")
        check_configuration(kernel, debians, "debian")
        schemas = folder / "schemas.json"
        bindings = kernel / "Documentation/devicetree/bindings"
        schemas.write_text(program.run(PYTHON_TOOLS / "dt-mk-schema", "--json", bindings).stdout)
        for fragment_name, board in BOARDS.items():
            check_tree(schemas, fragment_name, compiled(kernel, board, folder), folder)


if __name__ == "__main__":
    try:
        main()
    except (Wrong, program.Failed) as error:
        sys.exit(str(error))
