// SPDX-License-Identifier: Apache-2.0
#include "streams.h"

#include "pattern.h"

#include <algorithm>

namespace testbench {

bool BlockSource::next(Beat &beat) {
  if (ranges_.empty()) return false;
  Range &range = ranges_.front();
  if (sent_ == 0) pattern_fill(block_.data(), static_cast<uint32_t>(block_.size()), range.lba, range.version);
  std::copy_n(block_.begin() + sent_, kBeatBytes, beat.begin());
  sent_ += kBeatBytes;
  if (sent_ == block_.size()) {
    sent_ = 0;
    range.lba++;
    if (--range.blocks == 0) ranges_.pop_front();
  }
  return true;
}

void BlockSink::check_block(const Range &range) {
  const std::optional<uint32_t> version =
      pattern_version(block_.data(), static_cast<uint32_t>(block_.size()), range.lba);
  if (!version)
    board_.fail("block %llu was read with the data of another block", static_cast<unsigned long long>(range.lba));
  if (!expected_(range.lba, *version))
    board_.fail("block %llu was read in version %u", static_cast<unsigned long long>(range.lba), *version);
}

void BlockSink::take(const Beat &beat, bool last, bool error) {
  if (ranges_.empty()) board_.fail("a beat that was not requested");
  Range &range = ranges_.front();
  std::copy_n(beat.begin(), kBeatBytes, block_.begin() + taken_);
  taken_ += kBeatBytes;
  block_error_ = block_error_ || error;
  const bool block_done = taken_ == block_.size();
  if (last != (block_done && range.blocks == 1))
    board_.fail("the last beat of a read is marked %s", last ? "too early" : "too late");
  if (!block_done) return;
  if (!block_error_) check_block(range);
  range.error = range.error || block_error_;
  taken_ = 0;
  block_error_ = false;
  range.lba++;
  if (--range.blocks != 0) return;
  const Range done = range;
  ranges_.pop_front();
  if (on_done) on_done(done.tag, done.error);
}

} // namespace testbench
