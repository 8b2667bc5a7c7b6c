// SPDX-License-Identifier: Apache-2.0
//
// The core with the virtual drive, without faults: bring-up, streams, blocks of 4096 bytes, doorbell strides,
// completions in any order, flush, deallocate, shutdown.
#include "sim_testbench.h"

namespace {

using namespace testbench;

constexpr uint64_t kBytes = UINT64_C(1) << 30;

SimTestbenchConfig config_of(uint64_t seed) {
  SimTestbenchConfig config;
  config.seed = seed;
  config.options.bytes = kBytes;
  return config;
}

// Requests of these lengths, written one after the other and then read, all in flight at once.
void write_and_read(SimTestbench &testbench, const std::vector<uint32_t> &lengths) {
  uint64_t lba = 3;
  for (const uint32_t blocks : lengths) {
    testbench.requests.start(Op::Write, lba, blocks);
    lba += blocks + 5;
  }
  testbench.finish();
  lba = 0;
  for (const uint32_t blocks : lengths) {
    testbench.requests.start(Op::Read, lba, blocks + 8);
    lba += blocks + 8;
  }
  testbench.finish();
  testbench.check(testbench.requests.errors() == 0, "a request failed");
  testbench.verify();
}

const std::vector<uint32_t> kLengths = {1, 2, 7, 8, 9, 15, 16, 17, 63, 64, 65, 255, 256, 257, 1000, 5000};

void brings_up(uint64_t seed) {
  SimTestbench testbench(config_of(seed));
  testbench.bring_up();
  const uint64_t blocks = static_cast<uint64_t>(testbench.registers.read(SPATE_REGS_BLOCKS_HIGH)) << 32 |
                          testbench.registers.read(SPATE_REGS_BLOCKS_LOW);
  testbench.check(blocks == kBytes / 512, "the core reports %llu blocks", (unsigned long long)blocks);
  testbench.check(testbench.error() == 0, "error %u", testbench.error());
  const uint32_t status = testbench.status();
  testbench.check(status & SPATE_REGS_STATUS_LINK_UP, "the link is not up");
  testbench.check(status & SPATE_REGS_STATUS_VOLATILE_CACHE, "the volatile cache is not reported");
  testbench.check(!(status & SPATE_REGS_STATUS_BLOCK_4096), "blocks of 512 bytes are reported as 4096");
  testbench.check(status & SPATE_REGS_STATUS_HEALTH_VALID, "no health before ready");
  const uint32_t kelvin = testbench.registers.read(SPATE_REGS_HEALTH) >> 16;
  testbench.check(kelvin > 280 && kelvin < 340, "%u kelvins", kelvin);
  const struct sim_drive_counters *counters = sim_drive_counters(testbench.drive);
  testbench.check(counters->enables == 1 && counters->admin[1] == 1 && counters->admin[5] == 1,
                  "more than one bring-up");
  testbench.verify();
}

void streams(uint64_t seed) {
  SimTestbench testbench(config_of(seed));
  testbench.bring_up();
  write_and_read(testbench, kLengths);
}

void streams_with_stalls(uint64_t seed) {
  SimTestbenchConfig config = config_of(seed);
  config.stall_percent = 30;
  SimTestbench testbench(config);
  testbench.bring_up();
  write_and_read(testbench, kLengths);
}

void blocks_of_4096(uint64_t seed) {
  SimTestbenchConfig config = config_of(seed);
  config.options.block_shift = 12;
  SimTestbench testbench(config);
  testbench.bring_up();
  testbench.check(testbench.status() & SPATE_REGS_STATUS_BLOCK_4096, "blocks of 4096 bytes are reported as 512");
  write_and_read(testbench, {1, 2, 7, 8, 9, 31, 32, 33, 64, 500});
}

void doorbell_strides(uint64_t seed) {
  for (const uint8_t stride : {uint8_t{1}, uint8_t{4}}) { // 8 and 64 bytes
    SimTestbenchConfig config = config_of(seed);
    config.options.doorbell_stride = stride;
    SimTestbench testbench(config);
    testbench.bring_up();
    write_and_read(testbench, {1, 64, 300});
  }
}

void small_commands(uint64_t seed) { // MDTS of 8 KiB, queues of 16 entries
  struct sim_profile profile = *sim_profile_find("ideal");
  profile.mdts_pages = 2;
  profile.queue_entries = 16;
  SimTestbenchConfig config = config_of(seed);
  config.changed_profile = &profile;
  SimTestbench testbench(config);
  testbench.bring_up();
  const uint32_t geometry = testbench.registers.read(SPATE_REGS_GEOMETRY);
  testbench.check((geometry & SPATE_REGS_GEOMETRY_COMMAND_SECTORS_MAX) == 16, "commands exceed MDTS");
  testbench.check((geometry >> SPATE_REGS_GEOMETRY_QUEUE_SHIFT_SHIFT & 0xf) <= 4, "queues exceed MQES");
  write_and_read(testbench, kLengths);
}

void any_order(uint64_t seed) {
  SimTestbenchConfig config = config_of(seed);
  config.options.shuffle = true;
  config.options.log_commands = true;
  SimTestbench testbench(config);
  testbench.bring_up();
  for (unsigned i = 0; i < 300; i++)
    testbench.requests.start(Op::Write, i * 8, 8);
  testbench.finish();
  for (unsigned i = 0; i < 300; i++)
    testbench.requests.start(Op::Read, i * 8, 8);
  testbench.finish();
  testbench.check(sim_drive_counters(testbench.drive)->in_flight_max > 16, "only %u commands at once",
                  sim_drive_counters(testbench.drive)->in_flight_max);
  testbench.verify();
}

// The blocks that a flush's response reports are on the media, also after a power cut.
void flush_names_a_prefix(uint64_t seed) {
  SimTestbenchConfig config = config_of(seed);
  config.options.bytes = 64 << 20;
  config.options.journal = true;
  SimTestbench testbench(config);
  testbench.bring_up();
  constexpr uint32_t kEach = 40, kWrites = 120;
  for (unsigned i = 0; i < kWrites; i++)
    testbench.requests.start(Op::Write, i * kEach, kEach);
  testbench.run_until([&testbench] { return testbench.requests.blocks_written() > 10 * kEach; }, 10'000'000);
  const uint64_t before = testbench.requests.blocks_written();
  const uint16_t tag = testbench.requests.start(Op::Flush);
  uint64_t named = 0;
  const auto answered = [&] {
    for (const auto &done : testbench.requests.done())
      if (done.response.tag == tag) {
        named = done.response.done;
        return true;
      }
    return false;
  };
  testbench.check(testbench.run_until(answered, 10'000'000), "the flush does not end");
  testbench.check(named >= before, "the flush reports %llu blocks, but %llu were reported as written",
                  (unsigned long long)named, (unsigned long long)before);
  testbench.check(named < kWrites * kEach, "the flush came after all writes, so it tests nothing");
  sim_drive_power_cut(testbench.drive); // the seed chooses the version of blocks that were not durable
  std::vector<uint8_t> block(512);
  for (uint64_t lba = 0; lba < named; lba++) {
    sim_store_read(sim_drive_store(testbench.drive), lba << 9, block.data(), 512);
    testbench.check(testbench.requests.written(block.data(), lba),
                    "block %llu of the %llu that the flush reported is lost", (unsigned long long)lba,
                    (unsigned long long)named);
  }
}

void fua_is_durable(uint64_t seed) {
  SimTestbenchConfig config = config_of(seed);
  config.options.bytes = 64 << 20;
  config.options.journal = true;
  SimTestbench testbench(config);
  testbench.bring_up();
  for (unsigned i = 0; i < 40; i++)
    testbench.requests.start(Op::Write, i * 16, 16, i % 2 == 0);
  testbench.finish();
  testbench.check(sim_drive_counters(testbench.drive)->fua_writes == 20, "%llu writes came with FUA",
                  (unsigned long long)sim_drive_counters(testbench.drive)->fua_writes);
  sim_drive_power_cut(testbench.drive);
  std::vector<uint8_t> block(512);
  for (uint64_t lba = 0; lba < 40 * 16; lba++) {
    if (lba / 16 % 2 != 0) continue;
    sim_store_read(sim_drive_store(testbench.drive), lba << 9, block.data(), 512);
    testbench.check(testbench.requests.written(block.data(), lba), "block %llu, written with FUA, is lost",
                    (unsigned long long)lba);
  }
}

void deallocates(uint64_t seed) {
  SimTestbench testbench(config_of(seed));
  testbench.bring_up();
  testbench.check(testbench.request(Op::Write, 0, 4096).status == 0, "write");
  testbench.check(testbench.request(Op::Deallocate, 1024, 2048).status == 0, "deallocate");
  testbench.check(testbench.request(Op::Read, 0, 4096).status == 0, "read");
  testbench.check(sim_drive_counters(testbench.drive)->io[9] == 1, "no deallocation came");
  testbench.verify();
}

void refuses_what_is_beyond(uint64_t seed) {
  SimTestbench testbench(config_of(seed));
  testbench.bring_up();
  const uint64_t end = kBytes / 512;
  testbench.check(testbench.request(Op::Write, end - 4, 5).status == 0x8002, "a write beyond the end");
  testbench.check(testbench.request(Op::Read, end, 1).status == 0x8002, "a read beyond the end");
  testbench.check(testbench.request(Op::Read, 0, 0).status == 0x8001, "a read of nothing");
  testbench.check(testbench.request(Op::Read, end - 4, 4).status == 0, "the last blocks");
  testbench.verify();
}

void shuts_down(uint64_t seed) {
  SimTestbench testbench(config_of(seed));
  testbench.bring_up();
  testbench.check(testbench.request(Op::Write, 0, 2000).status == 0, "write");
  testbench.check(testbench.request(Op::Shutdown).status == 0, "shutdown");
  const struct sim_drive_counters *counters = sim_drive_counters(testbench.drive);
  testbench.check(counters->shutdowns == 1, "no shutdown notification");
  testbench.check(counters->hot_shutdowns == 0, "queues still existed");
  sim_drive_power_cut(testbench.drive);
  testbench.check(counters->unsafe_shutdowns == 0, "the shutdown was not safe");
  testbench.check(testbench.request(Op::Write, 0, 8).status == 0x8004, "a command after the shutdown");
  testbench.requests.set_unknown(0, 8);
  testbench.check(testbench.request(Op::Restart).status == 0, "restart");
  testbench.check(
      testbench.run_until([&testbench] { return (testbench.status() & SPATE_REGS_STATUS_READY) != 0; }, 40'000'000),
      "it does not come up again");
  testbench.check(testbench.request(Op::Read, 8, 1992).status == 0, "read after the restart");
  testbench.verify();
}

} // namespace

int main(int argc, char **argv) {
  return run_tests({{"brings_up", brings_up},
                    {"streams", streams},
                    {"streams_with_stalls", streams_with_stalls},
                    {"blocks_of_4096", blocks_of_4096},
                    {"doorbell_strides", doorbell_strides},
                    {"small_commands", small_commands},
                    {"any_order", any_order},
                    {"flush_names_a_prefix", flush_names_a_prefix},
                    {"fua_is_durable", fua_is_durable},
                    {"deallocates", deallocates},
                    {"refuses_what_is_beyond", refuses_what_is_beyond},
                    {"shuts_down", shuts_down}},
                   argc, argv);
}
