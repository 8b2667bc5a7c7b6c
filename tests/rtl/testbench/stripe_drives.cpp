// SPDX-License-Identifier: Apache-2.0
//
// spate_nvme_stripe_axi above two ideal drives, each behind its bridge and link: stripe_drives [SEED [first]]. The
// library's own stripe defines the places of blocks (stripe_layout.h): each drive knows the array's number of each of
// its blocks, and fails when another block is written there. It ends with a line of JSON: the rates of two drives and
// of one. With `first`, it ends after the places of blocks.

#include "bridge.h"
#include "ideal_drive.h"
#include "link.h"
#include "registers.h"
#include "streams.h"
#include "stripe_layout.h"
#include "testbench.h"
#include "user.h"

#include <spate/gateware_registers.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>

namespace {

using namespace testbench;

constexpr unsigned kDrives = StripeModel::kDrives;
constexpr uint32_t kBlockBytes = 512, kChunkBytes = 65536, kChunkBlocks = kChunkBytes / kBlockBytes;
constexpr uint32_t kRingBytes = 262144; // as in the model's parameters
constexpr uint64_t kDriveBlocks = UINT64_C(1) << 20, kArrayBlocks = UINT64_C(1) << 16;
constexpr uint64_t kTrackedBlocks = UINT64_C(1) << 16;
constexpr uint64_t kBringUpCycles = 1'000'000, kPatience = 2'000'000;
constexpr uint32_t kWriteNs = 10'000, kReadNs = 20'000;
constexpr uint16_t kOk = 0, kPower = 0x8008, kFlushTag = 0xffff;
constexpr uint16_t kWriteFault = 0x0280; // the drive's status when it refuses: SCT 2, and DNR

DriveConfig drive_config() {
  DriveConfig config;
  config.blocks = kDriveBlocks;
  config.tracked_blocks = kTrackedBlocks;
  config.read_ns = kReadNs;
  config.write_ns = kWriteNs;
  return config;
}

BoardConfig board_config(uint64_t seed) {
  BoardConfig config;
  config.seed = seed;
  return config;
}

// One drive of the board.
struct Member {
  Member(Board &board, unsigned index)
      : pins(board.pins().member(index)), bridge(board, Testbench::with_bar({}), &pins), link(board, bridge, {}),
        drive(board, link, drive_config()) {
    link.connect(drive);
  }

  StripeModel &pins;
  Bridge bridge;
  Link link;
  IdealDrive drive;
};

class Array {
public:
  explicit Array(uint64_t seed)
      : layout_(kDrives, kChunkBytes, kDriveBlocks, kArrayBlocks), board_(board_config(seed)), first_(board_, 0),
        second_(board_, 1), user_(board_, 0), registers_(board_), source_(kBlockBytes),
        sink_(board_, kBlockBytes, [this](uint64_t lba, uint32_t version) { return versions_[lba] == version; }),
        versions_(kArrayBlocks) {
    for (unsigned index = 0; index < kDrives; index++)
      member(index).drive.number_of = [this, index](uint64_t lba) { return layout_.number(index, lba); };
    user_.next_beat = [this](Beat &beat) { return source_.next(beat); };
    user_.on_beat = [this](const Beat &beat, bool last, bool error) { sink_.take(beat, last, error); };
    user_.on_response = [this](const UserResponse &response) { responded(response); };
  }

  void run_first() {
    bring_up();
    blocks_are_where_the_library_has_them();
  }
  void run_all() {
    run_first();
    a_slow_member_stops_the_other_when_its_ring_is_full();
    recoveries_lose_nothing();
    what_is_refused_is_said();
    a_hung_user_leaves_the_registers_alone();
  }
  void rates();

private:
  struct Request {
    bool write;
    uint64_t lba;
    uint32_t blocks;
    uint32_t version;
    uint16_t tag;
  };
  struct Answer {
    Request request;
    UserResponse response;
  };

  Member &member(unsigned index) { return index == 0 ? first_ : second_; }
  void responded(const UserResponse &response);
  void write(uint64_t lba, uint32_t blocks, uint32_t version);
  void read(uint64_t lba, uint32_t blocks);
  void submit(const Request &request);
  uint16_t flush();
  void finish(const char *what);
  void all_good(const char *what);
  void read_all(uint64_t blocks);
  double rate(bool write, bool both);

  void bring_up();
  void blocks_are_where_the_library_has_them();
  void a_slow_member_stops_the_other_when_its_ring_is_full();
  void recoveries_lose_nothing();
  void what_is_refused_is_said();
  void a_hung_user_leaves_the_registers_alone();

  StripeLayout layout_;
  Board board_;
  Member first_, second_;
  User user_;
  Registers registers_;
  BlockSource source_;
  BlockSink sink_;
  std::vector<uint32_t> versions_; // of the array's blocks, written and answered
  std::deque<Request> waiting_;    // requests that wait for a response
  std::vector<Answer> answers_;
  uint64_t responses_ = 0;
  bool flushed_ = false;
  uint16_t flush_status_ = 0;
  uint16_t tag_ = 0;
  uint32_t version_ = 1;
};

// ---- requests ----

void Array::submit(const Request &request) {
  UserCommand command;
  command.op = request.write ? Op::Write : Op::Read;
  command.tag = request.tag;
  command.lba = request.lba;
  command.blocks = request.blocks;
  waiting_.push_back(request);
  user_.submit(command);
}

void Array::write(uint64_t lba, uint32_t blocks, uint32_t version) {
  source_.add(lba, blocks, version);
  submit({true, lba, blocks, version, tag_++});
}

void Array::read(uint64_t lba, uint32_t blocks) {
  sink_.add(lba, blocks, tag_);
  submit({false, lba, blocks, 0, tag_++});
}

// Returns the status. No other request is in flight.
uint16_t Array::flush() {
  UserCommand command;
  command.tag = kFlushTag;
  flushed_ = false;
  user_.submit(command);
  if (!board_.run_until([this] { return flushed_; }, kPatience)) board_.fail("a flush does not end");
  return flush_status_;
}

void Array::responded(const UserResponse &response) {
  if (response.tag == kFlushTag) {
    flushed_ = true;
    flush_status_ = response.status;
    return;
  }
  if (waiting_.empty() || waiting_.front().tag != response.tag)
    board_.fail("a response with tag %u out of order", response.tag);
  const Request request = waiting_.front();
  waiting_.pop_front();
  responses_++;
  if ((response.status == 0) != (response.done == request.blocks))
    board_.fail("status 0x%x after %" PRIu64 " of %u blocks", response.status, response.done, request.blocks);
  if (request.write)
    for (uint64_t block = 0; block < response.done; block++)
      versions_[request.lba + block] = request.version;
  answers_.push_back({request, response});
}

void Array::finish(const char *what) {
  const auto done = [this] { return waiting_.empty() && user_.waiting() == 0 && sink_.empty() && source_.empty(); };
  if (!board_.run_until(done, kPatience)) board_.fail("%s: %zu requests without an answer", what, waiting_.size());
}

void Array::all_good(const char *what) {
  for (const Answer &answer : answers_)
    if (answer.response.status != 0) board_.fail("%s: status 0x%x", what, answer.response.status);
  answers_.clear();
}

// Each block is as it was written last: read through the stripe, and compared with the block on its drive.
void Array::read_all(uint64_t blocks) {
  for (uint64_t lba = 0; lba < blocks; lba += 1000)
    read(lba, static_cast<uint32_t>(std::min<uint64_t>(1000, blocks - lba)));
  finish("reading back");
  all_good("reading back");
  for (uint64_t lba = 0; lba < blocks; lba++) {
    const StripeLayout::Place place = layout_.place(lba);
    if (member(place.member).drive.contents().version(place.lba) != versions_[lba])
      board_.fail("block %" PRIu64 " is not at the library's place", lba);
  }
}

// ---- the guarantees ----

void Array::bring_up() {
  StripeModel &pins = board_.pins();
  const uint64_t data_lba[kDrives] = {layout_.data_lba(0), layout_.data_lba(1)};
  // Two numbers of 40 bits, side by side.
  pins.array_data_lba_i[0] = static_cast<uint32_t>(data_lba[0]);
  pins.array_data_lba_i[1] = static_cast<uint32_t>(data_lba[0] >> 32 | data_lba[1] << 8);
  pins.array_data_lba_i[2] = static_cast<uint32_t>(data_lba[1] >> 24);
  pins.array_member_blocks_i = layout_.member_blocks();
  pins.array_valid_i = 1;
  board_.reset();
  for (unsigned index = 0; index < kDrives; index++)
    member(index).pins.axi_aresetn_i = 1;
  write(0, 1, version_);
  if (!board_.run_until([this] { return responses_ == 1; }, kBringUpCycles))
    board_.fail("no response: bring-up of the first drive is at 0x%x", registers_.read(SPATE_REGS_BRING_UP));
  all_good("the first write");
}

void Array::blocks_are_where_the_library_has_them() {
  constexpr uint64_t kBlocks = 6000;
  for (uint64_t lba = 0; lba < kBlocks;) {
    const uint32_t most = board_.random().percent(50) ? 9 : 5 * kChunkBlocks / 2;
    const uint32_t blocks = 1 + static_cast<uint32_t>(board_.random().below(most));
    write(lba, static_cast<uint32_t>(std::min<uint64_t>(blocks, kBlocks - lba)), ++version_);
    lba += blocks;
  }
  finish("writing");
  all_good("writing");
  read_all(kBlocks);
}

// While the first drive completes nothing, the second one gets all data that the stream has for it until the first
// one's ring is full.
void Array::a_slow_member_stops_the_other_when_its_ring_is_full() {
  constexpr uint32_t kSlowNs = 200'000;
  constexpr uint64_t kAhead = kRingBytes / kChunkBytes; // chunks of each
  const uint64_t before[kDrives] = {first_.drive.counters.written_bytes, second_.drive.counters.written_bytes};
  const uint64_t answered = responses_, start_ps = board_.now_ps();
  first_.drive.set_times(kReadNs, kSlowNs);
  version_++;
  for (uint32_t chunk = 0; chunk < 6 * kAhead; chunk++)
    write(chunk * kChunkBlocks, kChunkBlocks, version_);
  const auto slow_ended = [&] { return responses_ != answered; };
  if (!board_.run_until(slow_ended, kPatience)) board_.fail("the slow drive does not end a write");
  if (board_.now_ps() - start_ps < kSlowNs * UINT64_C(1000)) board_.fail("the slow drive was not slow");
  const uint64_t ahead = second_.drive.counters.written_bytes - before[1];
  const uint64_t slow = first_.drive.counters.written_bytes - before[0];
  if (ahead != kAhead * kChunkBytes || slow >= (kAhead + 1) * kChunkBytes)
    board_.fail("when the slow drive ends its first write, the other has %" PRIu64 " bytes, the slow one %" PRIu64,
                ahead, slow);
  first_.drive.set_times(kReadNs, kWriteNs);
  finish("a slow drive");
  all_good("a slow drive");
  read_all(6 * kAhead * kChunkBlocks);
}

// Links drop and controllers fail, on either drive, in the middle of a stream.
void Array::recoveries_lose_nothing() {
  constexpr uint32_t kBlocks = 16000;
  for (unsigned turn = 0; turn < 4; turn++) {
    Member &victim = member(turn % kDrives);
    const uint64_t enables = victim.drive.counters.enables, answered = responses_;
    version_++;
    for (uint32_t lba = 0; lba < kBlocks; lba += 250)
      write(lba, 250, version_);
    if (!board_.run_until([&] { return responses_ > answered + 10; }, kPatience)) board_.fail("no stream");
    if (turn < 2)
      victim.drive.drop_link(30'000);
    else
      victim.drive.faults.fatal = 20;
    const auto failed = [&] { return victim.drive.failed() || !victim.drive.link_up(); };
    if (!board_.run_until(failed, kPatience)) board_.fail("the drive does not fail");
    victim.drive.faults.fatal = 0;
    finish("a recovery");
    all_good("a recovery");
    // A drive whose link dropped may have lost power: that concerns the array.
    for (const uint16_t wanted : {turn < 2 ? kPower : kOk, kOk}) {
      const uint16_t status = flush();
      if (status != wanted) board_.fail("a flush after turn %u ends with 0x%x", turn, status);
    }
    if (victim.drive.counters.enables == enables) board_.fail("the drive was not brought up again");
  }
  read_all(kBlocks);
}

// Commands that a drive refuses: a request's `done` blocks are on the drive, and all later requests continue.
void Array::what_is_refused_is_said() {
  second_.drive.faults.refuse = 9;
  version_++;
  for (uint32_t lba = 0; lba < 9000; lba += 300)
    write(lba, 300, version_);
  finish("refused writes");
  second_.drive.faults.refuse = 0;
  unsigned refused = 0;
  for (const Answer &answer : answers_) {
    const Request &request = answer.request;
    refused += answer.response.status != 0;
    if (answer.response.status != 0 && (answer.response.status & 0x07ff) != kWriteFault)
      board_.fail("a refused write ends with 0x%x", answer.response.status);
    for (uint64_t block = 0; block < answer.response.done; block++) {
      const StripeLayout::Place place = layout_.place(request.lba + block);
      if (member(place.member).drive.contents().version(place.lba) != request.version)
        board_.fail("block %" PRIu64 " was reported as written, but is not", request.lba + block);
    }
  }
  answers_.clear();
  if (refused == 0) board_.fail("nothing was refused");
  version_++;
  for (uint32_t lba = 0; lba < 9000; lba += 300)
    write(lba, 300, version_);
  finish("after refused writes");
  all_good("after refused writes");
  read_all(9000);
}

// The user does not take the responses of many writes: a flush through the registers of their drive still ends.
void Array::a_hung_user_leaves_the_registers_alone() {
  first_.drive.set_times(kReadNs, 100'000);
  version_++;
  for (uint32_t number = 0; number < 60; number++)
    write(number, 1, version_);
  const uint64_t answered = responses_;
  if (!board_.run_until([this] { return user_.waiting() == 0 && source_.empty(); }, kPatience) ||
      responses_ != answered)
    board_.fail("the writes are not in flight");
  user_.set_stall(100);
  board_.run(60'000);
  first_.drive.set_times(kReadNs, kWriteNs);
  registers_.write(SPATE_REGS_COMMAND,
                   static_cast<uint32_t>(Op::Flush) | SPATE_REGS_COMMAND_START | 77u << SPATE_REGS_COMMAND_TAG_SHIFT);
  uint64_t polls = 0;
  while (!(registers_.read(SPATE_REGS_STATUS) & SPATE_REGS_STATUS_RESPONSE_VALID))
    if (++polls > 2'000) board_.fail("a flush through the registers does not end while the user takes no response");
  if ((registers_.read(SPATE_REGS_RESPONSE) & SPATE_REGS_RESPONSE_TAG) != 77) board_.fail("the flush has another tag");
  registers_.write(SPATE_REGS_RESPONSE_TAKE, SPATE_REGS_RESPONSE_TAKE_TAKE);
  user_.set_stall(0);
  finish("a user that comes back");
  all_good("a user that comes back");
}

// ---- rates ----

// Bytes of the stream per cycle of the core, over all chunks or over the first drive's only.
double Array::rate(bool write_stream, bool both) {
  constexpr uint32_t kWarm = 40, kMeasured = 120; // chunks
  uint64_t chunk = 0, end = 0, first = responses_;
  const auto more = [&] {
    while (user_.waiting() < 4) {
      const uint64_t lba = chunk % (kArrayBlocks / kChunkBlocks) * kChunkBlocks;
      if (write_stream)
        write(lba, kChunkBlocks, version_);
      else
        read(lba, kChunkBlocks);
      chunk += both ? 1 : kDrives;
    }
    return responses_ >= end;
  };
  end = first + kWarm;
  if (!board_.run_until(more, kPatience)) board_.fail("no rate");
  const uint64_t start = board_.cycles(), counted = responses_;
  end = counted + kMeasured;
  if (!board_.run_until(more, kPatience)) board_.fail("no rate");
  const double cycles = static_cast<double>(board_.cycles() - start);
  const double bytes = static_cast<double>((responses_ - counted) * kChunkBytes);
  finish("a rate");
  all_good("a rate");
  return bytes / cycles;
}

void Array::rates() {
  const double write_two = rate(true, true), write_one = rate(true, false);
  // Data that are read must match.
  const double read_two = rate(false, true), read_one = rate(false, false);
  std::printf("{\"drives\": %u, \"data_bits\": %u, \"clock_mhz\": %u, \"generation\": %u, \"chunk_bytes\": %u, "
              "\"ring_bytes\": %u, \"write_ns\": %u, \"read_ns\": %u, "
              "\"write_bytes_per_cycle\": %.3f, \"write_bytes_per_cycle_one\": %.3f, "
              "\"read_bytes_per_cycle\": %.3f, \"read_bytes_per_cycle_one\": %.3f}\n",
              kDrives, kBeatBytes * 8, 1'000'000 / board_.config().core_ps, first_.link.config().generation,
              kChunkBytes, kRingBytes, kWriteNs, kReadNs, write_two, write_one, read_two, read_one);
  // A beat carries twice the rate of a drive's link, so two drives must be twice as fast as one.
  if (write_two < 1.98 * write_one || read_two < 1.98 * read_one)
    board_.fail("two drives are not twice as fast as one");
}

} // namespace

int main(int argc, char **argv) {
  try {
    Array array(argc > 1 ? std::strtoull(argv[1], nullptr, 0) : 1);
    if (argc > 2 && std::strcmp(argv[2], "first") == 0) {
      array.run_first();
      return 0;
    }
    array.run_all();
    array.rates();
    return 0;
  } catch (const std::exception &failure) {
    std::fprintf(stderr, "FAILED: %s\n", failure.what());
    return 1;
  }
}
