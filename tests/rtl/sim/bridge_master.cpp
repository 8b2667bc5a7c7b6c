// SPDX-License-Identifier: Apache-2.0
#include "bridge_master.h"

#include "page.h"

#include <algorithm>
#include <utility>

namespace testbench {

namespace {

constexpr uint32_t kPostedBytesMax = 16384; // of writes that the bridge has not carried out
constexpr uint64_t kReadCyclesMax = 1'000'000;

uint32_t to_boundary(uint64_t address, uint64_t left, uint32_t unit) {
  return static_cast<uint32_t>(std::min({left, unit - address % unit, kPageBytes - address % kPageBytes}));
}

} // namespace

BridgeMaster::BridgeMaster(Board &board, Bridge &bridge, std::function<void()> edge)
    : board_(board), bridge_(bridge), edge_(std::move(edge)) {}

void BridgeMaster::begin(uint64_t address) {
  if (!bridge_.root_port().forwards_upstream())
    board_.fail("the drive accesses %llx while bus mastering is off at the root port",
                static_cast<unsigned long long>(address));
}

void BridgeMaster::read(uint64_t address, uint8_t *data, uint64_t bytes, uint32_t request_bytes) {
  const uint64_t start = board_.cycles();
  uint64_t arrived = 0;

  begin(address);
  std::fill_n(data, bytes, static_cast<uint8_t>(0));
  for (uint64_t at = 0; at < bytes;) {
    Bridge::Read read;
    read.address = address + at;
    read.bytes = to_boundary(read.address, bytes - at, request_bytes);
    uint8_t *to = data + at;
    read.progress = [to, &arrived](const Bridge::Read &part) {
      if (part.arrived < part.bytes) return;
      std::copy(part.data.begin(), part.data.end(), to);
      arrived += part.bytes;
    };
    at += read.bytes;
    bridge_.read(std::move(read));
  }
  while (arrived < bytes && !bridge_.idle()) {
    edge_();
    if (board_.cycles() - start > kReadCyclesMax)
      board_.fail("a read of %llu bytes at %llx is not answered", static_cast<unsigned long long>(bytes),
                  static_cast<unsigned long long>(address));
  }
  counters_.reads_lost += arrived < bytes;
  counters_.reads++;
  counters_.read_bytes += bytes;
  counters_.read_cycles_max = std::max(counters_.read_cycles_max, board_.cycles() - start);
}

void BridgeMaster::write(uint64_t address, const uint8_t *data, uint64_t bytes, uint32_t payload_bytes) {
  begin(address);
  for (uint64_t at = 0; at < bytes;) {
    while (posted_bytes_ > kPostedBytesMax && !bridge_.idle())
      edge_();
    if (bridge_.idle()) posted_bytes_ = 0;
    Bridge::Write write;
    write.address = address + at;
    const uint32_t here = to_boundary(write.address, bytes - at, payload_bytes);
    write.data.assign(data + at, data + at + here);
    write.done = [this, here] { posted_bytes_ -= here; };
    posted_bytes_ += here;
    at += here;
    bridge_.write(std::move(write));
  }
  counters_.writes++;
  counters_.written_bytes += bytes;
}

} // namespace testbench
