# SPDX-License-Identifier: Apache-2.0
"""The handlers of integrations/vitis behind vectors of the BSP's shape: a bridge that does not answer is survived, in EL3, in EL1
and on an ARMv7 processor in system mode. Everything else goes to the handler that was there before. Where the machine starts in
EL2 or in hypervisor mode, that raises late errors (LATE_ERRORS)."""

import pytest
import qemu
import vitis_build

pytestmark = pytest.mark.thorough

# Addresses without a device, where the emulator answers with an error. The Cortex-A15 has memory in the place of the Zynq's
# timer and outer cache.
MACHINES = {
    "EL3": ("versal", "versal", 0x600000000, 0x640000000, ()),
    "EL1": ("zynqmp", "qemu-virt", 0x0A200000, 0x0A800000, ("-machine", "virt,virtualization=on")),
    "ARMv7": ("zynq7000", "qemu-virt-a15", 0x0A200000, 0x0A800000, ("-m", "3G")),
    "ARMv7-R": ("zynq7000", "qemu-virt-a15", 0x0A200000, 0x0A800000, ("-m", "3G")),
    "ARMv7 with late errors": ("zynq7000", "qemu-virt-a15", 0x0A200000, 0x0A800000,
                               ("-m", "3G", "-machine", "virt,highmem=off,virtualization=on")),
}


@pytest.mark.parametrize("name", MACHINES)
def test_errors_of_the_bridge_are_survived(name, tmp_path):
    processor, board, control, window, options = MACHINES[name]
    late = any("virtualization=on" in word for word in options)
    (tmp_path / "design.h").write_text(f"#define DESIGN_BRIDGE_CONTROL {control:#x}\n#define DESIGN_BRIDGE_LAST_BUS 1\n"
                                       f"#define DESIGN_BRIDGE_WINDOW {window:#x}\n#define DESIGN_BRIDGE_WINDOW_BUS {window:#x}\n"
                                       "#define DESIGN_BRIDGE_WINDOW_BYTES 0x100000\n#define DESIGN_CPU_HZ 666666687\n")
    # A Cortex-R5 cannot be started here. The compiler says that this processor were one, so that its variant runs.
    profile = ["-U__ARM_ARCH_PROFILE", "-D__ARM_ARCH_PROFILE=82"] if name == "ARMv7-R" else []
    image = vitis_build.build(processor, tmp_path, [vitis_build.BSP / "survives.c"], tmp_path / "survives.elf",
                              only=("core", "pcie", "recorder", "exfat"), options=[*profile, *(["-DLATE_ERRORS"] if late else [])])
    result = qemu.run(board, "survives", None, timeout_s=60, options=options, image=image)
    assert "a log with 0x0000000123456789" in result.output, result.report()
    assert ("a region of 256 MiB" in result.output) == (name == "ARMv7-R"), result.report()
    assert ("late error" in result.output) == late, result.report()
    assert result.output.count("right") >= 9 and "WRONG" not in result.output, result.report()
    assert result.status == 0 and not result.timed_out, result.report()
