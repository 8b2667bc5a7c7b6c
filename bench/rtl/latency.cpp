// SPDX-License-Identifier: Apache-2.0
#include "latency.h"

#include "pattern.h"

namespace testbench {

namespace {

constexpr uint64_t kPatience = 1'000'000;
constexpr uint64_t kPause = 5'000; // longer than the core delays the doorbell of the completion head

struct Stamps {
  uint64_t accepted = 0, doorbell = 0, fetch = 0, entry = 0, last_write = 0, response = 0;
};

void store_blocks(Testbench &testbench, const UserCommand &command) {
  std::array<uint8_t, 512> block;
  for (uint32_t index = 0; index < command.blocks; index++) {
    pattern_fill(block.data(), block.size(), command.lba + index, 0);
    testbench.memory.store(command.address + index * block.size(), block.data(), block.size());
  }
}

} // namespace

Latency measure_latency(Testbench &testbench, bool memory_mode, unsigned commands) {
  Stamps stamps;
  const auto first = [&testbench](uint64_t &stamp) {
    if (stamp == 0) stamp = testbench.board.cycles();
  };
  testbench.bridge.on_seen = [&](Bridge::Seen seen, uint64_t) {
    switch (seen) {
    case Bridge::Seen::RegisterWrite: first(stamps.doorbell); break;
    case Bridge::Seen::ReadAddress: first(stamps.fetch); break;
    case Bridge::Seen::ReadBeat: first(stamps.entry); break;
    case Bridge::Seen::WriteBeat: stamps.last_write = testbench.board.cycles(); break;
    case Bridge::Seen::Acknowledged: break;
    }
  };
  testbench.user.on_accepted = [&](const UserCommand &) { stamps.accepted = testbench.board.cycles(); };
  testbench.user.on_response = [&](const UserResponse &) { stamps.response = testbench.board.cycles(); };
  testbench.user.on_beat = [](const Beat &, bool, bool) {};
  BlockSource source(512);
  testbench.user.next_beat = [&source](Beat &beat) { return source.next(beat); };
  const auto one = [&](Op op) {
    testbench.board.run(kPause + testbench.board.random().below(100));
    stamps = Stamps();
    UserCommand command;
    command.op = op;
    command.source = memory_mode ? Source::Address : Source::Stream;
    command.address = kMemoryBase;
    command.blocks = 8;
    if (op == Op::Write && memory_mode)
      store_blocks(testbench, command);
    else if (op == Op::Write)
      source.add(command.lba, command.blocks, 0);
    testbench.user.submit(command);
    if (!testbench.board.run_until([&] { return stamps.response != 0; }, kPatience))
      testbench.board.fail("no response to a single command");
  };
  one(Op::Read); // waits for the bring-up of the drive
  // A read needs no data before it is sent, and a write none after its completion.
  Latency sum;
  for (unsigned index = 0; index < commands; index++) {
    one(Op::Read);
    sum.command_to_doorbell += static_cast<double>(stamps.doorbell - stamps.accepted) / commands;
    sum.fetch_to_entry += static_cast<double>(stamps.entry - stamps.fetch) / commands;
    one(Op::Write);
    sum.completion_to_response += static_cast<double>(stamps.response - stamps.last_write) / commands;
  }
  testbench.bridge.on_seen = nullptr;
  testbench.user.on_accepted = nullptr;
  testbench.user.next_beat = nullptr;
  return sum;
}

} // namespace testbench
