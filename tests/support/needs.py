# SPDX-License-Identifier: Apache-2.0
"""Marks of tests that need a file system which a root without an init may not have mounted. Such a test is skipped where that file
system is missing, and nowhere else."""

import os

import pytest

# sysfs always has this folder, and devpts this file.
SYSFS, DEVPTS = "/sys/class", "/dev/pts/ptmx"

sysfs = pytest.mark.skipif(not os.path.isdir(SYSFS), reason=f"no sysfs: {SYSFS} is not there (mount -t sysfs sysfs /sys)")
terminals = pytest.mark.skipif(not os.path.exists(DEVPTS),
                               reason=f"no terminals: {DEVPTS} is not there (mount -t devpts devpts /dev/pts)")
