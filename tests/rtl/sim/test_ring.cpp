// SPDX-License-Identifier: Apache-2.0
//
// The core with its ring in memory: what is streamed goes through a memory that the virtual drive reads and writes past
// the core. The memory puts data in place only when it answers, late, so what is told too early is seen.
#include "world.h"

#include "pattern.h"

#include <algorithm>

namespace {

using namespace bench;

constexpr uint32_t kBlockBytes = 512;
constexpr uint32_t kRingBlocks = kRingBytes / kBlockBytes, kPieceBlocks = 16384 / kBlockBytes;
constexpr unsigned kIoWrite = 1, kIoRead = 2;
constexpr uint16_t kGone = 0x8004, kMemory = 0x8007;

WorldConfig config_of(uint64_t seed, unsigned stall_percent = 0) {
  WorldConfig config;
  config.seed = seed;
  config.stall_percent = stall_percent;
  config.options.bytes = UINT64_C(1) << 30;
  return config;
}

void more_than_the_ring(uint64_t seed) {
  for (const uint8_t block_shift : {uint8_t{9}, uint8_t{12}}) {
    WorldConfig config = config_of(seed, 25);
    config.options.block_shift = block_shift;
    World world(config);
    world.bring_up();
    const uint32_t ring = kRingBytes >> block_shift;
    // Lengths that are no multiple of a page, so that pieces are cut at the ring's end anywhere.
    uint64_t lba = 3;
    for (const uint32_t blocks : {1u, 7u, ring / 5, 3 * ring + 1, 17u, ring, 2u}) {
      world.requests.start(Op::Write, lba, blocks);
      lba += blocks + 1;
    }
    world.finish();
    for (uint64_t at = 0; at < lba;) {
      const uint64_t some = at % 3 == 0 ? ring / 3 : 1 + at % 11;
      const auto blocks = static_cast<uint32_t>(std::min(lba - at, some));
      world.requests.start(Op::Read, at, blocks);
      at += blocks;
    }
    world.finish();
    world.check(world.requests.errors() == 0, "a request failed");
    world.check(world.requests.blocks_compared() == lba, "%llu blocks came back",
                (unsigned long long)world.requests.blocks_compared());
    world.verify();
  }
}

uint64_t blocks_written_register(World &world) {
  const uint64_t high = world.registers.read(SPATE_REGS_WRITTEN_HIGH);
  return high << 32 | world.registers.read(SPATE_REGS_WRITTEN_LOW);
}

// What the responses said is what a flush says, and the registers.
void check_flush(World &world) {
  const UserResponse flush = world.request(Op::Flush);
  world.check(flush.status == 0, "flush: status %04x", flush.status);
  world.check(flush.done == world.requests.blocks_written(), "the flush names %llu blocks, the responses %llu",
              (unsigned long long)flush.done, (unsigned long long)world.requests.blocks_written());
  world.check(blocks_written_register(world) == flush.done, "the registers say %llu blocks",
              (unsigned long long)blocks_written_register(world));
}

// A flush in the middle names a prefix that is on the medium, whatever the power does afterwards.
void flush_in_the_middle(uint64_t seed) {
  constexpr uint32_t kEach = 3 * kPieceBlocks + 5, kWrites = 40;
  WorldConfig config = config_of(seed);
  config.options.bytes = 64 << 20;
  config.options.journal = true;
  World world(config);
  world.bring_up();
  for (unsigned i = 0; i < kWrites; i++)
    world.requests.start(Op::Write, i * kEach, kEach);
  world.run_until([&] { return world.requests.blocks_written() > 10 * kEach; }, 10'000'000);
  const uint64_t before = world.requests.blocks_written();
  const uint16_t tag = world.requests.start(Op::Flush);
  uint64_t named = 0;
  const auto answered = [&] {
    for (const auto &done : world.requests.done())
      if (done.response.tag == tag) named = done.response.done;
    return named != 0;
  };
  world.check(world.run_until(answered, 10'000'000), "the flush does not end");
  world.check(named >= before && named < kWrites * kEach, "the flush names %llu blocks", (unsigned long long)named);
  sim_drive_power_cut(world.drive); // what was not durable is any version of it, by the seed
  std::vector<uint8_t> block(kBlockBytes);
  for (uint64_t lba = 0; lba < named; lba++) {
    sim_store_read(sim_drive_store(world.drive), lba * kBlockBytes, block.data(), kBlockBytes);
    world.check(world.requests.written(block.data(), lba), "block %llu of the %llu that the flush named is lost",
                (unsigned long long)lba, (unsigned long long)named);
  }
}

// What the memory lost is not on the drive, and not in what a flush says; the pieces behind it are on the drive.
void memory_error(uint64_t seed) {
  World world(config_of(seed));
  world.bring_up();
  world.ring.refuse(5); // the second page of the second piece
  const UserResponse response = world.request(Op::Write, 0, 4 * kPieceBlocks);
  world.check(response.status == kMemory && response.done == kPieceBlocks, "status %04x, %llu blocks", response.status,
              (unsigned long long)response.done);
  std::vector<uint8_t> block(kBlockBytes);
  for (uint64_t lba = 0; lba < 4 * kPieceBlocks; lba++) {
    sim_store_read(sim_drive_store(world.drive), lba * kBlockBytes, block.data(), kBlockBytes);
    const bool lost = lba / kPieceBlocks == 1;
    world.check(world.requests.written(block.data(), lba) == !lost, "block %llu is%s on the medium",
                (unsigned long long)lba, lost ? "" : " not");
  }
  world.check(world.request(Op::Write, 4 * kPieceBlocks, 2 * kRingBlocks).status == 0, "the next write");
  check_flush(world);
  world.verify();
}

void link_drops(uint64_t seed) {
  for (const unsigned opcode : {kIoWrite, kIoRead}) {
    World world(config_of(seed, 10));
    world.bring_up();
    struct sim_fault fault {};
    fault.action = SIM_LINK_DROP;
    fault.opcode = static_cast<int16_t>(opcode);
    fault.skip = 30;
    fault.count = 1;
    fault.value = 40;
    sim_drive_fault(world.drive, fault);
    constexpr uint32_t kEach = 203;
    for (unsigned i = 0; i < 20; i++)
      world.requests.start(Op::Write, i * kEach, kEach);
    world.finish(60'000'000);
    for (unsigned i = 0; i < 20; i++)
      world.requests.start(Op::Read, i * kEach, kEach);
    world.finish(60'000'000);
    world.check(world.counter(Recoveries) == 1, "%u recoveries", world.counter(Recoveries));
    world.check(world.requests.errors() == 0, "%llu requests failed", (unsigned long long)world.requests.errors());
    check_flush(world);
    world.verify();
  }
}

// The drive fails for good in the middle of what is in the ring: every request moves its beats and ends; after a
// restart the ring is as good as new.
void gone_and_back(uint64_t seed) {
  World world(config_of(seed));
  world.bring_up();
  world.check(world.request(Op::Write, 0, kRingBlocks).status == 0, "write");
  for (unsigned i = 1; i < 12; i++) {
    world.requests.start(Op::Write, i * kRingBlocks, kRingBlocks);
    world.requests.start(Op::Read, 0, kRingBlocks / 2);
  }
  world.run_until([&] { return world.requests.blocks_written() > 2 * kRingBlocks; }, 10'000'000);
  sim_drive_stick(world.drive, false, false, true); // fatal whenever it is enabled
  sim_drive_reset(world.drive);
  world.finish(60'000'000);
  world.check(world.status() & SPATE_REGS_STATUS_GONE, "the drive is not given up");
  world.check(world.requests.errors() > 0, "nobody noticed");
  for (const auto &done : world.requests.done())
    world.check(done.response.status == 0 || done.response.status == kGone, "status %04x", done.response.status);
  sim_drive_stick(world.drive, false, false, false);
  world.check(world.request(Op::Restart).status == 0, "restart");
  world.check(world.run_until([&world] { return (world.status() & SPATE_REGS_STATUS_READY) != 0; }, 40'000'000),
              "it does not come up again");
  const uint64_t errors = world.requests.errors();
  for (unsigned i = 1; i < 4; i++)
    world.requests.start(Op::Write, i * kRingBlocks, kRingBlocks);
  world.finish();
  for (unsigned i = 0; i < 4; i++)
    world.requests.start(Op::Read, i * kRingBlocks, kRingBlocks);
  world.finish();
  world.check(world.requests.errors() == errors, "a request failed after the restart");
  check_flush(world);
  world.verify();
}

// A processor's command with the user's data; the answer, once it is there.
uint16_t register_command(World &world, Op op, Source source, uint16_t tag, uint32_t lba, uint32_t blocks,
                          uint32_t *done_blocks) {
  world.registers.write(SPATE_REGS_COMMAND_LBA_LOW, lba);
  world.registers.write(SPATE_REGS_COMMAND_BLOCKS, blocks);
  world.registers.write(SPATE_REGS_COMMAND, static_cast<uint32_t>(op) | SPATE_REGS_COMMAND_START |
                                                static_cast<uint32_t>(source) << SPATE_REGS_COMMAND_SOURCE_SHIFT |
                                                static_cast<uint32_t>(tag) << SPATE_REGS_COMMAND_TAG_SHIFT);
  const auto answered = [&world] { return (world.status() & SPATE_REGS_STATUS_RESPONSE_VALID) != 0; };
  world.check(world.run_until(answered, 5'000'000), "a command of the registers does not end");
  const uint32_t response = world.registers.read(SPATE_REGS_RESPONSE);
  world.check((response & 0xffff) == tag, "tag %04x", response & 0xffff);
  *done_blocks = world.registers.read(SPATE_REGS_RESPONSE_DONE_LOW);
  world.registers.write(SPATE_REGS_RESPONSE_TAKE, SPATE_REGS_RESPONSE_TAKE_TAKE);
  return static_cast<uint16_t>(response >> 16);
}

void registers_command_the_streams(uint64_t seed) {
  constexpr uint32_t kLba = 70000, kBlocks = kRingBlocks + 33, kBytes = kBlocks * kBlockBytes;
  enum { BeatsIn = 11, BeatsOut, Taken, Given };
  World world(config_of(seed));
  world.bring_up();
  world.check(world.registers.read(SPATE_REGS_RING) == kRingBytes, "software is told of another ring");
  world.check(!(world.registers.read(SPATE_REGS_PARAMETERS) & SPATE_REGS_PARAMETERS_MEMORY_MODE),
              "software is told to give addresses");
  std::vector<uint8_t> sent(kBytes), received;
  for (uint32_t i = 0; i < kBlocks; i++)
    pattern_fill(sent.data() + i * kBlockBytes, kBlockBytes, kLba + i, 1);
  std::size_t at = 0;
  const auto next_beat = std::move(world.user.next_beat);
  const auto on_beat = std::move(world.user.on_beat);
  world.user.next_beat = [&](Beat &beat) {
    if (at == sent.size()) return false;
    std::copy_n(sent.begin() + static_cast<std::ptrdiff_t>(at), kBeatBytes, beat.begin());
    at += kBeatBytes;
    return true;
  };
  world.user.on_beat = [&](const Beat &beat, bool, bool error) {
    world.check(!error, "a beat is flagged");
    received.insert(received.end(), beat.begin(), beat.end());
  };
  uint32_t done = 0;
  uint16_t status = register_command(world, Op::Write, Source::Stream, 0x1234, kLba, kBlocks, &done);
  world.check(status == 0 && done == kBlocks, "write: status %04x, %u blocks", status, done);
  status = register_command(world, Op::Flush, Source::Stream, 0x1235, 0, 0, &done);
  world.check(status == 0 && done == kBlocks, "flush: status %04x, %u blocks", status, done);
  status = register_command(world, Op::Read, Source::Stream, 0x1236, kLba, kBlocks, &done);
  world.check(status == 0 && done == kBlocks, "read: status %04x, %u blocks", status, done);
  world.run(200);
  world.check(received == sent, "%zu bytes came back, or others", received.size());
  status = register_command(world, Op::Write, Source::Address, 0x1237, kLba, 8, &done);
  world.check(status == 0x8001, "an address in the place of the streams: status %04x", status);
  // A block of the mailbox passes the ring.
  status = register_command(world, Op::Read, Source::Mailbox, 0x1238, kLba + 5, 1, &done);
  world.check(status == 0 && done == 1, "mailbox: status %04x, %u blocks", status, done);
  uint32_t word = 0;
  std::memcpy(&word, sent.data() + 5 * kBlockBytes, sizeof word);
  world.check(world.registers.read(SPATE_REGS_MAILBOX) == word, "the mailbox holds something else");
  world.check(blocks_written_register(world) == kBlocks, "blocks written");
  world.check(world.counter(BeatsIn) == kBytes / kBeatBytes && world.counter(BeatsOut) == kBytes / kBeatBytes,
              "%u beats in, %u out", world.counter(BeatsIn), world.counter(BeatsOut));
  world.check(world.counter(Taken) == 5 && world.counter(Given) == 5, "%u commands, %u responses", world.counter(Taken),
              world.counter(Given));
  world.user.next_beat = next_beat;
  world.user.on_beat = on_beat;
  world.verify();
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
