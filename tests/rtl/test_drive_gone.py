# SPDX-License-Identifier: Apache-2.0
"""spate_drive when its drive goes and another one comes."""

import runner
from drive_window import window_bits


def test_drive_gone():
    ram_bytes = 73728
    runner.run("spate_drive_flat", "testbench_drive_gone",
               parameters={"DataWidth": 128, "RamBytes": ram_bytes, "SlotBits": 6, "QueueShiftMax": 7,
                           "WindowBase": "64'h1240000000", "BarBase": "64'ha0000000", "ClockHz": 1_000_000, "UsPerMs": 4,
                           "AdminDeadlineMs": 300, "CommandDeadlineMs": 1500},
               env={"DATA_WIDTH": "128", "RAM_BYTES": str(ram_bytes), "BLOCK_SHIFT": "9",
                    "WINDOW_BITS": str(window_bits(ram_bytes)), "SLOTS": "64"})
