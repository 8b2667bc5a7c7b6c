// SPDX-License-Identifier: Apache-2.0
//
// The figures of one model: throughput stream|memory|ring GENERATION PART [quick]. A line of JSON for each measurement.
// The model has a ring on chip, none (memory mode), or a ring in the memory of memory mode. PART:
//
//   core      the parameters and the latencies of the core
//   random    commands of 4 KiB at random addresses
//   MPS       128, 256 or 512: streams, commands of 4 to 128 KiB, also in turns

#include "bound.h"
#include "latency.h"
#include "load.h"
#include "ring_port.h"

#include <spate/gateware_registers.h>

#include <cinttypes>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace testbench;

constexpr uint64_t kBringUpCycles = 4'000'000;
constexpr uint64_t kMiB = 1 << 20;

enum class Buffer { Chip, None, Memory };

// As in CMakeLists.txt; the core and the drive use the same address.
RingPortConfig ring_in_memory() {
  RingPortConfig ring;
  ring.base = ring.bus_base = kMemoryBase;
  ring.bytes = 4 * kMiB;
  ring.write_ns_least = 40;
  ring.write_ns_most = 400;
  ring.read_ns_least = ring.read_ns_most = 100;
  return ring;
}

struct Program {
  Buffer buffer = Buffer::Chip;
  bool quick = false;
  unsigned generation = 3;
  Testbench testbench;
  std::optional<RingPort> ring;
  LoadRunner runner;

  Program(const TestbenchConfig &config, Buffer in_buffer, bool in_quick)
      : buffer(in_buffer), quick(in_quick), generation(config.link.generation), testbench(config),
        runner(testbench, in_buffer == Buffer::None) {
    if (buffer == Buffer::Memory) ring.emplace(testbench.board, testbench.memory, ring_in_memory());
  }

  LinkConfig link(uint32_t payload_bytes) const {
    LinkConfig link;
    link.generation = generation;
    link.payload_bytes = payload_bytes;
    link.tags = 256;
    return link;
  }

  uint32_t slots() {
    return (testbench.registers.read(SPATE_REGS_PARAMETERS) & SPATE_REGS_PARAMETERS_SLOTS) >>
           SPATE_REGS_PARAMETERS_SLOTS_SHIFT;
  }
  uint32_t queue_entries() {
    return 1u << ((testbench.registers.read(SPATE_REGS_GEOMETRY) & SPATE_REGS_GEOMETRY_QUEUE_SHIFT) >>
                  SPATE_REGS_GEOMETRY_QUEUE_SHIFT_SHIFT);
  }

  Core core_for_bound() {
    Core core{};
    core.data_address = buffer == Buffer::Chip ? kWindowBase : kMemoryBase;
    core.queue_address = kWindowBase;
    core.bar_address = kBarBase;
    core.slots = slots();
    core.entries = queue_entries();
    core.interface_bytes_per_s = kBeatBytes * 1e12 / testbench.board.config().axi_ps;
    core.ring_bytes = testbench.registers.read(SPATE_REGS_RING);
    core.read_ns = DriveConfig().read_ns;
    core.write_ns = DriveConfig().write_ns;
    return core;
  }

  // The shortest time in which the link can carry the measured data. At the beginning, a packet that left before may
  // still be on its way in each direction.
  static double least_seconds(const LinkConfig &link, const Core &core, const Load &load, const Rate &rate) {
    const auto whole = [&link](uint64_t bytes) {
      return static_cast<double>(bytes - std::min<uint64_t>(bytes, link.payload_bytes));
    };
    const unsigned changes = load.mix == Mix::Alternate ? 1 : 0;
    return Bound(link, core, load.command_bytes)
        .seconds(whole(rate.written_bytes), whole(rate.read_bytes), changes, changes);
  }

  void measure(const Load &load, uint32_t payload_bytes) {
    static constexpr const char *kNames[] = {"write", "read", "alternate"};
    const LinkConfig figures = link(payload_bytes);
    if (!testbench.board.run_until([this] { return testbench.link.idle() && testbench.bridge.idle(); }, kBringUpCycles))
      testbench.board.fail("the link does not become idle");
    testbench.link.configure(figures);
    testbench.drive.counters.in_flight_max = 0;
    const Rate rate = runner.run(load);
    const Core core = core_for_bound(); // the size of the queues is known by now
    std::printf("{\"mix\": \"%s\", \"bytes\": %u, \"random\": %s, \"mps\": %u, \"mrrs\": %u, \"generation\": %u, "
                "\"rate\": %.0f, \"seconds\": %.9f, \"least_seconds\": %.9f, \"payload_limit\": %.0f, "
                "\"in_flight_max\": %u, \"written_bytes\": %" PRIu64 ", \"read_bytes\": %" PRIu64 "}\n",
                kNames[static_cast<int>(load.mix)], load.command_bytes, load.random ? "true" : "false", payload_bytes,
                figures.read_request_bytes, generation, rate.bytes_per_s(), rate.seconds,
                least_seconds(figures, core, load, rate), payload_limit(figures, core, load.mix == Mix::Write),
                testbench.drive.counters.in_flight_max, rate.written_bytes, rate.read_bytes);
    std::fflush(stdout);
  }

  void streams(uint32_t payload_bytes) {
    for (const uint32_t bytes : {4u << 10, 8u << 10, 64u << 10, 128u << 10})
      for (const Mix mix : {Mix::Write, Mix::Read, Mix::Alternate}) {
        Load load;
        load.mix = mix;
        load.command_bytes = bytes;
        load.warm_bytes = 2 * kMiB;
        load.bytes = quick ? 2 * kMiB : 8 * kMiB;
        // In turns: one whole turn of each, wherever in a turn the measurement begins.
        load.run_bytes = quick ? 8 * kMiB : 128 * kMiB;
        if (mix == Mix::Alternate) load.bytes = 2 * load.run_bytes;
        measure(load, payload_bytes);
      }
  }

  void random() {
    for (const uint32_t payload_bytes : {256u, 512u})
      for (const Mix mix : {Mix::Write, Mix::Read}) {
        Load load;
        load.mix = mix;
        load.random = true;
        load.warm_bytes = 2 * kMiB;
        load.bytes = quick ? 2 * kMiB : 16 * kMiB;
        measure(load, payload_bytes);
      }
  }

  void core() {
    const Latency latency = measure_latency(testbench, buffer == Buffer::None, 32);
    std::printf("{\"command_to_doorbell\": %.1f, \"fetch_to_entry\": %.1f, \"completion_to_response\": %.1f}\n",
                latency.command_to_doorbell, latency.fetch_to_entry, latency.completion_to_response);
    std::printf("{\"data_bits\": %u, \"slots\": %u, \"ring_bytes\": %u, \"entries\": %u, \"clock_mhz\": %u}\n",
                kBeatBytes * 8, slots(), testbench.registers.read(SPATE_REGS_RING), queue_entries(),
                1'000'000 / testbench.board.config().core_ps);
  }

  bool run(const std::string &part) {
    if (part == "core")
      core();
    else if (part == "random")
      random();
    else if (buffer != Buffer::None && (part == "128" || part == "256" || part == "512"))
      streams(static_cast<uint32_t>(std::stoul(part)));
    else
      return false;
    return true;
  }
};

bool buffer_of(const std::string &name, Buffer *buffer) {
  *buffer = name == "stream" ? Buffer::Chip : name == "memory" ? Buffer::None : Buffer::Memory;
  return name == "stream" || name == "memory" || name == "ring";
}

} // namespace

int main(int argc, char **argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  Buffer buffer = Buffer::Chip;
  const bool is_complete = arguments.size() >= 4 && buffer_of(arguments[0], &buffer) && arguments[1].size() == 1;
  const uint32_t clock_mhz = is_complete ? static_cast<uint32_t>(std::strtoul(arguments[2].c_str(), nullptr, 10)) : 0;
  if (clock_mhz == 0) {
    std::fprintf(stderr, "throughput stream|memory|ring GENERATION CLOCK_MHZ core|random|128|256|512 [quick]\n");
    return 2;
  }
  TestbenchConfig config;
  config.board.core_ps = config.board.axi_ps = config.board.user_ps = 1'000'000 / clock_mhz;
  config.link.generation = static_cast<unsigned>(arguments[1][0] - '0');
  config.drive.link_generation = config.link.generation;
  config.bridge.window_bits = buffer == Buffer::Chip ? 0 : 22;
  try {
    Program program(config, buffer, arguments.size() > 4 && arguments[4] == "quick");
    program.testbench.board.reset();
    if (program.run(arguments[3])) return 0;
    std::fprintf(stderr, "no such part: %s\n", arguments[3].c_str());
    return 2;
  } catch (const Failure &failure) {
    std::fprintf(stderr, "FAILED: %s\n", failure.what());
    return 1;
  }
}
