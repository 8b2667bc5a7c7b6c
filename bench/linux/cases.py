# SPDX-License-Identifier: Apache-2.0
"""What is counted: commands for the guest. Each has a short and a long run. Their difference contains neither the start nor the
end of the program."""

import dataclasses

KIB, MIB = 1 << 10, 1 << 20
DRIVE = "/drives/rec"
ADDRESS = "vfio:0000:01:00.0"
MOUNTED = "/mnt"
DEPTH = 32
SIZES = tuple(512 << shift for shift in range(12))  # 512 B ... 1 MiB
SIZES_QUICK = (4 * KIB, 128 * KIB, 512 * KIB, MIB)
URING_MODES = ("plain", "single", "half", "fixed")
FILE_SYSTEMS = {
    "ext4": "/sbin/mke2fs -q -F -t ext4 -E lazy_itable_init=0,lazy_journal_init=0 {drive} && mount -t ext4 {drive} /mnt",
    "ext4-no-journal": "/sbin/mke2fs -q -F -t ext4 -O ^has_journal -E lazy_itable_init=0 {drive} && mount -t ext4 {drive} /mnt",
    "exfat": "mkfs.exfat {drive} > /dev/null && mount -t exfat {drive} /mnt",
    "raw": "true",
}


@dataclasses.dataclass(frozen=True)
class Case:
    """`command` may hold {total}, in bytes."""

    key: str
    command: str
    short: int
    long: int
    before: str = ""  # shell, not counted
    repeats: int = 1
    tries: int = 1  # for a stream that may be too fast for the emulated drive; the last count is valid

    def script(self) -> str:
        lines = []
        for repeat in range(self.repeats):
            for name, total in (("short", self.short), ("long", self.long)):
                label = f"{self.key}/{repeat}/{name}"
                attempt = f"{{ {self.before or 'true'}; count {label} {self.command.format(total=total)}; }}"
                lines.append(" || ".join([attempt] * self.tries + [f"echo 'failed {label}'"]))
        return "\n".join(lines)

    @property
    def counts(self) -> int:
        return 2 * self.repeats


@dataclasses.dataclass(frozen=True)
class Group:
    begin: str
    cases: list[Case]
    end: str = ""

    def script(self) -> str:
        return "\n".join(line for line in [self.begin, *(case.script() for case in self.cases), self.end] if line)


# ---- seed 2: ways of writing and of reading back ----

DROP = "sync; echo 3 > /proc/sys/vm/drop_caches"


def ways(quick: bool) -> list[Group]:
    groups = []
    short, long = (16 * MIB, 48 * MIB) if quick else (32 * MIB, 160 * MIB)
    for name, make in FILE_SYSTEMS.items():
        place = DRIVE if name == "raw" else f"{MOUNTED}/file"
        begin = "sync" if name == "raw" else f"rm -f {place}; sync"
        commands = {}
        for step in (2 * MIB,) if quick else (2 * MIB, 8 * MIB):
            dd = f"/bin/dd if=/dev/zero of={place} bs={step} count=$(({{total}}/{step})) status=none"
            commands |= {
                f"dd-buffered-{step // MIB}": f"sh -c '{dd}; sync'",
                f"dd-fdatasync-{step // MIB}": f"{dd} conv=fdatasync",
                f"dd-direct-{step // MIB}": f"{dd} oflag=direct",
                f"dd-direct-fdatasync-{step // MIB}": f"{dd} oflag=direct conv=fdatasync",
            }
        for method in ("mmap-write", "memcpy", "direct", "sendfile"):
            commands[method] = f"ways {method} {place} {2 * MIB} {{total}}"
        # dd's own part of a buffered write: so few bytes that the kernel does not begin to write them to the drive.
        dd = f"/bin/dd if=/dev/zero of={place} bs={2 * MIB} count=$(({{total}}/{2 * MIB})) status=none"
        cases = [Case(f"ways/{name}/dd-cached", dd, 8 * MIB, 56 * MIB, begin)]
        cases += [Case(f"ways/{name}/{way}", command, short, long, begin) for way, command in commands.items()]
        # Reads what the last case wrote, from the drive and not from memory.
        read = f"/bin/dd if={place} of=/dev/null bs={2 * MIB} count=$(({{total}}/{2 * MIB})) status=none"
        cases += [Case(f"ways/{name}/{way}", read + words, short, long, DROP)
                  for way, words in (("read-buffered", ""), ("read-direct", " iflag=direct"))]
        refused = f"ways mmap-direct {place} {2 * MIB} {2 * MIB} 2>&1 | sed 's/^/refused /'"
        if name == "raw":  # included in all figures of dd
            zeros = f"/bin/dd if=/dev/zero of=/dev/null bs={2 * MIB} count=$(({{total}}/{2 * MIB})) status=none"
            cases.append(Case("ways/raw/zeros", zeros, short, long))
        groups.append(Group(make.format(drive=DRIVE), cases, refused + ("" if name == "raw" else f"\numount {MOUNTED}")))
    return groups


# ---- seed 4: the sweep ----


def stretch(size: int, quick: bool) -> tuple[int, int]:
    """Bytes of the short and the long run: enough requests to make the start of a program negligible."""
    requests = max(400, min(12000, 256 * MIB // size))
    requests = requests // 4 if quick else requests
    return requests // 8 * size, requests * size


def fio(engine: str, op: str, size: int, place: str, key: str) -> str:
    """fio's best mode: it reads no clock per request, and submits and reaps as many requests at a time as there are."""
    return (f"fio --name=x --filename={place} --rw={op} --bs={size} --ioengine={engine} --iodepth={DEPTH} --direct=1 "
            f"--size=1G --io_size={{total}} --gtod_reduce=1 --iodepth_batch_submit={DEPTH // 2} "
            f"--iodepth_batch_complete_min=1 --iodepth_batch_complete_max={DEPTH} --thread "
            f"--output-format=json --output=/results/{key.replace('/', '_')}.json")


def sweep_kernel(quick: bool) -> list[Group]:
    cases = []
    for size in SIZES_QUICK if quick else SIZES:
        short, long = stretch(size, quick)
        for op in ("write", "read"):
            for engine in ("libaio", "io_uring"):
                key = f"sweep/fio-{engine}/{op}/{size}"
                cases.append(Case(key, fio(engine, op, size, DRIVE, key), short, long))
            for mode in URING_MODES:
                cases.append(Case(f"sweep/uring-{mode}/{op}/{size}", f"uring {mode} {op} {DRIVE} {size} {DEPTH} {{total}}",
                                  short, long))
    return [Group("", cases)]


# The kernel releases a program's io_uring only after the program's end.
SETTLE = "sleep 0.05"


def speedtest(target: str, key: str, op: str, size: int) -> str:
    words = f"speedtest {target} --block {size} --depth {DEPTH} --size {{total}} --sequential --output-format=json"
    write = " --write" if op == "write" else ""
    return f"sh -c 'spate {words}{write} > /results/{key.replace('/', '_')}.json'"


def sweep_spate(target: str, name: str, quick: bool) -> list[Group]:
    cases = []
    for size in SIZES_QUICK if quick else SIZES:
        short, long = stretch(size, quick)
        for op in ("write", "read"):
            key = f"sweep/{name}/{op}/{size}"
            cases.append(Case(key, speedtest(target, key, op, size), short, long, SETTLE))
    return [Group("", cases)]


FORMAT = f"spate format {DRIVE} --yes --erase > /dev/null 2>&1"
# Binds once, so that no run includes the kernel's driver releasing the drive.
BIND = """echo vfio-pci > /sys/bus/pci/devices/0000:01:00.0/driver_override
echo 0000:01:00.0 > /sys/bus/pci/devices/0000:01:00.0/driver/unbind
echo 0000:01:00.0 > /sys/bus/pci/drivers_probe"""


# ---- recordings ----

RECORD_DEPTH = 28  # requests that the recorder keeps in flight over io_uring


def recording_kernel(quick: bool) -> list[Group]:
    """exfat.ko on a volume formatted by spate, with clusters of 1 MiB, and on one formatted by mkfs.exfat."""
    short, long = (32 * MIB, 160 * MIB) if quick else (64 * MIB, 576 * MIB)
    repeats = 1 if quick else 3
    new, old = f"rm -f {MOUNTED}/file; sync", "sync"
    file = f"{MOUNTED}/file"
    dd = f"/bin/dd if=/dev/zero of={file} bs=1M count=$(({{total}}/{MIB})) oflag=direct status=none"

    def cases(name: str) -> list[Case]:
        append = [Case(f"record/{name}/append-dd", dd, short, long, new, repeats),
                  Case(f"record/{name}/append-direct", f"ways direct {file} {MIB} {{total}}", short, long, new, repeats)]
        keys = {mode: f"record/{name}/there-uring-{mode}" for mode in URING_MODES}
        there = [Case(key, f"uring {mode} write {file} {MIB} {RECORD_DEPTH} {{total}}", short, long, old, repeats)
                 for mode, key in keys.items()]
        there.append(Case(f"record/{name}/there-dd", f"{dd} conv=notrunc", short, long, old, repeats))
        key = f"record/{name}/there-fio-io_uring"
        there.append(Case(key, fio("io_uring", "write", MIB, file, key).replace("--size=1G", f"--size={long}"), short, long,
                          old, repeats))
        # The existing file is the last one that was appended to.
        return append + there

    groups = []
    make = FILE_SYSTEMS["exfat"].format(drive=DRIVE)
    groups.append(Group(make, cases("exfat-default"), f"umount {MOUNTED}"))
    groups.append(Group(f"{FORMAT}; sleep 1; mount -t exfat {DRIVE}p1 {MOUNTED} || mount -t exfat $(readlink {DRIVE})p1 {MOUNTED}",
                        cases("exfat-1m"), f"umount {MOUNTED}"))
    raw = [Case(f"record/raw/uring-{mode}", f"uring {mode} write {DRIVE} {MIB} {RECORD_DEPTH} {{total}}", short, long, old,
                repeats) for mode in URING_MODES]
    groups.append(Group("", raw))
    return groups


RATES = {"": "", "-05GBs": " --rate 500MB/s", "-1GBs": " --rate 1GB/s"}


def recording_spate(target: str, name: str, quick: bool, others: bool) -> list[Group]:
    """`others`: also the command's own sensor and a pipe. Their cost does not depend on the target."""
    short, long = 128 * MIB, 640 * MIB if quick else 1152 * MIB
    repeats = 3  # releasing a drive and taking it again costs thousands of times the counted difference
    remove = f"spate rm {target} clip > /dev/null 2>&1; sync; {SETTLE}"
    end = "--progress none"
    cases = [Case(f"record/{name}/no-source{suffix}",
                  f"spate-no-source record {target} clip --from synthetic --size {{total}} {end}{words}", short, long, remove,
                  repeats, 10 if words else 1) for suffix, words in RATES.items()]
    if others:
        cases.append(Case(f"record/{name}/sensor", f"spate record {target} clip --from synthetic --size {{total}} {end}",
                          80 * MIB, 112 * MIB, remove))
        pipe = f"/bin/dd if=/dev/zero bs=1M count=$(({{total}}/{MIB})) status=none | spate record {target} clip {end}"
        cases.append(Case(f"record/{name}/pipe", f"sh -c '{pipe}'", 80 * MIB, 144 * MIB, remove))
    return [Group("", cases, remove)]


# ---- machines ----

FOUND = """for what in 'uname -srm' 'lspci' 'lspci -tv' 'nvme list' 'lspci -vv -s 01:00.0'; do
  echo "found # $what"
  $what 2>/dev/null | sed 's/^/found /'
done
echo "found # dmesg | grep -E 'host bridge|nvme'"
dmesg | grep -E 'host bridge|pci_bus 0000:00: root|nvme0|0000:01:00.0' | sed 's/^/found /'"""


@dataclasses.dataclass(frozen=True)
class Machine:
    """One run of the emulator: a kernel, the IOMMU's mode, and the cases."""

    name: str
    kernel: str
    strict: bool
    groups: list[Group]
    before: str = ""

    @property
    def mode(self) -> str:
        return "strict" if self.strict else "passthrough"

    @property
    def counts(self) -> int:
        return sum(case.counts for group in self.groups for case in group.cases)

    def script(self) -> str:
        lines = [self.before, *(group.script() for group in self.groups), "sync", "tar -C /results -cf /drives/out ."]
        return "\n".join(line for line in lines if line) + "\n"


CALLS = f"calls {ADDRESS}"


def machines(kernels, quick: bool) -> list[Machine]:
    found = []
    for kernel in kernels:
        for strict in (True,) if quick else (True, False):
            mode = "strict" if strict else "passthrough"
            bound = [Group(BIND, [])] if strict else []
            sweeps = sweep_kernel(quick) + [Group(FORMAT, [])] + sweep_spate(DRIVE, "spate-io_uring", quick)
            if strict:  # without the kernel's driver, the IOMMU's mode makes no difference
                sweeps += bound + sweep_spate(ADDRESS, "spate-vfio", quick) + [Group(CALLS, [])]  # the last one writes anywhere
            found.append(Machine(f"sweep-{kernel}-{mode}", kernel, strict, sweeps, FOUND))
            found.append(Machine(f"ways-{kernel}-{mode}", kernel, strict, ways(quick)))
            records = recording_kernel(quick) + [Group(FORMAT, [])] + recording_spate(DRIVE, "spate-io_uring", quick, strict)
            if strict:
                records += bound + recording_spate(ADDRESS, "spate-vfio", quick, True)
            found.append(Machine(f"record-{kernel}-{mode}", kernel, strict, records))
    return found
