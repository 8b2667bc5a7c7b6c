// SPDX-License-Identifier: Apache-2.0
//
// Side commands and raw commands: what the drive is given, what comes back, and what is refused without the drive.
#include "cases.h"

#include <algorithm>

namespace testbench {

namespace {

constexpr uint64_t kWrittenBlocks = UINT64_C(0x12'8000'0001); // more than 32 bits

void expect_response(const records::response_t &seen, uint16_t status, uint64_t done) {
  records::response_t wanted;
  wanted.status = status;
  wanted.done = done;
  expect_record("the response", seen, wanted);
}

void flush_and_mailbox(AdminBench &bench) {
  const uint32_t most = 4096u >> bench.drive.profile.block_shift;
  const uint64_t last = bench.drive.profile.blocks - most;
  bench.written = kWrittenBlocks;
  Command flush = command(Op::Flush);
  flush.tag = 7;
  flush.from_registers = true;
  records::response_t flushed;
  flushed.done = kWrittenBlocks;
  flushed.tag = 7;
  flushed.from_registers = 1;
  expect_record("the response to a flush", bench.respond(flush), flushed);
  expect("the opcode", opcode_of(bench.drive.side_log.back()), 0u);
  expect("the namespace", bench.drive.side_log.back()[1], 1u);

  Command write = on_blocks(Op::Write, last, most);
  write.fua = true;
  expect_response(bench.respond(write), kOk, most);
  const Entry written = bench.drive.side_log.back();
  expect("the opcode", opcode_of(written), 1u);
  expect("the LBA", lba_of(written), last);
  expect("PRP1", prp1_of(written), bench.drive.base() + kMailboxOffset);
  expect("dword 12", written[12], 1u << 30 | (most - 1));

  expect_response(bench.respond(on_blocks(Op::Read, 5, 1)), kOk, 1);
  const Entry read = bench.drive.side_log.back();
  expect("the opcode", opcode_of(read), 2u);
  expect("the LBA", lba_of(read), 5u);
  expect("dword 12", read[12], 0u);
  expect("PRP2", prp2_of(read), 0u);
}

// Ranges that end on a carry out of 32 bits.
void ranges(AdminBench &bench) {
  const uint64_t first = bench.drive.profile.blocks - UINT32_MAX;
  expect("the status of a read", bench.status_of(on_blocks(Op::Read, UINT32_MAX, 1)), kOk);
  expect("the status of a deallocate", bench.status_of(on_blocks(Op::Deallocate, first, UINT32_MAX)), kOk);
  const Entry entry = bench.drive.side_log.back();
  expect("the opcode", opcode_of(entry), 9u);
  expect("dword 10", entry[10], 0u);
  expect("dword 11", entry[11], 4u);
  expect("PRP1", prp1_of(entry), bench.drive.base() + kRangeOffset);
  const auto range = records::get<records::range_t>(bench.pins().range_o);
  expect("the range's LBA", range.lba, first);
  expect("the range's blocks", range.blocks, UINT32_MAX);
}

// One block past the end, no blocks, too many blocks, and a source that the side queue lacks.
void refused_ranges(AdminBench &bench) {
  const uint64_t blocks = bench.drive.profile.blocks;
  const uint32_t most = 4096u >> bench.drive.profile.block_shift;
  Command from_stream = on_blocks(Op::Read, 0, 1);
  from_stream.source = Source::Stream;
  const std::pair<Command, uint16_t> refused[] = {
      {on_blocks(Op::Read, blocks - most + 1, most), kRange},
      {on_blocks(Op::Write, UINT64_C(1) << 40, 1), kRange},
      {on_blocks(Op::Deallocate, blocks - (UINT32_MAX - 1), UINT32_MAX), kRange},
      {on_blocks(Op::Write, 0, 0), kInvalid},
      {on_blocks(Op::Deallocate, 0, 0), kInvalid},
      {on_blocks(Op::Write, 0, most + 1), kInvalid},
      {from_stream, kInvalid},
  };
  const std::size_t before = bench.drive.side_log.size();
  for (const auto &[asked, status] : refused)
    expect_response(bench.respond(asked), status, 0);
  expect("commands that went to the drive", bench.drive.side_log.size() - before, 0u);
}

void side_commands(AdminBench &bench) {
  bench.response_stall_percent = 50;
  bench.until_ready();
  flush_and_mailbox(bench);
  ranges(bench);
  refused_ranges(bench);
}

void retries(AdminBench &bench) {
  bench.until_ready();
  auto &faults = bench.drive.side_faults;
  const auto &log = bench.drive.side_log;
  const Command write = on_blocks(Op::Write, 1, 1);
  faults.assign(7, failed_with(kMediaError));
  expect("the status after seven failures", bench.status_of(write), kOk);
  expect("the attempts", log.size(), 8u);
  faults.assign(8, failed_with(kMediaError));
  expect_response(bench.respond(write), kMediaError, 0);
  expect("the attempts", log.size(), 16u);
  faults.push_back(failed_with(kMediaError | kDoNotRetry));
  expect("the status of a flush", bench.status_of(command(Op::Flush)), kMediaError | kDoNotRetry);
  expect("the attempts", log.size(), 17u);
  bench.written = 5;
  faults.push_back(failed_with(kMediaError));
  expect("the durable blocks", bench.respond(command(Op::Flush)).done, 5u);
  expect("the recoveries", bench.recoveries, 0u);
}

// ---- raw commands ----

void raw_io(AdminBench &bench) {
  for (uint32_t &dword : bench.raw)
    dword = static_cast<uint32_t>(bench.random.next());
  bench.raw[0] = 0xbeef'c302; // a read with an identifier and flags that software must not set
  expect_response(bench.respond(command(Op::RawIo)), kOk, 0x51de);
  const Entry entry = bench.drive.side_log.back();
  expect("opcode and flags", entry[0] & 0xffff, 2u);
  check(std::equal(&entry[1], &entry[4], &bench.raw[1]), "dwords 1 to 3 differ");
  check(std::equal(entry.begin() + 10, entry.end(), bench.raw.begin() + 10), "dwords 10 to 15 differ");
  expect("PRP1", prp1_of(entry), bench.drive.base() + kMailboxOffset);
  check(entry[4] == 0 && entry[5] == 0 && prp2_of(entry) == 0, "the metadata pointer or PRP2 is not 0");
  bench.raw[0] = 0x08; // no data
  expect("the status", bench.status_of(command(Op::RawIo)), kOk);
  const Entry without = bench.drive.side_log.back();
  check(prp1_of(without) == 0 && prp2_of(without) == 0, "a command without data has an address");
  bench.drive.side_faults.push_back(failed_with(kInvalidField));
  const std::size_t before = bench.drive.side_log.size();
  expect("the drive's status", bench.status_of(command(Op::RawIo)), kInvalidField);
  expect("the attempts of a raw command", bench.drive.side_log.size() - before, 1u);
}

void raw_admin(AdminBench &bench) {
  bench.raw = {0x0a}; // Get Features
  expect_response(bench.respond(command(Op::RawAdmin)), kOk, 0xabcd'000a);
  expect("PRP1", prp1_of(bench.drive.admin_log.back()), bench.drive.base() + kMailboxOffset);
  // Queues, aborts, asynchronous events, namespace attachment and formats are not for software.
  for (uint32_t opcode : {0x00u, 0x01u, 0x04u, 0x05u, 0x0cu, 0x0du, 0x15u, 0x80u}) {
    bench.raw[0] = opcode;
    const auto before = static_cast<std::ptrdiff_t>(bench.drive.admin_log.size());
    expect("the status of an opcode that is refused", bench.status_of(command(Op::RawAdmin)), kInvalid);
    check(std::all_of(bench.drive.admin_log.begin() + before, bench.drive.admin_log.end(),
                      [](const Entry &entry) { return opcode_of(entry) == kGetLog; }),
          "the drive got another command than for its health log");
  }
}

void raw_commands(AdminBench &bench) {
  bench.until_ready();
  raw_io(bench);
  raw_admin(bench);
  // A command that a reset interrupted is not repeated.
  bench.drive.side_faults.push_back(kLost);
  bench.raw[0] = 0x02;
  const std::size_t before = bench.drive.side_log.size();
  expect("the status", bench.status_of(command(Op::RawIo)), kDeadline);
  expect("the attempts", bench.drive.side_log.size() - before, 1u);
  expect("the recoveries", bench.recoveries, 1u);
}

void drive_lacks(AdminBench &bench) {
  bench.until_ready();
  for (Op op : {Op::Deallocate, Op::Format, Op::Sanitize})
    expect("the status", bench.status_of(on_blocks(op, 0, 1)), kUnsupported);
}

} // namespace

void add_commands(Cases &cases) {
  for (uint32_t shift : {9u, 12u}) {
    Profile profile;
    profile.block_shift = shift;
    add(cases, "side_commands/" + std::to_string(shift), profile, side_commands);
  }
  add(cases, "errors_without_dnr_are_retried", retries);
  add(cases, "raw_commands", raw_commands);
  Profile lacking;
  lacking.oacs = lacking.oncs = lacking.sanicap = 0;
  add(cases, "commands_that_the_drive_lacks_are_refused", lacking, drive_lacks);
}

} // namespace testbench
