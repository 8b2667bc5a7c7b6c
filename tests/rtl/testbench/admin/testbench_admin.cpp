// SPDX-License-Identifier: Apache-2.0
//
// The admin sequencer and its program, with a drive that makes faults on request. A millisecond is three cycles.
// testbench_admin [SEED [SEEDS [CASE]]]: CASE is the beginning of names. Seeds 1 to 10 and all cases unless given. It
// ends with the first seed that fails.

#include "cases.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>

namespace {

using namespace testbench;

Cases all_cases() {
  Cases cases;
  add_bring_up(cases);
  add_refused_drives(cases);
  add_commands(cases);
  add_long_commands(cases);
  add_recovery(cases);
  add_other_drives(cases);
  return cases;
}

// Each case has a sequence of its own, so that it runs alone as it does among the others.
uint64_t seed_of(uint64_t seed, const std::string &name) {
  uint64_t hash = UINT64_C(0xcbf2'9ce4'8422'2325) ^ seed; // FNV-1a
  for (char letter : name)
    hash = (hash ^ static_cast<unsigned char>(letter)) * UINT64_C(0x100'0000'01b3);
  return hash;
}

// The number of cycles; 0 after a failure, which is printed.
uint64_t run(const Case &one, uint64_t seed) {
  AdminBench bench(one.profile, seed_of(seed, one.name));
  try {
    one.body(bench);
    return bench.drive.cycle();
  } catch (const Failure &failure) {
    std::fprintf(stderr, "FAILED: %s, cycle %" PRIu64 ", seed %" PRIu64 ": %s\n", one.name.c_str(), bench.drive.cycle(),
                 seed, failure.what());
    return 0;
  }
}

struct Counts {
  unsigned cases = 0, failed = 0;
  uint64_t cycles = 0;
};

void run_all(const Cases &cases, uint64_t seed, const std::string &wanted, Counts &counts) {
  for (const Case &one : cases) {
    if (one.name.compare(0, wanted.size(), wanted) != 0) continue;
    const uint64_t took = run(one, seed);
    counts.cases++;
    counts.failed += took == 0;
    counts.cycles += took;
  }
}

} // namespace

int main(int argc, char **argv) {
  uint64_t seed = argc > 1 ? std::strtoull(argv[1], nullptr, 0) : 1;
  uint64_t seeds = argc > 2 ? std::strtoull(argv[2], nullptr, 0) : 10;
  const std::string wanted = argc > 3 ? argv[3] : "";
  const Cases cases = all_cases();
  Counts counts;
  for (; seeds != 0 && counts.failed == 0; seeds--, seed++)
    run_all(cases, seed, wanted, counts);
  std::printf("%u of %u cases failed, %" PRIu64 " cycles, the last seed was %" PRIu64 "\n", counts.failed, counts.cases,
              counts.cycles, seed - 1);
  return counts.failed != 0 || counts.cases == 0;
}
