// SPDX-License-Identifier: Apache-2.0
//
// spate_pcie_axi by itself: accesses of every shape, stalls, errors, resets, and clocks that stop. Each seed runs all
// cases, each with its stalls, with other periods of the clocks. cocotb/testbench_pcie_axi.py judges a few accesses
// with models of others.
//
//   testbench_pcie_axi_128 [-s SEED] [-n SEEDS] [-c CORE_PS -b BRIDGE_PS] [CASE...]

#include "cases.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <unistd.h>
#include <vector>

namespace {

using namespace testbench;

struct Case {
  const char *name;
  void (*run)(Bench &bench);
  std::vector<unsigned> stalls_percent;
};

#define CASE(function, ...)                                                                                            \
  {                                                                                                                    \
#function, function, { __VA_ARGS__ }                                                                               \
  }
const std::vector<Case> kCases = {
    CASE(what_was_written_is_read, 0, 30, 70),
    CASE(fixed_bursts_stay_at_their_address, 0, 30),
    CASE(outside_the_aperture_is_stray, 30),
    CASE(bursts_of_512_bytes_leave_no_gap, 0),
    CASE(responses_that_are_not_taken_wait, 0, 30),
    CASE(adapter_is_not_quiet_during_an_access, 0, 30),
    CASE(registers_and_configuration, 0, 60),
    CASE(adapter_reset_gives_up_a_silent_read, 0),
    CASE(adapter_reset_gives_up_a_silent_write, 0),
    CASE(adapter_reset_at_any_moment_ends_a_request, 0, 30),
    CASE(adapter_reset_answers_and_drops, 30),
    CASE(bridge_is_reset_in_mid_burst, 0, 50),
    CASE(bridge_is_reset_while_its_clock_is_stopped, 0, 50),
    CASE(clock_that_stops_without_a_reset_is_waited_for, 30),
    CASE(core_is_reset_alone_while_quiet, 30),
};

struct Periods {
  uint32_t core_ps, bridge_ps;
};
// Equal, four times as long, nearly equal, half, and a ratio that is not a whole number.
constexpr Periods kPeriods[] = {{4000, 4000}, {4000, 16000}, {3334, 4000}, {8000, 4000}, {10000, 2002}};

struct Options {
  uint64_t first_seed = 0;
  uint64_t seeds = 2 * std::size(kPeriods);
  Periods periods{}; // of all seeds, or zeros
  std::vector<const char *> names;
};

Options options(int argc, char **argv) {
  Options found;
  int option = 0;
  while ((option = getopt(argc, argv, "s:n:c:b:")) != -1) {
    switch (option) {
    case 's': found.first_seed = std::strtoull(optarg, nullptr, 0); break;
    case 'n': found.seeds = std::strtoull(optarg, nullptr, 0); break;
    case 'c': found.periods.core_ps = static_cast<uint32_t>(std::strtoul(optarg, nullptr, 0)); break;
    case 'b': found.periods.bridge_ps = static_cast<uint32_t>(std::strtoul(optarg, nullptr, 0)); break;
    default: std::exit(2);
    }
  }
  if ((found.periods.core_ps == 0) != (found.periods.bridge_ps == 0)) std::exit(2);
  found.names.assign(argv + optind, argv + argc);
  return found;
}

BoardConfig config_of(const Options &options, uint64_t seed) {
  const Periods periods = options.periods.core_ps ? options.periods : kPeriods[seed % std::size(kPeriods)];
  BoardConfig config;
  config.seed = seed;
  config.core_ps = periods.core_ps;
  config.axi_ps = periods.bridge_ps;
  return config;
}

bool is_chosen(const Options &options, const char *name) {
  bool chosen = options.names.empty();
  for (const char *wanted : options.names)
    chosen = chosen || std::strcmp(wanted, name) == 0;
  return chosen;
}

bool holds(const Case &tested, const BoardConfig &config, unsigned stall_percent) {
  try {
    Bench bench(config, stall_percent);
    tested.run(bench);
    return true;
  } catch (const Failure &failure) {
    std::fprintf(stderr, "FAILED: %s, stalls %u %%, periods %u and %u ps: %s\n", tested.name, stall_percent,
                 config.core_ps, config.axi_ps, failure.what());
    return false;
  }
}

// The number of runs; 0 if one of them fails.
unsigned run_cases(const Options &chosen, const BoardConfig &config) {
  unsigned runs = 0;
  for (const Case &tested : kCases) {
    if (!is_chosen(chosen, tested.name)) continue;
    for (const unsigned stall_percent : tested.stalls_percent) {
      if (!holds(tested, config, stall_percent)) return 0;
      runs++;
    }
  }
  return runs;
}

} // namespace

int main(int argc, char **argv) {
  const Options chosen = options(argc, argv);
  unsigned runs = 0;
  for (uint64_t count = 0; count < chosen.seeds; count++) {
    const unsigned more = run_cases(chosen, config_of(chosen, chosen.first_seed + count));
    if (more == 0) return 1;
    runs += more;
  }
  std::printf("pcie_axi: %u runs of cases hold\n", runs);
  return runs == 0;
}
