# SPDX-License-Identifier: Apache-2.0
"""What a recorder that starts at boot needs: the unit and the udev rule, as systemd and udev read them, and the container image."""

import os
import re
import shutil
import subprocess

import pytest

from conftest import ROOT, run
from needs import sysfs
from spate_command import SPATE, spate

UNIT = ROOT / "linux/packaging/systemd/spate-record@.service.in"
RULE = ROOT / "linux/packaging/udev/65-spate.rules"
PAGE = (ROOT / "docs/use/boot.md").read_text()
IO_URING = {"io_uring_setup", "io_uring_enter", "io_uring_register"}


# ---- the unit ----


@pytest.fixture
def unit(tmp_path):
    """An instance of the unit, as it is installed."""
    run("cmake", "--install", SPATE.parent.parent, "--prefix", tmp_path / "prefix")
    installed = tmp_path / "prefix/lib/systemd/system/spate-record@.service"
    instance = tmp_path / "spate-record@cam.service"
    shutil.copy(installed, instance)
    return instance


def settings(unit):
    """{setting: its values} of all lines."""
    found = {}
    for name, value in re.findall(r"^(\w+)=(.*)$", unit.read_text(), re.M):
        found.setdefault(name, []).append(value)
    return found


def test_systemd_accepts_the_unit(unit):
    done = run("systemd-analyze", "verify", "--man=no", unit)
    assert done.stdout + done.stderr == ""


def test_the_unit_starts_the_installed_program(unit):
    program, *words = settings(unit)["ExecStart"][0].split()
    assert os.access(program, os.X_OK) and program == str(unit.parent / "prefix/bin/spate")
    assert words == ["record", "$SPATE_RECORD"]  # not ${SPATE_RECORD}: systemd divides it into words


def test_the_unit_can_do_little_but_record(unit):
    run("systemd-analyze", "security", "--offline=true", "--threshold=25", unit)
    allowed = settings(unit)["SystemCallFilter"]
    known = run("systemd-analyze", "syscall-filter", "@aio").stdout
    assert allowed == ["@system-service"] and all(f" {name}\n" in known for name in IO_URING)
    assert "@aio" in run("systemd-analyze", "syscall-filter", "@system-service").stdout


def test_the_unit_closes_the_file_and_starts_again(unit):
    """What the page says of it."""
    found = settings(unit)
    expected = {"Type": "notify", "Restart": "always", "RestartSec": "5s", "RestartPreventExitStatus": "2", "KillSignal": "SIGINT",
                "TimeoutStopSec": "2min", "WatchdogSec": "90s", "TimeoutStartSec": "infinity", "StartLimitIntervalSec": "0"}
    assert {name: found[name] for name in expected} == {name: [value] for name, value in expected.items()}
    for words in ("again after 5 s", "(status 2)", "hangs for 90 s", "SIGINT", "two minutes"):
        assert words in PAGE


def test_the_example_of_the_page_is_that_of_the_unit():
    lines = re.findall(r"^#? *SPATE_RECORD=.*$", UNIT.read_text() + PAGE, re.M)
    assert len(lines) == 2 and len({line.lstrip("# ") for line in lines}) == 1
    assert "%%" not in lines[0]  # systemd replaces nothing in the file of EnvironmentFile=


# ---- the rule ----

# Runs udev's rules on a loop device, in a /dev, a /run and with rules of its own. Prints the properties and who may open it.
TRY_RULE = """set -e
folder=$1 device=$2
mount --make-rprivate /
mount --bind "$folder/rules" /etc/udev/rules.d
mount --bind "$folder/group" /etc/group
mkdir "$folder/dev"
mount -t tmpfs none "$folder/dev"
cp -a "/dev/$device" /dev/null "$folder/dev/"
mount --move "$folder/dev" /dev
mount -t tmpfs none /run
mkdir -p /run/udev/data
[ ! -e "$folder/parent" ] || cp "$folder/parent" "/run/udev/data/b$(cat "/sys/class/block/$device/../dev")"
udevadm test --action=add "/sys/class/block/$device" 2>&1 | grep -E 'UDISKS_IGNORE=|SPATE_DISK=|Setting perm' || true
"""


def test_udev_accepts_the_rule():
    if "verify" not in run("udevadm", "--help").stdout:
        pytest.skip("udevadm of this release has no verify")
    run("udevadm", "verify", "--resolve-names=never", RULE)


@pytest.fixture
def loop(image_file):
    """The name of a loop device with a partition. partx adds it, because not every kernel looks for it."""
    try:
        device = subprocess.run(["losetup", "--find", "--show", image_file], capture_output=True, text=True, check=True).stdout.strip()
    except subprocess.CalledProcessError as failed:
        pytest.skip(f"no loop device: {failed.stderr.strip()}")
    run("partx", "--add", device)
    yield device.removeprefix("/dev/")
    run("partx", "--delete", device)
    run("losetup", "--detach", device)


@pytest.fixture
def image_file(tmp_path):
    path = tmp_path / "rec.img"
    spate("format", path, "--size", "64MiB", "--label", "CAM")
    return path


def udev(folder, device, *lines, parent=False):
    """What udev does with a device, if a rule of the machine has these lines."""
    (folder / "rules").mkdir()
    shutil.copy(RULE, folder / "rules")
    (folder / "rules/64-recording-disk.rules").write_text("".join(f"{line}\n" for line in lines))
    with open("/etc/group") as file:
        (folder / "group").write_text("".join(line for line in file if not line.startswith("spate:")) + "spate:x:4242:\n")
    if parent:
        (folder / "parent").write_text("I:1\nE:SPATE_DISK=1\n")
    return run("unshare", "--mount", "sh", "-c", TRY_RULE, "sh", folder, device).stdout


@sysfs
@pytest.mark.parametrize("chosen", [True, False])
def test_the_rule_gives_a_chosen_disk_to_the_group_and_hides_it(tmp_path, loop, chosen):
    lines = [f'KERNEL=="{loop}", ENV{{SPATE_DISK}}="1"'] if chosen else ['KERNEL=="other", ENV{SPATE_DISK}="1"']
    done = udev(tmp_path, loop, *lines)
    assert ("gid=4242, mode=0660" in done) == chosen
    assert ("UDISKS_IGNORE=1\n" in done) == chosen


@sysfs
def test_a_partition_of_a_chosen_disk_is_chosen(tmp_path, loop):
    done = udev(tmp_path, f"{loop}p1", parent=True)
    assert "gid=4242, mode=0660" in done and "UDISKS_IGNORE=1\n" in done


# ---- the image ----

DOCKERFILE = ROOT / "linux/packaging/container/Dockerfile"
# The instructions that buildah carried out; the image recorded onto a loop device. See CONTRIBUTING.md.
TRIED = """ARG SUITE=trixie
FROM debian:${SUITE}-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends build-essential cmake ninja-build pkgconf python3 liburing-dev libblkid-dev
WORKDIR /spate
COPY . .
RUN cmake --preset linux && cmake --build --preset linux --target spate_command && strip build/linux/bin/spate
FROM debian:${SUITE}-slim
RUN apt-get update && apt-get install -y --no-install-recommends liburing2 libblkid1 && rm -rf /var/lib/apt/lists/*
COPY --from=build /spate/build/linux/bin/spate /usr/local/bin/spate
STOPSIGNAL SIGINT
ENTRYPOINT ["spate"]
"""


def test_the_image_is_the_one_that_was_tried():
    instructions = re.sub(r"\\\n\s*", "", re.sub(r"^(#.*|)\n", "", DOCKERFILE.read_text(), flags=re.M))
    assert instructions == TRIED


def test_the_image_builds_what_the_command_needs():
    """Each package of the group command, but the manual page's, is in the first stage, and what the program is linked with in the
    second."""
    build, final = re.split(r"^FROM .*-slim$", DOCKERFILE.read_text(), flags=re.M)
    listed = {line.split()[0] for line in (ROOT / "setup/packages.txt").read_text().splitlines()
              if not line.startswith("#") and len(line.split()) > 2 and "command" in line.split()[2].split(",")}
    assert listed - set(build.split()) == {"scdoc"}
    linked = set(re.findall(r"NEEDED.*\[(liburing|libblkid)\.so\.(\d+)\]", run("readelf", "--dynamic", SPATE).stdout))
    assert linked == {("liburing", "2"), ("libblkid", "1")}
    assert all(f"{name}{number}" in final.split() for name, number in linked)
    assert "STOPSIGNAL SIGINT\n" in final and final.rstrip().endswith('ENTRYPOINT ["spate"]')


def test_the_profile_of_the_page_allows_io_uring():
    names = re.search(r'"names": \[(.*?)\]', PAGE)[1]
    assert set(re.findall(r'"(\w+)"', names)) == IO_URING
