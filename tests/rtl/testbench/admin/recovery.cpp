// SPDX-License-Identifier: Apache-2.0
//
// A drive that was ready fails. It is recovered, or given up.
#include "cases.h"
#include "faults.h"

#include <algorithm>

namespace testbench {

namespace {

// A fault while nothing else happens.
struct Recovered {
  const char *name;
  Fault fault;
  Error error; // that is reported
  bool perst;  // it needs PERST#
};

const Recovered kFaults[] = {
    {"data path", Fault::DataPath, Error::DataPath, false},          {"link", Fault::Link, Error::LinkLost, false},
    {"link for long", Fault::LinkForLong, Error::Link, true},        {"fatal", Fault::Fatal, Error::Fatal, false},
    {"health lost", Fault::HealthLost, Error::AdminDeadline, false}, {"stuck", Fault::Stuck, Error::DataPath, true},
    {"access error", Fault::AccessError, Error::Access, false},
};

bool drops_link(Fault fault) { return fault == Fault::Link || fault == Fault::LinkForLong; }

void expect_error_of(const AdminBench &bench, const Recovered &failure) {
  const auto seen = static_cast<Error>(bench.bring_up().error);
  // The drive may be found silent before the root port reports that the link is down.
  const bool silent = drops_link(failure.fault) && bench.drive.profile.link_fall_ms != 0 && seen == Error::Access;
  const bool up_again = failure.fault == Fault::Link && seen == Error::DataPath; // before the core looked
  if (!silent && !up_again) expect("the error", seen, failure.error);
}

void recovers(AdminBench &bench, const Recovered &failure, bool with_command) {
  bench.until_ready();
  bench.cycles(1000);
  const uint64_t epoch = bench.shown().epoch;
  const unsigned generation = bench.drive.generation();
  if (with_command) {
    bench.put(on_blocks(Op::Write, 9, 1));
    bench.until([&] { return bench.pins().side_push_o; }, "push");
  }
  make(bench, failure.fault);
  bench.until_not_ready();
  check(!bench.health().valid, "the health is valid while the drive is not ready");
  bench.drive.access_faults.clear();
  bench.until_ready("ready again");
  expect_error_of(bench, failure);
  check(bench.shown().epoch != epoch, "the epoch is the old one");
  expect("the recoveries", bench.recoveries, 1u);
  check(bench.health().valid, "there is no health");
  expect("the resets", bench.drive.generation() - generation - drops_link(failure.fault), failure.perst);
  if (with_command) {
    bench.until_responses(1);
    expect("the status of the command", bench.responses.back().status, kOk);
  }
  // The registers of the admin queue were cleared, and the drive's counters have not risen: it does not tell.
  const bool untold = drops_link(failure.fault) || failure.perst;
  expect("the losses that are unknown", bench.power().unknown, untold);
  expect("the losses", bench.power().losses, 0u);
  expect("the status of a flush", bench.status_of(command(Op::Flush)), untold ? kPower : kOk);
  expect("the status of the next", bench.status_of(command(Op::Flush)), kOk);
}

// The bridge gives ones or zeros for a drive that does not answer. What the drive does meanwhile is not known: its
// registers are no witness, and neither is the stop of a controller that did not answer.
void silent_for_a_moment(AdminBench &bench, AccessFault silence, bool restarts) {
  bench.until_ready();
  for (const uint32_t address : {kCc, kCsts, kVs, kAqa, kAsq, kAsq + 4, kAcq, kAcq + 4})
    bench.drive.access_faults[{Space::Bar, address}] = silence;
  make(bench, Fault::DataPath);
  bench.until([&] { return static_cast<Step>(bench.bring_up().step) == Step::Recovery; }, "recovery");
  bench.cycles(100);
  if (restarts) bench.drive.restart();
  bench.drive.access_faults.clear();
  bench.until_ready("ready again");
  expect("the losses", bench.power().losses, 0u);
  if (restarts) expect("the losses that are unknown", bench.power().unknown, 1u);
  const uint16_t wanted = bench.power().unknown != 0 ? kPower : kOk;
  expect("the status of a flush", bench.status_of(command(Op::Flush)), wanted);
}

// The adapter drops the drive's accesses with the link, so a drop that ends before the program looks counts as well. In
// between, the drive is well for long enough.
void notices_short_drops(AdminBench &bench) {
  bench.until_ready();
  unsigned remembered = 0;
  for (unsigned turn = 1; turn <= 8; turn++) {
    bench.cycles(1000 + bench.random.below(100));
    bench.drive.drop_link(0);
    bench.until_not_ready();
    bench.until_ready("ready again");
    expect("the recoveries", bench.recoveries, turn);
    remembered += static_cast<Error>(bench.bring_up().error) == Error::DataPath; // it was up again
  }
  check(remembered != 0, "no drop was noticed after it had ended");
}

// The command is started again three times, then given up. The drive stays.
void never_answers(AdminBench &bench) {
  bench.until_ready();
  bench.drive.side_faults.assign(4, kLost);
  expect("the status", bench.respond(command(Op::Flush), 200'000).status, kDeadline);
  expect("the attempts", bench.drive.side_log.size(), 4u);
  expect("the recoveries", bench.recoveries, 4u);
  expect("the status of the next flush", bench.status_of(command(Op::Flush)), kOk);
}

void fails_again_and_again(AdminBench &bench) {
  bench.until_ready();
  bench.drive.profile.class_code = 0x010601;
  make(bench, Fault::Stuck);
  bench.until_not_ready();
  bench.expect_gone(Step::Device, Error::Class);
  expect("the recoveries", bench.recoveries, 1u);
}

enum class Between { Nothing, Retired, Answered };

// It fails each time before it was well for 100 ms. The fourth time is the last, unless commands ended in between.
void makes_progress(AdminBench &bench, Between between) {
  bench.until_ready();
  for (unsigned life = 1; life < 9; life++) {
    bench.cycles(10 * kMs);
    if (between == Between::Retired) bench.pulse(bench.pins().retired_i);
    if (between == Between::Answered) expect("the status of a flush", bench.status_of(command(Op::Flush)), kOk);
    make(bench, Fault::DataPath);
    bench.until_not_ready();
    bench.until([&] { return bench.is_gone() || bench.is_ready(); }, "ready or gone");
    check(bench.is_gone() == (between == Between::Nothing && life == 4), "gone, or not gone, after %u recoveries",
          life);
    if (bench.is_gone()) return;
  }
}

// ---- commands at random ----

constexpr uint16_t kCommands = 25;

Behaviour random_behaviour(Random &random) {
  const uint64_t choice = random.below(13);
  if (choice < 8) return kNormal;
  if (choice < 11) return failed_with(kMediaError);
  return choice < 12 ? failed_with(kMediaError | kDoNotRetry) : kLost;
}

Command random_command(Random &random, uint16_t tag) {
  constexpr Op ops[] = {Op::Flush, Op::Write, Op::Read, Op::Deallocate, Op::RawIo, Op::Flush};
  Command made =
      on_blocks(ops[random.below(std::size(ops))], random.below(1u << 30), static_cast<uint32_t>(random.below(10)));
  made.tag = tag;
  return made;
}

void expect_answered(const AdminBench &bench) {
  constexpr uint16_t allowed[] = {kOk, kMediaError, kMediaError | kDoNotRetry, kInvalid, kGone, kDeadline, kPower};
  expect("the responses", bench.responses.size(), kCommands);
  for (uint16_t tag = 0; tag < kCommands; tag++) {
    expect("the tag", bench.responses[tag].tag, tag);
    const auto status = static_cast<uint16_t>(bench.responses[tag].status);
    check(std::find(std::begin(allowed), std::end(allowed), status) != std::end(allowed), "status 0x%x", status);
  }
  check(bench.is_ready() || bench.is_gone(), "neither ready nor gone");
}

// Random commands and random faults: each command gets one response, in order.
void each_answered_once(AdminBench &bench) {
  constexpr Fault faults[] = {Fault::DataPath, Fault::Link, Fault::Fatal, Fault::HealthLost,
                              Fault::None,     Fault::None, Fault::None};
  bench.response_stall_percent = 30;
  bench.until_ready();
  bench.raw = {0x02};
  for (uint16_t tag = 0; tag < kCommands; tag++) {
    bench.put(random_command(bench.random, tag));
    for (unsigned left = 2; left != 0; left--)
      bench.drive.side_faults.push_back(random_behaviour(bench.random));
    bench.cycles(bench.random.between(1, 3000));
    make(bench, faults[bench.random.below(std::size(faults))]);
  }
  bench.until_responses(kCommands, 400'000);
  bench.cycles(3000);
  expect_answered(bench);
}

// ---- the end of a drive ----

enum class End { Recoveries, Enable, Shutdown };

void begin_end(AdminBench &bench, End how) {
  switch (how) {
  case End::Recoveries:
    for (unsigned left = 3; left != 0; left--) {
      bench.cycles(10 * kMs);
      make(bench, Fault::DataPath);
      bench.until_not_ready();
      bench.until_ready();
    }
    bench.cycles(10 * kMs);
    make(bench, Fault::DataPath);
    break;
  case End::Enable: bench.pins().enable_i = 0; break;
  case End::Shutdown: bench.put(command(Op::Shutdown)); break;
  }
}

// In memory mode a response tells that the drive no longer writes to that memory. When the drive is given up, its
// writes may still be in flight. PERST# was asserted, so they end; if they do not, the wait is bounded.
void gone_waits(AdminBench &bench, End how, bool ends) {
  bench.until_ready();
  begin_end(bench, how);
  bench.quiet = false;
  bench.until([&] { return !bench.pins().perst_no; }, "PERST#");
  bench.cycles(40 * kMs);
  check(!bench.is_gone() && bench.responses.empty(), "gone while accesses are in flight");
  bench.quiet = ends;
  bench.until([&] { return bench.is_gone(); }, "gone", ends ? 100 : 200 * kMs);
}

void add_ends(Cases &cases) {
  constexpr std::pair<const char *, End> ends[] = {
      {"recoveries", End::Recoveries}, {"enable", End::Enable}, {"shutdown", End::Shutdown}};
  for (const auto &[name, how] : ends)
    for (bool quiet : {true, false})
      add(cases,
          std::string("gone_waits_for_accesses_in_flight/") + name + (quiet ? ", they end" : ", they do not end"),
          [how = how, quiet](AdminBench &bench) { gone_waits(bench, how, quiet); });
}

} // namespace

void add_recovery(Cases &cases) {
  for (const Recovered &failure : kFaults)
    for (bool with_command : {true, false})
      for (unsigned fall_ms : {0u, 24u}) {
        Profile profile;
        profile.link_fall_ms = fall_ms;
        add(cases,
            std::string("faults_are_recovered_from/") + failure.name + (with_command ? ", a command, " : ", ") +
                std::to_string(fall_ms),
            profile, [&failure, with_command](AdminBench &bench) { recovers(bench, failure, with_command); });
      }
  Profile at_once;
  at_once.link_fall_ms = 0;
  add(cases, "a_link_drop_is_noticed_after_it_has_ended", at_once, notices_short_drops);
  for (const bool restarts : {false, true}) {
    const std::string end = restarts ? ", then a restart" : "";
    add(cases, "silence_is_no_witness/ones" + end,
        [restarts](AdminBench &bench) { silent_for_a_moment(bench, AccessFault::Ones, restarts); });
    add(cases, "silence_is_no_witness/zeros" + end,
        [restarts](AdminBench &bench) { silent_for_a_moment(bench, AccessFault::Zeros, restarts); });
  }
  add(cases, "a_drive_that_never_answers_a_command", never_answers);
  add(cases, "a_drive_that_fails_again_and_again_is_given_up", fails_again_and_again);
  constexpr std::pair<const char *, Between> betweens[] = {{"nothing", Between::Nothing},
                                                           {"a command retired", Between::Retired},
                                                           {"a side command was answered", Between::Answered}};
  for (const auto &[name, between] : betweens)
    add(cases, std::string("a_drive_that_makes_progress_is_not_given_up/") + name,
        [between = between](AdminBench &bench) { makes_progress(bench, between); });
  for (unsigned run = 0; run < 4; run++)
    add(cases, "each_command_is_answered_once/" + std::to_string(run), each_answered_once);
  add_ends(cases);
}

} // namespace testbench
