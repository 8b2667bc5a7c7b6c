# SPDX-License-Identifier: Apache-2.0
"""spate doctor on copies of /sys with every defect. These tests are about the facts that are collected, and from where.
qemu/test_spate_doctor_guest.py has the tests in emulated machines. tests/library/doctor/test_doctor.c tests how the library judges
registers."""

import errno
import json
import os
import pathlib
import random
import re
import shutil
import struct

import program
import pytest

from conftest import ROOT
from seccomp import IO_URING_SETUP, filter_calls
from spate_command import FAILED, FOUND, SPATE, USAGE, spate

PORT, DRIVE = "0000:00:01.0", "0000:01:00.0"
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
        self.drive = self.add(self.port.folder, DRIVE, ENDPOINT)
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


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def listed():
    return json.loads(spate("doctor", "--list", "--output-format=json").stdout)


# ---- copies of /sys ----


@pytest.mark.parametrize("target", [DRIVE, f"vfio:{DRIVE}", "01:00.0", None])
def test_a_healthy_machine_has_no_finding(machine, target):
    assert machine.doctor(*[target] if target else []) == {}


def test_checks_that_a_copy_does_not_allow_are_reported(machine):
    machine.doctor()
    said = spate("doctor", DRIVE, "--sysfs", machine.sys).stdout
    assert "nothing wrong was found" in said
    assert said.count("this is a copy of sysfs") == 2
    assert "16 GT/s x4 of 16 GT/s x4" in said


def test_a_drive_in_a_large_domain(machine):
    """Intel's VMD puts drives in a domain of five digits, behind a function that is neither a bridge nor a port."""
    vmd = machine.add(machine.sys / "devices/pci0000:00", "0000:00:0e.0", ENDPOINT)
    vmd.set(0x08, 0x01040000)
    inner = vmd.folder / "pci10000:e0/10000:e0:01.0"
    inner.parent.mkdir()
    by_address = machine.sys / "bus/pci/devices"
    machine.port.folder.rename(inner)
    (inner / DRIVE).rename(inner / "10000:e1:00.0")
    for function, folder in ((machine.port, inner), (machine.drive, inner / "10000:e1:00.0")):
        (by_address / function.name).unlink()
        function.name, function.folder = folder.name, folder
        (by_address / folder.name).symlink_to(os.path.relpath(folder, by_address))
    machine.bind(machine.drive, "nvme")  # again, because the link is relative and the folder has moved
    machine.port.set(0x18, 0x00E1E1E0)
    for config_bytes in (4096, 64):
        machine.config_bytes = config_bytes
        for function, most in ((machine.port, "32.0"), (machine.drive, "16.0")):
            function.file("current_link_speed", "16.0 GT/s PCIe")
            function.file("max_link_speed", f"{most} GT/s PCIe")
        assert set(machine.doctor()) <= {"UNDONE_CONFIGURATION"}
        assert set(machine.doctor("10000:e1:00.0")) <= {"UNDONE_CONFIGURATION"}
    said = spate("doctor", "--sysfs", machine.sys).stdout
    assert "drive 10000:e1:00.0" in said and "0000:00:0e.0" not in said


def narrow(machine):
    machine.drive.change(EXPRESS + 0x10, 0x3F << 20, 1 << 20)


def master_off(machine):
    machine.drive.change(0x04, 0x4, 0)


def port_master_off(machine):
    machine.port.change(0x04, 0x4, 0)


def unset(machine):
    machine.drive.file("resource", "0x0000000000000000 0x0000000000003fff 0x0000000020140204")


def aperture(machine):
    machine.drive.file("resource", "0x0000000000000000 0x0000000000ffffff 0x0000000020140204")


def counted(machine):
    machine.drive.file("aer_dev_correctable", "RxErr 2\nBadTLP 1\nTOTAL_ERR_COR 3")


def counted_bad(machine):
    machine.port.file("aer_dev_nonfatal", "CmpltTO 4\nUnsupReq 9\nTOTAL_ERR_NONFATAL 13")


def no_driver(machine):
    (machine.drive.folder / "driver").unlink()


def foreign_driver(machine):
    machine.bind(machine.drive, "uio_pci_generic")


def taken(machine):
    machine.bind(machine.drive, "vfio-pci")
    machine.drive.file("driver_override", "vfio-pci")


def state(text):
    def provoke(machine):
        (machine.drive.folder / "nvme/nvme3/state").write_text(f"{text}\n")

    return provoke


def no_iommu(machine):
    (machine.drive.folder / "iommu_group").unlink()


def shared_group(machine):
    other = machine.add(machine.sys / "devices/pci0000:00", "0000:00:02.0", ENDPOINT)
    other.file("class", "0x0c0330")
    machine.bind(other, "xhci_hcd")
    machine.join(other)
    machine.join(machine.port)
    machine.bind(machine.port, "pcieport")  # this driver does not keep VFIO from the group


def identity(machine):
    (machine.group / "type").write_text("identity\n")


def no_pages(machine):
    identity(machine)
    (machine.pages / "free_hugepages").write_text("32\n")


def incoherent(machine):
    identity(machine)
    (machine.node / "dma-coherent").unlink()


def outside_the_tree(machine):
    identity(machine)
    (machine.sys / "devices/pci0000:00/of_node").unlink()


@pytest.mark.parametrize(("provoke", "target", "code", "says"), [
    (narrow, DRIVE, "LINK_NARROW", "1 lane,"),
    (master_off, DRIVE, "BUS_MASTER_OFF", "bit 2"),
    (port_master_off, DRIVE, "BUS_MASTER_OFF", "bit 2"),
    (unset, DRIVE, "BAR_UNASSIGNED", "no address"),
    (aperture, DRIVE, "APERTURE_SMALL", "2 MiB, and the drive's BAR 0 needs 16 MiB"),
    (counted, DRIVE, "CORRECTED_BEFORE", "At least 3 correctable errors"),
    (counted_bad, DRIVE, "UNCORRECTED_BEFORE", "At least 4 uncorrectable errors"),
    (no_driver, DRIVE, "NO_DRIVER", "No driver"),
    (foreign_driver, DRIVE, "FOREIGN_DRIVER", '"uio_pci_generic"'),
    (taken, DRIVE, "TAKEN", "taken"),
    (state("resetting"), DRIVE, "CONTROLLER_BUSY", '"resetting"'),
    (state("dead"), DRIVE, "CONTROLLER_DEAD", '"dead"'),
    (no_iommu, f"vfio:{DRIVE}", "IOMMU_NONE", "not behind an IOMMU"),
    (shared_group, f"vfio:{DRIVE}", "IOMMU_SHARED", "use: 0000:00:02.0 (xhci_hcd)."),
    (lambda machine: (machine.node / "dma-coherent").unlink(), f"vfio:{DRIVE}", "NOT_COHERENT", "coherent"),
    (lambda machine: None, f"pci:{DRIVE}", "IOMMU_ACTIVE", "translates"),
    (no_pages, f"pci:{DRIVE}", "HUGE_PAGES_MISSING", "finds 32 free"),
    (incoherent, f"pci:{DRIVE}", "NOT_COHERENT", "coherent"),
    (outside_the_tree, f"pci:{DRIVE}", "COHERENCY_UNKNOWN", "not known"),
])
def test_each_finding_is_provoked_alone(machine, provoke, target, code, says):
    provoke(machine)
    found = machine.doctor(target)
    assert list(found) == [code], found
    assert says in found[code]["problem"]


def test_a_finding_says_where(machine):
    port_master_off(machine)
    assert machine.doctor(DRIVE)["BUS_MASTER_OFF"]["at"] == PORT


def test_files_that_a_copy_lacks_are_not_judged(machine):
    identity(machine)
    (machine.pages / "free_hugepages").unlink()
    assert machine.doctor(f"pci:{DRIVE}") == {}


def test_requirements_of_vfio_and_pci_are_not_checked_for_the_kernel(machine):
    shared_group(machine)
    incoherent(machine)
    no_pages(machine)
    assert machine.doctor(DRIVE) == {}


def test_a_good_pci_target(machine):
    identity(machine)
    assert machine.doctor(f"pci:{DRIVE}") == {}


def test_a_copy_of_a_pc_needs_no_device_tree(machine):
    outside_the_tree(machine)
    shutil.rmtree(machine.sys / "firmware")
    assert machine.doctor(f"pci:{DRIVE}") == {}


@pytest.mark.parametrize(("error", "code"), [(errno.EPERM, "IO_URING_FORBIDDEN"), (errno.ENOSYS, "IO_URING_MISSING")])
def test_a_machine_without_io_uring(error, code):
    """The machine that runs the test may have other findings, which are ignored."""
    steps = [(0x20, 0, 0, 0), (0x15, 0, 1, IO_URING_SETUP), (0x06, 0, 0, 0x00050000 | error), (0x06, 0, 0, 0x7FFF0000)]
    done = program.run(SPATE, "doctor", "--output-format=json", statuses=(FOUND,), preexec_fn=lambda: filter_calls(steps))
    found = [finding for checkup in json.loads(done.stdout)["checkups"] for finding in checkup["findings"]]
    assert code in {finding["code"] for finding in found}
    if code == "IO_URING_MISSING":
        assert os.uname().release in next(finding["problem"] for finding in found if finding["code"] == code)


def empty_slot(port):
    port.change(EXPRESS + 0x18, 0x00400000, 0)
    port.change(EXPRESS + 0x10, 0x20000000, 0)


@pytest.mark.parametrize(("provoke", "code"), [
    (empty_slot, "SLOT_EMPTY"),
    (lambda port: port.change(EXPRESS + 0x10, 0x20000000, 0), "LINK_DOWN"),
    (lambda port: port.change(EXPRESS + 0x10, 0x20000000, 0x08000000), "LINK_TRAINING"),
    (lambda port: None, "DEVICE_SILENT"),
])
def test_ports_with_nothing_below_are_listed(machine, provoke, code):
    port = machine.add(machine.sys / "devices/pci0000:00", "0000:00:03.0", ROOT_PORT)
    port.config[:] = machine.port.config
    port.file("class", "0x060400")
    provoke(port)
    found = machine.doctor()
    assert list(found) == [code] and found[code]["at"] == "0000:00:03.0"
    assert machine.doctor(DRIVE) == {}


def test_a_machine_without_a_drive_says_so(machine):
    machine.drive.file("class", "0x010601")
    assert list(machine.doctor()) == ["NO_DRIVE"]
    machine.drive.set(0x08, 0x01060100)
    assert list(machine.doctor(DRIVE)) == ["WRONG_CLASS"]


def test_without_root_it_reports_what_it_could_not_read(machine):
    """Without root the kernel shows 64 bytes of configuration space, and the links in separate files."""
    machine.config_bytes = 64
    found = machine.doctor(DRIVE)
    assert list(found) == ["UNDONE_CONFIGURATION"] and "as root" in found["UNDONE_CONFIGURATION"]["advice"]
    machine.drive.file("current_link_speed", "2.5 GT/s PCIe")
    machine.drive.file("max_link_speed", "64.0 GT/s PCIe")
    machine.drive.file("current_link_width", "2")
    found = machine.doctor(DRIVE)
    assert "2.5 GT/s, and both ends support 16 GT/s" in found["LINK_SLOW"]["problem"]
    assert "64 GT/s" in found["PORT_SLOWER"]["problem"]
    assert "2 lanes, and both ends support 4" in found["LINK_NARROW"]["problem"]
    assert set(found) == {"LINK_SLOW", "LINK_NARROW", "PORT_SLOWER", "UNDONE_CONFIGURATION"}
    master_off(machine)
    assert "BUS_MASTER_OFF" in machine.doctor(DRIVE)


def test_configuration_space_at_random_is_survived(machine):
    source = random.Random(1)
    for _ in range(60):
        for function in machine.functions:
            function.config[:] = source.randbytes(4096)
            if source.random() < 0.5:
                function.change(0x04, 0, 0x00100000)
                function.change(0x08, 0xFFFFFF00, 0x01080200)
        machine.config_bytes = source.choice([0, 3, 64, 100, 256, 4095, 4096])
        (machine.drive.folder / "resource").write_bytes(source.randbytes(50))
        machine.doctor(f"vfio:{DRIVE}")
        machine.doctor()


def test_a_target_that_is_not_a_drive_is_refused(machine, tmp_path):
    machine.doctor()
    (tmp_path / "rec.img").touch()
    assert "is not an NVMe drive" in spate("doctor", tmp_path / "rec.img", status=USAGE).stderr
    assert "is not an NVMe drive" in spate("doctor", "sim:990pro", status=USAGE).stderr
    assert "does not exist" in spate("doctor", tmp_path / "none", status=FAILED).stderr
    assert "there is no PCI function" in spate("doctor", "09:00.0", "--sysfs", machine.sys, status=FAILED).stderr
    spate("doctor", DRIVE, PORT, status=USAGE)


# ---- texts and page ----

BOARD_TESTS = ("simulated/test_checkup.c", "simulated/test_checkup_bridges.c", "test_checkup_link.c", "test_doctor_interrupts.c")


def test_the_page_lists_every_finding():
    rows = re.findall(r"^\| `(\w+)` \| (\w[\w ]*) \| (.*) \| (.*) \|$", (ROOT / "docs/use/doctor.md").read_text(), re.M)
    wanted = [(each["code"], each["severity"], each["problem"], each["advice"]) for each in listed()]
    assert rows == wanted, "docs/use/doctor.md: the table is made by spate doctor --list --output-format=json"


def test_every_finding_is_provoked_by_a_test():
    """Each finding is named in this file, in the file of the emulated machines, in the list of the library's test, or in the
    tests of the checkup of boards."""
    here = pathlib.Path(__file__)
    named = here.read_text() + (here.parent / "qemu" / "test_spate_doctor_guest.py").read_text()
    library = (ROOT / "tests/library/doctor/test_doctor.c").read_text()
    boards = "".join((ROOT / "tests/library/doctor" / name).read_text() for name in BOARD_TESTS)
    assert [each["code"] for each in listed()
            if f'"{each["code"]}"' not in named and not re.search(rf"^    {{SPATE_DOCTOR_{each['code']}, ", library, re.M)
            and not re.search(rf"\bSPATE_DOCTOR_{each['code']}\b", boards)] == []


def test_the_list_as_text():
    said = spate("doctor", "--list").stdout
    assert all(each["code"] in said and each["advice"] in said for each in listed())
    assert len(listed()) > 60 and {each["severity"] for each in listed()} == set(SEVERITIES)
