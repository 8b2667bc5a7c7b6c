// SPDX-License-Identifier: Apache-2.0
//
// The core with its ring in memory: stream data pass through a memory that the virtual drive accesses directly. The
// memory stores data only with its response, which is late, so a command that comes too early is detected.
#include "sim_testbench.h"

#include "pattern.h"

#include <algorithm>

namespace {

using namespace testbench;

constexpr uint32_t kBlockBytes = 512;
constexpr uint32_t kRingBlocks = kRingBytes / kBlockBytes, kPartBlocks = 16384 / kBlockBytes;
constexpr unsigned kIoWrite = 1, kIoRead = 2;
constexpr uint16_t kGone = 0x8004, kMemory = 0x8007, kPower = 0x8008;

SimTestbenchConfig config_of(uint64_t seed, unsigned stall_percent = 0) {
  SimTestbenchConfig config;
  config.seed = seed;
  config.stall_percent = stall_percent;
  config.options.bytes = UINT64_C(1) << 30;
  return config;
}

void more_than_the_ring(uint64_t seed) {
  for (const uint8_t block_shift : {uint8_t{9}, uint8_t{12}}) {
    SimTestbenchConfig config = config_of(seed, 25);
    config.options.block_shift = block_shift;
    SimTestbench testbench(config);
    testbench.bring_up();
    const uint32_t ring = kRingBytes >> block_shift;
    // Lengths that are no multiple of a page, so that parts end at the ring's end at any place.
    uint64_t lba = 3;
    for (const uint32_t blocks : {1u, 7u, ring / 5, 3 * ring + 1, 17u, ring, 2u}) {
      testbench.requests.start(Op::Write, lba, blocks);
      lba += blocks + 1;
    }
    testbench.finish();
    for (uint64_t at = 0; at < lba;) {
      const uint64_t some = at % 3 == 0 ? ring / 3 : 1 + at % 11;
      const auto blocks = static_cast<uint32_t>(std::min(lba - at, some));
      testbench.requests.start(Op::Read, at, blocks);
      at += blocks;
    }
    testbench.finish();
    testbench.check(testbench.requests.errors() == 0, "a request failed");
    testbench.check(testbench.requests.blocks_compared() == lba, "%llu blocks came back",
                    (unsigned long long)testbench.requests.blocks_compared());
    testbench.verify();
  }
}

uint64_t blocks_written_register(SimTestbench &testbench) {
  const uint64_t high = testbench.registers.read(SPATE_REGS_WRITTEN_HIGH);
  return high << 32 | testbench.registers.read(SPATE_REGS_WRITTEN_LOW);
}

// A flush and the registers report what the responses reported.
void check_flush(SimTestbench &testbench, uint16_t status = 0) {
  const UserResponse flush = testbench.request(Op::Flush);
  testbench.check(flush.status == status, "flush: status %04x", flush.status);
  testbench.check(flush.done == testbench.requests.blocks_written(),
                  "the flush reports %llu blocks, the responses %llu", (unsigned long long)flush.done,
                  (unsigned long long)testbench.requests.blocks_written());
  testbench.check(blocks_written_register(testbench) == flush.done, "the registers report %llu blocks",
                  (unsigned long long)blocks_written_register(testbench));
}

// A flush in the middle reports a prefix that is on the media, also after a power cut.
void flush_in_the_middle(uint64_t seed) {
  constexpr uint32_t kEach = 3 * kPartBlocks + 5, kWrites = 40;
  SimTestbenchConfig config = config_of(seed);
  config.options.bytes = 64 << 20;
  config.options.journal = true;
  SimTestbench testbench(config);
  testbench.bring_up();
  for (unsigned i = 0; i < kWrites; i++)
    testbench.requests.start(Op::Write, i * kEach, kEach);
  testbench.run_until([&] { return testbench.requests.blocks_written() > 10 * kEach; }, 10'000'000);
  const uint64_t before = testbench.requests.blocks_written();
  const uint16_t tag = testbench.requests.start(Op::Flush);
  uint64_t named = 0;
  const auto answered = [&] {
    for (const auto &done : testbench.requests.done())
      if (done.response.tag == tag) named = done.response.done;
    return named != 0;
  };
  testbench.check(testbench.run_until(answered, 10'000'000), "the flush does not end");
  testbench.check(named >= before && named < kWrites * kEach, "the flush reports %llu blocks",
                  (unsigned long long)named);
  sim_drive_power_cut(testbench.drive); // the seed chooses the version of blocks that were not durable
  std::vector<uint8_t> block(kBlockBytes);
  for (uint64_t lba = 0; lba < named; lba++) {
    sim_store_read(sim_drive_store(testbench.drive), lba * kBlockBytes, block.data(), kBlockBytes);
    testbench.check(testbench.requests.written(block.data(), lba),
                    "block %llu of the %llu that the flush reported is lost", (unsigned long long)lba,
                    (unsigned long long)named);
  }
}

// Blocks that the memory lost are not on the drive, and a flush does not count them; the parts behind them are on the
// drive.
void memory_error(uint64_t seed) {
  SimTestbench testbench(config_of(seed));
  testbench.bring_up();
  testbench.ring.refuse(5); // the second page of the second part
  const UserResponse response = testbench.request(Op::Write, 0, 4 * kPartBlocks);
  testbench.check(response.status == kMemory && response.done == kPartBlocks, "status %04x, %llu blocks",
                  response.status, (unsigned long long)response.done);
  std::vector<uint8_t> block(kBlockBytes);
  for (uint64_t lba = 0; lba < 4 * kPartBlocks; lba++) {
    sim_store_read(sim_drive_store(testbench.drive), lba * kBlockBytes, block.data(), kBlockBytes);
    const bool lost = lba / kPartBlocks == 1;
    testbench.check(testbench.requests.written(block.data(), lba) == !lost, "block %llu is%s on the media",
                    (unsigned long long)lba, lost ? "" : " not");
  }
  testbench.check(testbench.request(Op::Write, 4 * kPartBlocks, 2 * kRingBlocks).status == 0, "the next write");
  check_flush(testbench);
  testbench.verify();
}

void link_drops(uint64_t seed) {
  for (const unsigned opcode : {kIoWrite, kIoRead}) {
    SimTestbench testbench(config_of(seed, 10));
    testbench.bring_up();
    struct sim_fault fault {};
    fault.action = SIM_LINK_DROP;
    fault.opcode = static_cast<int16_t>(opcode);
    fault.skip = 30;
    fault.count = 1;
    fault.value = 40;
    sim_drive_fault(testbench.drive, fault);
    constexpr uint32_t kEach = 203;
    for (unsigned i = 0; i < 20; i++)
      testbench.requests.start(Op::Write, i * kEach, kEach);
    testbench.finish(60'000'000);
    for (unsigned i = 0; i < 20; i++)
      testbench.requests.start(Op::Read, i * kEach, kEach);
    testbench.finish(60'000'000);
    testbench.check(testbench.counter(Recoveries) == 1, "%u recoveries", testbench.counter(Recoveries));
    testbench.check(testbench.requests.errors() == 0, "%llu requests failed",
                    (unsigned long long)testbench.requests.errors());
    check_flush(testbench, kPower); // the drive does not tell whether it lost power
    check_flush(testbench);
    testbench.check(testbench.flush_by_registers() == kPower, "the registers' side is not told");
    testbench.check(testbench.flush_by_registers() == 0, "the registers' side is told twice");
    testbench.verify();
  }
}

// The drive fails permanently while requests are in the ring: every request moves its beats and ends. After a restart
// the ring works as before.
void gone_and_back(uint64_t seed) {
  SimTestbench testbench(config_of(seed));
  testbench.bring_up();
  testbench.check(testbench.request(Op::Write, 0, kRingBlocks).status == 0, "write");
  for (unsigned i = 1; i < 12; i++) {
    testbench.requests.start(Op::Write, i * kRingBlocks, kRingBlocks);
    testbench.requests.start(Op::Read, 0, kRingBlocks / 2);
  }
  testbench.run_until([&] { return testbench.requests.blocks_written() > 2 * kRingBlocks; }, 10'000'000);
  sim_drive_stick(testbench.drive, false, false, true); // fatal whenever it is enabled
  sim_drive_reset(testbench.drive);
  testbench.finish(60'000'000);
  testbench.check(testbench.status() & SPATE_REGS_STATUS_GONE, "the drive is not given up");
  testbench.check(testbench.requests.errors() > 0, "no request failed");
  for (const auto &done : testbench.requests.done())
    testbench.check(done.response.status == 0 || done.response.status == kGone, "status %04x", done.response.status);
  sim_drive_stick(testbench.drive, false, false, false);
  testbench.check(testbench.request(Op::Restart).status == 0, "restart");
  testbench.check(
      testbench.run_until([&testbench] { return (testbench.status() & SPATE_REGS_STATUS_READY) != 0; }, 40'000'000),
      "it does not come up again");
  const uint64_t errors = testbench.requests.errors();
  for (unsigned i = 1; i < 4; i++)
    testbench.requests.start(Op::Write, i * kRingBlocks, kRingBlocks);
  testbench.finish();
  for (unsigned i = 0; i < 4; i++)
    testbench.requests.start(Op::Read, i * kRingBlocks, kRingBlocks);
  testbench.finish();
  testbench.check(testbench.requests.errors() == errors, "a request failed after the restart");
  check_flush(testbench, kPower); // the restart has reset it
  check_flush(testbench);
  testbench.verify();
}

// A command of a processor for the user's data; returns the response's status.
uint16_t register_command(SimTestbench &testbench, Op op, Source source, uint16_t tag, uint32_t lba, uint32_t blocks,
                          uint32_t *done_blocks) {
  testbench.registers.write(SPATE_REGS_COMMAND_LBA_LOW, lba);
  testbench.registers.write(SPATE_REGS_COMMAND_BLOCKS, blocks);
  testbench.registers.write(SPATE_REGS_COMMAND, static_cast<uint32_t>(op) | SPATE_REGS_COMMAND_START |
                                                    static_cast<uint32_t>(source) << SPATE_REGS_COMMAND_SOURCE_SHIFT |
                                                    static_cast<uint32_t>(tag) << SPATE_REGS_COMMAND_TAG_SHIFT);
  const auto answered = [&testbench] { return (testbench.status() & SPATE_REGS_STATUS_RESPONSE_VALID) != 0; };
  testbench.check(testbench.run_until(answered, 5'000'000), "a command of the registers does not end");
  const uint32_t response = testbench.registers.read(SPATE_REGS_RESPONSE);
  testbench.check((response & 0xffff) == tag, "tag %04x", response & 0xffff);
  *done_blocks = testbench.registers.read(SPATE_REGS_RESPONSE_DONE_LOW);
  testbench.registers.write(SPATE_REGS_RESPONSE_TAKE, SPATE_REGS_RESPONSE_TAKE_TAKE);
  return static_cast<uint16_t>(response >> 16);
}

void registers_command_the_streams(uint64_t seed) {
  constexpr uint32_t kLba = 70000, kBlocks = kRingBlocks + 33, kBytes = kBlocks * kBlockBytes;
  enum { BeatsIn = 11, BeatsOut, Taken, Given };
  SimTestbench testbench(config_of(seed));
  testbench.bring_up();
  testbench.check(testbench.registers.read(SPATE_REGS_RING) == kRingBytes, "the registers report another ring");
  testbench.check(!(testbench.registers.read(SPATE_REGS_PARAMETERS) & SPATE_REGS_PARAMETERS_MEMORY_MODE),
                  "the registers report memory mode");
  std::vector<uint8_t> sent(kBytes), received;
  for (uint32_t i = 0; i < kBlocks; i++)
    pattern_fill(sent.data() + i * kBlockBytes, kBlockBytes, kLba + i, 1);
  std::size_t at = 0;
  const auto next_beat = std::move(testbench.user.next_beat);
  const auto on_beat = std::move(testbench.user.on_beat);
  testbench.user.next_beat = [&](Beat &beat) {
    if (at == sent.size()) return false;
    std::copy_n(sent.begin() + static_cast<std::ptrdiff_t>(at), kBeatBytes, beat.begin());
    at += kBeatBytes;
    return true;
  };
  testbench.user.on_beat = [&](const Beat &beat, bool, bool error) {
    testbench.check(!error, "a beat is flagged");
    received.insert(received.end(), beat.begin(), beat.end());
  };
  uint32_t done = 0;
  uint16_t status = register_command(testbench, Op::Write, Source::Stream, 0x1234, kLba, kBlocks, &done);
  testbench.check(status == 0 && done == kBlocks, "write: status %04x, %u blocks", status, done);
  status = register_command(testbench, Op::Flush, Source::Stream, 0x1235, 0, 0, &done);
  testbench.check(status == 0 && done == kBlocks, "flush: status %04x, %u blocks", status, done);
  status = register_command(testbench, Op::Read, Source::Stream, 0x1236, kLba, kBlocks, &done);
  testbench.check(status == 0 && done == kBlocks, "read: status %04x, %u blocks", status, done);
  testbench.run(200);
  testbench.check(received == sent, "%zu bytes came back, or others", received.size());
  status = register_command(testbench, Op::Write, Source::Address, 0x1237, kLba, 8, &done);
  testbench.check(status == 0x8001, "an address in the place of the streams: status %04x", status);
  // A block of the mailbox bypasses the ring.
  status = register_command(testbench, Op::Read, Source::Mailbox, 0x1238, kLba + 5, 1, &done);
  testbench.check(status == 0 && done == 1, "mailbox: status %04x, %u blocks", status, done);
  uint32_t word = 0;
  std::memcpy(&word, sent.data() + 5 * kBlockBytes, sizeof word);
  testbench.check(testbench.registers.read(SPATE_REGS_MAILBOX) == word, "the mailbox holds something else");
  testbench.check(blocks_written_register(testbench) == kBlocks, "blocks written");
  testbench.check(testbench.counter(BeatsIn) == kBytes / kBeatBytes &&
                      testbench.counter(BeatsOut) == kBytes / kBeatBytes,
                  "%u beats in, %u out", testbench.counter(BeatsIn), testbench.counter(BeatsOut));
  testbench.check(testbench.counter(Taken) == 5 && testbench.counter(Given) == 5, "%u commands, %u responses",
                  testbench.counter(Taken), testbench.counter(Given));
  testbench.user.next_beat = next_beat;
  testbench.user.on_beat = on_beat;
  testbench.verify();
}

} // namespace

int main(int argc, char **argv) {
  return run_tests({{"more_than_the_ring", more_than_the_ring},
                    {"flush_in_the_middle", flush_in_the_middle},
                    {"memory_error", memory_error},
                    {"link_drops", link_drops},
                    {"gone_and_back", gone_and_back},
                    {"registers_command_the_streams", registers_command_the_streams}},
                   argc, argv);
}
