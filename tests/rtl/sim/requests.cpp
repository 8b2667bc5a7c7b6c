// SPDX-License-Identifier: Apache-2.0
#include "requests.h"

#include "pattern.h"

#include <algorithm>

namespace testbench {

Requests::Requests(Board &board, User &user, uint32_t block_bytes, uint64_t blocks)
    : board_(board), block_bytes_(block_bytes), versions_(blocks), out_(block_bytes), in_(block_bytes),
      out_at_(block_bytes), user_(user) {
  user.next_beat = [this](Beat &beat) { return next_beat(beat); };
  user.on_beat = [this](const Beat &beat, bool last, bool error) { take_beat(beat, last, error); };
  user.on_response = [this](const UserResponse &response) { take_response(response); };
}

bool Requests::overlaps(uint64_t lba, uint32_t blocks) const {
  return std::any_of(running_.begin(), running_.end(), [lba, blocks](const auto &one) {
    const UserCommand &other = one.second.command;
    return lba < other.lba + other.blocks && other.lba < lba + blocks;
  });
}

uint16_t Requests::start(Op op, uint64_t lba, uint32_t blocks, bool fua) {
  while (running_.count(++tag_) != 0) {
  }
  Running one;
  one.command.op = op;
  one.command.lba = lba;
  one.command.blocks = blocks;
  one.command.fua = fua;
  one.command.tag = tag_;
  if (op == Op::Write && blocks != 0) {
    one.version = ++version_ & kVersionMask;
    to_drive_.push_back({tag_, lba, lba + blocks});
  }
  if (op == Op::Read && blocks != 0) from_drive_.push_back({tag_, lba, lba + blocks});
  user_.submit(one.command);
  running_[tag_] = one;
  return tag_;
}

bool Requests::next_beat(Beat &beat) {
  if (to_drive_.empty()) return false;
  Stream &stream = to_drive_.front();
  if (out_at_ == block_bytes_) {
    pattern_fill(out_.data(), block_bytes_, stream.lba, running_.at(stream.tag).version);
    out_at_ = 0;
  }
  beats_++;
  std::copy_n(out_.begin() + out_at_, kBeatBytes, beat.begin());
  out_at_ += kBeatBytes;
  if (out_at_ == block_bytes_ && ++stream.lba == stream.end) to_drive_.pop_front();
  return true;
}

bool Requests::holds(const uint8_t *block, uint64_t lba) const {
  if (lba >= versions_.size() || versions_[lba] == kUnknown) return true;
  if (versions_[lba] == 0) return std::all_of(block, block + block_bytes_, [](uint8_t byte) { return byte == 0; });
  const auto version = pattern_version(block, block_bytes_, lba);
  return version && *version == versions_[lba];
}

bool Requests::written(const uint8_t *block, uint64_t lba) const {
  const auto version = pattern_version(block, block_bytes_, lba);
  return version && *version != 0;
}

void Requests::take_beat(const Beat &beat, bool last, bool error) {
  if (from_drive_.empty()) board_.fail("a beat of the read stream that was not requested");
  Stream &stream = from_drive_.front();
  Running &one = running_.at(stream.tag);
  beats_++;
  std::copy(beat.begin(), beat.end(), in_.begin() + in_at_);
  in_at_ += kBeatBytes;
  one.flagged |= error;
  const bool block_done = in_at_ == block_bytes_, request_done = block_done && stream.lba + 1 == stream.end;
  if (last != request_done) board_.fail("TLAST is wrong in block %llu", static_cast<unsigned long long>(stream.lba));
  if (!block_done) return;
  in_at_ = 0;
  if (!error) {
    blocks_compared_++;
    if (!holds(in_.data(), stream.lba))
      board_.fail("block %llu was read wrong", static_cast<unsigned long long>(stream.lba));
  }
  if (!one.flagged) one.read_blocks++;
  if (++stream.lba < stream.end) return;
  const uint16_t tag = stream.tag;
  from_drive_.pop_front();
  if (running_.at(tag).responded) end(tag);
}

void Requests::set_unknown(uint64_t lba, uint64_t blocks) {
  for (uint64_t i = lba; i < std::min<uint64_t>(lba + blocks, versions_.size()); i++)
    versions_[i] = kUnknown;
}

void Requests::finish(const Running &one, const UserResponse &response) {
  const UserCommand &command = one.command;
  const auto begin = versions_.begin() + static_cast<std::ptrdiff_t>(std::min<uint64_t>(command.lba, versions_.size()));
  const bool good = response.status == 0;

  switch (command.op) {
  case Op::Write:
    if (good ? response.done != command.blocks : response.done >= command.blocks)
      board_.fail("a write of %u blocks ended with status %04x and %llu blocks done", command.blocks, response.status,
                  static_cast<unsigned long long>(response.done));
    std::fill_n(begin, response.done, one.version);
    set_unknown(command.lba + response.done, command.blocks - response.done);
    blocks_written_ += response.done;
    break;
  case Op::Read:
    if (command.blocks != 0 && one.flagged == good)
      board_.fail("a read's status is %04x, but its beats' flags differ", response.status);
    if (response.done != one.read_blocks)
      board_.fail("a read has done %llu blocks, and %llu are not flagged",
                  static_cast<unsigned long long>(response.done), static_cast<unsigned long long>(one.read_blocks));
    break;
  case Op::Deallocate:
    if (good)
      std::fill_n(begin, command.blocks, 0);
    else
      set_unknown(command.lba, command.blocks);
    break;
  default: break;
  }
}

bool Requests::streams(uint16_t tag) const {
  const auto is = [tag](const Stream &stream) { return stream.tag == tag; };
  return std::any_of(to_drive_.begin(), to_drive_.end(), is) || std::any_of(from_drive_.begin(), from_drive_.end(), is);
}

void Requests::end(uint16_t tag) {
  const Running one = running_.at(tag);
  finish(one, one.response);
  running_.erase(tag);
  done_.push_back({one.command, one.response});
  errors_ += one.response.status != 0;
}

// A read's response and its last beats come on different paths, in any order.
void Requests::take_response(const UserResponse &response) {
  const auto found = running_.find(response.tag);
  if (found == running_.end() || found->second.responded)
    board_.fail("a response for tag %04x, which no request has", response.tag);
  found->second.response = response;
  found->second.responded = true;
  if (!streams(response.tag))
    end(response.tag);
  else if (found->second.command.op == Op::Write)
    board_.fail("a write responds before its beats were taken");
}

} // namespace testbench
