// SPDX-License-Identifier: Apache-2.0
//
// The bring-up of a usual drive: links and resets of several kinds, and faults while the drive comes up.
#include "cases.h"

namespace testbench {

namespace {

void good_drive(AdminBench &bench) {
  bench.until_ready();
  check(!bench.is_gone(), "ready and gone");
  bench.expect_error(Error::None);
  const records::drive_t &shown = bench.shown();
  expect("the blocks", shown.blocks, bench.drive.profile.blocks);
  expect("the namespace", shown.nsid, 1u);
  expect("the sectors of a command", shown.command_sectors_max, 8u << 5);
  expect("blocks of 4 KiB", shown.block_4096, 0u);
  expect("the entries of the queues", shown.queue_shift, 7u);
  expect("the doorbells' stride", shown.doorbell_stride, 0u);
  expect("the entries of the completion queue", bench.drive.queues().cq, 128u);
  expect("the entries of the submission queue", bench.drive.queues().sq, 128u);
}

// PERST# falls while the link is up. The root port reports the link as up for a while. The first access to the device
// comes 100 ms after the training that follows, at the first attempt.
void waits_for_training(AdminBench &bench) {
  bench.until_ready();
  for (unsigned turn = 0; turn < 2; turn++) {
    check(bench.drive.first_access_at() - bench.drive.trained_at() >= 100 * kMs,
          "an access %u cycles after the training",
          static_cast<unsigned>(bench.drive.first_access_at() - bench.drive.trained_at()));
    check(bench.drive.generation() == 1 + turn, "it did not come up at the first attempt");
    if (turn == 0) expect("the status of a restart", bench.status_of(command(Op::Restart)), kOk);
  }
}

// By PERST#, and by the root port's bus reset where the logic has no PERST#. It comes up even if both have no effect.
void restart_resets(AdminBench &bench) {
  bench.until_ready();
  const unsigned generation = bench.drive.generation();
  expect("the status of a restart", bench.status_of(command(Op::Restart)), kOk);
  check(bench.is_ready(), "not ready after a restart");
  const bool resets = bench.drive.profile.perst_wired || bench.drive.profile.bus_reset;
  expect("the resets", bench.drive.generation(), generation + resets);
  check(!(bench.drive.configured(Space::Local, kBridgeControl) >> 22 & 1), "the bus is still in reset");
}

void enable_low(AdminBench &bench) {
  CData &enable = bench.pins().enable_i;
  const auto gone = [&] { return bench.is_gone(); };
  bench.cycles(2000);
  enable = 0;
  bench.cycles(2);
  check(!bench.pins().perst_no, "PERST# does not come at once");
  bench.until(gone, "gone");
  const auto refused = bench.respond(on_blocks(Op::Read, 0, 1));
  expect("the status", refused.status, kGone);
  expect("the blocks done", refused.done, 0u);
  enable = 1;
  bench.until_ready();
  enable = 0;
  bench.until(gone, "gone again");
  check(!bench.is_ready() && !bench.pins().perst_no, "ready, or not in reset");
  bench.cycles(2000); // without any command
  enable = 1;
  bench.until_ready("ready by itself");
}

struct Failing {
  const char *name;
  std::deque<Behaviour> behaviours;
};

const Failing kFailing[] = {
    {"lost", {kLost}},
    {"passes", {failed_with(kInternalError), failed_with(kInternalError), failed_with(kInternalError)}},
    {"stays", {failed_with(kInternalError | kDoNotRetry)}},
    {"double", {kDouble, kDouble, kDouble}},
};

struct Commanded {
  const char *name;
  uint8_t opcode;
  bool needed; // otherwise it may fail: a log, or a feature that is optional
};

const Commanded kCommanded[] = {
    {"Identify", kIdentify, true},
    {"Create I/O Completion Queue", kCreateCq, true},
    {"Create I/O Submission Queue", kCreateSq, true},
    {"Set Features", kSetFeatures, false},
    {"Get Log Page", kGetLog, false},
};

void admin_command_fails(AdminBench &bench, const Commanded &commanded, const Failing &failing) {
  bench.drive.faults[commanded.opcode] = failing.behaviours;
  bench.until_ready();
  // If something necessary fails, the attempt fails.
  const Behaviour first = failing.behaviours.front();
  const bool stays = first.kind == Behaviour::Status && (first.status & kDoNotRetry);
  const bool fails = first.kind == Behaviour::Lost || (stays && commanded.needed);
  expect("the attempts", bench.drive.generation(), fails ? 2u : 1u);
  bench.cycles(3000);
  check(bench.health().valid, "there is no health");
  expect("the recoveries", bench.recoveries, 0u);
  expect("the status of a flush", bench.status_of(command(Op::Flush)), kOk);
}

// The completion queue comes up, and completes again while the submission queue's command fails.
void late_completion(AdminBench &bench) {
  bench.drive.faults[kCreateCq] = {kLate};
  bench.drive.faults[kCreateSq] = {failed_with(kInternalError | kDoNotRetry)};
  bench.until_ready();
  expect("the attempts", bench.drive.generation(), 2u);
  expect("the entries of the submission queue", bench.drive.queues().sq, 128u);
}

// Completions of another command never stop, and the awaited one does not come.
void flood(AdminBench &bench) {
  bench.drive.faults[kIdentify] = {kFlood, kFlood, kFlood};
  bench.expect_gone(Step::IdentifyController, Error::AdminDeadline);
}

// The first Identify succeeds, but what is in the page is older: zeros.
void identify_without_data(AdminBench &bench) {
  bench.drive.faults[kIdentify] = {kNoData};
  bench.until_ready();
  expect("the attempts", bench.drive.generation(), 2u);
  expect("the blocks", bench.shown().blocks, bench.drive.profile.blocks);
}

struct Accessed {
  const char *name;
  Space space;
  uint32_t address;
};

const Accessed kAccessed[] = {
    {"root port", Space::Local, 0x20}, {"device", Space::Device, 0x08}, {"BAR", Space::Bar, 0}};

// An access fails at some time after PERST#: the next attempt succeeds, or nothing was lost.
void access_fails(AdminBench &bench, const Accessed &accessed, AccessFault fault) {
  bench.drive.access_faults[{accessed.space, accessed.address}] = fault;
  bench.drive.after(600, [&bench] { bench.drive.access_faults.clear(); });
  bench.until_ready();
  expect("the status of a flush", bench.status_of(command(Op::Flush)), kOk);
}

void add_faults(Cases &cases) {
  for (const Commanded &commanded : kCommanded)
    for (const Failing &failing : kFailing)
      add(cases, std::string("failed_admin_commands_of_the_bring_up/") + commanded.name + ' ' + failing.name,
          [&](AdminBench &bench) { admin_command_fails(bench, commanded, failing); });
  add(cases, "a_late_completion_is_not_taken_for_another_command", late_completion);
  add(cases, "a_flood_of_late_completions_meets_the_deadline", flood);
  add(cases, "identify_without_data", identify_without_data);
  constexpr std::pair<const char *, AccessFault> kinds[] = {
      {"error", AccessFault::Error}, {"lost", AccessFault::Lost}, {"zeros", AccessFault::Zeros}};
  for (const Accessed &accessed : kAccessed)
    for (const auto &[name, fault] : kinds)
      add(cases, std::string("failed_accesses_of_the_bring_up/") + accessed.name + ' ' + name,
          [&accessed, fault = fault](AdminBench &bench) { access_fails(bench, accessed, fault); });
}

} // namespace

void add_bring_up(Cases &cases) {
  add(cases, "a_good_drive_comes_up", good_drive);
  for (unsigned fall_ms : {0u, 24u, 120u})
    for (unsigned train_ms : {3u, 60u, 120u}) {
      Profile profile;
      profile.link_fall_ms = fall_ms;
      profile.link_cycles = train_ms * kMs;
      add(cases,
          "a_link_that_is_up_before_its_training_is_not_used/" + std::to_string(fall_ms) + ' ' +
              std::to_string(train_ms),
          profile, waits_for_training);
    }
  for (bool perst_wired : {true, false})
    for (bool bus_reset : {true, false}) {
      Profile profile;
      profile.perst_wired = perst_wired;
      profile.bus_reset = bus_reset;
      add(cases,
          std::string("a_restart_resets_the_drive/") + (perst_wired ? "perst " : "no_perst ") +
              (bus_reset ? "bus_reset" : "no_bus_reset"),
          profile, restart_resets);
    }
  add(cases, "enable_low_holds_the_drive_in_reset", enable_low);
  add_faults(cases);
}

} // namespace testbench
