// SPDX-License-Identifier: Apache-2.0
//
// After a recovery or a restart another drive is in the place of the one that was known, or the same drive with another
// block size.
#include "cases.h"
#include "faults.h"

namespace testbench {

namespace {

struct Other {
  const char *name;
  Change change;
};

const Other kOthers[] = {
    {"serial", [](Profile &p) { p.serial = "S4EVNX0M"; }},
    {"serial's neighbour", [](Profile &p) { p.serial = "SPATE-00002"; }},
    {"size", [](Profile &p) { p.blocks++; }},
    {"namespace", [](Profile &p) { p.eui64++; }},
    {"block size", [](Profile &p) { p.block_shift = 12; }},
};

// Commands that wait are not replayed onto a drive that was plugged in after a recovery began. A restart accepts that
// drive.
void is_refused_after_recovery(AdminBench &bench, Change change) {
  bench.until_ready();
  const Profile known = bench.drive.profile;
  make(bench, Fault::DataPath);
  bench.until([&] { return bench.is_ready() && bench.recoveries == 1; }, "ready with the same drive");
  change(bench.drive.profile);
  make(bench, Fault::Link);
  bench.until_not_ready();
  bench.expect_gone(Step::IdentifyNamespace, Error::OtherDrive);
  expect("the blocks while the other drive is refused", bench.shown().blocks, known.blocks);
  expect("blocks of 4 KiB", bench.shown().block_4096, 0u);
  expect("the status of a flush", bench.status_of(command(Op::Flush)), kGone);
  expect("the status of a restart", bench.status_of(command(Op::Restart)), kOk);
  check(bench.is_ready(), "not ready after a restart");
  expect("the blocks", bench.shown().blocks, bench.drive.profile.blocks);
  expect("blocks of 4 KiB", bench.shown().block_4096, bench.drive.profile.block_shift == 12);
}

// A restart takes another drive only when nothing waits in the data path.
void restart_takes(AdminBench &bench, bool idle) {
  bench.until_ready();
  bench.drive.profile.serial = "SPATE-00002";
  bench.idle = idle;
  bench.put(command(Op::Restart));
  bench.until_not_ready();
  const auto is_other = [&] { return static_cast<Error>(bench.bring_up().error) == Error::OtherDrive; };
  bench.until([&] { return bench.is_ready() || is_other(); }, "ready, or another drive");
  expect("ready", bench.is_ready(), idle);
}

// A module that splits requests before the data path, or that waits for a restart with one, learns from `gone` that the
// request was for another drive.
void geometry_changes_after_gone(AdminBench &bench, Op op, bool changes) {
  bench.until_ready();
  const records::drive_t before = bench.shown();
  bool seen = false;
  bench.on_cycle = [&] {
    const records::drive_t &now = bench.shown();
    seen |= now.gone != 0;
    check(seen || (now.block_4096 == before.block_4096 && now.blocks == before.blocks &&
                   now.command_sectors_max == before.command_sectors_max),
          "the geometry changed without `gone`");
  };
  if (changes) bench.drive.profile.block_shift = 12;
  expect("the status", bench.status_of(command(op, 0x201)), kOk);
  check(bench.is_ready(), "not ready");
  expect("blocks of 4 KiB", bench.shown().block_4096, changes);
  expect("gone", seen, changes);
}

// The drive comes back with another block size, because it was formatted: it is still accepted as the same one.
void interrupted_format(AdminBench &bench) {
  constexpr uint64_t limit = 100'000;
  AdminDrive &drive = bench.drive;
  bench.until_ready();
  drive.faults[kFormat].push_back(kLost);
  bench.put(command(Op::Format, 0x201));
  bench.until([&] { return drive.faults[kFormat].empty(); }, "format");
  drive.profile.block_shift = 12;
  drive.drop_link(100);
  bench.until_responses(1, limit);
  expect("the status: the result is unknown", bench.responses[0].status, kDeadline);
  check(bench.is_ready(), "not ready");
  expect("blocks of 4 KiB", bench.shown().block_4096, 1u);
  // After that, the next drive must be this one.
  drive.profile.serial = "SPATE-00002";
  drive.drop_link(100);
  bench.until([&] { return bench.is_gone(); }, "gone", limit);
  bench.expect_error(Error::OtherDrive);
}

} // namespace

void add_other_drives(Cases &cases) {
  for (const Other &other : kOthers)
    add(cases, std::string("another_drive_is_refused_after_a_recovery/") + other.name,
        [&other](AdminBench &bench) { is_refused_after_recovery(bench, other.change); });
  for (bool idle : {true, false})
    add(cases, std::string("a_restart_takes_another_drive_when_nothing_waits/") + (idle ? "idle" : "busy"),
        [idle](AdminBench &bench) { restart_takes(bench, idle); });
  add(cases, "the_geometry_changes_only_after_gone/format",
      [](AdminBench &bench) { geometry_changes_after_gone(bench, Op::Format, true); });
  add(cases, "the_geometry_changes_only_after_gone/restart",
      [](AdminBench &bench) { geometry_changes_after_gone(bench, Op::Restart, true); });
  add(cases, "the_geometry_changes_only_after_gone/restart of the same",
      [](AdminBench &bench) { geometry_changes_after_gone(bench, Op::Restart, false); });
  add(cases, "a_format_that_a_reset_interrupted_may_have_succeeded", interrupted_format);
}

} // namespace testbench
