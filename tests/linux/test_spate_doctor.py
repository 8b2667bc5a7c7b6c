# SPDX-License-Identifier: Apache-2.0
"""spate doctor on copies of /sys with every defect. These tests are about the facts that are collected, and from where.
tests/doctor/test_doctor.c tests how the library judges registers. For emulated machines: qemu/test_spate_doctor_drives.py."""

import errno
import json
import os
import random
import re
import shutil

import program
import pytest

from conftest import ROOT
from sysfs_copy import ENDPOINT, EXPRESS, FOUND, PORT, ROOT_PORT, SEVERITIES, Machine
from test_spate_drive import FAILED, USAGE, VFIO
from test_spate_image import IO_URING_SETUP, SPATE, filter_calls, spate


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def listed():
    return json.loads(spate("doctor", "--list", "--output-format=json").stdout)


# ---- copies of /sys ----


@pytest.mark.parametrize("target", [VFIO, f"vfio:{VFIO}", "01:00.0", None])
def test_a_healthy_machine_has_no_finding(machine, target):
    assert machine.doctor(*[target] if target else []) == {}


def test_checks_that_a_copy_does_not_allow_are_reported(machine):
    machine.doctor()
    said = spate("doctor", VFIO, "--sysfs", machine.sys).stdout
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
    (inner / VFIO).rename(inner / "10000:e1:00.0")
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
    (narrow, VFIO, "LINK_NARROW", "1 lanes"),
    (master_off, VFIO, "BUS_MASTER_OFF", "bit 2"),
    (port_master_off, VFIO, "BUS_MASTER_OFF", "bit 2"),
    (unset, VFIO, "BAR_UNASSIGNED", "no address"),
    (aperture, VFIO, "APERTURE_SMALL", "2 MiB, and the drive's BAR 0 needs 16 MiB"),
    (counted, VFIO, "CORRECTED_BEFORE", "3 at least"),
    (counted_bad, VFIO, "UNCORRECTED_BEFORE", "4 at least"),
    (no_driver, VFIO, "NO_DRIVER", "No driver"),
    (foreign_driver, VFIO, "FOREIGN_DRIVER", '"uio_pci_generic"'),
    (taken, VFIO, "TAKEN", "taken"),
    (state("resetting"), VFIO, "CONTROLLER_BUSY", '"resetting"'),
    (state("dead"), VFIO, "CONTROLLER_DEAD", '"dead"'),
    (no_iommu, f"vfio:{VFIO}", "IOMMU_NONE", "not behind an IOMMU"),
    (shared_group, f"vfio:{VFIO}", "IOMMU_SHARED", "use: 0000:00:02.0 (xhci_hcd)."),
    (lambda machine: (machine.node / "dma-coherent").unlink(), f"vfio:{VFIO}", "NOT_COHERENT", "coherent"),
    (lambda machine: None, f"pci:{VFIO}", "IOMMU_ACTIVE", "translates"),
    (no_pages, f"pci:{VFIO}", "HUGE_PAGES_MISSING", "32 huge pages"),
    (incoherent, f"pci:{VFIO}", "NOT_COHERENT", "coherent"),
    (outside_the_tree, f"pci:{VFIO}", "COHERENCY_UNKNOWN", "not known"),
])
def test_each_finding_is_provoked_alone(machine, provoke, target, code, says):
    provoke(machine)
    found = machine.doctor(target)
    assert list(found) == [code], found
    assert says in found[code]["problem"]


def test_a_finding_says_where(machine):
    port_master_off(machine)
    assert machine.doctor(VFIO)["BUS_MASTER_OFF"]["at"] == PORT


def test_files_that_a_copy_lacks_are_not_judged(machine):
    identity(machine)
    (machine.pages / "free_hugepages").unlink()
    assert machine.doctor(f"pci:{VFIO}") == {}


def test_requirements_of_vfio_and_pci_are_not_checked_for_the_kernel(machine):
    shared_group(machine)
    incoherent(machine)
    no_pages(machine)
    assert machine.doctor(VFIO) == {}


def test_a_good_pci_target(machine):
    identity(machine)
    assert machine.doctor(f"pci:{VFIO}") == {}


def test_a_copy_of_a_pc_needs_no_device_tree(machine):
    outside_the_tree(machine)
    shutil.rmtree(machine.sys / "firmware")
    assert machine.doctor(f"pci:{VFIO}") == {}


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
    assert machine.doctor(VFIO) == {}


def test_a_machine_without_a_drive_says_so(machine):
    machine.drive.file("class", "0x010601")
    assert list(machine.doctor()) == ["NO_DRIVE"]
    machine.drive.set(0x08, 0x01060100)
    assert list(machine.doctor(VFIO)) == ["WRONG_CLASS"]


def test_without_root_it_reports_what_it_could_not_read(machine):
    """Without root the kernel shows 64 bytes of configuration space, and the links in separate files."""
    machine.config_bytes = 64
    found = machine.doctor(VFIO)
    assert list(found) == ["UNDONE_CONFIGURATION"] and "as root" in found["UNDONE_CONFIGURATION"]["advice"]
    machine.drive.file("current_link_speed", "2.5 GT/s PCIe")
    machine.drive.file("max_link_speed", "64.0 GT/s PCIe")
    machine.drive.file("current_link_width", "2")
    found = machine.doctor(VFIO)
    assert "2.5 GT/s, and both ends can do 16 GT/s" in found["LINK_SLOW"]["problem"]
    assert "64 GT/s" in found["PORT_SLOWER"]["problem"]
    assert "2 lanes, and both ends can do 4" in found["LINK_NARROW"]["problem"]
    assert set(found) == {"LINK_SLOW", "LINK_NARROW", "PORT_SLOWER", "UNDONE_CONFIGURATION"}
    master_off(machine)
    assert "BUS_MASTER_OFF" in machine.doctor(VFIO)


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
        machine.doctor(f"vfio:{VFIO}")
        machine.doctor()


def test_a_target_that_is_not_a_drive_is_refused(machine, tmp_path):
    machine.doctor()
    (tmp_path / "rec.img").touch()
    assert "is not an NVMe drive" in spate("doctor", tmp_path / "rec.img", status=USAGE).stderr
    assert "is not an NVMe drive" in spate("doctor", "sim:990pro", status=USAGE).stderr
    assert "does not exist" in spate("doctor", tmp_path / "none", status=FAILED).stderr
    assert "there is no PCI function" in spate("doctor", "09:00.0", "--sysfs", machine.sys, status=FAILED).stderr
    spate("doctor", VFIO, PORT, status=USAGE)


# ---- texts and page ----


def test_the_page_lists_every_finding():
    rows = re.findall(r"^\| `(\w+)` \| (\w[\w ]*) \| (.*) \| (.*) \|$", (ROOT / "docs/use/doctor.md").read_text(), re.M)
    wanted = [(each["code"], each["severity"], each["problem"], each["advice"]) for each in listed()]
    assert rows == wanted, "docs/use/doctor.md: the table is made by spate doctor --list --output-format=json"


def test_every_finding_is_provoked_by_a_test():
    """Each finding is named in a test of the command or in the list of the library's test."""
    tests = [ROOT / "tests/linux" / name for name in ("test_spate_doctor.py", "qemu/test_spate_doctor_drives.py")]
    here = "".join(path.read_text() for path in tests)
    library = (ROOT / "tests/doctor/test_doctor.c").read_text()
    assert [each["code"] for each in listed()
            if f'"{each["code"]}"' not in here and not re.search(rf"^    {{SPATE_DOCTOR_{each['code']}, ", library, re.M)] == []


def test_the_list_as_text():
    said = spate("doctor", "--list").stdout
    assert all(each["code"] in said and each["advice"] in said for each in listed())
    assert len(listed()) > 60 and {each["severity"] for each in listed()} == set(SEVERITIES)
