// SPDX-License-Identifier: Apache-2.0
//
// The data of the streams: blocks are generated with pattern.h on one side and checked on the other.
#ifndef SPATE_BENCH_STREAMS_H
#define SPATE_BENCH_STREAMS_H

#include "board.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

namespace testbench {

// The beats of stream writes, in the order in which the writes were given.
class BlockSource {
public:
  explicit BlockSource(uint32_t block_bytes) : block_(block_bytes) {}
  void add(uint64_t lba, uint32_t blocks, uint32_t version) { ranges_.push_back({lba, blocks, version}); }
  bool next(Beat &beat);
  bool empty() const { return ranges_.empty(); }

private:
  struct Range {
    uint64_t lba;
    uint32_t blocks;
    uint32_t version;
  };
  std::deque<Range> ranges_;
  std::vector<uint8_t> block_; // the current block
  uint32_t sent_ = 0;          // bytes of it that were sent; 0: not generated yet
};

// The beats of stream reads, in the order in which the reads were given. Each request ends with its last beat. Every
// block without an error flag must be itself, in a version that `expected` accepts.
class BlockSink {
public:
  using Expected = std::function<bool(uint64_t lba, uint32_t version)>;
  using Done = std::function<void(uint16_t tag, bool error)>;

  BlockSink(Board &board, uint32_t block_bytes, Expected expected)
      : board_(board), block_(block_bytes), expected_(std::move(expected)) {}
  void add(uint64_t lba, uint32_t blocks, uint16_t tag) { ranges_.push_back({lba, blocks, tag, false}); }
  void take(const Beat &beat, bool last, bool error);
  bool empty() const { return ranges_.empty(); }
  // Called when all beats of a request have come; `error`: some were flagged.
  Done on_done;

private:
  struct Range {
    uint64_t lba;
    uint32_t blocks;
    uint16_t tag;
    bool error;
  };
  void check_block(const Range &range);

  Board &board_;
  std::deque<Range> ranges_;
  std::vector<uint8_t> block_;
  uint32_t taken_ = 0; // bytes taken of the block
  bool block_error_ = false;
  Expected expected_;
};

} // namespace testbench

#endif
