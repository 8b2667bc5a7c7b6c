// SPDX-License-Identifier: Apache-2.0
#include "traffic.h"

#include "pattern.h"

#include <algorithm>

namespace testbench {

namespace {

constexpr uint16_t kStatusDeadline = 0x8005; // spate_pkg: only side commands end with it
constexpr uint16_t kStatusPower = 0x8008;    // a flush that came after a reset that may have been a loss of power

} // namespace

Traffic::Traffic(Testbench &testbench, const TrafficConfig &config)
    : write_percent(config.write_percent), testbench_(testbench), config_(config), source_(config.block_bytes),
      sink_(testbench.board, config.block_bytes,
            [this](uint64_t lba, uint32_t version) { return expected(lba, version); }),
      blocks_(config.blocks) {
  testbench.user.next_beat = [this](Beat &beat) { return source_.next(beat); };
  testbench.user.on_beat = [this](const Beat &beat, bool last, bool error) { sink_.take(beat, last, error); };
  testbench.user.on_response = [this](const UserResponse &response) { responded(response); };
  sink_.on_done = [this](uint16_t tag, bool error) {
    for (Request &request : requests_)
      if (request.command.tag == tag && request.command.op == Op::Read && !request.beats_done) {
        request.beats_done = true;
        request.beats_error = error;
        return;
      }
  };
}

bool Traffic::expected(uint64_t lba, uint32_t version) const {
  const Block &block = blocks_[lba];
  return block.certainty == Certainty::Any || version == block.version ||
         (block.certainty == Certainty::Either && version == block.maybe);
}

bool Traffic::overlaps(const UserCommand &command) const {
  const auto meets = [&command](const Request &other) {
    return command.lba < other.command.lba + other.command.blocks && other.command.lba < command.lba + command.blocks;
  };
  return std::any_of(requests_.begin(), requests_.end(), meets) ||
         std::any_of(side_.begin(), side_.end(), [&meets](const auto &entry) { return meets(entry.second); });
}

bool Traffic::choose_range(UserCommand &command) {
  Random &random = testbench_.board.random();
  // Most requests are small, so that many are in flight; a few fill the ring alone.
  const uint64_t kind = random.below(100);
  const uint32_t usual = kind < 70 ? 8192 / config_.block_bytes : kind < 95 ? 65536 / config_.block_bytes : UINT32_MAX;
  const uint64_t most = std::min({usual, blocks_max, config_.blocks_max});
  for (int attempt = 0; attempt < 8; attempt++) {
    command.blocks = static_cast<uint32_t>(random.between(1, most));
    command.lba = random.below(config_.blocks - command.blocks);
    if (!overlaps(command)) return true;
  }
  return false;
}

void Traffic::feed() {
  if (stop || testbench_.user.waiting() >= 4 || requests_.size() + side_.size() >= config_.under_way) return;
  Random &random = testbench_.board.random();
  UserCommand command;
  if (random.percent(config_.side_percent)) {
    if (side_.size() >= 4) return;
    command.op = random.percent(70) ? Op::Flush : Op::Deallocate;
  } else {
    command.op = random.percent(write_percent) ? Op::Write : Op::Read;
    command.fua = command.op == Op::Write && random.percent(10);
  }
  if (command.op != Op::Flush && !choose_range(command)) return;
  // Tags may have any value; these do not repeat while they are in use.
  command.tag = next_tag_++;
  submit(command);
}

void Traffic::submit(const UserCommand &command) {
  Request request;
  request.command = command;
  switch (command.op) {
  case Op::Write:
    next_version_ = next_version_ == kVersionMask ? 1 : next_version_ + 1;
    request.version = next_version_;
    source_.add(command.lba, command.blocks, request.version);
    submitted_blocks_ += command.blocks;
    counters.writes++;
    requests_.push_back(request);
    break;
  case Op::Read:
    sink_.add(command.lba, command.blocks, command.tag);
    counters.reads++;
    requests_.push_back(request);
    break;
  default:
    (command.op == Op::Flush ? counters.flushes : counters.deallocates)++;
    request.written_before = answered_blocks_;
    side_.emplace(command.tag, request);
    break;
  }
  testbench_.user.submit(command);
}

void Traffic::responded(const UserResponse &response) {
  counters.last_response_cycle = testbench_.board.cycles();
  if (side_.count(response.tag) != 0) {
    side_responded(response);
    return;
  }
  if (requests_.empty() || response.tag != requests_.front().command.tag)
    testbench_.board.fail("a response with tag 0x%x, which is not the oldest request's", response.tag);
  Request request = requests_.front();
  data_responded(request, response);
  requests_.pop_front();
}

void Traffic::data_responded(Request &request, const UserResponse &response) {
  const UserCommand &command = request.command;
  const bool told = response.status == kStatusPower && request.command.op == Op::Flush;
  const bool error = response.status != 0 && !told;
  if (error && !errors_allowed)
    testbench_.board.fail("request 0x%x at %llu ended with status 0x%x", response.tag,
                          static_cast<unsigned long long>(command.lba), response.status);
  if (error ? response.done >= command.blocks : response.done != command.blocks)
    testbench_.board.fail("request 0x%x: %llu of %u blocks with status 0x%x", response.tag,
                          static_cast<unsigned long long>(response.done), command.blocks, response.status);
  counters.errors += error;
  if (command.op == Op::Write) {
    written(request, response.done);
    counters.blocks_written += response.done;
    return;
  }
  counters.blocks_read += response.done;
  if (request.beats_done && request.beats_error != error)
    testbench_.board.fail("request 0x%x: status 0x%x, but its beats %s flagged", response.tag, response.status,
                          request.beats_error ? "are" : "are not");
}

// `good` blocks from the first on were written; later ones may have been written or not.
void Traffic::written(const Request &request, uint64_t good) {
  for (uint64_t index = 0; index < request.command.blocks; index++) {
    const uint64_t lba = request.command.lba + index;
    if (index < good)
      blocks_[lba] = {request.version, 0, Certainty::Sure};
    else
      make_uncertain(lba, request.version);
  }
  if (!prefix_ended_) answered_blocks_ += good;
  prefix_ended_ = prefix_ended_ || good != request.command.blocks;
}

void Traffic::make_uncertain(uint64_t lba, uint32_t version) {
  Block &block = blocks_[lba];
  block.certainty = block.certainty == Certainty::Sure ? Certainty::Either : Certainty::Any;
  block.maybe = version;
}

void Traffic::side_responded(const UserResponse &response) {
  const auto found = side_.find(response.tag);
  const Request request = found->second;
  side_.erase(found);
  const bool told = response.status == kStatusPower && request.command.op == Op::Flush;
  const bool error = response.status != 0 && !told;
  if (error && !errors_allowed && response.status != kStatusDeadline)
    testbench_.board.fail("side command 0x%x ended with status 0x%x", response.tag, response.status);
  counters.errors += error;
  if (request.command.op == Op::Deallocate) {
    for (uint64_t lba = request.command.lba; lba < request.command.lba + request.command.blocks; lba++) {
      if (error)
        make_uncertain(lba, 0);
      else
        blocks_[lba] = Block();
    }
    return;
  }
  // Blocks answered before the flush was given are durable now; blocks that were not given yet cannot be.
  if (!error && (response.done < request.written_before || response.done > submitted_blocks_))
    testbench_.board.fail("a flush reports %llu blocks; %llu were answered before it, %llu were submitted",
                          static_cast<unsigned long long>(response.done),
                          static_cast<unsigned long long>(request.written_before),
                          static_cast<unsigned long long>(submitted_blocks_));
}

} // namespace testbench
