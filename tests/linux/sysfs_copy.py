# SPDX-License-Identifier: Apache-2.0
"""A copy of /sys that a test writes, for spate doctor --sysfs: a root port, a drive below it, and an IOMMU."""

import json
import os
import struct

import program

from test_spate_drive import VFIO
from test_spate_image import SPATE

FOUND = 5  # the exit status of spate doctor if it has found a warning or an error
PORT = "0000:00:01.0"
EXPRESS, POWER, AER = 0x70, 0x40, 0x100
ENDPOINT, ROOT_PORT = 0, 4
SEVERITIES = ("note", "warning", "error", "not done")


class Function:
    """A PCI function in sysfs: a folder with configuration space, a link of 16 GT/s x4, payloads of 256 bytes."""

    def __init__(self, folder, name, kind):
        self.folder = folder / name
        self.folder.mkdir(parents=True)
        self.name = name
        self.config = bytearray(4096)
        self.set(0x00, 0x00101B36)
        self.set(0x04, 0x00100406)
        self.set(0x34, POWER)
        self.set(POWER, 0x00037001)
        self.set(EXPRESS, 0x00020010 | kind << 20)
        self.set(EXPRESS + 0x04, 1)
        self.set(EXPRESS + 0x08, 1 << 5 | 2 << 12)
        self.set(EXPRESS + 0x0C, 0x00100000 | 4 << 4 | 4)
        self.set(EXPRESS + 0x10, (0x2000 | 4 << 4 | 4) << 16)
        self.set(EXPRESS + 0x30, 4)
        self.set(AER, 0x00020001)
        for which in ("current", "max"):
            self.file(f"{which}_link_speed", "16.0 GT/s PCIe")
            self.file(f"{which}_link_width", "4")

    def set(self, offset, value):
        struct.pack_into("<I", self.config, offset, value)

    def change(self, offset, clear, bits):
        self.set(offset, struct.unpack_from("<I", self.config, offset)[0] & ~clear | bits)

    def file(self, name, text):
        (self.folder / name).write_text(f"{text}\n")

    def link(self, name, target):
        (self.folder / name).unlink(missing_ok=True)
        (self.folder / name).symlink_to(os.path.relpath(target, self.folder))


class Machine:
    """A copy of /sys with a root port, a drive behind it under the kernel's driver, and an IOMMU."""

    def __init__(self, folder):
        self.sys = folder / "sys"
        self.config_bytes = 4096
        self.functions = []
        self.port = self.add(self.sys / "devices/pci0000:00", PORT, ROOT_PORT)
        self.port.set(0x08, 0x06040000)
        self.port.set(0x0C, 0x00010000)
        self.port.set(0x18, 0x00010100)
        self.port.set(0x20, 0xE010E000)
        self.port.change(EXPRESS, 0, 0x01000000)
        self.port.set(EXPRESS + 0x18, 0x00400000)
        self.port.file("class", "0x060400")
        self.drive = self.add(self.port.folder, VFIO, ENDPOINT)
        self.drive.set(0x08, 0x01080200)
        self.drive.set(0x10, 0xE0000004)
        self.drive.file("class", "0x010802")
        self.drive.file("resource", "0x00000000e0000000 0x00000000e0003fff 0x0000000000140204")
        self.drive.file("driver_override", "(null)")
        self.bind(self.drive, "nvme")
        state = self.drive.folder / "nvme/nvme3"
        (state / "nvme3n1").mkdir(parents=True)
        (state / "state").write_text("live\n")
        self.group = self.sys / "kernel/iommu_groups/7"
        (self.group / "devices").mkdir(parents=True)
        (self.group / "type").write_text("DMA\n")
        self.join(self.drive)
        self.pages = self.sys / "kernel/mm/hugepages/hugepages-2048kB"
        self.pages.mkdir(parents=True)
        (self.pages / "free_hugepages").write_text("64\n")
        self.node = self.sys / "firmware/devicetree/base/axi/pcie@400000000"
        self.node.mkdir(parents=True)
        (self.node / "dma-coherent").touch()
        (self.sys / "devices/pci0000:00/of_node").symlink_to(os.path.relpath(self.node, self.sys / "devices/pci0000:00"))

    def add(self, folder, name, kind):
        function = Function(folder, name, kind)
        self.functions.append(function)
        by_address = self.sys / "bus/pci/devices"
        by_address.mkdir(parents=True, exist_ok=True)
        (by_address / name).symlink_to(os.path.relpath(function.folder, by_address))
        return function

    def bind(self, function, driver):
        folder = self.sys / "bus/pci/drivers" / driver
        folder.mkdir(parents=True, exist_ok=True)
        function.link("driver", folder)

    def join(self, function):
        function.link("iommu_group", self.group)
        (self.group / "devices" / function.name).symlink_to(function.folder)

    def doctor(self, *words):
        """Returns the findings as {code: finding}, without those that every copy of sysfs has."""
        for function in self.functions:
            if function.folder.exists():
                (function.folder / "config").write_bytes(function.config[: self.config_bytes])
        done = program.run(SPATE, "doctor", *words, "--sysfs", self.sys, "--output-format=json", statuses=(0, FOUND))
        answer = json.loads(done.stdout)
        found = [finding for checkup in answer["checkups"] for finding in checkup["findings"]]
        wrong = any(finding["severity"] in ("warning", "error") for finding in found)
        assert done.returncode == (FOUND if wrong else 0)
        assert answer["worst"] == ("note" if not found else max((f["severity"] for f in found if f["severity"] != "not done"),
                                                                 key=SEVERITIES.index, default="note"))
        for finding in found:
            assert "{" not in finding["problem"] + finding["advice"]
        return {finding["code"]: finding for finding in found
                if finding["code"] not in ("UNDONE_DRIVE", "UNDONE_TRANSFER")}
