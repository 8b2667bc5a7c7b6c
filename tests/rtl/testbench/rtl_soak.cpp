// SPDX-License-Identifier: Apache-2.0
//
// The core with random traffic and a drive that misbehaves, for any length of time: rtl_soak [SEED [CYCLES [RUNS]]].
// Each run has a seed of its own, from SEED on, which also chooses the clocks and the drive.
//
// A run has many episodes. Each chooses the link, the stalls of every side and the drive's faults. Requests run until
// some hundreds were given; then everything must end, with nothing lost.

#include "testbench.h"
#include "traffic.h"

#include "pattern.h"

#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>

namespace {

using namespace testbench;

constexpr uint32_t kBringUp = 0x020u, kErrorDetail = 0x024u; // docs/reference/registers.md
constexpr uint64_t kTrackedBlocks = 65536;
// Cycles without a response that no recovery explains. With UsPerMs = 16, a bring-up from PERST# takes about 0.5
// million.
constexpr uint64_t kPatienceCycles = 8'000'000;
constexpr uint64_t kEpisodeRequests = 500;
constexpr uint64_t kWindowBytes = UINT64_C(1) << 22; // as far as there is anything in both halves

TestbenchConfig testbench_config(uint64_t seed) {
  TestbenchConfig config;
  config.board.seed = seed;
  Random choice(seed ^ UINT64_C(0x50a4));
  // One in two runs has three clocks that drift relative to each other.
  if (choice.percent(50)) {
    config.board.axi_ps = static_cast<uint32_t>(choice.between(3900, 4100));
    config.board.user_ps = static_cast<uint32_t>(choice.between(3500, 6700));
  }
  config.bridge.reset_with_perst = choice.percent(50);
  config.bridge.completion_timeout_us = 50;
  config.bridge.no_link = static_cast<NoLink>(choice.below(2));
  config.drive.block_shift = choice.percent(50) ? 9 : 12;
  config.drive.blocks = kTrackedBlocks;
  config.drive.tracked_blocks = kTrackedBlocks;
  config.drive.read_ns = 8000;
  config.drive.write_ns = 1000;
  config.drive.mdts = static_cast<uint8_t>(choice.between(1, 6));
  config.drive.doorbell_stride = static_cast<uint8_t>(choice.below(3));
  config.drive.queue_entries = static_cast<uint16_t>(choice.percent(50) ? 1024 : 1u << choice.between(4, 7));
  config.drive.fetch_entries = static_cast<unsigned>(choice.between(1, 8));
  return config;
}

class Soak {
public:
  explicit Soak(uint64_t seed)
      : config_(testbench_config(seed)), testbench_(config_), traffic_(testbench_, traffic_config(config_.drive)),
        choice_(seed ^ UINT64_C(0xe919)) {
    testbench_.drive.stray_base = kWindowBase;
    testbench_.drive.stray_bytes = kWindowBytes;
    testbench_.board.reset();
  }

  void run(uint64_t cycles) {
    while (testbench_.board.cycles() < cycles)
      episode();
  }

  void tell(double seconds) const {
    const IdealDrive::Counters &drive = testbench_.drive.counters;
    const TrafficCounters &traffic = traffic_.counters;
    std::printf("%" PRIu64 " cycles, %.2f million/s: %" PRIu64 " writes, %" PRIu64 " reads, %" PRIu64
                " flushes, %" PRIu64 " deallocations, %" PRIu64 " MB, %" PRIu64 " ended with an error\n",
                testbench_.board.cycles(), static_cast<double>(testbench_.board.cycles()) / seconds / 1e6,
                traffic.writes, traffic.reads, traffic.flushes, traffic.deallocates,
                (drive.read_bytes + drive.written_bytes) / 1000000, traffic.errors);
    std::printf("drive: %" PRIu64 " faults, %" PRIu64 " times enabled, %" PRIu64 " link drops, %" PRIu64
                " stale completions, %u commands at once\n",
                drive.faults, drive.enables, drive.drops, drive.stale_completions, drive.in_flight_max);
  }
  // The core's state, for the reader of a failure: the step, the last error, and the number of bring-ups.
  void tell_why() {
    testbench_.user.on_response = nullptr; // responses are no longer checked
    testbench_.user.on_beat = nullptr;
    const uint32_t bring_up = testbench_.registers.read(kBringUp);
    std::fprintf(stderr,
                 "core: step %u, error %u, detail %08x; drive: %" PRIu64 " times enabled, %" PRIu64 " link drops\n",
                 bring_up & 0xff, bring_up >> 8 & 0xff, testbench_.registers.read(kErrorDetail),
                 testbench_.drive.counters.enables, testbench_.drive.counters.drops);
  }
  const TrafficCounters &counters() const { return traffic_.counters; }

private:
  static TrafficConfig traffic_config(const DriveConfig &drive) {
    TrafficConfig config;
    config.block_bytes = 1u << drive.block_shift;
    config.blocks = kTrackedBlocks;
    config.blocks_max = drive.block_shift == 9 ? 600 : 80;
    return config;
  }

  LinkConfig choose_link() {
    LinkConfig link;
    link.generation = choice_.percent(40) ? 0 : choice_.percent(10) ? 1 : 3;
    link.payload_bytes = 128u << choice_.below(3);
    link.read_request_bytes = 128u << choice_.below(4);
    link.latency_ns = static_cast<uint32_t>(choice_.between(50, 500));
    return link;
  }

  // None, one, or a few kinds of faults at a time, so that each is tested alone and together with others.
  Faults choose_faults() {
    Faults faults;
    uint32_t *const kinds[] = {&faults.hold,     &faults.late,        &faults.retry,  &faults.refuse,
                               &faults.wrong_id, &faults.wrong_phase, &faults.twice,  &faults.stuck,
                               &faults.fatal,    &faults.drop,        &faults.reread, &faults.stray_read};
    const uint64_t count = choice_.below(4);
    for (uint64_t index = 0; index < count; index++) {
      const uint64_t kind = choice_.below(sizeof kinds / sizeof *kinds);
      // A fault that costs a recovery is rarer, because otherwise nothing else would happen.
      const bool costly = kind >= 4 && kind <= 9 && kind != 6;
      *kinds[kind] = static_cast<uint32_t>(costly ? choice_.between(300, 3000) : choice_.between(4, 100));
    }
    faults.stale = choice_.percent(50);
    if (faults.stale && choice_.percent(50)) faults.fatal = static_cast<uint32_t>(choice_.between(100, 1000));
    return faults;
  }

  void settle(const char *what) {
    const auto quiet = [this] {
      return traffic_.idle() && testbench_.user.waiting() == 0 && testbench_.link.idle() && testbench_.bridge.idle();
    };
    uint64_t last = testbench_.board.cycles();
    while (!quiet()) {
      if (!testbench_.board.run_until(quiet, kPatienceCycles / 8) &&
          testbench_.board.cycles() > std::max(last, traffic_.counters.last_response_cycle) + kPatienceCycles)
        testbench_.board.fail("no progress %s", what);
    }
  }

  void sudden_loss() {
    testbench_.drive.drop_link(choice_.between(1000, 100'000));
    if (choice_.percent(50)) testbench_.bridge.reset();
    if (choice_.percent(30)) {
      testbench_.board.run_axi_clock(false);
      testbench_.board.run(choice_.between(10, 5000));
      testbench_.board.run_axi_clock(true);
    }
  }

  void episode() {
    testbench_.link.configure(choose_link());
    testbench_.user.set_stall(static_cast<unsigned>(choice_.percent(50) ? 0 : choice_.below(90)));
    testbench_.bridge.set_stall(static_cast<unsigned>(choice_.percent(50) ? 0 : choice_.below(60)));
    testbench_.drive.faults = choose_faults();
    traffic_.errors_allowed = testbench_.drive.faults.refuse != 0;
    traffic_.blocks_max = choice_.percent(40) ? 8 : UINT32_MAX; // small requests: more commands at once
    traffic_.write_percent = static_cast<unsigned>(choice_.between(5, 95));
    traffic_.stop = false;
    const bool loss = choice_.percent(10);
    const TrafficCounters &done = traffic_.counters;
    const uint64_t until = done.writes + done.reads + kEpisodeRequests;
    const uint64_t loss_at = done.writes + done.reads + choice_.below(kEpisodeRequests);
    bool lost = false;
    traffic_.counters.last_response_cycle = testbench_.board.cycles();
    while (done.writes + done.reads < until) {
      traffic_.feed();
      testbench_.board.step();
      if (loss && !lost && done.writes + done.reads >= loss_at && testbench_.drive.may_fail()) {
        lost = true;
        sudden_loss();
      }
      if (testbench_.board.cycles() > done.last_response_cycle + kPatienceCycles)
        testbench_.board.fail("no response for %" PRIu64 " cycles", kPatienceCycles);
    }
    testbench_.drive.faults = Faults();
    traffic_.stop = true;
    settle("at the end of an episode");
  }

  TestbenchConfig config_;
  Testbench testbench_;
  Traffic traffic_;
  Random choice_;
};

bool run(uint64_t seed, uint64_t cycles) {
  std::printf("seed %" PRIu64 "\n", seed);
  std::fflush(stdout);
  try {
    Soak soak(seed);
    const auto start = std::chrono::steady_clock::now();
    try {
      soak.run(cycles);
    } catch (const Failure &) {
      try {
        soak.tell_why();
      } catch (const Failure &) { // a cycle was interrupted, so a check may fail now: the first failure counts
      }
      throw;
    }
    soak.tell(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    return soak.counters().writes != 0 && soak.counters().reads != 0;
  } catch (const Failure &failure) {
    std::fprintf(stderr, "FAILED: %s\n", failure.what());
    return false;
  }
}

} // namespace

int main(int argc, char **argv) {
  const uint64_t seed = argc > 1 ? std::strtoull(argv[1], nullptr, 0) : 1;
  const uint64_t cycles = argc > 2 ? std::strtoull(argv[2], nullptr, 0) : 2'000'000;
  const uint64_t runs = argc > 3 ? std::strtoull(argv[3], nullptr, 0) : 1;
  bool good = true;
  for (uint64_t number = 0; number < runs; number++)
    good = run(seed + number, cycles) && good;
  return good ? 0 : 1;
}
