// SPDX-License-Identifier: Apache-2.0
//
// The most that a link and an interface can carry: every byte that a command needs on the wire, in both directions.
//
//   write, down   data as completions, its share of the read of entries, its PRP list, doorbells
//   write, up     requests, completion entry
//   read, up      data, completion entry, requests
//   read, down    entries, list, doorbells
//
// and in the opposite direction the acknowledgements and flow-control updates for these packets (dllp.h), and SKP
// ordered sets. The drive reads MRRS / 64 entries at once. Each doorbell is shared by as many commands as possible: the
// tail's by all slots, the head's by all entries of the queue. The busier direction alone is the bound.
//
// Writes and the reads after them overlap only where they meet. Commands are answered in order, so the commands in
// flight are a window of `in_flight_bytes` in their order. While the window covers the change, both directions are in
// use, for at most that many bytes of each kind. This saves
//
//   (time of these writes alone + time of these reads alone) - time of the busier direction for both
//
// After writes the saving is less: a read enters the window when a write has left it, `write_ns` after its data were
// transferred, and moves data `read_ns` later. In between only writes move data.
#ifndef SPATE_BENCH_BOUND_H
#define SPATE_BENCH_BOUND_H

#include "link.h"

#include <algorithm>
#include <cmath>

namespace testbench {

struct Core { // properties of the core and its drive
  uint64_t data_address, queue_address, bar_address;
  double slots, entries;
  double interface_bytes_per_s; // width x clock
  double ring_bytes;            // 0: no ring
  double read_ns, write_ns;
};

struct Cost { // bytes on the wire for each byte of data
  double down, up;
};

inline double packets(double bytes, double limit) { return std::ceil(bytes / limit); }

inline Cost cost(const LinkConfig &link, const Core &core, bool write, uint32_t bytes) {
  const double mps = link.payload_bytes, mrrs = link.read_request_bytes;
  const double completion = kCompletionHeaderBytes + kFramingBytes;
  const double data_request = request_header_bytes(core.data_address) + kFramingBytes;
  const double queue_request = request_header_bytes(core.queue_address) + kFramingBytes;
  const double doorbell = request_header_bytes(core.bar_address) + kFramingBytes + 4;
  const double pages = packets(bytes, 4096), list = pages > 2 ? (pages - 1) * 8 : 0;
  const double fetches = 64 / mrrs, lists = list != 0 ? 1 : 0;
  const double data_requests = write ? packets(bytes, mrrs) : 0, data_writes = write ? 0 : packets(bytes, mps);
  // Packets for each command.
  const double doorbells = 1 / core.slots + 1 / (core.entries - 1);
  const double completions = fetches * packets(mrrs, mps) + packets(list, mps) + (write ? packets(bytes, mps) : 0);
  const double non_posted = fetches + lists + data_requests, posted = 1 + data_writes;
  // Each packet is acknowledged; requests and writes also need a flow-control update.
  const double dllp = static_cast<double>(kDllpBytes) / kPacketsPerDllp;
  const double down = (write ? bytes : 0) + 64 + list + completions * completion + doorbells * doorbell +
                      dllp * 2 * (non_posted + posted);
  const double up = (write ? 0 : bytes) + kCompletionEntryBytes + queue_request * (fetches + lists + 1) +
                    data_request * (data_requests + data_writes) + dllp * (completions + 2 * doorbells);
  return {down / bytes, up / bytes};
}

// The plain payload limit: data packets only.
inline double payload_limit(const LinkConfig &link, const Core &core, bool write) {
  const double header = write ? kCompletionHeaderBytes : request_header_bytes(core.data_address);
  return link_bytes_per_s(link) * link.payload_bytes / (link.payload_bytes + header + kFramingBytes);
}

class Bound {
public:
  Bound(const LinkConfig &link, const Core &core, uint32_t command_bytes)
      : rate_(link_packet_bytes_per_s(link)), core_(core), write_(cost(link, core, true, command_bytes)),
        read_(cost(link, core, false, command_bytes)),
        in_flight_bytes_(std::min(core.slots * command_bytes, core.ring_bytes)) {}

  // The least time to transfer these bytes, with this number of changes from writes to reads and back.
  double seconds(double written, double read, unsigned to_reads, unsigned to_writes) const {
    const double window = in_flight_bytes_;
    const double both = window * std::max(write_.down + read_.down, write_.up + read_.up) / rate_;
    const double saved = window * (alone(write_) + alone(read_)) - both;
    const double latency = (core_.read_ns + core_.write_ns) * 1e-9;
    const double saved_after_writes = std::max(0.0, std::min(saved, window * alone(write_) - latency));
    return written * alone(write_) + read * alone(read_) - to_reads * saved_after_writes - to_writes * saved;
  }

private:
  // Seconds per byte.
  double alone(const Cost &cost) const {
    return std::max(std::max(cost.down, cost.up) / rate_, 1 / core_.interface_bytes_per_s);
  }

  double rate_;
  Core core_;
  Cost write_, read_;
  double in_flight_bytes_;
};

} // namespace testbench

#endif
