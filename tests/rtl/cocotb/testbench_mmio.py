# SPDX-License-Identifier: Apache-2.0
"""spate_mmio between two requesters at random and an adapter that answers late or never: each access ends once, with its own
response or an error."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge

import records

DEADLINE_CYCLES = 3 * 40  # DeadlineUs = 40, a tick every third cycle


class Adapter:
    """Answers in order, each within two deadlines. Takes nothing while `silent`."""

    def __init__(self, late: float):
        self.late, self.silent, self.queue, self.seen = late, False, [], []

    def take(self, cycle: int, request) -> None:
        wait = random.randint(DEADLINE_CYCLES - 5, DEADLINE_CYCLES + 40) if random.random() < self.late else random.randint(1, 20)
        due = max([cycle + wait, *(answer[0] + 1 for answer in self.queue)])
        access = request.access
        self.seen.append((access.space, access.write, access.address, access.data))
        result = records.pack("mmio_result_t", error=access.address >> 8 & 1, data=access.address ^ 0x5A5A_5A5A)
        self.queue.append((due, records.pack("mmio_response_t", id=request.id, result=result)))

    def answer(self, cycle: int) -> int | None:
        return self.queue.pop(0)[1] if self.queue and self.queue[0][0] <= cycle else None


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize((("late", "silent"), [(0.0, False), (0.3, False), (0.0, True)]))
async def each_access_ends_once(dut, late, silent):
    Clock(dut.clk_i, 4, unit="ns").start()
    adapter = Adapter(late)
    dut.rst_ni.value = 0
    for name in ("us_tick_i", "doorbell_valid_i", "admin_valid_i", "request_ready_i", "response_valid_i"):
        getattr(dut, name).value = 0
    for _ in range(3):
        await RisingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    offers, ended, expected, good = {"doorbell": None, "admin": None}, [], [], 0
    busy = None  # the requester of the access, its start, its address
    for cycle in range(20000):
        await ReadOnly()
        for user, done in (("doorbell", dut.doorbell_done_o), ("admin", dut.admin_done_o)):
            if done.value:
                result = records.get(dut.admin_result_o, "mmio_result_t")
                assert busy and busy[0] == user, f"{user} got a response without an access"
                error = bool(dut.doorbell_error_o.value) if user == "doorbell" else bool(result.error)
                if user == "admin" and not error:
                    assert result.data == busy[2] ^ 0x5A5A_5A5A, "another access's answer"
                if busy[2] & 0x100:
                    assert error, "the adapter's error was lost"
                good += not error
                ended.append(user)
                busy = None
        assert busy is None or cycle - busy[1] <= DEADLINE_CYCLES + 6, "no deadline"
        for user in ("doorbell", "admin"):
            ready = dut.doorbell_ready_o if user == "doorbell" else dut.admin_ready_o
            if offers[user] and ready.value:
                assert busy is None and not (user == "admin" and offers["doorbell"]), "doorbells go first"
                busy = (user, cycle, offers[user][2])
                expected.append(offers[user])
                offers[user] = None
        if dut.request_valid_o.value and dut.request_ready_i.value:
            adapter.take(cycle, records.get(dut.request_o, "mmio_request_t"))
        answer = adapter.answer(cycle)
        await RisingEdge(dut.clk_i)
        adapter.silent = silent and cycle // 1000 % 4 == 1
        dut.us_tick_i.value = int(cycle % 3 == 0)
        dut.request_ready_i.value = int(not adapter.silent and random.random() < 0.5)
        dut.response_valid_i.value = int(answer is not None)
        if answer is not None:
            dut.response_i.value = answer
        for user in ("doorbell", "admin"):
            if offers[user] is None and random.random() < 0.1:
                address, data = random.getrandbits(10) << 2, random.getrandbits(32)
                write = 1 if user == "doorbell" else random.getrandbits(1)
                offers[user] = (2 if user == "doorbell" else random.randrange(3), write, address, data)
                records.put(getattr(dut, f"{user}_i"), "mmio_access_t", space=offers[user][0], write=write, address=address,
                            data=data)
        dut.doorbell_valid_i.value = int(offers["doorbell"] is not None)
        dut.admin_valid_i.value = int(offers["admin"] is not None)
    assert len(ended) in (len(expected), len(expected) - 1) and good > 100
    if not silent:
        assert adapter.seen == expected[:len(adapter.seen)] and len(adapter.seen) >= len(expected) - 1
