// SPDX-License-Identifier: Apache-2.0
// Resets of each side, and clocks that stop.
#include "cases.h"
#include "regions.h"

#include <algorithm>

namespace testbench {

namespace {

constexpr uint32_t kConfiguration = 0x14; // a register that keeps what is written

Burst full_burst(uint64_t address, uint64_t bytes) { return bursts_for(address, bytes, kFullSize).front(); }

// ---- a reset in mid burst ----

constexpr unsigned kAccesses = 6;
constexpr uint64_t kReadAt = 0x8000, kWrittenAt = 0x20000, kApartBytes = 2048, kMarkedBytes = 1020;

Master::Bytes marked_bytes() {
  Master::Bytes bytes(kMarkedBytes);
  for (std::size_t index = 0; index < bytes.size(); index++)
    bytes[index] = static_cast<uint8_t>(1 + index % 255);
  return bytes;
}

// The last beat's bytes after the marked ones have no strobe.
void begin_accesses(Bench &bench, const Master::Bytes &marked) {
  for (unsigned index = 0; index < kAccesses; index++) {
    bench.master.read(full_burst(kAdapterWindowBase + kReadAt + kApartBytes * index, 1024),
                      [](const Master::Bytes &) {});
    Master::Bytes data = marked;
    std::vector<bool> written(marked.size(), true);
    data.resize(1024, 0xff);
    written.resize(1024);
    bench.master.write(full_burst(kAdapterWindowBase + kWrittenAt + kApartBytes * index, 1024), data, written, [] {});
  }
  bench.registers.request(Space::Bar, bench.random().percent(50), kConfiguration, 1);
}

// What had not been written stays zero.
void check_written(Bench &bench, const Master::Bytes &marked) {
  for (unsigned index = 0; index < kAccesses; index++) {
    const auto at = bench.core.memory.begin() + static_cast<std::ptrdiff_t>(kWrittenAt + kApartBytes * index);
    for (std::size_t byte = 0; byte < kApartBytes; byte++) {
      const uint8_t found = at[static_cast<std::ptrdiff_t>(byte)];
      bench.check(found == 0 || (byte < marked.size() && found == marked[byte]), "data that the bridge did not issue");
    }
  }
}

void in_reset(Bench &bench) {
  const bool stalls = bench.stall_percent != 0;
  bench.core_cycles(stalls ? 60 : 12);
  bench.check(!bench.board.pins().link_up_o, "the link is up during the bridge's reset");
  bench.registers.response(kAtOnceCycles);
  bench.check(bench.registers.read(Space::Device, 0, kAtOnceCycles).error, "a request without a bridge has no error");
  bench.core_cycles(stalls ? 2000 : 400);
  const Model &pins = bench.board.pins();
  bench.check(pins.quiet_o && !pins.read_valid_o && !pins.write_valid_o, "not quiet during the bridge's reset");
}

void reset_in_mid_burst(Bench &bench, bool stop_clock) {
  const Master::Bytes marked = marked_bytes();
  for (unsigned count = 0; count < 25; count++) {
    begin_accesses(bench, marked);
    bench.axi_cycles(bench.random().between(1, 90));
    if (stop_clock) {
      bench.board.run_axi_clock(false);
      bench.core_cycles(bench.random().below(4));
    }
    bench.bridge_into_reset();
    in_reset(bench);
    check_written(bench, marked);
    bench.board.run_axi_clock(true);
    if (bench.random().percent(50)) bench.axi_cycles(5);
    bench.bridge_out_of_reset();
    Regions(bench, 2, 4).finish();
    bench.check(!bench.registers.write(Space::Bar, kConfiguration, 0x11), "a register write failed after a reset");
    const RegisterResult result = bench.registers.read(Space::Bar, kConfiguration);
    bench.check(!result.error && result.data == 0x11, "a register read failed after a reset");
  }
}

} // namespace

void adapter_reset_answers_and_drops(Bench &bench) {
  constexpr uint64_t kBytes = 65536;
  std::vector<uint8_t> &memory = bench.core.memory;
  const auto end = memory.begin() + static_cast<std::ptrdiff_t>(kBytes);
  std::fill(memory.begin(), end, 0x33);
  bench.adapter_reset(true);
  bench.core_cycles(3);
  for (unsigned index = 0; index < 8; index++) {
    const uint64_t at = kAdapterWindowBase + 1024 * index + 5;
    for (const Burst &burst : bursts_for(at, 700, kFullSize))
      bench.master.read(burst, [&](const Master::Bytes &data) {
        bench.check(data == Master::Bytes(data.size()), "a read during reset_i returned data");
      });
    for (const Burst &burst : bursts_for(at, 300, kFullSize)) {
      const std::size_t bytes = burst.beats * kBeatBytes - burst.address % kBeatBytes;
      bench.master.write(burst, Master::Bytes(bytes, 0x99), std::vector<bool>(bytes, true), [] {});
    }
    bench.wait([&] { return bench.master.idle(); }, "an access during reset_i is not answered");
  }
  bench.quiet();
  bench.check(std::all_of(memory.begin(), end, [](uint8_t byte) { return byte == 0x33; }),
              "a write during reset_i was written");
  bench.adapter_reset(false);
  bench.core_cycles(3);
  Regions(bench, 3, 10).finish();
}

void bridge_is_reset_in_mid_burst(Bench &bench) { reset_in_mid_burst(bench, false); }
void bridge_is_reset_while_its_clock_is_stopped(Bench &bench) { reset_in_mid_burst(bench, true); }

void clock_that_stops_without_a_reset_is_waited_for(Bench &bench) {
  for (unsigned count = 0; count < 12; count++) {
    Regions running(bench, 3, 6);
    bench.axi_cycles(bench.random().between(20, 60));
    bench.board.run_axi_clock(false);
    bench.core_cycles(600);
    bench.check(!bench.board.pins().link_up_o, "the link is up without the bridge's clock");
    bench.check(bench.registers.read(Space::Bar, 0, kAtOnceCycles).error, "a request without a clock has no error");
    bench.board.run_axi_clock(true);
    running.finish();
    bench.wait_for_link();
    bench.check(!bench.registers.write(Space::Bar, kConfiguration, 5), "a register write failed");
  }
}

void core_is_reset_alone_while_quiet(Bench &bench) {
  for (unsigned count = 0; count < 12; count++) {
    Regions(bench, 2, 4).finish();
    bench.check(!bench.registers.write(Space::Bar, kConfiguration, 5), "a register write failed");
    bench.quiet();
    bench.core_reset(true);
    bench.core_cycles(bench.random().between(1, 5));
    bench.core_reset(false);
    bench.core_cycles(2);
    bench.wait_for_link();
    const RegisterResult result = bench.registers.read(Space::Bar, kConfiguration);
    bench.check(!result.error && result.data == 5, "a register read failed after the core's reset");
  }
}

} // namespace testbench
