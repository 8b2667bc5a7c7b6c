# SPDX-License-Identifier: Apache-2.0
"""The window through which a drive reaches the core, as rtl/spate_pkg.sv defines it."""


def window_bits(ram_bytes: int) -> int:
    if ram_bytes == 8192:
        return 22
    return max(21, (2 * (ram_bytes - 8192) - 1).bit_length()) + 2
