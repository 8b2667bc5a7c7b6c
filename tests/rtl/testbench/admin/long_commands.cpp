// SPDX-License-Identifier: Apache-2.0
//
// Format, sanitize, shutdown and restart: commands that wait for the data path, or after which the drive comes up
// again.
#include "cases.h"

#include <algorithm>

namespace testbench {

namespace {

constexpr uint64_t kLongLimit = 100'000; // cycles

void format_brings_up_again(AdminBench &bench) {
  bench.until_ready();
  bench.idle = false;
  expect("the status with commands in flight", bench.status_of(command(Op::Format, 0x200)), kBusy);
  bench.idle = true;
  constexpr uint16_t failed = kInvalidFormat | kDoNotRetry;
  bench.drive.faults[kFormat].push_back(failed_with(failed));
  expect("the status of a format that fails", bench.status_of(command(Op::Format, 0x20f)), failed);
  expect("the recoveries", bench.recoveries, 0u);
  bench.drive.profile.block_shift = 12;
  expect("the status", bench.status_of(command(Op::Format, 0x201)), kOk);
  check(bench.is_ready(), "not ready");
  expect("blocks of 4 KiB", bench.shown().block_4096, 1u);
  expect("the recoveries", bench.recoveries, 1u);
  const auto &log = bench.drive.admin_log;
  const auto last =
      std::find_if(log.rbegin(), log.rend(), [](const Entry &entry) { return opcode_of(entry) == kFormat; });
  expect("dword 10", (*last)[10], 0x201u);
  expect("the namespace", (*last)[1], 1u);
}

// ---- sanitize ----

void sanitize_ends(AdminBench &bench) {
  bench.until_ready();
  expect("the status", bench.status_of(command(Op::Sanitize, 2)), kOk);
  expect("the polls that are left", bench.drive.sanitize_polls, 0u);
  const auto &log = bench.drive.admin_log;
  expect("the polls",
         std::count_if(
             log.begin(), log.end(),
             [](const Entry &entry) { return opcode_of(entry) == kGetLog && (entry[10] & 0xff) == kSanitizeLog; }),
         4);
  bench.put(command(Op::Sanitize, 2));
  bench.until([&] { return bench.drive.sanitize_polls == 2; }, "in progress");
  bench.drive.sanitize_end = 3;
  bench.drive.drop_link(100); // a reset does not stop it
  bench.until_responses(2, kLongLimit);
  expect("the status of one that failed", bench.responses.back().status, kSanitizeFailed);
  expect("the recoveries", bench.recoveries, 1u);
}

void sanitize_is_sent_after_a_reset(AdminBench &bench) {
  bench.until_ready();
  bench.idle = false; // it waits for the data path
  bench.put(command(Op::Sanitize, 2));
  bench.cycles(400);
  bench.drive.drop_link(100);
  bench.until([&] { return bench.recoveries == 1; }, "recovery", kLongLimit);
  expect("the commands before the data path is idle", bench.drive.admin_commands(kSanitize), 0u);
  bench.idle = true;
  bench.until_responses(1, kLongLimit);
  expect("the status", bench.responses.back().status, kOk);
  expect("the polls that are left", bench.drive.sanitize_polls, 0u);
  expect("the commands", bench.drive.admin_commands(kSanitize), 1u);
}

// ---- shutdown and restart ----

void expect_shut_down(const AdminBench &bench) {
  check(bench.is_gone(), "not gone after a shutdown");
  bench.expect_error(Error::ShutDown);
}

// After a flush that failed the drive is shut down, and the status tells it.
void shutdown_after_failed_flush(AdminBench &bench) {
  bench.until_ready();
  bench.drive.side_faults.push_back(failed_with(kMediaError | kDoNotRetry));
  expect("the status", bench.status_of(command(Op::Shutdown)), kMediaError | kDoNotRetry);
  expect_shut_down(bench);
  expect("the flushes", bench.drive.side_log.size(), 1u);
}

// The same with commands of the data path that did not end.
void shutdown_with_commands(AdminBench &bench) {
  bench.until_ready();
  bench.idle = false;
  expect("the status", bench.status_of(command(Op::Shutdown)), kBusy);
  expect_shut_down(bench);
  expect("the flushes", bench.drive.side_log.size(), 1u);
}

void restarts(AdminBench &bench) {
  Command restart = command(Op::Restart);
  restart.tag = 3;
  expect("the status of a restart", bench.status_of(restart), kOk);
  check(bench.is_ready() && !bench.is_gone(), "not ready after a restart");
  expect("the status of a flush", bench.status_of(command(Op::Flush)), kOk);
  const unsigned generation = bench.drive.generation();
  expect("the status of a restart", bench.status_of(restart), kOk);
  expect("the resets", bench.drive.generation(), generation + 1);
}

// The drive does not shut down, and then it is no drive.
void fails_to_shut_down(AdminBench &bench) {
  bench.drive.profile.shutdown_cycles.reset();
  expect("the status", bench.status_of(command(Op::Shutdown)), kDeadline);
  check(bench.is_gone(), "not gone");
  bench.expect_error(Error::ShutdownDeadline);
  bench.drive.profile.class_code = 0;
  bench.drive.power_up();
  expect("the status of a restart", bench.status_of(command(Op::Restart)), kGone);
  check(bench.is_gone(), "not gone");
}

void shutdown_and_restart(AdminBench &bench) {
  bench.until_ready();
  expect("the status", bench.status_of(command(Op::Shutdown)), kOk);
  expect_shut_down(bench);
  check(!bench.is_ready() && !bench.pins().perst_no, "ready, or not in reset");
  expect("the step", bench.bring_up().step, Step::Shutdown);
  expect("the flushes", bench.drive.side_log.size(), bench.drive.profile.volatile_cache ? 1u : 0u);
  check(bench.drive.queues().cq == 0 && bench.drive.queues().sq == 0, "the queues were not deleted");
  const auto &log = bench.drive.write_log;
  check(std::any_of(log.begin(), log.end(),
                    [](const Access &access) {
                      return access.space == Space::Bar && access.address == kCc && access.data == 0x0046'4001;
                    }),
        "no shutdown notification");
  expect("the status of a flush", bench.status_of(command(Op::Flush)), kGone);
  restarts(bench);
  fails_to_shut_down(bench);
}

} // namespace

void add_long_commands(Cases &cases) {
  add(cases, "format_brings_the_drive_up_again", format_brings_up_again);
  add(cases, "sanitize_ends_when_the_drive_has_finished", sanitize_ends);
  add(cases, "sanitize_that_was_never_sent_is_sent_after_a_reset", sanitize_is_sent_after_a_reset);
  add(cases, "shutdown_reports_what_was_not_completed/flush", shutdown_after_failed_flush);
  add(cases, "shutdown_reports_what_was_not_completed/commands", shutdown_with_commands);
  for (bool cache : {true, false}) {
    Profile profile;
    profile.volatile_cache = cache;
    add(cases, std::string("shutdown_and_restart/") + (cache ? "cache" : "no cache"), profile, shutdown_and_restart);
  }
}

} // namespace testbench
