# SPDX-License-Identifier: Apache-2.0
"""Counts the power cuts that the last `make test-power-cuts` checked, from ctest's log, and compares them with README.md. Each
program counts an image once; an image that two programs have counts twice. `make crash-soak` counts over all programs."""

import re
import sys

import program

LOG = program.BUILD / "host-release/Testing/Temporary/LastTest.log"
SAID = re.compile(r"in more than (\d+ \d+) states, in more than (\d+ \d+) images")


def counts(log):
    """{program: (states, images)}, from each program's last line."""
    found = {}
    for test in re.split(r"^\d+/\d+ Testing: ", log, flags=re.M)[1:]:
        numbers = re.findall(r"\(program: (\d+) states, (\d+) images\)", test)
        if numbers:
            found[test.split("\n", 1)[0]] = tuple(int(number) for number in numbers[-1])
    return found


def main():
    found = counts(LOG.read_text(errors="replace"))
    states, images = (sum(numbers) for numbers in zip(*found.values())) if found else (0, 0)
    print(f"{len(found)} programs: {states} states, {images} images, summed over programs")
    said = SAID.search((program.ROOT / "README.md").read_text().replace("\n", " "))
    if said is None:
        sys.exit("README.md does not say how many states and images there are")
    least = [int(number.replace(" ", "")) for number in said.groups()]
    if states < least[0] or images < least[1]:
        sys.exit(f"README.md says more than {least[0]} states and {least[1]} images: change it, or the shares in tests/power_cut/CMakeLists.txt")


if __name__ == "__main__":
    main()
