// SPDX-License-Identifier: Apache-2.0
//
// Requests on the user's streams, and a check of what comes back. Each written block contains its address and a version
// (pattern.h). The expected contents of each block of the tested range are known, and are compared with every beat that
// is read and, at the end, with the media.
//
// A write that ends with an error leaves the blocks that were not done unknown, as on a real drive.
#ifndef SPATE_RTL_REQUESTS_H
#define SPATE_RTL_REQUESTS_H

#include "user.h"

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

namespace testbench {

class Requests {
public:
  struct Done {
    UserCommand command;
    UserResponse response;
  };

  Requests(Board &board, User &user, uint32_t block_bytes, uint64_t blocks);

  // Assigns a tag and returns it. No other request to the same blocks may be in flight.
  uint16_t start(Op op, uint64_t lba = 0, uint32_t blocks = 0, bool fua = false);
  bool overlaps(uint64_t lba, uint32_t blocks) const;
  std::size_t running() const { return running_.size(); }
  const std::vector<Done> &done() const { return done_; } // in the order of the responses
  void clear_done() { done_.clear(); }
  uint64_t beats() const { return beats_; } // in both directions
  uint64_t errors() const { return errors_; }
  uint64_t blocks_compared() const { return blocks_compared_; }
  // Since the start, without an error, in the order of the stream.
  uint64_t blocks_written() const { return blocks_written_; }
  // The first block on the media that differs from its expected contents; `blocks` if there is none.
  template <typename Read> uint64_t compare(Read read) const {
    std::vector<uint8_t> block(block_bytes_);
    for (uint64_t lba = 0; lba < versions_.size(); lba++) {
      if (versions_[lba] == kUnknown) continue;
      read(lba, block.data());
      if (!holds(block.data(), lba)) return lba;
    }
    return versions_.size();
  }
  bool holds(const uint8_t *block, uint64_t lba) const;
  // Whether the block contains something that was written to it, in any version.
  bool written(const uint8_t *block, uint64_t lba) const;
  void set_unknown(uint64_t lba, uint64_t blocks);

  static constexpr uint32_t kUnknown = UINT32_MAX;

private:
  struct Running {
    UserCommand command;
    uint32_t version = 0;
    uint64_t read_blocks = 0; // blocks whose beats have come
    bool flagged = false;
    bool responded = false;
    UserResponse response;
  };
  struct Stream { // the data of a request in flight
    uint16_t tag;
    uint64_t lba, end;
  };

  bool next_beat(Beat &beat);
  void take_beat(const Beat &beat, bool last, bool error);
  void take_response(const UserResponse &response);
  bool streams(uint16_t tag) const; // whether some of its beats have not moved
  void end(uint16_t tag);
  void finish(const Running &one, const UserResponse &response);

  Board &board_;
  uint32_t block_bytes_;
  std::vector<uint32_t> versions_; // of each block; 0: never written, or deallocated
  uint32_t version_ = 0;
  uint16_t tag_ = 0;
  std::map<uint16_t, Running> running_;
  std::deque<Stream> to_drive_, from_drive_;
  std::vector<uint8_t> out_, in_; // the block that is being sent, and the one that is being received
  uint32_t out_at_, in_at_ = 0;
  std::vector<Done> done_;
  uint64_t beats_ = 0, errors_ = 0, blocks_compared_ = 0, blocks_written_ = 0;
  User &user_;
};

} // namespace testbench

#endif
