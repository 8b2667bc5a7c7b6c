// SPDX-License-Identifier: Apache-2.0
//
// What a link and an interface can carry at most: every byte that a command needs on the wire, in both directions.
//
//   write   down: data as completions, its part of the entries' read, its PRP list, doorbells    up: requests,
//   completion read    up: data, completion, requests    down: entries, list, doorbells
//
// The drive reads MRRS / 64 entries at once; 16 commands share the tail's doorbell, 32 the head's: who rings more often
// loses by it. The busier direction is the bound.
#ifndef SPATE_BENCH_BOUND_H
#define SPATE_BENCH_BOUND_H

#include "link.h"

#include <algorithm>
#include <cmath>

namespace bench {

struct Bound {
  double down_bytes, up_bytes; // on the wire, of one command
  double link;                 // payload bytes per second
  double interface;            // width × clock
  double payload;              // the plain payload limit: data packets and nothing else
  double least() const { return std::min(link, interface); }
};

constexpr double kTailShare = 16, kHeadShare = 32;

inline double packets(double bytes, double limit) { return std::ceil(bytes / limit); }

inline Bound bound(const LinkConfig &link, bool write, uint32_t bytes, uint64_t data_address, uint64_t queue_address,
                   uint64_t bar_address, uint32_t axi_ps) {
  const double mps = link.payload_bytes, mrrs = link.read_request_bytes;
  const double completion = kCompletionHeaderBytes + kFramingBytes;
  const double data_request = request_header_bytes(data_address) + kFramingBytes;
  const double queue_request = request_header_bytes(queue_address) + kFramingBytes;
  const double doorbell = request_header_bytes(bar_address) + kFramingBytes + 4;
  const double pages = packets(bytes, 4096), list = pages > 2 ? (pages - 1) * 8 : 0;
  const double entries = mrrs / 64;
  Bound result{};
  result.down_bytes = (mrrs + packets(mrrs, mps) * completion) / entries + list + packets(list, mps) * completion +
                      doorbell / kTailShare + doorbell / kHeadShare;
  result.up_bytes = queue_request / entries + (list != 0 ? queue_request : 0) + 16 + queue_request;
  if (write) {
    result.down_bytes += bytes + packets(bytes, mps) * completion;
    result.up_bytes += packets(bytes, mrrs) * data_request;
  } else {
    result.up_bytes += bytes + packets(bytes, mps) * data_request;
  }
  const double rate = link_bytes_per_s(link);
  result.link = rate * bytes / std::max(result.down_bytes, result.up_bytes);
  result.interface = kBeatBytes * 1e12 / axi_ps;
  result.payload = rate * mps / (mps + (write ? completion : data_request));
  return result;
}

} // namespace bench

#endif
