# SPDX-License-Identifier: Apache-2.0
"""design_header.py on the three shapes in which the tools describe a design, and its sentences on what it cannot use."""

import re
import sys

import pytest

from conftest import ROOT, run

pytestmark = pytest.mark.thorough

SCRIPT = ROOT / "integrations/vitis/design_header.py"
DESIGNS = ROOT / "tests/integrations/vitis/designs"


def make(path, port, *options):
    """{name: value} of the header. The values are text."""
    text = run(sys.executable, SCRIPT, path, "--port", port, *options).stdout
    return dict(re.findall(r"^#define (DESIGN_\w+) (\S+)$", text, re.M))


def numbers(words):
    return {name.removeprefix("DESIGN_"): int(value, 0) for name, value in words.items() if value[0].isdigit()}


def refused(path, port, *options):
    """Everything on standard error: one line. Nothing is written to standard output."""
    failed = run(sys.executable, SCRIPT, path, "--port", port, *options, statuses=(1, 2))
    assert failed.stdout == ""
    assert failed.stderr.startswith("design_header: ") and failed.stderr.count("\n") == 1, failed.stderr
    return failed.stderr.strip()


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


def test_a_cpm5_has_registers_apart(changed):
    tree = changed("versal.dts", ('status = "disabled"', 'status = "okay"'), ("versal-cpm-host-1.00", "versal-cpm5-host"),
                   ("0x6 0x0 0x0 0x10000000>", "0x6 0x0 0x0 0x10000000 0x0 0xfce20000 0x0 0x1000000>"),
                   ('"cpm_slcr", "cfg"', '"cpm_slcr", "cfg", "cpm_csr"'))
    found = numbers(make(tree, "versal", "--bridge", "cpm_pciea"))
    assert (found["BRIDGE_CONTROL"], found["BRIDGE_REGISTERS"]) == (0x600000000, 0xFCE20000)
    assert "BRIDGE_REGISTERS_BYTES" not in found


# XPAR_…_CSR_SLCR is a default of the QDMA. A CPM is where it says.
def test_registers_of_a_qdma_come_from_the_address_editor():
    qdma = DESIGNS / "versal-sdt.h"
    for options in [(), ("--registers", "0x420000000")]:
        said = refused(qdma, "versal", *options)
        for words in ("QDMA_0", "S_AXI_LITE_CSR", "address editor", "--registers ADDRESS:BYTES"):
            assert words in said
    found = numbers(make(qdma, "versal", "--registers", "0x420000000:0x200000"))
    assert (found["BRIDGE_REGISTERS"], found["BRIDGE_REGISTERS_BYTES"]) == (0x420000000, 0x200000)


def test_registers_of_a_cpm_in_a_header(changed):
    cpm = changed("versal-sdt.h", ("qdma-host-3.00", "versal-cpm5-host"), ("QDMA_0", "CPM5_PCIE0"), ("0x90000000", "0xfce20000"))
    found = numbers(make(cpm, "versal"))
    assert found["BRIDGE_REGISTERS"] == 0xFCE20000 and "BRIDGE_REGISTERS_BYTES" not in found
    assert numbers(make(cpm, "versal", "--registers", "0xfcea0000"))["BRIDGE_REGISTERS"] == 0xFCEA0000
    none = changed("versal-sdt.h", ("qdma-host-3.00", "versal-cpm5-host"), ("QDMA_0", "CPM5_PCIE0"), ("CSR_SLCR", "OTHER"))
    assert "--registers ADDRESS" in refused(none, "versal")


# What both forms say of a Versal: the memory that is below 4 GiB.
@pytest.mark.parametrize("name, options", [("versal.dts", ()), ("versal-sdt.h", ("--registers", "0x420000000:0x200000"))])
def test_the_memory_of_a_versal(name, options):
    found = numbers(make(DESIGNS / name, "versal", *options))
    wanted = {"MEMORY": 0x6E000000, "QUEUE": 0x6F000000, "RING": 0x70000000, "RING_BYTES": 0x10000000, "PAGE_TABLES": 9}
    assert {key: found[key] for key in wanted} == wanted
    assert "CPU_HZ" not in found


def test_the_largest_memory_below_4_gib(changed):
    two = changed("versal-sdt.h", ("0x800000000", "0x80000000"), ("0x97fffffff", "0x9fffffff"))
    assert numbers(make(two, "versal", "--registers", "0x420000000:0x200000"))["RING"] == 0x70000000


@pytest.mark.parametrize("names", ["XPAR_VERSAL_CIPS_0_PSPMC_0_PSV_APU_0_BASEADDR", "XPAR_PSV_APU_0_BASEADDR"])
def test_a_versal_is_known_by_its_names(names, changed):
    assert "is of a versal, not of a zynqmp" in refused(
        changed("versal-sdt.h", ("XPAR_VERSAL_CIPS_0_PSPMC_0_PSV_APU_0_BASEADDR", names)), "zynqmp")


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


# What the BSP of a Cortex-R5F has in the place of a Cortex-A53's: its clock, and its interrupt controller.
R5_BSP = [("1199988037", "499995059"), ("0xf9010000", "0xf9000000")]
# The same in the classic shape, whose names say the processor.
R5_CLASSIC = [("CORTEXA53_0", "CORTEXR5_0"), ("1199988037", "499995059")]
LOW = [("0x500000000", "0xa8000000"), ("0x51fffffff", "0xa81fffff")]
LOW_CLASSIC = [("0x0000000500000000", "0x00000000A8000000")]
LOW_TREE = [("reg = <0x5 0x0 0x0 0x20000000>", "reg = <0x0 0xa8000000 0x0 0x200000>")]


@pytest.mark.parametrize("name, changes", [("zynqmp-sdt.h", LOW + R5_BSP), ("zynqmp-classic.h", LOW_CLASSIC + R5_CLASSIC),
                                           ("zynqmp.dts", LOW_TREE)])
def test_32_bit_addresses(name, changes, changed):
    low = changed(name, *changes)
    found = numbers(make(low, "zynqmp-r5"))
    assert (found["BRIDGE_CONTROL"], found["BRIDGE_LAST_BUS"], found["CPU_HZ"]) == (0xA8000000, 1, 499995059)
    assert (found["RING"], found["QUEUE"]) == (0x60000000, 0x5F000000)  # multiples of their sizes: regions of the MPU


def test_a_file_of_both_processors(changed):
    """Its own clock for each, whichever stands first."""
    both = changed("zynqmp-classic.h", *LOW_CLASSIC,
                   ("#define STDIN", "#define XPAR_CPU_CORTEXR5_0_CPU_CLK_FREQ_HZ 499995059\n#define STDIN"))
    assert numbers(make(both, "zynqmp-r5"))["CPU_HZ"] == 499995059
    two = changed("zynqmp.dts", *LOW_TREE, ("0x1dcd51b3", "0x1dcd6500"))
    assert numbers(make(two, "zynqmp-r5"))["CPU_HZ"] == 500000000


# A Cortex-R5F does not run at 1.2 GHz, and its BSP names its own interrupt controller.
@pytest.mark.parametrize("name, changes", [("zynqmp-sdt.h", LOW), ("zynqmp-classic.h", LOW_CLASSIC),
                                           ("zynqmp-sdt.h", [*LOW, ("INTERRUPT_PARENT", "OTHER")]),
                                           ("zynqmp-sdt.h", [*LOW, ("1199988037", "599994019")]),
                                           ("zynqmp.dts", [*LOW_TREE, ("arm,cortex-r5", "arm,other")])])
def test_the_file_of_another_processor(name, changes, changed):
    said = refused(changed(name, *changes), "zynqmp-r5")
    assert "is for Cortex-A53, not for Cortex-R5. Give xparameters.h of this processor's BSP" in said


def test_a_header_that_does_not_say_its_processor(changed):
    """No controller, and a clock that either may have."""
    assert numbers(make(changed("zynqmp-sdt.h", *LOW, *R5_BSP, ("INTERRUPT_PARENT", "OTHER")), "zynqmp-r5"))["CPU_HZ"] == 499995059


def test_the_clock_of_a_zynq_7000(changed):
    newer = changed("zynq7000-classic.h", ("PS7_CORTEXA9_0_CPU_CLK", "OTHER"), ("CPU_CORTEXA9_0_CPU_CLK", "CPU_CORE_CLOCK"))
    assert numbers(make(newer, "zynq7000"))["CPU_HZ"] == 666666687


# ---- is it a root port? ----

ROOT_PORT, ENDPOINT = "Root_Port_of_PCI_Express_Root_Complex", "PCI_Express_Endpoint_device"
TREE = "xlnx,device-port-type = <0x1>;\n\t\t\txlnx,port-type = <0x1>"
# Changes of a file, and what they make of the bridge: True, False, or None where the file does not say.
PORT_TYPES = {
    "word, classic": ("zynqmp-classic.h", [("PORT_TYPE 1", f"PORT_TYPE {ROOT_PORT}")], True),
    "word of an endpoint, classic": ("zynqmp-classic.h", [("PORT_TYPE 1", f"PORT_TYPE {ENDPOINT}")], False),
    "string, newer": ("zynqmp-sdt.h", [("PORT_TYPE 0x1", f'DEVICE_PORT_TYPE "{ROOT_PORT}"')], True),
    "string of an endpoint, newer": ("zynqmp-sdt.h", [("PORT_TYPE 0x1", f'DEVICE_PORT_TYPE "{ENDPOINT}"')], False),
    "string, tree": ("zynqmp.dts", [(TREE, f'xlnx,device-port-type = "{ROOT_PORT}"')], True),
    "string of an endpoint, tree": ("zynqmp.dts", [(TREE, f'xlnx,device-port-type = "{ENDPOINT}"')], False),
    "string of an endpoint, tree, underscores": ("zynqmp.dts", [(TREE, f'xlnx,device_port_type = "Legacy_{ENDPOINT}"')], False),
    "Gen3, tree": ("zynqmp.dts", [(TREE, "xlnx,dev-port-type = <0x2>")], True),
    "endpoint of Gen3, tree": ("zynqmp.dts", [(TREE, "xlnx,dev-port-type = <0x0>")], False),
    "another number of Gen3, tree": ("zynqmp.dts", [(TREE, "xlnx,dev-port-type = <0x1>")], None),
    "nothing, tree": ("zynqmp.dts", [(TREE, "xlnx,other = <0x1>")], None),
    "no driver, newer": ("zynqmp-sdt.h", [("PORT_TYPE", "OTHER")], None),
    # The BSP's driver asks for port-type, which AXI PCIe Gen3 does not have: the tools write 0.
    "Gen3, newer": ("zynqmp-sdt.h", [("xlnx,xdma-host-3.00", "xlnx,axi-pcie3-3.0"), ("PORT_TYPE 0x1", "PORT_TYPE 0x0")], None),
    "Gen3 with a better driver, newer": ("zynqmp-sdt.h", [("xlnx,xdma-host-3.00", "xlnx,axi-pcie3-3.0"),
                                                          ("PORT_TYPE 0x1", "DEV_PORT_TYPE 0x0")], False),
}


@pytest.mark.parametrize("case", PORT_TYPES)
def test_endpoints_are_told_from_root_ports(case, changed):
    name, changes, root_port = PORT_TYPES[case]
    path = changed(name, *changes)
    if root_port is False:
        assert "is an endpoint" in refused(path, "zynqmp")
        return
    text = " ".join(run(sys.executable, SCRIPT, path, "--port", "zynqmp").stdout.split())
    assert ("whether it is a root port: look at its port type in Vivado" in text.replace(" * ", " ")) == (root_port is None)


@pytest.mark.parametrize("compatible", ["xlnx,axi-pcie-host-1.00.a", "xlnx,axi-pcie-2.9", "xlnx,axi-pcie3-3.0"])
@pytest.mark.parametrize("name, old", [("zynqmp-sdt.h", "xlnx,xdma-host-3.00"), ("zynqmp.dts", 'xlnx,xdma-4.2", "xlnx,xdma-host-3.00')])
def test_axi_pcie_by_its_own_name(name, old, compatible, changed):
    others = [("XDMA_0", "SLOT"), ("INCLUDE_BAROFFSET_REG", "OTHER")] if name.endswith(".h") else []  # nothing else to know it by
    assert numbers(make(changed(name, (old, compatible), *others), "zynqmp"))["BRIDGE_CONTROL"] == 0x500000000


@pytest.mark.parametrize("name", ["zynqmp-classic.h", "zynqmp-sdt.h", "zynqmp.dts"])
def test_perst_by_axi_gpio(name):
    found = make(DESIGNS / name, "zynqmp", "--perst", "gpio:SLOT_GPIO:33:high")
    assert [found[f"DESIGN_PERST{key}"] for key in ("", "_PIN", "_ACTIVE_HIGH", "_AXI_GPIO")] == ["PERST_BY_AXI_GPIO", "33", "true",
                                                                                                "0xa0000000"]


# Each option changes what it is for.
@pytest.mark.parametrize("name, port, options, wanted", [
    ("versal.dts", "versal", ("--registers", "0x430000000:0x100000"),
     {"BRIDGE_REGISTERS": 0x430000000, "BRIDGE_REGISTERS_BYTES": 0x100000}),
    ("zynqmp.dts", "zynqmp", ("--dma", "none"), {"DMA": None, "DMA_LENGTH_BITS": None, "DMA_ADDRESS_BITS": None}),
    ("zynqmp.dts", "zynqmp", ("--dma", "SENSOR_DMA"), {"DMA": 0xA0010000}),
    ("zynqmp.dts", "zynqmp", ("--ring-mib", "64"), {"RING": 0x7BE00000, "RING_BYTES": 0x4000000, "QUEUE": 0x7AE00000}),
    ("zynqmp.dts", "zynqmp", ("--ring-mib", "2"), {"RING": 0x7FC00000, "RING_BYTES": 0x200000}),
    ("zynqmp.dts", "zynqmp", ("--last-bus", "7"), {"BRIDGE_LAST_BUS": 7}),
    ("zynqmp-classic.h", "zynqmp", ("--last-bus", "0xff"), {"BRIDGE_LAST_BUS": 255}),
    ("zynq7000-classic.h", "zynq7000", ("--last-bus", "63"), {"BRIDGE_LAST_BUS": 63}),
    ("zynqmp.dts", "zynqmp", ("--perst", "mio:77"), {"PERST_PIN": 77}),
    ("zynqmp.dts", "zynqmp", ("--perst", "emio:95:high"), {"PERST_PIN": 95}),
    ("zynqmp.dts", "zynqmp", ("--perst", "mio:010"), {"PERST_PIN": 10}),
    ("zynq7000-classic.h", "zynq7000", ("--perst", "mio:53"), {"PERST_PIN": 53}),
    ("zynqmp.dts", "zynqmp", ("--perst", "gpio:slot_gpio:63"), {"PERST_PIN": 63}),
])
def test_options(name, port, options, wanted):
    found = numbers(make(DESIGNS / name, port, *options))
    assert {key: found.get(key) for key in wanted} == wanted


def test_a_file_that_is_wrong_about_its_control_interface(changed):
    small = changed("zynq7000-classic.h", ("0x53FFFFFF", "0x5000007F"))
    assert numbers(make(small, "zynq7000", "--last-bus", "1"))["BRIDGE_LAST_BUS"] == 1


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
    "control above 4 GiB": ("zynqmp-sdt.h", R5_BSP, "zynqmp-r5", ("control interface of XDMA_0", "above 4 GiB", "0xA0000000")),
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
    "short reg": ("zynqmp.dts", [("reg = <0x5 0x0 0x0 0x20000000>", "reg = <0x5 0x0>")], "zynqmp",
                  ("/amba_pl/axi-pcie@500000000", "reg", "too few cells", "#address-cells")),
    "short reg of a DMA": ("zynqmp.dts", [("reg = <0x0 0xa0010000 0x0 0x10000>", "reg = <0x0>")], "zynqmp",
                           ("axi_dma@a0010000", "too few cells")),
    "short reg of a GPIO": ("zynqmp.dts", [("reg = <0x0 0xa0000000 0x0 0x10000>", "reg = <>")], "zynqmp",
                            ("gpio@a0000000", "too few cells")),
    "half a number": ("zynqmp.dts", [("xlnx,sg-length-width = <26>", "xlnx,sg-length-width = [1a]")], "zynqmp", ("xlnx,sg-length-width",)),
    "a number for a text": ("zynqmp.dts", [('compatible = "arm,gic-400"', "compatible = <1>")], "zynqmp",
                          ("another form", "tree that the tools made")),
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


# Design, port, options, and what the sentence has to have.
BAD_OPTIONS = {
    "window without a size": ("zynqmp.dts", "zynqmp", ("--window", "0xB8000000"), ("0xB8000000", "ADDRESS:BYTES[:BUS]")),
    "window of four numbers": ("zynqmp.dts", "zynqmp", ("--window", "1:2:3:4"), ("ADDRESS:BYTES[:BUS]",)),
    "window of no bytes": ("zynqmp.dts", "zynqmp", ("--window", "0xB8000000:0"), ("no bytes",)),
    "window of an odd size": ("zynqmp.dts", "zynqmp", ("--window", "0xB8000000:0x5000"), ("multiples of 0x4000",)),
    "window at an odd address": ("zynqmp.dts", "zynqmp", ("--window", "0xB8001000:0x100000"), ("multiples of 0x4000",)),
    "window at an odd address on the bus": ("zynqmp.dts", "zynqmp", ("--window", "0xB8000000:0x100000:0x1000"), ("multiples of 0x4000",)),
    "window below 0": ("zynqmp.dts", "zynqmp", ("--window=-0x4000:0x4000",), ("no number",)),
    "window of words": ("zynqmp.dts", "zynqmp", ("--window", "here:there"), ("'here' is no number",)),
    "window that ends in a colon": ("zynqmp.dts", "zynqmp", ("--window", "0xB8000000:"), ("'' is no number",)),
    "window above 4 GiB on the bus": ("zynqmp.dts", "zynqmp", ("--window", "0x600000000:0x100000"), ("above 4 GiB", "BUS_ADDRESS")),
    "window above 4 GiB": ("zynq7000-classic.h", "zynq7000", ("--window", "0x600000000:0x100000:0x80000000"), ("ends at", "above 4 GiB")),
    "registers at an odd address": ("versal.dts", "versal", ("--registers", "0x420000010:0x1000"), ("multiples of 0x1000",)),
    "registers of no bytes": ("versal.dts", "versal", ("--registers", "0x420000000:0"), ("no bytes",)),
    "registers of three numbers": ("versal.dts", "versal", ("--registers", "0x420000000:0x1000:0"), ("ADDRESS[:BYTES]",)),
    "registers of a Zynq": ("zynqmp.dts", "zynqmp", ("--registers", "0xA0000000:0x1000"), ("--registers is for a Versal",)),
    "registers of a Zynq, at 0": ("zynqmp.dts", "zynqmp", ("--registers", "0"), ("--registers is for a Versal",)),
    "no bus for the drive": ("zynqmp.dts", "zynqmp", ("--last-bus", "0"), ("between 1", "255")),
    "bus 256": ("zynqmp-classic.h", "zynqmp", ("--last-bus", "256"), ("between 1", "255")),
    "bus below 0": ("zynqmp.dts", "zynqmp", ("--last-bus", "-1"), ("no number",)),
    "bus of a word": ("zynqmp.dts", "zynqmp", ("--last-bus", "last"), ("no number",)),
    "bus behind the control interface": ("zynq7000-classic.h", "zynq7000", ("--last-bus", "64"), ("0x4000000 bytes", "63 or less")),
    "MIO 78": ("zynqmp.dts", "zynqmp", ("--perst", "mio:78"), ("0 to 77",)),
    "EMIO 96": ("zynqmp.dts", "zynqmp", ("--perst", "emio:96"), ("0 to 95",)),
    "MIO 54 of a Zynq-7000": ("zynq7000-classic.h", "zynq7000", ("--perst", "mio:54"), ("0 to 53",)),
    "EMIO 64 of a Zynq-7000": ("zynq7000-classic.h", "zynq7000", ("--perst", "emio:64"), ("0 to 63",)),
    "MIO 52 of a Versal": ("versal.dts", "versal", ("--perst", "mio:52"), ("0 to 51",)),
    "EMIO 64 of a Versal": ("versal.dts", "versal", ("--perst", "emio:64:high"), ("0 to 63",)),
    "AXI GPIO 64": ("zynqmp.dts", "zynqmp", ("--perst", "gpio:slot_gpio:64"), ("0 to 63",)),
    "no pin": ("zynqmp.dts", "zynqmp", ("--perst", "mio"), ("mio:PIN",)),
    "a pin that is no digit": ("zynqmp.dts", "zynqmp", ("--perst", "mio:\u00b2"), ("mio:PIN",)),
    "another kind of pin": ("zynqmp.dts", "zynqmp", ("--perst", "pin:1"), ("mio:PIN",)),
    "no ring": ("zynqmp.dts", "zynqmp", ("--ring-mib", "0"), ("no power of two from 2",)),
    "a ring below a block": ("zynqmp.dts", "zynqmp", ("--ring-mib", "1"), ("no power of two from 2",)),
    "a ring of 3 MiB": ("zynqmp.dts", "zynqmp", ("--ring-mib", "3"), ("no power of two from 2",)),
    "a ring of a word": ("zynqmp.dts", "zynqmp", ("--ring-mib", "much"), ("no number",)),
    "a ring beyond the memory": ("zynqmp.dts", "zynqmp", ("--ring-mib", "0x100000000"), ("too few", "--ring-mib 64")),
    "no such DMA": ("zynqmp.dts", "zynqmp", ("--dma", "other"), ("There is no recording AXI DMA other", "sensor_dma")),
    "no such port": ("zynqmp.dts", "microblaze", (), ("invalid choice", "zynq7000")),
}


@pytest.mark.parametrize("case", BAD_OPTIONS)
def test_bad_options_write_nothing(case, tmp_path):
    name, port, options, wanted = BAD_OPTIONS[case]
    to = tmp_path / "design.h"
    said = refused(DESIGNS / name, port, *options, "-o", to)
    assert [words for words in wanted if words not in said] == [], said
    assert not to.exists()


def test_a_header_that_cannot_be_written(tmp_path):
    assert "nowhere/design.h cannot be written: No such file or directory" in refused(
        DESIGNS / "zynqmp.dts", "zynqmp", "-o", tmp_path / "nowhere/design.h")
    assert "cannot be written: Is a directory" in refused(DESIGNS / "zynqmp.dts", "zynqmp", "-o", tmp_path)


def test_a_tree_that_is_no_text(tmp_path):
    (tmp_path / "a.dts").write_bytes(b"\xd0\x0d\xfe\xed" + bytes(40))
    assert "is no device tree in text form" in refused(tmp_path / "a.dts", "zynqmp")


def test_a_bridge_that_is_not_there_is_named():
    assert "There is no bridge XDMA_7. The file has: XDMA_0." in refused(DESIGNS / "zynqmp-sdt.h", "zynqmp", "--bridge", "XDMA_7")
    assert "No such file" in refused(DESIGNS / "nowhere.h", "zynqmp")


def test_one_of_two_bridges(changed):
    two = changed("zynqmp-sdt.h", TWO)
    found = numbers(make(two, "zynqmp", "--bridge", "xdma_1", "--window", "0xB8000000:0x100000"))
    assert (found["BRIDGE_CONTROL"], found["BRIDGE_WINDOW_BUS"]) == (0x600000000, 0xB8000000)
