# SPDX-License-Identifier: Apache-2.0
"""A member of the stripe is given up and restarted in the middle of a request. The parts that it had not been given by then are
not given to it afterwards, because it may be another drive with another block size."""

import random

import cocotb

from stripe_bench import CHUNK_BYTES, DRIVES, Request, Testbench, response_to
from stripe_member import ADDRESS, BEAT_BYTES, DEALLOCATE, FLUSH, GONE, OK, READ, STREAMS, WRITE


async def give_up_and_restart(tb: Testbench, member, block_bytes: int, gone_cycles: int = 20) -> None:
    member.gone = True
    tb.comes_up(member)
    await tb.cycles(gone_cycles)
    tb.set("drive_gone_i", member.index, 0)
    await tb.cycles(50)
    member.gone, member.block_bytes = False, block_bytes
    tb.comes_up(member)
    await tb.cycles(20)


@cocotb.test(timeout_time=250, timeout_unit="us", skip=not STREAMS)
@cocotb.parametrize(gone_cycles=[1, 20])
async def parts_that_wait_for_data_are_not_given_to_the_next_drive(dut, gone_cycles):
    """The source pauses: the member has taken two parts, others wait for it."""
    tb = Testbench(dut, [0.0])
    await tb.start()
    tb.data.stall.share = 1.0
    write = tb.ask(Request(WRITE, 0, 5 * DRIVES * tb.chunk_blocks, 1))
    await tb.cycles(500)
    lost = tb.members[1]
    taken = len(lost.log)
    assert 0 < taken < 5
    await give_up_and_restart(tb, lost, 512, gone_cycles)
    tb.data.stall.share = 0.0
    answer, = await tb.answers(1)
    await tb.cycles(50)
    assert not tb.data.words, "beats of the request were not moved"
    assert len(lost.log) == taken, f"the next drive was given {len(lost.log) - taken} parts"
    assert (answer["tag"], answer["status"]) == (1, GONE)
    after = tb.ask(Request(WRITE, 12 * DRIVES * tb.chunk_blocks, 2 * DRIVES * tb.chunk_blocks, 2))
    assert await tb.answers(1) == [response_to(after, OK, after.blocks)]


@cocotb.test(timeout_time=250, timeout_unit="us", skip=STREAMS)
async def parts_with_addresses_are_not_given_in_blocks_of_another_size(dut):
    """Memory mode: the member's queue is full when it is given up, and the next drive has larger blocks."""
    tb = Testbench(dut, [0.0])
    await tb.start()
    lost = tb.members[1]
    lost.data_blocked = True
    read = tb.ask(Request(READ, 0, 30 * DRIVES * tb.chunk_blocks, 1, source=ADDRESS, address=0x1000))
    await tb.cycles(500)
    taken = len(lost.log)
    await give_up_and_restart(tb, lost, 4096)
    lost.data_blocked = False
    await tb.cycles(500)
    wrong = [command for command in lost.log[taken:] if command.blocks]
    assert not wrong, f"given to a drive with another block size: {wrong[:2]}"
    del read


@cocotb.test(timeout_time=250, timeout_unit="us", skip=not STREAMS)
@cocotb.parametrize(block_bytes=[512, 4096], next_bytes=[512, 4096])
async def all_members_that_go_leave_the_blocks_as_they_were(dut, block_bytes, next_bytes):
    """No member is ready in the middle of a write and a read. Both are counted in the blocks with which they began, even when the
    members that come back have another block size; later requests are counted in theirs."""
    tb = Testbench(dut, [0.0], block_bytes=block_bytes)
    await tb.start()
    tb.data.stall.share = 1.0
    blocks = 3 * DRIVES * tb.chunk_blocks
    tb.ask(Request(WRITE, 0, blocks, 1))
    tb.ask(Request(READ, 0, blocks, 2))
    await tb.cycles(500)
    for member in tb.members:
        member.gone = True
        tb.comes_up(member)
    await tb.cycles(100)
    tb.data.stall.share = 0.0
    await tb.cycles(200)
    for member in tb.members:
        tb.set("drive_gone_i", member.index, 0)
    await tb.cycles(50)
    for member in tb.members:
        member.gone, member.block_bytes = False, next_bytes
        tb.comes_up(member)
    answers = await tb.answers(2)
    assert [(answer["tag"], answer["status"]) for answer in answers] == [(1, GONE), (2, GONE)]
    beats = await tb.beats_out(blocks * block_bytes // BEAT_BYTES)
    assert [beat["last"] for beat in beats] == [0] * (len(beats) - 1) + [1]
    assert not tb.out.words and not tb.data.words, "beats too many, or too few"
    tb.block_bytes, tb.chunk_blocks = next_bytes, CHUNK_BYTES // next_bytes
    after = tb.ask(Request(WRITE, 3, 2 * tb.chunk_blocks, 3))
    assert await tb.answers(1) == [response_to(after, OK, after.blocks)]
    for block in range(after.blocks):
        member, lba = tb.place(after.lba + block)
        assert tb.members[member].medium[lba] == tb.contents(after, block)


@cocotb.test(timeout_time=250, timeout_unit="us")
async def the_rest_of_a_request_is_not_given_to_the_next_drive(dut):
    """Most of a long request is not split yet when a member is given up: the next drive is given no part of it, even with the
    same block size, but the requests behind it are."""
    tb = Testbench(dut, [0.0])
    await tb.start()
    lost = tb.members[1]
    lost.data_blocked = True
    blocks = 40 * DRIVES * tb.chunk_blocks
    tb.member_blocks, tb.array_blocks = 2 * blocks // DRIVES, 2 * blocks
    tb.dut.member_blocks_i.value = tb.member_blocks
    await tb.cycles(5)
    tb.ask(Request(READ, 0, blocks, 1))
    await tb.cycles(700)
    behind = tb.ask(Request(READ, blocks + tb.chunk_blocks, 1, 2))
    taken = len(lost.log)
    await give_up_and_restart(tb, lost, 512)
    lost.data_blocked = False
    answers = await tb.answers(2)
    assert [(answer["tag"], answer["status"]) for answer in answers] == [(1, GONE), (2, OK)]
    assert [command.lba for command in lost.log[taken:]] == [tb.place(behind.lba)[1]]


@cocotb.test(timeout_time=100, timeout_unit="us")
@cocotb.parametrize(op=[FLUSH, DEALLOCATE], next_bytes=[512, 4096])
async def a_side_command_is_not_given_to_the_next_drive(dut, op, next_bytes):
    """A side command waits for a member that does not take it. The member is given up, and another drive takes its place. That
    drive must not get the command: its blocks may have another size, and its flush does not cover the earlier writes."""
    tb = Testbench(dut, [0.0])
    await tb.start()
    lost = tb.members[1]
    lost.side_blocked = True
    command = tb.ask(Request(op, 0, 2 * DRIVES * tb.chunk_blocks, 1))
    await tb.cycles(100)
    assert tb.members[0].log and not lost.log
    await give_up_and_restart(tb, lost, next_bytes)
    lost.side_blocked = False
    assert await tb.answers(1) == [response_to(command, GONE, 0)]
    assert not lost.log and all(len(member.log) == 1 for member in tb.members if member is not lost)


@cocotb.test(timeout_time=100, timeout_unit="us")
async def a_side_command_does_not_wait_for_a_drive_that_may_have_other_blocks(dut):
    """The command is given while a member is restarted."""
    tb = Testbench(dut, [0.0])
    await tb.start()
    lost = tb.members[1]
    lost.gone = True
    tb.comes_up(lost)
    await tb.cycles(20)
    tb.set("drive_gone_i", lost.index, 0)
    lost.side_blocked = True
    command = tb.ask(Request(DEALLOCATE, 0, 2 * DRIVES * tb.chunk_blocks, 1))
    await tb.cycles(100)
    lost.gone, lost.block_bytes, lost.side_blocked = False, 4096, False
    tb.comes_up(lost)
    assert await tb.answers(1) == [response_to(command, GONE, 0)]
    assert not lost.log and len(tb.members[0].log) == 1


@cocotb.test(timeout_time=100, timeout_unit="us", skip=not STREAMS)
async def a_lost_part_is_answered_after_its_beats(dut):
    """Also behind a request without beats: the source pauses, and the member takes neither."""
    tb = Testbench(dut, [0.0])
    await tb.start()
    lost = tb.members[1]
    lost.data_blocked = True
    tb.data.stall.share = 1.0
    await tb.cycles(20)
    for tag, blocks in ((1, 0), (2, 1)):
        write = tb.ask(Request(WRITE, tb.chunk_blocks, blocks, tag))
        await tb.cycles(100)
        await give_up_and_restart(tb, lost, 512)
        if blocks:
            assert not tb.response.words
            tb.data.stall.share = 0.0
        assert await tb.answers(1) == [response_to(write, GONE, 0)]
    assert not tb.data.words and not lost.log


async def comes_and_goes(tb: Testbench, member) -> None:
    """The member is given up at any time, as briefly as possible, and comes back after a while."""
    while True:
        await tb.cycles(random.randint(50, 1500))
        member.gone = True
        tb.comes_up(member)
        await tb.cycles(random.choice((1, 2, 3, random.randint(4, 300))))
        tb.set("drive_gone_i", member.index, 0)
        await tb.cycles(random.choice((0, 1, random.randint(2, 300))))
        member.gone = False
        tb.comes_up(member)


@cocotb.test(timeout_time=400, timeout_unit="us", skip=not STREAMS)
async def members_come_and_go_at_any_time(dut):
    """Blocks written with StatusOk are stored. Of a read, the first `done` blocks have no flag, the next one has a flag, and
    beats without one are right. No beat is missing, and none is surplus."""
    tb = Testbench(dut, [0.0, 0.3])
    await tb.start()
    chaos = [cocotb.start_soon(comes_and_goes(tb, member)) for member in tb.members]
    writes, lba = [], 0
    for tag in range(24):
        writes.append(tb.ask(Request(WRITE, lba, random.choice((1, 5, random.randint(1, 3 * tb.chunk_blocks))), tag)))
        lba += writes[-1].blocks
    assert lba <= tb.array_blocks
    answers = await tb.answers(len(writes))
    written = {}
    for write, answer in zip(writes, answers):
        assert answer["tag"] == write.tag and answer["status"] in (OK, GONE)
        assert (answer["done"] == write.blocks) == (answer["status"] == OK)
        for block in range(answer["done"]):
            member, at = tb.place(write.lba + block)
            assert tb.members[member].medium[at] == tb.contents(write, block)
            written[write.lba + block] = tb.contents(write, block)
    assert not tb.data.words and {answer["status"] for answer in answers} == {OK, GONE}
    reads = [tb.ask(Request(READ, write.lba, write.blocks, 100 + write.tag)) for write in writes]
    answers = await tb.answers(len(reads))
    assert {answer["status"] for answer in answers} == {OK, GONE}
    beats = await tb.beats_out(sum(read.blocks for read in reads) * 512 // BEAT_BYTES)
    assert not tb.out.words
    for read, answer in zip(reads, answers):
        assert answer["tag"] == read.tag and answer["status"] in (OK, GONE)
        for block in range(read.blocks):
            of_block, beats = beats[:512 // BEAT_BYTES], beats[512 // BEAT_BYTES:]
            flags = {beat["error"] for beat in of_block}
            assert len(flags) == 1 and (flags == {1} if block == answer["done"] else flags == {0} or block > answer["done"])
            if flags == {0} and read.lba + block in written:
                data = b"".join(beat["data"].to_bytes(BEAT_BYTES, "little") for beat in of_block)
                assert data == written[read.lba + block]
            assert [beat["last"] for beat in of_block[:-1]] == [0] * (len(of_block) - 1)
            assert of_block[-1]["last"] == (block == read.blocks - 1)
    for task in chaos:
        task.cancel()
