// SPDX-License-Identifier: Apache-2.0
//
// Keeps the core busy with one kind of work until a number of bytes is done, and measures the rate.
#ifndef SPATE_BENCH_LOAD_H
#define SPATE_BENCH_LOAD_H

#include "testbench.h"

#include <deque>

namespace testbench {

enum class Mix { Write, Read, Alternate };

struct Load {
  Mix mix = Mix::Write;
  uint32_t command_bytes = 4096; // size of a request, which is one command of the drive
  bool random = false;           // block addresses; otherwise ascending
  uint64_t warm_bytes = 1 << 20; // before the measurement
  uint64_t bytes = 16 << 20;     // measured
  uint64_t run_bytes = 32 << 20; // Mix::Alternate: bytes written, then read, and so on
};

// Counts data that crossed the link, not data of completed requests: so data in flight at the beginning and at the end
// does not distort the rate.
struct Rate {
  double seconds = 0;
  uint64_t written_bytes = 0, read_bytes = 0;
  double bytes_per_s() const { return static_cast<double>(written_bytes + read_bytes) / seconds; }
};

// Runs loads one after the other on the same testbench. `memory_mode`: data is in the memory, not in the streams.
class LoadRunner {
public:
  LoadRunner(Testbench &testbench, bool memory_mode);
  Rate run(const Load &load);

private:
  void next_command();
  void responded(const UserResponse &response);
  bool is_write(uint64_t number) const;
  uint64_t buffer(uint16_t tag) const;

  Testbench &testbench_;
  bool memory_mode_;
  BlockSource source_;
  BlockSink sink_;
  Load load_;
  uint32_t blocks_ = 0;
  uint64_t submitted_ = 0, responses_ = 0, total_ = 0;
  uint64_t next_lba_ = 0;
  struct Request {
    uint64_t lba;
    bool write;
    uint16_t tag;
  };
  std::deque<Request> requests_; // in order, as responses come
};

} // namespace testbench

#endif
