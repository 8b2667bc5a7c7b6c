# SPDX-License-Identifier: Apache-2.0
"""How make test-all runs the commands of `make help`: as a step of tests/steps.toml, in tests/tools/test_commands_run.py, or in
another test. A new command needs a row here or a step."""

import dataclasses
import re

from conftest import ROOT


@dataclasses.dataclass(frozen=True)
class Run:
    words: tuple[str, ...] = ()  # after make and the command
    shows: str = ""  # what its output must contain
    writes: str = ""  # the file that it must write
    may_refuse: str = ""  # what it says if a result of another command is not there


def figures(name, *words):
    """A benchmark."""
    return Run(words, writes=f"build/bench/{name}.json")


REFUSAL = r"is not there: make [\w-]+ writes it"
RUNS = {
    "demo": Run(shows=r"host   fsck.exfat: clean.*demo   passed in \d+ s"),
    "demo-linux": Run(shows=r"demo     passed in \d+ s"),
    "deb": Run(writes="build/deb/spate_*.deb"),
    "crash-soak": Run(("N=20",), r"\d+ states"),
    "loop-soak": Run(("MINUTES=3",), r"[1-9]\d* deleted, 3[12] left with 0 wrong pages"),
    "fuzz": Run(("SECONDS=5",), r"fuzz_exfat.*\d+ inputs"),
    "mutants": Run(("ONLY=src/core", "N=12"), r"^all +[1-9].*\d %$"),
    "plan": Run(("DRIVE=970evoplus", "RATE=1.5GB/s"), r"sustained +yes"),
    "speedtest": figures("speedtest", "TOTAL_MIB=16"),
    "bench-crash": figures("crash"),
    "bench-fatfs": figures("fatfs"),
    "bench-files": figures("files", "QUICK=1"),
    "bench-boards": figures("boards"),
    "bench-instructions": figures("instructions"),
    "bench-size": figures("size"),
    "bench-ocm": figures("ocm"),
    "bench-rtl-area": Run(("ONLY=pattern generator",), r"longest path: \S+"),
    "pressure": Run(writes="docs/images/pressure.svg"),
    "recording": Run(writes="docs/images/demo.svg"),
    "figures": Run(shows=r"^figures in docs/", may_refuse=REFUSAL),
    "generate": Run(),
    "format": Run(),
    "formal": Run(("ONLY=fifo",), r"[1-9]\d* hold, 0 failed"),
    "lint-rtl": Run(("ONLY=fifo",), r"[1-9]\d* files, .*: no finding"),
    "test-times": Run(shows=r"^step +seconds", may_refuse=r"is not there: make test writes it"),
}
# These must change no file.
WITHOUT_CHANGES = {"generate", "format"}
# Run by other tests, which say `"make", ..., "the command"`.
ELSEWHERE = {
    "install": "tests/tools/setup/test_groups.py", "boot-image": "tests/boards/qemu/test_boot_image.py",
    "clean": "tests/tools/test_commands_run.py",
    "place": "tests/rtl/test_place.py",  # as make -n, because Debian's unstable release replaces the files of setup/place.sha256
    "place-calibrate": "tests/rtl/test_place_calibrate.py",  # as make -n too; the sources of some cores are not fetched
}
# These run others: the steps, or a list of commands that stands in the Makefile.
OF_OTHERS = {"test", "test-all", "bench", "lint"}


def commands():
    """The commands that make help shows, and what each needs."""
    rows = re.findall(r"^([a-z-]+):(.*) ## ", (ROOT / "Makefile").read_text(), re.M)
    return {name: needs.split() for name, needs in rows}
