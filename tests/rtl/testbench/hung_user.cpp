// SPDX-License-Identifier: Apache-2.0
//
// A user of spate_nvme_axi that takes no response, and then stays in reset. A processor at the registers still makes
// progress, so that a file can be closed beside a design that hangs.

#include "streams.h"
#include "testbench.h"

#include <spate/gateware_registers.h>

#include <cstdio>

namespace {

using namespace testbench;

constexpr uint32_t kBlockBytes = 512, kWrites = 60;
constexpr uint64_t kBringUpCycles = 4'000'000;
constexpr unsigned kPolls = 200'000; // including bring-up

// A flush through the registers, with its response.
void flush(Testbench &testbench, uint16_t tag, const char *when) {
  testbench.registers.write(SPATE_REGS_COMMAND, static_cast<uint32_t>(Op::Flush) | SPATE_REGS_COMMAND_START |
                                                    static_cast<uint32_t>(tag) << SPATE_REGS_COMMAND_TAG_SHIFT);
  unsigned polls = 0;
  while (!(testbench.registers.read(SPATE_REGS_STATUS) & SPATE_REGS_STATUS_RESPONSE_VALID))
    if (++polls > kPolls) testbench.board.fail("a flush through the registers does not end while the user %s", when);
  if (testbench.registers.read(SPATE_REGS_RESPONSE) != tag) testbench.board.fail("the flush has another tag");
  testbench.registers.write(SPATE_REGS_RESPONSE_TAKE, SPATE_REGS_RESPONSE_TAKE_TAKE);
}

void run() {
  TestbenchConfig config;
  config.drive.tracked_blocks = kWrites;
  config.drive.write_ns = 200'000; // no response comes while the writes are given
  Testbench testbench(config);
  BlockSource source(kBlockBytes);
  uint32_t responses = 0;
  testbench.user.next_beat = [&](Beat &beat) { return source.next(beat); };
  testbench.user.on_response = [&](const UserResponse &response) {
    if (response.status != 0 || response.tag != responses)
      testbench.board.fail("tag %u has an error or is out of order", response.tag);
    responses++;
  };
  testbench.board.reset();
  flush(testbench, 1, "has done nothing");
  const auto give_writes = [&](uint32_t version) {
    const uint32_t before = responses;
    for (uint32_t number = 0; number < kWrites; number++) {
      source.add(number, 1, version);
      UserCommand command;
      command.op = Op::Write;
      command.tag = static_cast<uint16_t>(number);
      command.lba = number;
      command.blocks = 1;
      testbench.user.submit(command);
    }
    const auto taken = [&] { return testbench.user.waiting() == 0 && source.empty(); };
    if (!testbench.board.run_until(taken, kBringUpCycles) || responses != before)
      testbench.board.fail("the writes are not in flight");
  };
  give_writes(1);
  testbench.user.set_stall(100);
  testbench.board.run(200'000);
  flush(testbench, 2, "takes no response");
  testbench.user.set_stall(0);
  if (!testbench.board.run_until([&] { return responses == kWrites; }, kBringUpCycles))
    testbench.board.fail("%u of %u responses are there", responses, kWrites);
  responses = 0;
  give_writes(2);
  testbench.board.pins().app_rst_ni = 0;
  testbench.board.run(1'000);
  flush(testbench, 3, "is in reset");
}

} // namespace

int main() {
  try {
    run();
    return 0;
  } catch (const Failure &failure) {
    std::fprintf(stderr, "FAILED: %s\n", failure.what());
    return 1;
  }
}
