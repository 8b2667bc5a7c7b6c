# SPDX-License-Identifier: Apache-2.0
"""spate doctor in emulated Linux machines: what drives and the kernel report, and what the doctor reads and writes there."""

import json

import pytest

from spate_command import FOUND
from spate_guest import PCI, VFIO, guest, without_coherency
from spate_guest import drive  # noqa: F401 (a fixture)

pytestmark = pytest.mark.thorough

PORT = "0000:00:01.0"


def findings(said, name):
    text = said[name].text
    answer = json.loads(text[text.index("{"):])
    return {finding["code"]: finding for checkup in answer["checkups"] for finding in checkup["findings"]}, answer


def test_drives_in_an_emulated_machine(drive, make_image, tmp_path):
    """A healthy drive; bus mastering off, at the drive and at its port; a drive without a driver; the requirements of vfio:."""
    config = f"/sys/bus/pci/devices/{VFIO}/config"
    said = guest(f"""
      json="--output-format=json"
      sum() {{ cat $1 | sha256sum; }}
      check config-before sum {config}
      check healthy spate doctor {VFIO} $json
      check disk spate doctor /dev/nvme0n1 $json
      check config-after sum {config}
      check people spate doctor
      check vfio spate doctor vfio:{VFIO} $json
      printf '\\002' | dd of={config} bs=1 seek=4 count=1 conv=notrunc 2>/dev/null
      check master spate doctor {VFIO} $json
      printf '\\006' | dd of={config} bs=1 seek=4 count=1 conv=notrunc 2>/dev/null
      printf '\\000' | dd of={config} bs=1 seek=4 count=1 conv=notrunc 2>/dev/null
      check memory spate doctor {VFIO} $json
      printf '\\006' | dd of={config} bs=1 seek=4 count=1 conv=notrunc 2>/dev/null
      check again spate doctor {VFIO} $json
      echo {VFIO} > /sys/bus/pci/devices/{VFIO}/driver/unbind
      check unbound spate doctor {VFIO} $json
      echo {VFIO} > /sys/bus/pci/drivers_probe; settle
      echo 1 > /sys/bus/pci/devices/0000:02:00.0/remove
      check port spate doctor $json
    """, {"rec": drive, "two": make_image(1 << 30)}, tmp_path, iommu=True)
    assert said["config-before"].text == said["config-after"].text and drive.stat().st_blocks == 0, "something was written"
    for name in ("healthy", "disk", "again"):
        found, answer = findings(said, name)
        assert said[name].status == 0 and answer["worst"] == "note", said[name]
        assert answer["checkups"][0]["read_bytes"] == 256 << 20
        assert answer["checkups"][0]["serial"] == "rec"
        assert all(finding["severity"] == "note" for finding in found.values()), found
    assert said["people"].status == 0 and "serial rec" in said["people"].text and "serial two" in said["people"].text
    found, _ = findings(said, "vfio")
    assert said["vfio"].status == 0, found
    for name, code in (("master", "BUS_MASTER_OFF"), ("memory", "MEMORY_OFF")):
        found, answer = findings(said, name)
        assert said[name].status == FOUND and code in found and "UNDONE_TRANSFER" in found, found
        assert "error above" in found["UNDONE_TRANSFER"]["problem"]
    found, _ = findings(said, "unbound")
    assert said["unbound"].status == FOUND and "NO_DRIVER" in found and "UNDONE_TRANSFER" in found
    assert "BUS_MASTER_OFF" not in found and "UNDONE_REGISTERS" not in found
    found, _ = findings(said, "port")
    assert said["port"].status == FOUND and found["DEVICE_SILENT"]["at"] == "0000:00:02.0"


def test_a_machine_on_which_pci_cannot_be_used(drive, tmp_path):
    said = guest(f"""
      check none spate doctor pci:{PCI} --output-format=json
      echo 40 > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages
      check pages spate doctor pci:{PCI} --output-format=json
      check vfio spate doctor vfio:{PCI} --output-format=json
    """, {"rec": drive}, tmp_path, options=without_coherency(tmp_path, False))
    none, pages, vfio = (findings(said, name)[0] for name in ("none", "pages", "vfio"))
    assert {"HUGE_PAGES_MISSING", "NOT_COHERENT"} <= set(none) and "finds 0 free" in none["HUGE_PAGES_MISSING"]["problem"]
    assert "NOT_COHERENT" in pages and "HUGE_PAGES_MISSING" not in pages
    assert {"IOMMU_NONE", "NOT_COHERENT"} <= set(vfio)
    assert {said[name].status for name in said} == {FOUND}


def extra_drive(tmp_path, serial, words="", options=""):
    """The emulator's options for another drive, on the first bus."""
    image = tmp_path / f"{serial}.img"
    with open(image, "wb") as file:
        file.truncate(1 << 30)
    disk = f"if=none,id=disk-{serial},format=raw,cache=unsafe,rerror=report,file={options}{image}"
    return ["-drive", disk, "-device", f"nvme,id=nvme-{serial},serial={serial}" + (f",{words}" if words else "")]


def test_what_drives_report(drive, tmp_path):
    """Drives without a namespace, with metadata in its blocks, with critical warnings, and with read errors after 64 MiB."""
    rule = tmp_path / "rule"
    rule.write_text('[inject-error]\nevent = "read_aio"\nerrno = "5"\nsector = "131072"\n')
    options = [
        "-device", "nvme,serial=empty",
        *extra_drive(tmp_path, "meta"), "-device", "nvme-ns,drive=disk-meta,bus=nvme-meta,ms=8",
        *extra_drive(tmp_path, "ill", "drive=disk-ill,smart_critical_warning=29"),
        *extra_drive(tmp_path, "bad", "drive=disk-bad", f"blkdebug:{rule}:"),
    ]
    said = guest("""
      check all spate doctor --output-format=json
      check health spate health /drives/ill
      check healthy spate health /drives/rec
    """, {"rec": drive}, tmp_path, options=options)
    assert said["all"].status == FOUND
    _, answer = findings(said, "all")
    serious = {}
    for checkup in answer["checkups"]:
        serious[checkup["serial"]] = {finding["code"]: finding for finding in checkup["findings"]
                                      if finding["severity"] in ("warning", "error")}
    assert {serial: set(found) for serial, found in serious.items()} == {
        "rec": set(),
        "empty": {"NO_NAMESPACE"},
        "meta": {"NAMESPACE_METADATA"},
        "ill": {"SPARE_LOW", "UNRELIABLE", "READ_ONLY", "BACKUP_FAILED"},
        "bad": {"TRANSFER_FAILED"},
    }
    assert said["health"].text.count("WARNING ") == 4 and "The drive accepts reads only." in said["health"].text
    assert said["healthy"].status == 0 and "WARNING" not in said["healthy"].text
    assert "after 64 MiB: " in serious["bad"]["TRANSFER_FAILED"]["problem"]


def test_errors_during_a_transfer_are_distinguished_from_older_ones(drive, tmp_path):
    """A file replaces the kernel's counter of the port. It changes when the doctor reads from the drive."""
    counter = f"/sys/bus/pci/devices/{PORT}/aer_dev_correctable"
    said = guest(f"""
      printf 'RxErr 1\\nTOTAL_ERR_COR 1\\n' > /tmp/counter
      mount --bind /tmp/counter {counter}
      reads() {{ set -- $(cat /sys/block/nvme0n1/stat); echo $3; }}
      start=$(reads)
      (while [ $(($(reads) - start)) -lt 2048 ]; do sleep 0.01; done; printf 'RxErr 4\\nTOTAL_ERR_COR 4\\n' > /tmp/counter) &
      check during spate doctor {VFIO} --output-format=json
      wait
      check after spate doctor {VFIO} --output-format=json
    """, {"rec": drive}, tmp_path, iommu=True)
    during, after = findings(said, "during")[0], findings(said, "after")[0]
    assert said["during"].status == FOUND and said["after"].status == 0
    assert "At least 1 correctable error " in during["CORRECTED_BEFORE"]["problem"] and "At least 3 correctable" in during["CORRECTED_DURING"]["problem"]
    assert during["CORRECTED_DURING"]["at"] == PORT
    assert "At least 4 correctable" in after["CORRECTED_BEFORE"]["problem"] and "CORRECTED_DURING" not in after


def test_without_root_the_missing_checks_are_reported(drive, tmp_path):
    said = guest(f"""
      mkdir -p /etc; echo 'user:x:1000:1000::/:/bin/sh' > /etc/passwd; echo 'user:x:1000:' > /etc/group
      ulimit -l 8192
      check user su user -c 'spate doctor {VFIO} --output-format=json'
      check vfio su user -c 'spate doctor vfio:{VFIO} --output-format=json'
      echo vfio-pci > /sys/bus/pci/devices/{VFIO}/driver_override
      echo {VFIO} > /sys/bus/pci/devices/{VFIO}/driver/unbind
      echo {VFIO} > /sys/bus/pci/drivers_probe
      check forbidden su user -c 'spate doctor vfio:{VFIO} --output-format=json'
      mv /dev/vfio/vfio /dev/vfio/gone
      check missing spate doctor vfio:{VFIO} --output-format=json
    """, {"rec": drive}, tmp_path, iommu=True)
    found, answer = findings(said, "user")
    assert said["user"].status == 0, found
    assert set(found) == {"UNDONE_CONFIGURATION", "UNDONE_DRIVE", "UNDONE_TRANSFER"}, found
    assert "64 bytes" in found["UNDONE_CONFIGURATION"]["problem"]
    assert "only root may send commands" in found["UNDONE_DRIVE"]["problem"] and "Permission denied" in found["UNDONE_TRANSFER"]["problem"]
    assert answer["checkups"][0]["path"][1]["link_gt_per_s"] == 2.5
    assert "/dev/vfio/" in findings(said, "forbidden")[0]["VFIO_FORBIDDEN"]["problem"]
    assert {"VFIO_MISSING", "TAKEN"} <= set(findings(said, "missing")[0])
    assert "8 MiB" in findings(said, "vfio")[0]["MEMORY_LOCK_SMALL"]["problem"]
