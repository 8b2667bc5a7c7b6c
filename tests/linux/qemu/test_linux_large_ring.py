# SPDX-License-Identifier: Apache-2.0
"""A ring so large that its DMA addresses would reach those of the drives' registers."""

import linux_guest
import pytest

pytestmark = pytest.mark.thorough

SCRIPT = """set -e
spate format vfio:0000:02:00.0 --bind --yes
spate record vfio:0000:02:00.0 run --from synthetic --size 300MB --ring 256MiB --bind --progress none
spate verify vfio:0000:02:00.0 run --bind --progress none
"""


def test_a_large_ring_and_the_registers_of_drives_have_different_addresses(make_image, tmp_path):
    drives = {"other": make_image(1 << 20), "rec": make_image(1 << 30)}
    done = linux_guest.run(SCRIPT, drives, tmp_path, files=linux_guest.spate(), iommu=True, memory="1G")
    assert done.status == 0, done.output
