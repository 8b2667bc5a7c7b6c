// SPDX-License-Identifier: Apache-2.0
//
// Random requests through the streams, with checks: each is answered once and in order, reads return what was written
// last, and a flush's response reports the number of blocks written.
//
// A write that ended with an error may have been carried out or not: its blocks are uncertain until they are written
// again, and may be read in either version until then. Requests that are in flight together never overlap, because
// their order at the drive is not defined.
#ifndef SPATE_BENCH_TRAFFIC_H
#define SPATE_BENCH_TRAFFIC_H

#include "testbench.h"

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

namespace testbench {

struct TrafficConfig {
  uint32_t block_bytes = 512;
  uint64_t blocks = 65536;     // the first ones are used
  uint32_t blocks_max = 600;   // of one request
  unsigned write_percent = 45; // the rest are reads, except …
  unsigned side_percent = 6;   // … flushes and deallocations
  std::size_t under_way = 64;  // requests
};

struct TrafficCounters {
  uint64_t writes = 0, reads = 0, flushes = 0, deallocates = 0;
  uint64_t errors = 0; // requests that ended with an error
  uint64_t blocks_written = 0, blocks_read = 0;
  uint64_t last_response_cycle = 0;
};

class Traffic {
public:
  Traffic(Testbench &testbench, const TrafficConfig &config);
  // Call it about once a step: it keeps requests in flight until `stop` is set.
  void feed();
  bool idle() const { return requests_.empty() && side_.empty(); }
  bool stop = false;
  unsigned write_percent = 45;
  uint32_t blocks_max = UINT32_MAX; // may be less than in the configuration
  // Whether the user may see an error. The drive may give one on purpose.
  bool errors_allowed = false;
  TrafficCounters counters;

private:
  struct Request {
    UserCommand command;
    uint32_t version = 0;
    bool beats_done = false, beats_error = false; // reads
    uint64_t written_before = 0;                  // flushes: blocks answered before it was given
  };
  enum class Certainty : uint8_t { Sure, Either, Any };
  struct Block {
    uint32_t version = 0, maybe = 0;
    Certainty certainty = Certainty::Sure;
  };

  bool choose_range(UserCommand &command);
  bool overlaps(const UserCommand &command) const;
  void submit(const UserCommand &command);
  void responded(const UserResponse &response);
  void data_responded(Request &request, const UserResponse &response);
  void side_responded(const UserResponse &response);
  void written(const Request &request, uint64_t good);
  void make_uncertain(uint64_t lba, uint32_t version);
  bool expected(uint64_t lba, uint32_t version) const;

  Testbench &testbench_;
  TrafficConfig config_;
  BlockSource source_;
  BlockSink sink_;
  std::vector<Block> blocks_;
  std::deque<Request> requests_;               // reads and writes, in order
  std::unordered_map<uint16_t, Request> side_; // by tag
  uint16_t next_tag_ = 0;
  uint32_t next_version_ = 1;
  uint64_t answered_blocks_ = 0, submitted_blocks_ = 0; // blocks of writes, until the first error
  bool prefix_ended_ = false;
};

} // namespace testbench

#endif
