# SPDX-License-Identifier: Apache-2.0
"""What a board does on a fault of the processor, on an access that no device answers, and on one whose error comes late."""

import re

import pytest

import qemu
from board_without_host import stopped

pytestmark = pytest.mark.thorough

TIMEOUT_S = 60
SENTENCES = {"stack": "stack overflow", "misaligned": "misaligned", "null": "null pointer", "constant": "a write to constants"}
READ = {"all ones": "read 0xffffffff", "0": "read 0x00000000"}


def hello(board, *options, **arguments):
    result = qemu.run(board, "hello", None, arguments, timeout_s=TIMEOUT_S, options=options)
    assert not result.timed_out, result.report()
    return result


@pytest.mark.parametrize("board", qemu.ALL)
def test_a_register_that_no_device_answers_gives_all_ones(board):
    """Or 0, where QEMU has no error for it."""
    answer = qemu.ALL[board].absent_register
    result = hello(board, fault="register")
    assert READ[answer] in result.output, result.report()
    assert "fault:" not in result.output, result.report()
    assert re.search("^pcie: ", result.output, re.M) or answer == "0", result.report()  # the program has continued


@pytest.mark.parametrize("board, fault", [(board, fault) for board in qemu.ALL for fault in qemu.ALL[board].faults.split()])
def test_a_fault_is_reported_with_its_address(board, fault):
    result = hello(board, fault=fault)
    assert result.status not in (0, None), result.report()
    reported = re.search(r"^fault: (.*) at 0x([0-9a-f]+)", result.output, re.M)
    assert reported, result.output
    assert re.search(SENTENCES[fault], reported[1], re.I), result.output
    if touched := re.search(r"^touching 0x([0-9a-f]+)", result.output, re.M):
        assert int(reported[2], 16) == int(touched[1], 16)
    else:  # the stack ends just above the reported address
        pointer = re.search(r"stack pointer 0x([0-9a-f]+)", result.output)
        assert abs(int(reported[2], 16) - int(pointer[1], 16)) < 256 << 10, result.output


@pytest.mark.parametrize("board, machine",
                         [("qemu-virt", "virt,virtualization=on"), ("qemu-virt-a15", "virt,highmem=off,virtualization=on"),
                          ("zynqmp", "xlnx-zcu102,virtualization=on,secure=off")])
def test_an_error_that_comes_late_spoils_its_own_read_alone(board, machine):
    """The hypervisor's level raises a virtual SError, or a virtual asynchronous abort: after a write, and during a read."""
    result = hello(board, "-machine", machine, fault="serror")
    reads = re.findall(r"^read 0x([0-9a-f]{8}) (.*?)\r?$", result.output, re.M)
    assert reads == [("89abcdef", "after a write that failed"), ("ffffffff", "from a read that failed"),
                     ("89abcdef", "after that")], result.report()
    assert re.search("^pcie: ", result.output, re.M), result.report()


@pytest.mark.parametrize("board", qemu.ALL)
def test_a_start_that_cannot_provoke_such_an_error_says_so(board):
    assert "has no way to provoke an error that comes late" in hello(board, fault="serror").output


@pytest.mark.parametrize("board", [board for board in qemu.ALL if not board.startswith("qemu-")])
def test_without_a_host_the_board_says_how_it_ended_and_stays(board):
    """As on hardware without a debugger."""
    with stopped(board, "hello") as (machine, said):
        assert said.rstrip().endswith("stopped with status 1"), said
        assert machine.poll() is None
