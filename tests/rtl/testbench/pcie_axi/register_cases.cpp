// SPDX-License-Identifier: Apache-2.0
// Accesses of the core to the drive's BAR and to the configuration spaces.
#include "cases.h"
#include "regions.h"

namespace testbench {

namespace {

constexpr uint8_t kSlaveError = 2, kDecodeError = 3;

struct Place {
  Space space;
  Slave &slave;
  uint32_t base, bytes;
};

Place any_place(Bench &bench) {
  switch (bench.random().below(3)) {
  case 0: return {Space::Local, bench.control, 0, 4096};
  case 1: return {Space::Device, bench.control, kDeviceOffset, 4096};
  default: return {Space::Bar, bench.bar, 0, static_cast<uint32_t>(kBarBytes)};
  }
}

// A dword is written or read; those around it stay as they were.
void access_one(Bench &bench) {
  const Place place = any_place(bench);
  const uint32_t address = 4 * static_cast<uint32_t>(bench.random().below(place.bytes / 4));
  const uint32_t value = static_cast<uint32_t>(bench.random().next()), at = place.base + address;
  Slave::Around around = place.slave.around(at);
  around[at % 64 / 4] = value;
  if (bench.random().percent(50)) {
    bench.check(!bench.registers.write(place.space, address, value), "a register write failed");
  } else {
    place.slave.set(at, value);
    const RegisterResult result = bench.registers.read(place.space, address);
    bench.check(!result.error, "a register read failed");
    bench.check(result.data == value, "a register read returned another value");
  }
  bench.check(place.slave.around(at) == around, "a register access changed other bytes, or not its own");
}

void errors_are_passed_on(Bench &bench, Slave &slave, Space space) {
  for (const uint8_t error : {kSlaveError, kDecodeError}) {
    slave.response = error;
    bench.check(bench.registers.read(space, 0x1c).error, "a read without the bridge's error");
    bench.check(bench.registers.write(space, 0x100, 1), "a write without the bridge's error");
  }
  slave.response = 0;
  bench.check(!bench.registers.write(space, 0x100, 1), "an error stays");
  bench.check(!bench.registers.read(space, 0x100).error, "an error stays");
}

void give_up(Bench &bench, bool write) {
  constexpr uint32_t kCap = 0x14, kVersion = 0x1c;
  bench.bar.silent = true;
  bench.registers.request(Space::Bar, write, kCap, 0x460001);
  bench.core_cycles(200);
  bench.check(!bench.registers.answered(), "a response that the bridge did not give");
  bench.adapter_reset(true);
  bench.check(bench.registers.response(kAtOnceCycles).error, "an access that was given up has no error");
  // While it lasts, other requests end with an error at once as well.
  for (unsigned count = 0; count < 3; count++)
    bench.check(bench.registers.read(Space::Bar, kVersion, kAtOnceCycles).error, "a read without an error");
  bench.adapter_reset(false);
  // The next request waits until the bridge is done with the old one, and gets its own response.
  bench.bar.set(kVersion, 7);
  bench.registers.offer(Space::Bar, false, kVersion);
  bench.core_cycles(100);
  bench.check(!bench.registers.answered(), "a request is answered before the old one ended");
  bench.bar.silent = false;
  const RegisterResult result = bench.registers.response(20'000);
  bench.check(!result.error && result.data == 7, "a request got another one's response");
  bench.core_cycles(100); // a second response would be an error
}

} // namespace

void registers_and_configuration(Bench &bench) {
  Regions background(bench, 3, 60);
  for (unsigned count = 0; count < 500; count++)
    access_one(bench);
  errors_are_passed_on(bench, bench.bar, Space::Bar);
  errors_are_passed_on(bench, bench.control, Space::Device);
  errors_are_passed_on(bench, bench.control, Space::Local);
  background.finish();
}

void adapter_reset_gives_up_a_silent_read(Bench &bench) { give_up(bench, false); }
void adapter_reset_gives_up_a_silent_write(Bench &bench) { give_up(bench, true); }

// Each request gets its own data or an error, however short the reset is. A write that waits at the core stays as it
// is.
void adapter_reset_at_any_moment_ends_a_request(Bench &bench) {
  constexpr unsigned kRequests = 1000, kValues = 64;
  for (uint32_t index = 0; index < kValues; index++)
    bench.bar.set(4 * index, 0x1000 + index);
  for (unsigned count = 0; count < kRequests; count++) {
    const uint32_t index = count % kValues;
    bench.master.write(bursts_for(kAdapterWindowBase, kBeatBytes, kFullSize).front(), Master::Bytes(kBeatBytes),
                       std::vector<bool>(kBeatBytes, true), [] {});
    bench.registers.offer(Space::Bar, false, 4 * index);
    for (unsigned pulse = 0; pulse < 2; pulse++) {
      bench.core_cycles(bench.random().below(12));
      bench.adapter_reset(true);
      bench.core_cycles(bench.random().between(1, 3));
      bench.adapter_reset(false);
    }
    bench.wait([&] { return bench.registers.answered(); }, "a request is not answered");
    const RegisterResult result = bench.registers.response(0);
    bench.check(result.error || result.data == 0x1000 + index, "a request has another one's data");
  }
  bench.wait([&] { return bench.master.idle(); }, "a write is not answered");
}

} // namespace testbench
