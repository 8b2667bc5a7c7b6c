// SPDX-License-Identifier: Apache-2.0
// What the bridge's master writes and reads, and at which rate.
#include "cases.h"
#include "regions.h"

#include <algorithm>

namespace testbench {

namespace {

Master::Bytes random_bytes(Random &random, std::size_t count) {
  Master::Bytes bytes(count);
  for (uint8_t &byte : bytes)
    byte = static_cast<uint8_t>(random.next());
  return bytes;
}

Master::Bytes read(Bench &bench, const Burst &burst) {
  Master::Bytes found;
  bench.master.read(burst, [&](const Master::Bytes &data) { found = data; });
  bench.wait([&] { return bench.master.idle(); }, "a read does not end");
  return found;
}

void write(Bench &bench, const Burst &burst, const Master::Bytes &data) {
  bench.master.write(burst, data, std::vector<bool>(data.size(), true), [] {});
  bench.wait([&] { return bench.master.idle(); }, "a write does not end");
}

// Full beats from an address on.
Burst full_beats(uint64_t address, uint64_t bytes) {
  Burst burst;
  burst.address = address;
  burst.beats = static_cast<unsigned>(bytes / kBeatBytes);
  return burst;
}

} // namespace

void what_was_written_is_read(Bench &bench) {
  Regions(bench, 6, 100).finish();
  bench.quiet();
  bench.check(bench.core.stray_reads == 0 && bench.core.stray_writes == 0, "a stray access inside the aperture");
}

void fixed_bursts_stay_at_their_address(Bench &bench) {
  constexpr uint64_t kRead = 0x1000, kWritten = 0x2000;
  std::vector<uint8_t> &memory = bench.core.memory;
  const Master::Bytes content = random_bytes(bench.random(), 256);
  std::copy(content.begin(), content.end(), memory.begin() + kRead);
  for (unsigned size = 0; size <= kFullSize; size++) {
    // Sometimes inside of the bytes of a beat.
    const uint64_t skip = bench.random().below(2) * bench.random().below(UINT64_C(1) << size);
    const uint64_t at = (UINT64_C(3) << size) % 256 + skip;
    const std::size_t bytes = (std::size_t{1} << size) - skip;
    Burst burst{kAdapterWindowBase + kRead + at, size, static_cast<unsigned>(bench.random().between(1, 16)), true};
    const Master::Bytes found = read(bench, burst);
    for (std::size_t index = 0; index < found.size(); index++)
      bench.check(found[index] == content[at + index % bytes], "a beat of a FIXED read is from another address");
    burst.address = kAdapterWindowBase + kWritten + at;
    const Master::Bytes data = random_bytes(bench.random(), burst.beats * bytes);
    std::vector<uint8_t> expected = memory;
    std::copy(data.end() - static_cast<std::ptrdiff_t>(bytes), data.end(),
              expected.begin() + static_cast<std::ptrdiff_t>(kWritten + at));
    write(bench, burst, data);
    bench.check(memory == expected, "a FIXED write is at another address");
  }
}

void outside_the_aperture_is_stray(Bench &bench) {
  std::vector<uint8_t> &memory = bench.core.memory;
  std::fill(memory.begin(), memory.end(), 0x5a);
  uint64_t count = 0;
  std::vector<uint64_t> addresses = {kAdapterWindowBase - 64, kAdapterWindowBase + kApertureBytes, 0};
  for (unsigned bit = 21; bit < 64; bit++) // each address line above the aperture
    addresses.push_back(kAdapterWindowBase ^ UINT64_C(1) << bit);
  for (const uint64_t address : addresses) {
    count++;
    bench.check(read(bench, full_beats(address, 64)) == Master::Bytes(64), "a stray read returned data");
    write(bench, full_beats(address, kBeatBytes), random_bytes(bench.random(), kBeatBytes));
    bench.check(bench.core.stray_reads == count && bench.core.stray_writes == count, "an access is not stray");
  }
  for (const uint64_t address : {kAdapterWindowBase, kAdapterWindowBase + kApertureBytes - 64})
    bench.check(read(bench, full_beats(address, 64)) == Master::Bytes(64, 0x5a), "the aperture's end is not in it");
  bench.check(memory == std::vector<uint8_t>(kApertureBytes, 0x5a), "a stray write was written");
}

// A crossing may shift the beats by a few cycles of either clock; with one clock there is no shift.
void bursts_of_512_bytes_leave_no_gap(Bench &bench) {
  constexpr unsigned kBursts = 24;
  constexpr uint64_t kBytes = 512, kBeats = kBursts * kBytes / kBeatBytes, kShift = 4;
  const BoardConfig &config = bench.board.config();
  const uint64_t slower_ps = std::max(config.core_ps, config.axi_ps);
  const auto check = [&](const BeatCount &counted, uint64_t period_ps) {
    const uint64_t most = config.core_ps == config.axi_ps ? kBeats : (kBeats + kShift) * slower_ps / period_ps + kShift;
    bench.check(counted.beats() == kBeats && counted.cycles() <= most, "bursts of 512 bytes have a gap");
  };
  for (unsigned index = 0; index < kBursts; index++)
    bench.master.read(full_beats(kAdapterWindowBase + kBytes * index, kBytes), [](const Master::Bytes &) {});
  bench.wait([&] { return bench.master.idle(); }, "reads do not end");
  check(bench.master.read_beats, config.axi_ps);
  for (unsigned index = 0; index < kBursts; index++)
    bench.master.write(full_beats(kAdapterWindowBase + kBytes * index, kBytes), Master::Bytes(kBytes),
                       std::vector<bool>(kBytes, true), [] {});
  bench.wait([&] { return bench.master.idle(); }, "writes do not end");
  check(bench.core.writes, config.core_ps);
}

// More accesses than the crossings hold, while the master takes no response.
void responses_that_are_not_taken_wait(Bench &bench) {
  constexpr unsigned kAccesses = 100;
  std::vector<uint8_t> &memory = bench.core.memory;
  const Master::Bytes content = random_bytes(bench.random(), kAccesses * kBeatBytes);
  std::copy(content.begin(), content.end(), memory.begin());
  bench.master.holds_responses = true;
  for (std::size_t index = 0; index < kAccesses; index++) {
    const auto at = content.begin() + static_cast<std::ptrdiff_t>(index * kBeatBytes);
    const Master::Bytes beat(at, at + kBeatBytes);
    bench.master.read(full_beats(kAdapterWindowBase + index * kBeatBytes, kBeatBytes), [&, beat](const auto &data) {
      bench.check(data == beat, "a read that waited returned other bytes");
    });
    bench.master.write(full_beats(kAdapterWindowBase + content.size() + index * kBeatBytes, kBeatBytes), beat,
                       std::vector<bool>(kBeatBytes, true), [] {});
  }
  bench.core_cycles(3000);
  bench.master.holds_responses = false;
  bench.wait([&] { return bench.master.idle(); }, "accesses do not end when their responses are taken");
  bench.check(std::equal(content.begin(), content.end(), memory.begin() + static_cast<std::ptrdiff_t>(content.size())),
              "a write that waited was not written");
}

// Accesses that pause anywhere are in the adapter: two, because one response fits into the register at its output.
void adapter_is_not_quiet_during_an_access(Bench &bench) {
  const auto is_busy = [&](bool &holds, bool writes) {
    bench.quiet();
    holds = true;
    const Burst burst = full_beats(kAdapterWindowBase, 2 * kBeatBytes);
    for (unsigned count = 0; count < 2; count++) {
      if (writes)
        bench.master.write(burst, Master::Bytes(2 * kBeatBytes), std::vector<bool>(2 * kBeatBytes, true), [] {});
      else
        bench.master.read(burst, [](const Master::Bytes &) {});
    }
    bench.core_cycles(500);
    bench.check(!bench.board.pins().quiet_o, "quiet during an access");
    holds = false;
    bench.wait([&] { return bench.master.idle(); }, "accesses that paused do not end");
  };
  is_busy(bench.master.holds_responses, false);
  is_busy(bench.master.holds_responses, true);
  is_busy(bench.master.holds_write_addresses, true);
  is_busy(bench.master.holds_write_data, true);
}

} // namespace testbench
