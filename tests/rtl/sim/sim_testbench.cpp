// SPDX-License-Identifier: Apache-2.0
#include "sim_testbench.h"

#include <algorithm>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace testbench {

namespace {

constexpr uint64_t kBringUpCyclesMax = 40'000'000;

struct sim *new_machine(const SimTestbenchConfig &config) {
  struct sim_config machine {};
  machine.seed = config.seed;
  machine.coherent = true;
  return sim_new(&machine);
}

// The link of the profile, with the largest packets that the bridge's root port supports.
struct sim_drive_options with_link(const struct sim_profile *profile, struct sim_drive_options options) {
  if (options.link.generation != 0) return options;
  options.link.generation = std::min<uint8_t>(profile->generation, 3);
  options.link.lanes = profile->lanes;
  options.link.payload_bytes = 512;
  options.link.read_request_bytes = 512;
  options.link.latency_ns = 250;
  options.link.dllp_percent = 2;
  return options;
}

struct sim_drive *new_drive(struct sim *sim, const SimTestbenchConfig &config) {
  const struct sim_profile *profile =
      config.changed_profile != nullptr ? config.changed_profile : sim_profile_find(config.profile);
  if (profile == nullptr) throw Failure(std::string("no profile is named ") + config.profile);
  const struct sim_drive_options options = with_link(profile, config.options);
  return sim_drive_add(sim, profile, &options);
}

BoardConfig board_config(const SimTestbenchConfig &config) {
  BoardConfig board;
  board.seed = config.seed;
  return board;
}

BridgeConfig bridge_config(const SimTestbenchConfig &config) {
  BridgeConfig bridge;
  bridge.stall_percent = config.stall_percent;
  bridge.reset_with_perst = config.reset_with_perst;
  bridge.no_link = config.no_link;
  bridge.bar_axi_base = kBarBase;
  bridge.bar_bus_base = kBarBase;
  bridge.window_base = kWindowBase;
  bridge.window_bits = kApertureBits;
  return bridge;
}

// The drive's writes take long to arrive, so that a completion may come long before its data.
MemoryConfig memory_config() {
  MemoryConfig memory;
  memory.write_ns_most = 5000;
  return memory;
}

RingPortConfig ring_config(const SimTestbenchConfig &config) {
  RingPortConfig ring;
  ring.base = kRingBase;
  ring.bytes = kRingBytes;
  ring.bus_base = kRingDriveBase;
  ring.stall_percent = config.stall_percent;
  return ring;
}

SimDriveConfig link_config() {
  SimDriveConfig link;
  link.window_base = kWindowBase;
  link.window_bytes = kWindowBytes;
  link.us_per_ms = kUsPerMs;
  return link;
}

} // namespace

SimTestbench::SimTestbench(const SimTestbenchConfig &config_in)
    : config(config_in), sim(new_machine(config_in)), drive(new_drive(sim, config_in)), board(board_config(config_in)),
      memory(board, memory_config()), bridge(board, bridge_config(config_in)),
      ring(board, memory, ring_config(config_in)), link(board, bridge, sim, drive, link_config()),
      user(board, config_in.stall_percent),
      requests(board, user, 1u << sim_drive_block_shift(drive), config_in.tested_blocks), registers(board) {
  bridge.connect(memory);
}

// verify() checks for violations. Those of a test that failed earlier are discarded.
SimTestbench::~SimTestbench() {
  (void)sim_take_violations(sim, nullptr);
  sim_free(sim);
}

void SimTestbench::step() {
  if (requests.beats() + ring.beats() != beats_) {
    beats_ = requests.beats() + ring.beats();
    link.moved();
  }
  link.step();
}

void SimTestbench::check(bool good, const char *format, ...) {
  if (good) return;
  char sentence[400];
  va_list arguments;
  va_start(arguments, format);
  (void)std::vsnprintf(sentence, sizeof sentence, format, arguments);
  va_end(arguments);
  board.fail("%s", sentence);
}

void SimTestbench::bring_up() {
  board.reset();
  const uint64_t end = board.cycles() + kBringUpCyclesMax;
  uint32_t now = 0;
  while (!((now = status()) & SPATE_REGS_STATUS_READY)) {
    check(!(now & SPATE_REGS_STATUS_GONE) && board.cycles() < end,
          "the drive does not come up: step %02x, error %u (%08x)", step_reached(), error(),
          registers.read(SPATE_REGS_ERROR_DETAIL));
    run(2000);
  }
}

void SimTestbench::bring_up_in_vain() {
  board.reset();
  const uint64_t end = board.cycles() + kBringUpCyclesMax;
  uint32_t now = 0;
  while (!((now = status()) & SPATE_REGS_STATUS_GONE)) {
    check(!(now & SPATE_REGS_STATUS_READY) && board.cycles() < end, "the drive is not given up: step %02x",
          step_reached());
    run(2000);
  }
}

void SimTestbench::finish(uint64_t cycles_max) {
  if (run_until([this] { return requests.running() == 0; }, cycles_max)) return;
  check(false, "%zu requests do not end: status %08x, step %02x, error %u", requests.running(), status(),
        step_reached(), error());
}

UserResponse SimTestbench::request(Op op, uint64_t lba, uint32_t blocks, bool fua) {
  const std::size_t before = requests.done().size();
  const uint16_t tag = requests.start(op, lba, blocks, fua);
  finish();
  for (std::size_t i = before; i < requests.done().size(); i++)
    if (requests.done()[i].response.tag == tag) return requests.done()[i].response;
  board.fail("a request ended without a response");
}

uint16_t SimTestbench::flush_by_registers() {
  registers.write(SPATE_REGS_COMMAND, SPATE_REGS_COMMAND_START);
  const auto answered = [this] { return (status() & SPATE_REGS_STATUS_RESPONSE_VALID) != 0; };
  check(run_until(answered, 20'000'000), "the flush from the registers does not end");
  const uint32_t response = registers.read(SPATE_REGS_RESPONSE);
  registers.write(SPATE_REGS_RESPONSE_TAKE, SPATE_REGS_RESPONSE_TAKE_TAKE);
  return static_cast<uint16_t>(response >> SPATE_REGS_RESPONSE_STATUS_SHIFT);
}

void SimTestbench::verify() {
  const char *first = nullptr;
  const unsigned violations = sim_take_violations(sim, &first);
  check(violations == 0, "%u times the drive saw what is forbidden; first: %s", violations,
        first == nullptr ? "" : first);
  const uint8_t shift = sim_drive_block_shift(drive);
  const struct sim_store *store = sim_drive_store(drive);
  const uint64_t wrong = requests.compare([store, shift](uint64_t lba, uint8_t *block) {
    if (shift == 12) {
      sim_store_read(store, lba << shift, block, SIM_PAGE);
      return;
    }
    sim_store_read(store, lba << shift, block, UINT64_C(1) << shift);
  });
  check(wrong == config.tested_blocks, "block %" PRIu64 " of the media is not what was written", wrong);
}

int run_tests(const std::vector<Test> &tests, int argc, char **argv) {
  uint64_t seed = 1;
  std::vector<std::string> only;
  for (int i = 1; i < argc; i++) {
    if (std::strcmp(argv[i], "-s") == 0 && i + 1 < argc)
      seed = std::strtoull(argv[++i], nullptr, 0);
    else
      only.emplace_back(argv[i]);
  }
  unsigned failed = 0;
  for (const Test &test : tests) {
    bool chosen = only.empty();
    for (const std::string &name : only)
      chosen |= std::strstr(test.name, name.c_str()) != nullptr;
    if (!chosen) continue;
    try {
      test.run(seed);
      std::printf("ok      %s\n", test.name);
    } catch (const Failure &failure) {
      failed++;
      std::printf("FAILED  %s: %s\n", test.name, failure.what());
    }
    (void)std::fflush(stdout);
  }
  return failed == 0 ? 0 : 1;
}

} // namespace testbench
