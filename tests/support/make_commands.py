# SPDX-License-Identifier: Apache-2.0
"""How make test-all runs the commands of `make help`: as a step of tests/steps.toml, in tests/system/test_commands_run.py, or in
another test. Some are run by hand only. A new command needs a row here or a step."""

import re

from conftest import ROOT

# The command and its words, and what its output must show.
RUNS = {
    "demo": ((), r"host   fsck.exfat: clean.*demo   passed in \d+ s"),
    "crash-soak": (("N=20",), r"\d+ states"),
    "fuzz": (("SECONDS=5",), r"fuzz_exfat.*\d+ inputs"),
    "mutants": (("ONLY=src/core", "N=60"), r"\d+ mutants|killed"),
    "plan": (("DRIVE=970evoplus", "RATE=1.5GB/s"), r"sustained +yes"),
    "speedtest": (("TOTAL_MIB=16",), r"MiB/s|MB/s"),
    "bench-crash": ((), ""),
    "bench-fatfs": ((), ""),
    "bench-boards": ((), ""),
    "bench-instructions": ((), ""),
    "bench-size": ((), ""),
    "bench-ocm": ((), ""),
    "bench-rtl-area": (("ONLY=pattern generator",), r"pattern generator"),
    "pressure": ((), ""),
    "recording": ((), ""),
    "figures": ((), r"is not there: make \w+ writes it|figures_page"),
    "generate": ((), ""),
    "format": ((), ""),
    "formal": (("ONLY=fifo",), r"\d+ hold, 0 failed"),
    "lint-rtl": (("ONLY=fifo",), ""),
    "test-times": ((), r"budget|make test writes it"),
}
# The benchmarks above write their figures here.
RESULTS = {"bench-crash": "crash", "bench-fatfs": "fatfs", "bench-boards": "boards", "bench-instructions": "instructions",
           "bench-size": "size", "bench-ocm": "ocm", "speedtest": "speedtest"}
# These need results of others, and name the command that writes them if it has not run.
MAY_REFUSE = {"figures", "test-times"}
# These must change no file.
WITHOUT_CHANGES = {"generate", "format"}
# Judged by other tests.
ELSEWHERE = {
    "install": "tests/setup/test_groups.py", "deb": "tests/linux/test_spate_package.py", "boot-image": "tests/ports/qemu/test_boot_image.py",
    "clean": "tests/system/test_commands_run.py", "demo-linux": "tests/linux/qemu/test_spate_applications_guest.py",
}
# These take minutes each, and no step runs them yet: they are run by hand.
BY_HAND = {"lint-c", "lab", "check-calibrate", "check-linux-boards", "example-gnuradio", "site", "bench-linux", "bench-rtl", "bench-rtl-seeds",
           "rtl-soak", "test-fresh"}
# These run others: the steps, or a list of commands that stands in the Makefile.
OF_OTHERS = {"test", "test-all", "bench", "lint"}


def commands():
    """The commands that make help shows, and what each needs."""
    rows = re.findall(r"^([a-z-]+):(.*) ## ", (ROOT / "Makefile").read_text(), re.M)
    return {name: needs.split() for name, needs in rows}
