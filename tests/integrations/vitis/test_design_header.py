# SPDX-License-Identifier: Apache-2.0
"""design_header.py on the three shapes in which the tools describe a design, and its sentences on what it cannot use."""

import re
import sys

import pytest

from conftest import ROOT, run

SCRIPT = ROOT / "integrations/vitis/design_header.py"
DESIGNS = ROOT / "tests/integrations/vitis/designs"


def make(path, port, *options):
    """{name: value} of the header. The values are text."""
    text = run(sys.executable, SCRIPT, path, "--port", port, *options).stdout
    return dict(re.findall(r"^#define (DESIGN_\w+) (\S+)$", text, re.M))


def numbers(words):
    return {name.removeprefix("DESIGN_"): int(value, 0) for name, value in words.items() if value[0].isdigit()}


def refused(path, port, *options):
    """Everything on standard error, on one line. Nothing is written to standard output."""
    failed = run(sys.executable, SCRIPT, path, "--port", port, *options, statuses=(1,))
    assert failed.stdout == ""
    return " ".join(failed.stderr.split())


@pytest.fixture
def changed(tmp_path):
    """A design with other text in it."""

    def make_file(name, *changes):
        text = (DESIGNS / name).read_text()
        for old, new in changes:
            assert old in text, old
            text = text.replace(old, new)
        path = tmp_path / name
        path.write_text(text)
        return path

    return make_file


ZYNQMP = {"BRIDGE_CONTROL": 0x500000000, "BRIDGE_WINDOW": 0xB0000000, "BRIDGE_WINDOW_BUS": 0xB0000000,
          "BRIDGE_WINDOW_BYTES": 0x1000000, "UART": 0xFF010000, "DMA": 0xA0010000, "DMA_LENGTH_BITS": 26,
          # DDR ends at 0x7ff00000. The ring is at a multiple of 2 MiB.
          "QUEUE": 0x6EE00000, "QUEUE_BYTES": 0x1000000, "RING": 0x6FE00000, "RING_BYTES": 0x10000000}


@pytest.mark.parametrize("name, last_bus, address_bits", [("zynqmp-classic.h", 1, 40), ("zynqmp-sdt.h", 255, 32), ("zynqmp.dts", 255, 40)])
def test_three_shapes_of_one_design(name, last_bus, address_bits):
    found = numbers(make(DESIGNS / name, "zynqmp"))
    wanted = ZYNQMP | {"BRIDGE_LAST_BUS": last_bus, "DMA_ADDRESS_BITS": address_bits}
    assert {key: found[key] for key in wanted} == wanted


def test_a_zynq_7000_whose_bridge_translates():
    found = numbers(make(DESIGNS / "zynq7000-classic.h", "zynq7000"))
    wanted = {"BRIDGE_CONTROL": 0x50000000, "BRIDGE_LAST_BUS": 63, "BRIDGE_WINDOW": 0x60000000, "BRIDGE_WINDOW_BUS": 0x70000000,
              "BRIDGE_WINDOW_BYTES": 0x1000000, "CPU_HZ": 666666687, "UART": 0xE0001000, "RING": 0x30000000}
    assert {key: found[key] for key in wanted} == wanted
    assert "DMA" not in found


def test_a_versal_with_two_regions():
    found = numbers(make(DESIGNS / "versal.dts", "versal"))
    wanted = {"BRIDGE_CONTROL": 0x400000000, "BRIDGE_REGISTERS": 0x420000000, "BRIDGE_REGISTERS_BYTES": 0x200000,
              "BRIDGE_WINDOW": 0xA8000000, "BRIDGE_WINDOW_BYTES": 0x8000000, "UART": 0xFF000000}
    assert {key: found[key] for key in wanted} == wanted


def test_a_cpm(changed):
    tree = changed("versal.dts", ('status = "disabled"', 'status = "okay"'))
    found = numbers(make(tree, "versal", "--bridge", "cpm_pciea"))
    assert (found["BRIDGE_CONTROL"], found["BRIDGE_REGISTERS"]) == (0x600000000, 0x600000000)
    assert "BRIDGE_REGISTERS_BYTES" not in found


def test_addresses_of_a_bus_are_translated(changed):
    """A bus that shows the processor's 0x500000000 as 0x100000000 to its devices."""
    tree = changed("zynqmp.dts", ("amba_pl: amba_pl {\n\t\tcompatible = \"simple-bus\";\n\t\t#address-cells = <0x2>;\n"
                                  "\t\t#size-cells = <0x2>;\n\t\tranges;", "amba_pl: amba_pl {\n\t\tcompatible = \"simple-bus\";\n"
                                  "\t\t#address-cells = <0x2>;\n\t\t#size-cells = <0x2>;\n"
                                  "\t\tranges = <0x1 0x0 0x5 0x0 0x0 0x20000000>, <0x0 0x10000000 0x0 0xa0000000 0x0 0x20000000>;"),
                   ("reg = <0x5 0x0", "reg = <0x1 0x0"), ("0xb0000000 0x0 0xb0000000", "0xb0000000 0x0 0x20000000"),
                   ("reg = <0x0 0xa0010000", "reg = <0x0 0x10010000"))
    found = numbers(make(tree, "zynqmp"))
    assert [found[key] for key in ("BRIDGE_CONTROL", "BRIDGE_WINDOW", "BRIDGE_WINDOW_BUS", "DMA")] == [0x500000000, 0xB0000000,
                                                                                                      0xB0000000, 0xA0010000]


def test_windows_for_io_are_none(changed):
    """An I/O range stands before that of memory."""
    tree = changed("zynqmp.dts", ("ranges = <0x2000000", "ranges = <0x1000000 0x0 0x0 0x0 0xaf000000 0x0 0x10000>, <0x2000000"))
    assert numbers(make(tree, "zynqmp"))["BRIDGE_WINDOW"] == 0xB0000000


def test_32_bit_addresses(changed):
    low = changed("zynqmp-sdt.h", ("0x500000000", "0xa8000000"), ("0x51fffffff", "0xa81fffff"))
    found = numbers(make(low, "zynqmp-r5"))
    assert (found["BRIDGE_CONTROL"], found["BRIDGE_LAST_BUS"], found["CPU_HZ"]) == (0xA8000000, 1, 1199988037)
    assert (found["RING"], found["QUEUE"]) == (0x60000000, 0x5F000000)  # multiples of their sizes: regions of the MPU


@pytest.mark.parametrize("name", ["zynqmp-classic.h", "zynqmp-sdt.h", "zynqmp.dts"])
def test_perst_by_axi_gpio(name):
    found = make(DESIGNS / name, "zynqmp", "--perst", "gpio:SLOT_GPIO:33:high")
    assert [found[f"DESIGN_PERST{key}"] for key in ("", "_PIN", "_ACTIVE_HIGH", "_AXI_GPIO")] == ["PERST_BY_AXI_GPIO", "33", "true",
                                                                                                "0xa0000000"]


def test_a_window_by_hand():
    found = numbers(make(DESIGNS / "zynqmp-sdt.h", "zynqmp", "--window", "0xB8000000:0x100000:0x80000000"))
    assert [found[f"BRIDGE_WINDOW{key}"] for key in ("", "_BYTES", "_BUS")] == [0xB8000000, 0x100000, 0x80000000]


PORTS = {"zynqmp": ("zynqmp-classic.h", "aarch64-linux-gnu-gcc", ()),
         "versal": ("versal.dts", "aarch64-linux-gnu-gcc", ()),
         "zynq7000": ("zynq7000-classic.h", "arm-linux-gnueabihf-gcc", ("zynq7000/machine.c",))}


@pytest.mark.parametrize("port", PORTS)
def test_the_ports_compile_with_it(port, tmp_path):
    name, compiler, sources = PORTS[port]
    run(sys.executable, SCRIPT, DESIGNS / name, "--port", port, "-o", tmp_path / "design.h")
    for source in ("common/xilinx/board.c", "common/xilinx/layout.c", *sources):
        run(compiler, "-c", "-ffreestanding", *(["-marm", "-mcpu=cortex-a9", "-mfpu=vfpv3"] if "arm-" in compiler else []), "-Wall",
            "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", f"-I{tmp_path}",
            *(f"-I{ROOT / folder}" for folder in ("include", "ports", "ports/common", "ports/common/freestanding", f"ports/{port}")),
            ROOT / "ports" / source, "-o", tmp_path / "a.o")


# ---- what it cannot use ----

NO_BRIDGE = ("has no PCIe bridge", "address editor", "ports/zynqmp/design.h")
TWO = ('#define XPAR_XDMA_0_COMPATIBLE "xlnx,xdma-host-3.00"', '#define XPAR_XDMA_0_COMPATIBLE "xlnx,xdma-host-3.00"\n'
       '#define XPAR_XDMA_1_COMPATIBLE "xlnx,xdma-host-3.00"\n#define XPAR_XDMA_1_BASEADDR 0x600000000')
# File, its changes, the port, what the sentence has to have: what is wrong, and what to do.
UNUSABLE = {
    "no bridge, classic": ("zynqmp-classic.h", [("XDMA", "OTHER"), ("INCLUDE_BAROFFSET", "OTHER")], "zynqmp", NO_BRIDGE),
    "no bridge, newer": ("zynqmp-sdt.h", [("xdma-host-3.00", "other"), ("XDMA", "OTHER"), ("INCLUDE_BAROFFSET", "OTHER")],
                         "zynqmp", NO_BRIDGE),
    "no bridge, tree": ("zynqmp.dts", [("xlnx,xdma-host-3.00", "xlnx,other")], "zynqmp", NO_BRIDGE),
    "disabled": ("zynqmp.dts", [('status = "okay";\n\t\t\tdevice_type', 'status = "disabled";\n\t\t\tdevice_type')], "zynqmp", NO_BRIDGE),
    "two bridges": ("zynqmp-sdt.h", [TWO], "zynqmp", ("There are 2 bridges", "XDMA_0, XDMA_1", "--bridge XDMA_0")),
    "endpoint, classic": ("zynqmp-classic.h", [("PORT_TYPE 1", "PORT_TYPE 0")], "zynqmp", ("is an endpoint", "Root Port")),
    "endpoint, newer": ("zynqmp-sdt.h", [("PORT_TYPE 0x1", "PORT_TYPE 0x0")], "zynqmp", ("is an endpoint", "Root Port")),
    "endpoint, tree": ("zynqmp.dts", [("device-port-type = <0x1>", "device-port-type = <0x0>")], "zynqmp", ("is an endpoint",)),
    "other processor": ("zynqmp-classic.h", [], "zynq7000", ("is of a zynqmp, not of a zynq7000", "--port")),
    "other processor, tree": ("versal.dts", [], "zynqmp", ("is of a versal, not of a zynqmp", "--port")),
    "control above 4 GiB": ("zynqmp-sdt.h", [], "zynqmp-r5", ("control interface of XDMA_0", "above 4 GiB", "0xA0000000")),
    "window above 4 GiB": ("zynqmp.dts", [("reg = <0x5 0x0 0x0 0x20000000>", "reg = <0x0 0xa8000000 0x0 0x200000>"),
                                          ("0xb0000000 0x0 0xb0000000", "0xb0000000 0x6 0x0")], "zynqmp-r5",
                           ("window of xdma_0", "above 4 GiB", "M_AXI_HPM0_FPD")),
    "small control": ("zynq7000-classic.h", [("0x53FFFFFF", "0x5000007F")], "zynq7000",
                      ("has 0x80 bytes", "2 MiB", "--last-bus 1")),
    "odd control": ("zynqmp-sdt.h", [("0x500000000", "0x500010000")], "zynqmp", ("no multiple of 1 MiB", "address editor")),
    "no window": ("zynqmp-sdt.h", [("RANGES_", "OTHER_")], "zynqmp", ("does not say which window", "--window ADDRESS:BYTES")),
    "translated window without its base": ("zynqmp-classic.h", [("AXIBAR2PCIEBAR_0 0x00000000B0000000", "AXIBAR2PCIEBAR_0 0x80000000")],
                                           "zynqmp", ("only its address on the bus", "--window ADDRESS:BYTES:BUS_ADDRESS")),
    "window above 4 GiB on the bus": ("zynqmp.dts", [("0x2000000 0x0 0xb0000000", "0x3000000 0x6 0xb0000000")], "zynqmp",
                                      ("on the bus above 4 GiB", "translation")),
    "small window": ("zynqmp-sdt.h", [("0xb0ffffff", "0xb0001fff")], "zynqmp", ("smaller than 16 KiB", "Enlarge")),
    "Versal translates": ("versal.dts", [("0xa8000000 0x0 0xa8000000", "0xa8000000 0x0 0xb8000000")], "versal",
                          ("Versal's bridges do not translate", "make both equal")),
    "Versal without registers": ("versal.dts", [('reg-names = "cfg", "breg"', 'reg-names = "cfg", "other"')], "versal",
                                 ("S_AXI_LITE_CSR", "--registers")),
    "two DMAs": ("zynqmp-classic.h", [("PLAYBACK_DMA_INCLUDE_S2MM 0", "PLAYBACK_DMA_INCLUDE_S2MM 1")], "zynqmp",
                 ("There are 2 recording AXI DMAs", "PLAYBACK_DMA, SENSOR_DMA", "--dma")),
    "DMA without scatter-gather": ("zynqmp.dts", [("xlnx,include-sg;", "")], "zynqmp", ("no scatter-gather", "--dma none")),
    "short DMA": ("zynqmp-sdt.h", [("LENGTH_WIDTH 0x1a", "LENGTH_WIDTH 0xe")], "zynqmp", ("14 bits", "16383", "26")),
    "no DDR": ("zynqmp-sdt.h", [("XPAR_PSU_DDR_0_", "XPAR_PSU_OTHER_0_")], "zynqmp", ("no DDR below 4 GiB",)),
    "DDR above 4 GiB, and on-chip memory": ("zynqmp.dts", [("reg = <0x0 0x0 0x0 0x7ff00000 0x8", "reg = <0x8")], "zynqmp",
                                            ("no DDR below 4 GiB",)),
    "little DDR": ("zynqmp-sdt.h", [("0x7fefffff", "0x0fffffff")], "zynqmp", ("256 MiB", "--ring-mib 64")),
    "no clock": ("zynq7000-classic.h", [("CPU_CLK_FREQ_HZ", "OTHER")], "zynq7000", ("processor's clock",)),
    "includes": ("zynqmp.dts", [("/dts-v1/;", '/dts-v1/;\n#include "pl.dtsi"')], "zynqmp", ("includes other files", "cpp", "hw_artifacts")),
    "no tree": ("zynqmp.dts", [("/dts-v1/;", "dts")], "zynqmp", ("no device tree in text form",)),
    "no xparameters.h": ("zynqmp-sdt.h", [("XPAR_", "OTHER_")], "zynqmp", ("defines no XPAR_ name", "device tree")),
}


@pytest.mark.parametrize("case", UNUSABLE)
def test_it_says_what_is_wrong_and_what_to_do(case, changed):
    name, changes, port, wanted = UNUSABLE[case]
    said = refused(changed(name, *changes), port)
    assert said.startswith("design_header: ") and "Traceback" not in said
    assert [words for words in wanted if words not in said] == [], said


def test_a_bridge_that_is_not_there_is_named():
    assert "There is no bridge XDMA_7. The file has: XDMA_0." in refused(DESIGNS / "zynqmp-sdt.h", "zynqmp", "--bridge", "XDMA_7")
    assert "No such file" in refused(DESIGNS / "nowhere.h", "zynqmp")


def test_one_of_two_bridges(changed):
    two = changed("zynqmp-sdt.h", TWO)
    found = numbers(make(two, "zynqmp", "--bridge", "xdma_1", "--window", "0xB8000000:0x100000"))
    assert (found["BRIDGE_CONTROL"], found["BRIDGE_WINDOW_BUS"]) == (0x600000000, 0xB8000000)
