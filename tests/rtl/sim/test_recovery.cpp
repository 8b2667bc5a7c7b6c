// SPDX-License-Identifier: Apache-2.0
//
// The core with faults of the virtual drive: everything that the core took is on the media at the end, and every beat
// that it gave is right, unless an error is reported.
#include "sim_testbench.h"

#include <cstdio>

namespace {

using namespace testbench;

constexpr unsigned kIoWrite = 1, kIoRead = 2;

SimTestbenchConfig config_of(uint64_t seed) {
  SimTestbenchConfig config;
  config.seed = seed;
  config.options.bytes = UINT64_C(1) << 30;
  return config;
}

struct sim_fault fault_of(enum sim_action action, int16_t opcode, uint32_t skip, uint32_t value) {
  struct sim_fault fault {};
  fault.action = action;
  fault.opcode = opcode;
  fault.skip = skip;
  fault.count = 1;
  fault.value = value;
  return fault;
}

// Writes and reads, all in flight together, while the fault happens to one of them. Returns the number of recoveries.
uint32_t traffic_with(SimTestbench &testbench, unsigned requests = 60) {
  constexpr uint32_t kEach = 72;
  for (unsigned i = 0; i < requests; i++)
    testbench.requests.start(Op::Write, i * kEach, kEach);
  testbench.finish(60'000'000);
  for (unsigned i = 0; i < requests; i++)
    testbench.requests.start(Op::Read, i * kEach, kEach);
  testbench.finish(60'000'000);
  return testbench.counter(Recoveries);
}

struct Case {
  const char *name;
  enum sim_action action;
  uint32_t value;
  bool recovers; // by resetting the drive
};

void one_fault(uint64_t seed, const Case &one) {
  for (const int16_t opcode : {static_cast<int16_t>(kIoWrite), static_cast<int16_t>(kIoRead)}) {
    SimTestbench testbench(config_of(seed));
    testbench.bring_up();
    sim_drive_fault(testbench.drive, fault_of(one.action, opcode, 20, one.value));
    const uint32_t recoveries = traffic_with(testbench);
    testbench.check(testbench.requests.errors() == 0, "%s: %llu requests failed", one.name,
                    (unsigned long long)testbench.requests.errors());
    testbench.check((recoveries != 0) == one.recovers, "%s: %u recoveries", one.name, recoveries);
    testbench.verify();
  }
}

void retried(uint64_t seed) {
  // Namespace not ready; internal error; command interrupted; internal path error, whose code is 0: none has DNR set.
  for (const uint32_t status : {0x0082u, 0x0006u, 0x0021u, 0x0300u}) {
    SimTestbench testbench(config_of(seed));
    testbench.bring_up();
    struct sim_fault fault = fault_of(SIM_STATUS, -1, 7, status);
    fault.count = 5;
    sim_drive_fault(testbench.drive, fault);
    const uint32_t recoveries = traffic_with(testbench);
    testbench.check(testbench.requests.errors() == 0, "status %04x was not retried", status);
    testbench.check(testbench.counter(Retries) >= 5, "%u retries", testbench.counter(Retries));
    testbench.check(recoveries == 0, "status %04x led to a reset", status);
    testbench.verify();
  }
}

void given_up(uint64_t seed) {
  // Write fault with DNR; a transient error that never passes; both with the code 0.
  const struct {
    uint32_t status, count;
  } cases[] = {{0x4280, 1}, {0x0082, UINT32_MAX}, {0x4300, 1}, {0x0300, UINT32_MAX}};
  for (const auto &one : cases) {
    SimTestbench testbench(config_of(seed));
    testbench.bring_up();
    struct sim_fault fault = fault_of(SIM_STATUS, kIoWrite, 0, one.status);
    fault.count = one.count;
    fault.first_lba = 700;
    fault.last_lba = 709;
    sim_drive_fault(testbench.drive, fault);
    testbench.requests.start(Op::Write, 0, 600);
    const uint16_t bad = testbench.requests.start(Op::Write, 600, 400);
    testbench.requests.start(Op::Write, 1000, 600);
    testbench.finish(60'000'000);
    for (const auto &done : testbench.requests.done()) {
      if (done.response.tag != bad) {
        testbench.check(done.response.status == 0, "another request failed");
        continue;
      }
      testbench.check(done.response.status == one.status, "status %04x instead of %04x", done.response.status,
                      one.status);
      testbench.check(done.response.done <= 100, "%llu blocks are reported as good",
                      (unsigned long long)done.response.done);
    }
    testbench.check(testbench.counter(Recoveries) == 0, "an error of one command led to a reset");
    testbench.verify();
  }
}

void read_error(uint64_t seed) {
  SimTestbench testbench(config_of(seed));
  testbench.bring_up();
  testbench.check(testbench.request(Op::Write, 0, 2000).status == 0, "write");
  struct sim_fault fault = fault_of(SIM_STATUS, kIoRead, 0, 0x4281); // unrecovered read error, DNR
  fault.first_lba = fault.last_lba = 1234;
  fault.count = UINT32_MAX;
  sim_drive_fault(testbench.drive, fault);
  const UserResponse response = testbench.request(Op::Read, 0, 2000);
  testbench.check(response.status == 0x4281, "status %04x", response.status);
  testbench.check(response.done <= 1234, "%llu blocks are reported as good", (unsigned long long)response.done);
  testbench.check(testbench.request(Op::Read, 0, 1000).status == 0, "the next read");
  testbench.verify();
}

void link_drops(uint64_t seed) {
  for (const NoLink behaviour : {NoLink::Error, NoLink::Zeros, NoLink::Hang}) {
    SimTestbenchConfig config = config_of(seed);
    config.no_link = behaviour;
    SimTestbench testbench(config);
    testbench.bring_up();
    sim_drive_fault(testbench.drive, fault_of(SIM_LINK_DROP, kIoWrite, 30, 40));
    testbench.check(traffic_with(testbench) == 1, "%u recoveries", testbench.counter(Recoveries));
    testbench.check(testbench.requests.errors() == 0, "a request failed");
    testbench.verify();
  }
}

void resets_behind_the_back(uint64_t seed) {
  SimTestbench testbench(config_of(seed));
  testbench.bring_up();
  for (unsigned i = 0; i < 40; i++)
    testbench.requests.start(Op::Write, i * 256, 256);
  testbench.run_until([&testbench] { return testbench.requests.blocks_written() > 2560; }, 10'000'000);
  sim_drive_reset(testbench.drive);
  testbench.finish(60'000'000);
  testbench.check(testbench.requests.errors() == 0, "a request failed");
  testbench.check(testbench.counter(Recoveries) >= 1, "the reset was not noticed");
  testbench.verify();
}

void never_ready(uint64_t seed) {
  SimTestbench testbench(config_of(seed));
  sim_drive_stick(testbench.drive, true, false, false);
  testbench.bring_up_in_vain();
  testbench.check(testbench.error() != 0, "no error is reported");
  std::printf("        never ready: step %02x, error %u\n", testbench.step_reached(), testbench.error());
  testbench.check(testbench.request(Op::Read, 0, 8).status == 0x8004, "a command for a drive that is gone");
}

void fatal_when_enabled(uint64_t seed) {
  SimTestbench testbench(config_of(seed));
  sim_drive_stick(testbench.drive, false, false, true);
  testbench.bring_up_in_vain();
  std::printf("        fatal when enabled: step %02x, error %u\n", testbench.step_reached(), testbench.error());
  testbench.check(testbench.error() != 0, "no error is reported");
}

void unplugged(uint64_t seed) {
  SimTestbench testbench(config_of(seed));
  testbench.bring_up();
  for (unsigned i = 0; i < 20; i++)
    testbench.requests.start(Op::Write, i * 256, 256);
  testbench.run_until([&testbench] { return testbench.requests.blocks_written() > 256; }, 10'000'000);
  testbench.link.unplug();
  testbench.finish(200'000'000);
  testbench.check(testbench.requests.errors() > 0, "no request failed");
  for (const auto &done : testbench.requests.done())
    testbench.check(done.response.status == 0 || done.response.status == 0x8004, "status %04x", done.response.status);
  testbench.check(testbench.status() & SPATE_REGS_STATUS_GONE, "the drive is not given up");
}

void admin_fault(uint64_t seed) { // a command of bring-up is lost
  SimTestbench testbench(config_of(seed));
  struct sim_fault fault = fault_of(SIM_LOSE, 6, 0, 0);
  fault.admin = true;
  sim_drive_fault(testbench.drive, fault);
  testbench.bring_up();
  testbench.check(sim_drive_counters(testbench.drive)->enables >= 2, "bring-up was not repeated");
  traffic_with(testbench, 10);
  testbench.verify();
}

} // namespace

int main(int argc, char **argv) {
  static const Case cases[] = {
      {"lost", SIM_LOSE, 0, true},
      {"stalled", SIM_STALL, 0, true},
      {"late", SIM_LATE, 3, false},
      {"held", SIM_HOLD, 5, false},
      {"doubled", SIM_DOUBLE, 0, false},
      {"wrong identifier", SIM_WRONG_ID, 0x5500, false},
      {"wrong phase", SIM_WRONG_PHASE, 0, true},
      {"fatal", SIM_FATAL, 0, true},
      {"reset", SIM_RESET, 0, true},
      {"power cut", SIM_POWER_CUT, 0, true},
  };
  std::vector<Test> tests;
  for (const Case &one : cases)
    tests.push_back({one.name, [&one](uint64_t seed) { one_fault(seed, one); }});
  for (const Test &test : {Test{"retried", retried}, Test{"given_up", given_up}, Test{"read_error", read_error},
                           Test{"link_drops", link_drops}, Test{"resets_behind_the_back", resets_behind_the_back},
                           Test{"never_ready", never_ready}, Test{"fatal_when_enabled", fatal_when_enabled},
                           Test{"unplugged", unplugged}, Test{"admin_fault", admin_fault}})
    tests.push_back(test);
  return run_tests(tests, argc, argv);
}
