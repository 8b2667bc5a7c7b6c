# SPDX-License-Identifier: Apache-2.0
"""A program that stands in for the first-stage loader of a Zynq UltraScale+."""

import pathlib

import program

SOURCE = pathlib.Path(__file__).with_suffix(".S")


def build(path, *, at, image, counter_hz):
    """Links it to run at `at`. It starts the firmware at `image`."""
    program.run("aarch64-linux-gnu-gcc", "-nostdlib", "-static", "-no-pie", "-Wl,--build-id=none", f"-Wl,-Ttext={at:#x}",
                f"-Wl,--defsym=image={image:#x}", f"-Wl,--defsym=counter_hz={counter_hz}", SOURCE, "-o", path)
    return path
