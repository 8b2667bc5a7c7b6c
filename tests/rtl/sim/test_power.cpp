// SPDX-License-Identifier: Apache-2.0
//
// Losses of power: a flush after one is not an answer to what had completed before it. Drives count losses, or not;
// give their log, or not. And the opposite: a reset that costs nothing accuses no drive.
#include "sim_testbench.h"

#include <cstdio>

namespace {

using namespace testbench;

constexpr uint16_t kPower = 0x8008;
constexpr unsigned kGetLog = 2;
constexpr uint32_t kEach = 40, kWrites = 40;

SimTestbenchConfig config_of(uint64_t seed) {
  SimTestbenchConfig config;
  config.seed = seed;
  config.options.bytes = 64 << 20;
  config.options.journal = true;
  return config;
}

enum class Log { Good, Refused, Zeros };

// The next `count` answers to Get Log Page.
void set_log(SimTestbench &testbench, Log log, uint32_t count) {
  if (log == Log::Good) return;
  struct sim_fault fault {};
  fault.action = log == Log::Refused ? SIM_STATUS : SIM_ZEROS;
  fault.admin = true;
  fault.opcode = kGetLog;
  fault.count = count;
  fault.value = 0x4002; // invalid field, do not retry
  sim_drive_fault(testbench.drive, fault);
}

void write(SimTestbench &testbench, unsigned first, unsigned writes) {
  for (unsigned i = first; i < first + writes; i++)
    testbench.requests.start(Op::Write, i * kEach, kEach);
}

void is(SimTestbench &testbench, const char *name, unsigned losses, unsigned unknown) {
  const uint32_t power = testbench.registers.read(SPATE_REGS_POWER);
  testbench.check(power == (unknown << SPATE_REGS_POWER_UNKNOWN_SHIFT | losses),
                  "%s: losses and unknown are %04x and %04x instead of %u and %u", name,
                  power & SPATE_REGS_POWER_LOSSES, power >> SPATE_REGS_POWER_UNKNOWN_SHIFT, losses, unknown);
}

// Both sides that give flushes are told, once each.
void is_told(SimTestbench &testbench, const char *name) {
  for (const uint16_t wanted : {kPower, uint16_t{0}}) {
    const uint16_t user = testbench.request(Op::Flush).status, registers = testbench.flush_by_registers();
    testbench.check(user == wanted && registers == wanted, "%s: flushes end with %04x and %04x instead of %04x", name,
                    user, registers, wanted);
  }
}

struct Habit {
  const char *name;
  bool cycles, unsafe; // which counter rises at a loss of power
  Log at_open, later;
  uint32_t later_count;
  unsigned losses, unknown;
};

constexpr Habit kHabits[] = {
    {"a drive that counts", true, true, Log::Good, Log::Good, 0, 1, 0},
    {"a drive that counts cycles", true, false, Log::Good, Log::Good, 0, 1, 0},
    {"a drive that counts unsafe shutdowns", false, true, Log::Good, Log::Good, 0, 1, 0},
    {"a drive that never counts", false, false, Log::Good, Log::Good, 0, 0, 1},
    {"the log was refused at first", true, true, Log::Refused, Log::Good, 0, 1, 0},
    {"the log is refused after the loss", true, true, Log::Good, Log::Refused, 1, 1, 0},
    {"the log is zeros after the loss", true, true, Log::Good, Log::Zeros, 1, 1, 0},
    {"there is no log", false, false, Log::Refused, Log::Refused, UINT32_MAX, 1, 0},
};

void set_up(SimTestbench &testbench, const Habit &habit) {
  set_log(testbench, habit.at_open, 1);
  testbench.bring_up();
  set_log(testbench, habit.later, habit.later_count);
}

// What had completed may be lost, and the flush after it says so. `in_flight`: the core has more to write at the cut.
void one_loss(uint64_t seed, const Habit &habit, bool in_flight) {
  SimTestbenchConfig config = config_of(seed);
  config.options.counts_no_power_cut = true;
  SimTestbench testbench(config);
  set_up(testbench, habit);
  is(testbench, habit.name, 0, 0);
  write(testbench, 0, kWrites);
  if (in_flight)
    testbench.run_until([&] { return testbench.requests.blocks_written() > 10 * kEach; }, 10'000'000);
  else
    testbench.finish();
  sim_drive_power_cut(testbench.drive);
  sim_drive_smart(testbench.drive)[112] += habit.cycles;
  sim_drive_smart(testbench.drive)[144] += habit.unsafe;
  testbench.finish(60'000'000);
  is_told(testbench, habit.name);
  is(testbench, habit.name, habit.losses, habit.unknown);
  const uint32_t seen = testbench.registers.read(SPATE_REGS_INTERRUPT_STATUS);
  testbench.check((seen & SPATE_REGS_INTERRUPT_STATUS_POWER) != 0, "%s: no interrupt tells of the loss", habit.name);
}

void losses(uint64_t seed) {
  for (const Habit &habit : kHabits)
    for (const bool in_flight : {false, true})
      one_loss(seed, habit, in_flight);
}

// A shutdown flushes, too.
void a_loss_before_a_shutdown(uint64_t seed) {
  SimTestbench testbench(config_of(seed));
  testbench.bring_up();
  write(testbench, 0, kWrites);
  testbench.finish();
  sim_drive_power_cut(testbench.drive);
  testbench.check(testbench.request(Op::Shutdown).status == kPower, "the shutdown does not tell of the loss");
  is(testbench, "a loss before a shutdown", 1, 0);
}

void a_shutdown_and_a_restart(uint64_t seed) {
  SimTestbench testbench(config_of(seed));
  testbench.bring_up();
  testbench.check(testbench.request(Op::Write, 0, 2000).status == 0, "write");
  testbench.check(testbench.request(Op::Shutdown).status == 0, "shutdown");
  sim_drive_power_cut(testbench.drive);
  testbench.check(testbench.request(Op::Restart).status == 0, "restart");
  testbench.check(testbench.request(Op::Flush).status == 0, "the drive is accused of a loss after its shutdown");
  is(testbench, "a shutdown and a restart", 0, 0);
  testbench.verify();
}

// A restart resets a drive that may have a cache: whether it lost its contents only a counter can tell.
void a_restart_without_a_shutdown(uint64_t seed) {
  SimTestbench testbench(config_of(seed));
  testbench.bring_up();
  testbench.check(testbench.request(Op::Restart).status == 0, "restart");
  testbench.check(testbench.request(Op::Flush).status == kPower, "nobody is told of the reset");
  is(testbench, "a restart", 0, 1);
}

void resets_are_no_losses(uint64_t seed, const char *name, bool log, const struct sim_drive_options &options) {
  SimTestbenchConfig config = config_of(seed);
  config.options = options;
  config.options.bytes = 64 << 20;
  SimTestbench testbench(config);
  if (!log) set_log(testbench, Log::Refused, UINT32_MAX);
  testbench.bring_up();
  for (unsigned i = 0; i < 20; i++) {
    write(testbench, 0, 4);
    sim_drive_fail(testbench.drive);
    sim_drive_smart(testbench.drive)[144]++; // unsafe shutdowns: some drives count resets
    testbench.finish(60'000'000);
    testbench.check(testbench.request(Op::Flush).status == 0, "%s: reset %u counts as a loss", name, i);
  }
  testbench.check(testbench.counter(Recoveries) >= 20, "%u recoveries", testbench.counter(Recoveries));
  is(testbench, name, 0, 0);
  testbench.verify();
}

void resets(uint64_t seed) {
  struct sim_drive_options plain {
  }, clears{};
  clears.clears_admin_when_disabled = true;
  resets_are_no_losses(seed, "resets without a log", false, plain);
  resets_are_no_losses(seed, "resets that a drive counts", true, plain);
  resets_are_no_losses(seed, "resets that clear the admin queue's registers", false, clears);
}

// Its registers are cleared by each reset, so a counter alone can tell.
void a_loss_of_a_drive_that_clears_its_registers(uint64_t seed) {
  for (const bool counts : {true, false}) {
    SimTestbenchConfig config = config_of(seed);
    config.options.clears_admin_when_disabled = true;
    config.options.counts_no_power_cut = !counts;
    SimTestbench testbench(config);
    testbench.bring_up();
    sim_drive_fail(testbench.drive);
    write(testbench, 0, 4);
    testbench.finish(60'000'000);
    sim_drive_power_cut(testbench.drive);
    write(testbench, 0, 4);
    testbench.finish(60'000'000);
    testbench.check(testbench.request(Op::Flush).status == kPower, "nobody is told of the loss");
    is(testbench, "registers that each reset clears", counts, !counts);
  }
}

// A fatal status, and during its recovery the drive loses power; it never counts.
void a_loss_during_a_recovery(uint64_t seed) {
  for (const unsigned ms : {5u, 50u, 90u, 120u}) {
    SimTestbenchConfig config = config_of(seed);
    config.options.counts_no_power_cut = true;
    SimTestbench testbench(config);
    testbench.bring_up();
    write(testbench, 0, kWrites);
    testbench.finish();
    sim_drive_fail(testbench.drive);
    testbench.run_until([&] { return (testbench.status() & SPATE_REGS_STATUS_READY) == 0; }, 10'000'000);
    testbench.run(ms * kUsPerMs * 250); // cycles of 4 ns
    sim_drive_power_cut(testbench.drive);
    testbench.finish(60'000'000);
    testbench.check(testbench.request(Op::Flush).status == kPower, "nobody is told of a loss %u ms after a failure",
                    ms);
  }
}

// The link's drop clears the registers as a loss of power does.
void a_link_drop(uint64_t seed) {
  SimTestbench testbench(config_of(seed));
  testbench.bring_up();
  write(testbench, 0, kWrites);
  sim_drive_link_drop(testbench.drive, 40);
  testbench.finish(60'000'000);
  is_told(testbench, "a link drop");
  is(testbench, "a link drop", 0, 1);
  testbench.verify();
}

// What has no volatile cache loses nothing that had completed.
void a_drive_without_a_cache(uint64_t seed) {
  SimTestbenchConfig config = config_of(seed);
  config.options.no_volatile_cache = true;
  SimTestbench testbench(config);
  testbench.bring_up();
  write(testbench, 0, kWrites);
  testbench.finish();
  sim_drive_power_cut(testbench.drive);
  testbench.check(testbench.request(Op::Flush).status == 0, "a drive without a cache is accused");
  is(testbench, "no cache", 1, 0);
  testbench.verify();
}

} // namespace

int main(int argc, char **argv) {
  return run_tests({{"losses", losses},
                    {"a_loss_before_a_shutdown", a_loss_before_a_shutdown},
                    {"a_shutdown_and_a_restart", a_shutdown_and_a_restart},
                    {"a_restart_without_a_shutdown", a_restart_without_a_shutdown},
                    {"resets", resets},
                    {"a_loss_of_a_drive_that_clears_its_registers", a_loss_of_a_drive_that_clears_its_registers},
                    {"a_loss_during_a_recovery", a_loss_during_a_recovery},
                    {"a_link_drop", a_link_drop},
                    {"a_drive_without_a_cache", a_drive_without_a_cache}},
                   argc, argv);
}
