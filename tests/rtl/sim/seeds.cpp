// SPDX-License-Identifier: Apache-2.0
//
// seeds PROFILE: the test plan for recorders in pure logic, on the core with one virtual drive. The drive is written
// and read from end to end, in segments and alternating. Every block is compared, and the time base is checked. Prints
// one line of JSON.
//
// Simulating a drive of 1000 GB would take days. All amounts and times of the drive's media (capacity, caches, pauses,
// heat) are 1/kScale of the profile's, so the behaviour of a whole drive happens within kBytes. Link, latencies and
// rates are those of the profile. Writes and reads alternate every 1 MiB, instead of every 128 MB in the plan.
#include "sim_testbench.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

namespace {

using namespace testbench;

constexpr uint64_t kBytes = UINT64_C(64'000'000) / 4096 * 4096;
constexpr double kScale = 1e12 / static_cast<double>(kBytes);
constexpr uint32_t kRequestBlocks = 1024; // 512 KiB
constexpr uint64_t kBlocks = kBytes / 512;
constexpr unsigned kSegments = 20, kRunning = 4;
constexpr unsigned kAlternations = 16;
constexpr uint64_t kBufferBytesMin = 2 << 20; // with less than the drive takes at once, it would behave differently

struct sim_profile scaled(const struct sim_profile &profile) {
  struct sim_profile small = profile;
  const auto less = [](uint64_t amount) { return static_cast<uint64_t>(static_cast<double>(amount) / kScale); };
  small.capacity_bytes = std::max(kBytes, less(profile.capacity_bytes));
  small.slc_bytes = less(profile.slc_bytes);
  small.slc_full_bytes = less(profile.slc_full_bytes);
  small.fold_bytes = less(profile.fold_bytes);
  small.buffer_bytes = std::max(kBufferBytesMin, less(profile.buffer_bytes));
  small.pause_bytes = less(profile.pause_bytes);
  small.pause_ms = 0; // scaled, less than a millisecond would be left
  small.heat_capacity = profile.heat_capacity / kScale;
  return small;
}

struct Rates {
  double average_mb_per_s, best_segment_mb_per_s, worst_segment_mb_per_s;
};

double mb_per_s(uint64_t bytes, uint64_t ps) { return static_cast<double>(bytes) / static_cast<double>(ps) * 1e6; }

// From the first block to the last, with requests that follow each other without a gap.
Rates sequential(SimTestbench &testbench, Op op) {
  const uint64_t begin_ps = testbench.link.now_ps();
  uint64_t segment_ps = begin_ps, segment_begin = 0, issued = 0, done = 0;
  Rates rates{0, 0, 1e9};
  testbench.requests.clear_done();
  while (done < kBlocks) {
    while (issued < kBlocks && testbench.requests.running() < kRunning) {
      const auto blocks = static_cast<uint32_t>(std::min<uint64_t>(kRequestBlocks, kBlocks - issued));
      testbench.requests.start(op, issued, blocks);
      issued += blocks;
    }
    const std::size_t before = testbench.requests.done().size();
    testbench.check(testbench.run_until([&] { return testbench.requests.done().size() > before; }, 50'000'000),
                    "no progress");
    for (std::size_t i = before; i < testbench.requests.done().size(); i++)
      done += testbench.requests.done()[i].command.blocks;
    if ((done - segment_begin) * kSegments < kBlocks && done < kBlocks) continue;
    const double rate = mb_per_s((done - segment_begin) * 512, testbench.link.now_ps() - segment_ps);
    if ((done - segment_begin) * kSegments >= kBlocks) {
      rates.best_segment_mb_per_s = std::max(rates.best_segment_mb_per_s, rate);
      rates.worst_segment_mb_per_s = std::min(rates.worst_segment_mb_per_s, rate);
    }
    segment_begin = done;
    segment_ps = testbench.link.now_ps();
  }
  rates.average_mb_per_s = mb_per_s(kBytes, testbench.link.now_ps() - begin_ps);
  return rates;
}

// Alternates between writing and reading a megabyte, with requests queued ahead.
double alternating(SimTestbench &testbench) {
  constexpr uint32_t kPiece = 2048;
  const uint64_t begin_ps = testbench.link.now_ps();
  for (unsigned i = 0; i < kAlternations; i++) {
    testbench.requests.start(Op::Write, 2 * i * kPiece, kPiece);
    testbench.requests.start(Op::Read, (2 * i + 1) * kPiece, kPiece);
  }
  testbench.finish(100'000'000);
  return mb_per_s(UINT64_C(2) * kAlternations * kPiece * 512, testbench.link.now_ps() - begin_ps);
}

int run(const char *name) {
  const struct sim_profile *profile = sim_profile_find(name);
  if (profile == nullptr) {
    std::fprintf(stderr, "no profile is named \"%s\"\n", name);
    return 2;
  }
  struct sim_profile small = scaled(*profile);
  SimTestbenchConfig config;
  config.changed_profile = &small;
  config.tested_blocks = kBlocks;
  SimTestbench testbench(config);
  testbench.bring_up();
  testbench.link.keep_true_time();

  const Rates write = sequential(testbench, Op::Write);
  // The core counts its own cycles: its clock and the drive's must have measured the same time.
  const uint32_t cycles_before = testbench.counter(10);
  const uint64_t ps_before = testbench.link.now_ps();
  const Rates read = sequential(testbench, Op::Read);
  const double clock_ratio = static_cast<double>(testbench.counter(10) - cycles_before) *
                             testbench.board.config().core_ps /
                             static_cast<double>(testbench.link.now_ps() - ps_before);
  const double turns = alternating(testbench);
  testbench.check(testbench.requests.errors() == 0 && testbench.counter(Recoveries) == 0,
                  "a request failed, or the drive was reset");
  testbench.verify();
  std::printf(
      "{\"profile\": \"%s\", \"model\": \"%s\", \"scale\": %.0f, \"bytes\": %" PRIu64
      ", \"write\": {\"average\": %.0f, \"best_segment\": %.0f, \"worst_segment\": %.0f}"
      ", \"read\": {\"average\": %.0f, \"best_segment\": %.0f, \"worst_segment\": %.0f}"
      ", \"alternating\": %.0f, \"blocks_compared\": %" PRIu64 ", \"clock_ratio\": %.4f, \"cycles\": %" PRIu64 "}\n",
      name, profile->model, kScale, kBytes, write.average_mb_per_s, write.best_segment_mb_per_s,
      write.worst_segment_mb_per_s, read.average_mb_per_s, read.best_segment_mb_per_s, read.worst_segment_mb_per_s,
      turns, testbench.requests.blocks_compared(), clock_ratio, testbench.board.cycles());
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "seeds PROFILE\n");
    return 2;
  }
  try {
    return run(argv[1]);
  } catch (const Failure &failure) {
    std::fprintf(stderr, "FAILED: %s\n", failure.what());
    return 1;
  }
}
