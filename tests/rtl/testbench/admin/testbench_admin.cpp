// SPDX-License-Identifier: Apache-2.0
//
// The admin sequencer and its program, with a drive that makes faults on request. A millisecond is three cycles.
// testbench_admin [SEED [CASE]]: CASE is the beginning of names; seed 1 and all cases unless given.

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

// The number of cycles; 0 after a failure.
uint64_t run(const Case &one, uint64_t seed) {
  AdminBench bench(one.profile, seed_of(seed, one.name));
  try {
    one.body(bench);
    return bench.drive.cycle();
  } catch (const Failure &failure) {
    std::fprintf(stderr, "FAILED: %s, cycle %" PRIu64 ": %s\n", one.name.c_str(), bench.drive.cycle(), failure.what());
    return 0;
  }
}

} // namespace

int main(int argc, char **argv) {
  const uint64_t seed = argc > 1 ? std::strtoull(argv[1], nullptr, 0) : 1;
  const std::string wanted = argc > 2 ? argv[2] : "";
  unsigned cases = 0, failed = 0;
  uint64_t cycles = 0;
  for (const Case &one : all_cases()) {
    if (one.name.compare(0, wanted.size(), wanted) != 0) continue;
    const uint64_t took = run(one, seed);
    cases++;
    failed += took == 0;
    cycles += took;
  }
  std::printf("seed %" PRIu64 ": %u of %u cases failed, %" PRIu64 " cycles\n", seed, failed, cases, cycles);
  return failed != 0 || cases == 0;
}
