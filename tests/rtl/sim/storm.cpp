// SPDX-License-Identifier: Apache-2.0
//
// storm [-s SEED] [-c CYCLES]: random requests on random drives with random faults, round after round, until this many
// cycles of the core have passed. Each round has a testbench of its own: its geometry, link, stalls and faults follow
// from the seed and the round's number. At the end, everything that the core took is on the media, and every beat that
// it gave was right unless the response reported an error.
#include "sim_testbench.h"

#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

using namespace testbench;

constexpr uint64_t kRoundCycles = 4'000'000;
constexpr uint64_t kTestedBytes = UINT64_C(16) << 20;
constexpr unsigned kRunningMax = 12;

struct Totals {
  uint64_t cycles = 0, rounds = 0, requests = 0, compared = 0, faults = 0, recoveries = 0, retries = 0, errors = 0;
};

struct sim_fault random_fault(Random &random) {
  static const struct {
    enum sim_action action;
    uint32_t value_min, value_max;
  } kinds[] = {{SIM_STATUS, 0x0082, 0x0082},
               {SIM_STATUS, 0x4280, 0x4281},
               {SIM_LOSE, 0, 0},
               {SIM_STALL, 0, 0},
               {SIM_DOUBLE, 0, 0},
               {SIM_LATE, 1, 20},
               {SIM_WRONG_ID, 1, 0xffff},
               {SIM_WRONG_PHASE, 0, 0},
               {SIM_FATAL, 0, 0},
               {SIM_RESET, 0, 0},
               {SIM_POWER_CUT, 0, 0},
               {SIM_LINK_DROP, 1, 60},
               {SIM_HOLD, 1, 20}};
  const auto &kind = kinds[random.below(sizeof kinds / sizeof kinds[0])];
  struct sim_fault fault {};
  fault.action = kind.action;
  fault.opcode = -1;
  fault.skip = static_cast<uint32_t>(random.below(80));
  fault.count = kind.action == SIM_STATUS ? static_cast<uint32_t>(random.between(1, 6)) : 1;
  fault.value = static_cast<uint32_t>(random.between(kind.value_min, kind.value_max));
  return fault;
}

class Round {
public:
  explicit Round(uint64_t seed) : random_(seed), testbench_(config(seed)) {}

  void run(Totals &totals) {
    testbench_.bring_up();
    const unsigned faults = static_cast<unsigned>(random_.between(2, 7));
    for (unsigned i = 0; i < faults; i++)
      sim_drive_fault(testbench_.drive, random_fault(random_));
    const uint64_t end = testbench_.board.cycles() + kRoundCycles;
    while (testbench_.board.cycles() < end) {
      if (testbench_.requests.running() < kRunningMax && random_.percent(40)) start();
      testbench_.run(200);
    }
    sim_drive_clear_faults(testbench_.drive);
    testbench_.finish(100'000'000);
    testbench_.verify();
    totals.cycles += testbench_.board.cycles();
    totals.rounds++;
    totals.requests += testbench_.requests.done().size();
    totals.compared += testbench_.requests.blocks_compared();
    totals.faults += faults;
    totals.recoveries += testbench_.counter(Recoveries);
    totals.retries += testbench_.counter(Retries);
    totals.errors += testbench_.requests.errors();
  }

private:
  SimTestbenchConfig config(uint64_t seed) {
    static const NoLink behaviours[] = {NoLink::Error, NoLink::Zeros, NoLink::Hang};
    static const uint16_t entries[] = {8, 64, 1024};
    profile_ = *sim_profile_find("ideal");
    profile_.mdts_pages = 1u << random_.between(1, 9);
    profile_.queue_entries = entries[random_.below(3)];
    profile_.ready_ms = static_cast<uint32_t>(random_.between(1, 40));
    profile_.read_latency_ns = static_cast<uint32_t>(random_.between(1'000, 120'000));
    SimTestbenchConfig config;
    config.seed = seed;
    config.changed_profile = &profile_;
    config.options.bytes = UINT64_C(256) << 20;
    config.options.block_shift = random_.percent(30) ? 12 : 9;
    config.options.shuffle = random_.percent(50);
    config.options.doorbell_stride = static_cast<uint8_t>(random_.below(4));
    config.options.no_volatile_cache = random_.percent(20);
    config.stall_percent = random_.percent(50) ? static_cast<unsigned>(random_.below(60)) : 0;
    config.no_link = behaviours[random_.below(3)];
    config.tested_blocks = kTestedBytes >> config.options.block_shift;
    blocks_ = config.tested_blocks;
    return config;
  }

  void start() {
    static const Op ops[] = {Op::Write, Op::Write, Op::Write, Op::Write, Op::Read,
                             Op::Read,  Op::Read,  Op::Read,  Op::Flush, Op::Deallocate};
    const Op op = ops[random_.below(sizeof ops / sizeof ops[0])];
    if (op == Op::Flush) {
      testbench_.requests.start(op);
      return;
    }
    const auto blocks = static_cast<uint32_t>(random_.between(1, random_.percent(10) ? blocks_ / 16 : 40));
    const uint64_t lba = random_.below(blocks_ - blocks + 1);
    if (!testbench_.requests.overlaps(lba, blocks)) testbench_.requests.start(op, lba, blocks, random_.percent(10));
  }

  Random random_;
  struct sim_profile profile_ {};
  uint64_t blocks_ = 0;
  SimTestbench testbench_;
};

} // namespace

int main(int argc, char **argv) {
  uint64_t seed = 1, cycles = 30'000'000;
  for (int i = 1; i + 1 < argc; i += 2) {
    const uint64_t value = std::strtoull(argv[i + 1], nullptr, 0);
    if (std::strcmp(argv[i], "-s") == 0)
      seed = value;
    else if (std::strcmp(argv[i], "-c") == 0)
      cycles = value;
  }
  Totals totals;
  const auto begin = std::chrono::steady_clock::now();
  std::printf("storm  seed %" PRIu64 ", %" PRIu64 " million cycles\n", seed, cycles / 1'000'000);
  (void)std::fflush(stdout);
  // A run without a retry or a recovery has tested too little: it continues, up to ten times as long.
  const auto wants_more = [&] {
    return totals.cycles < cycles || ((totals.recoveries == 0 || totals.retries == 0) && totals.cycles < 10 * cycles);
  };
  for (uint64_t round = 0; wants_more(); round++) {
    const uint64_t round_seed = seed * 1'000'003 + round;
    try {
      Round(round_seed).run(totals);
    } catch (const Failure &failure) {
      std::printf("FAILED in round %" PRIu64 " of seed %" PRIu64 ": %s\n", round, seed, failure.what());
      return 1;
    }
    if (round % 4 != 3 && wants_more()) continue;
    std::printf("storm  %6.1f million cycles, %" PRIu64 " drives, %" PRIu64 " requests, %" PRIu64
                " blocks compared, %" PRIu64 " faults, %" PRIu64 " retries, %" PRIu64 " recoveries, %" PRIu64
                " reported errors\n",
                static_cast<double>(totals.cycles) / 1e6, totals.rounds, totals.requests, totals.compared,
                totals.faults, totals.retries, totals.recoveries, totals.errors);
    (void)std::fflush(stdout);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf("storm  %.1f million cycles a second\n", static_cast<double>(totals.cycles) / took.count() / 1e6);
  if (totals.recoveries != 0 && totals.retries != 0) return 0;
  std::printf("FAILED: there was no %s\n", totals.retries == 0 ? "retry" : "recovery");
  return 1;
}
