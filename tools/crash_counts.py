# SPDX-License-Identifier: Apache-2.0
"""Counts the power cuts that the last `make test-power-cuts-all` checked, from ctest's log, and compares them with the README and the
figures page. Each program counts an image once; an image that two programs have counts twice. `make crash-soak` counts over
all programs."""

import re
import sys

import program

LOG = program.BUILD / "host-release/Testing/Temporary/LastTest.log"
PAGES = {"README.md": ("states",), "docs/reference/figures.md": ("states", "images")}


def counts(log):
    """{program: (states, images)}, from each program's last line."""
    found = {}
    for test in re.split(r"^\d+/\d+ Testing: ", log, flags=re.M)[1:]:
        numbers = re.findall(r"\(program: (\d+) states, (\d+) images\)", test)
        if numbers:
            found[test.split("\n", 1)[0]] = tuple(int(number) for number in numbers[-1])
    return found


def claims(text, what):
    """The numbers that a page claims: "more than 100 000 states"."""
    return [int(number.replace(" ", "")) for number in re.findall(rf"more than (\d+ \d+) {what}", text.replace("\n", " "))]


def main():
    found = counts(LOG.read_text(errors="replace"))
    states, images = (sum(numbers) for numbers in zip(*found.values())) if found else (0, 0)
    counted = {"states": states, "images": images}
    print(f"{len(found)} programs: {states} states, {images} images, summed over programs")
    for page, all_of_it in PAGES.items():
        for what in all_of_it:
            said = claims((program.ROOT / page).read_text(), what)
            if not said:
                sys.exit(f"{page} does not say how many {what} there are")
            if counted[what] < max(said):
                sys.exit(f"{page} says more than {max(said)} {what}: change it, or the shares in tests/power_cut/CMakeLists.txt")


if __name__ == "__main__":
    main()
