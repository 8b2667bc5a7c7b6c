# SPDX-License-Identifier: Apache-2.0
"""spate_drive as a whole: widths, rings, memory mode, block sizes, few slots and many. By default each case runs with selected
shapes, so that all finish in a minute; ALL=1 runs each with each, and longer."""

import os

import pytest

import runner
from drive_window import window_bits

STREAMS, COMPLETIONS = "streams_go_through_whole", "completions_that_are_none_end_nothing"
ERRORS = "errors_are_tried_again_or_reported"
LOST, READS, SIDE = "what_is_lost_is_done_again", "whatever_is_read_is_answered", "side_commands_pass_the_stream"
LISTS = "every_slot_has_a_list_of_its_own"  # in a ring that has room for lists
KILLER = "a_command_that_kills_the_drive_ends"
AHEAD = "completions_written_out_of_order_cost_a_recovery"
GONE = "what_came_while_it_was_gone_stays_dead"  # in a ring, with blocks of 4096 bytes
NEXT = "what_was_asked_of_one_drive_is_not_asked_of_the_next"  # in a ring that holds four blocks
DOUBLED = "a_late_double_of_a_flush_ends_no_other"
LIAR = "a_controller_that_is_being_stopped_ends_nothing"
HEADS = ("a_submission_head_that_stays_0_costs_nothing", "a_submission_head_at_the_tail_costs_nothing")
EVERYWHERE = (*HEADS, STREAMS, COMPLETIONS, ERRORS, LOST, READS, SIDE, AHEAD, KILLER, DOUBLED, LIAR)
# Data width, bytes of the buffer, log2 of the slots and of the queue's entries, block size; 8192 bytes: memory mode.
SHAPES = [(128, 73728, 6, 7, 9, (COMPLETIONS, LOST, AHEAD, SIDE, KILLER, DOUBLED)), (256, 40960, 2, 3, 12, (STREAMS, *HEADS, ERRORS, GONE, NEXT, LIAR)),
          (512, 139264, 8, 9, 9, (STREAMS, LISTS, READS)), (128, 8192, 6, 7, 9, (STREAMS, ERRORS, LOST, LIAR)),
          (256, 8192, 2, 3, 12, (COMPLETIONS, READS))]
ALL = os.environ.get("ALL", "0") != "0"


@pytest.mark.parametrize("width,ram_bytes,slot_bits,queue_shift,block_shift,cases", SHAPES)
def test_drive(width, ram_bytes, slot_bits, queue_shift, block_shift, cases):
    # A cycle is a microsecond, and 4 are a millisecond. A flush may wait behind all commands that a recovery sends again: its
    # deadline is as long as theirs.
    runner.run("spate_drive_flat", "testbench_drive",
               parameters={"DataWidth": width, "RamBytes": ram_bytes, "SlotBits": slot_bits, "QueueShiftMax": queue_shift,
                           "RamRegisters": 4 if width == 256 else 1,
                           "WindowBase": "64'h1240000000", "BarBase": "64'ha0000000", "ClockHz": 1_000_000, "UsPerMs": 4,
                           "AdminDeadlineMs": 1500, "CommandDeadlineMs": 1500},
               env={"DATA_WIDTH": str(width), "RAM_BYTES": str(ram_bytes), "BLOCK_SHIFT": str(block_shift),
                    "WINDOW_BITS": str(window_bits(ram_bytes)), "SLOTS": str(1 << slot_bits),
                    "REQUESTS": "60" if ALL else "16", "CASES": " ".join({*cases, *(EVERYWHERE if ALL else ())})})
