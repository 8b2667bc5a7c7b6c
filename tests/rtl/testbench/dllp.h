// SPDX-License-Identifier: Apache-2.0
//
// What a receiver sends back: acknowledgements (ACK), and flow-control updates for the room that it has again
// (UpdateFC). Each is a data link layer packet of 8 bytes. The receiver chooses their number within limits of the
// specification: here one for each `kPacketsPerDllp` packets, and one when the first of them has waited for the latency
// limit.
//
// PCI Express base specification 4.0: 3.6.3.1 (ACK) and 2.6.1.2 (UpdateFC) have the same limit, in symbol times:
//
//   (MPS + TLP overhead) x factor / lanes + internal delay
#ifndef SPATE_BENCH_DLLP_H
#define SPATE_BENCH_DLLP_H

#include <cstdint>
#include <functional>

namespace testbench {

struct LinkConfig;

constexpr uint32_t kDllpBytes = 8; // 3.5: 4 bytes and 2 of CRC; 4.2: 2 of framing (SDP; SDP and END)
// Requests for 512 bytes come every 70 ns (Gen4 x4) to 150 ns (Gen3 x4), and the limit is 85 to 250 ns, so two fit
// best.
constexpr unsigned kPacketsPerDllp = 2;

// The time that a packet may wait for its DLLP.
double dllp_limit_ps(const LinkConfig &config);

// DLLPs of one kind, in one direction.
class Dllps {
public:
  using Send = std::function<void(uint32_t amount)>; // of all packets that the DLLP covers

  explicit Dllps(Send send) : send_(std::move(send)) {}
  void set_limit(double limit_ps) { limit_ps_ = limit_ps; }
  void add(uint64_t now_ps, uint32_t amount) {
    if (packets_++ == 0) since_ps_ = now_ps;
    amount_ += amount;
    if (packets_ == kPacketsPerDllp) flush();
  }
  void tick(uint64_t now_ps) {
    if (packets_ != 0 && static_cast<double>(now_ps - since_ps_) >= limit_ps_) flush();
  }
  void clear() { packets_ = amount_ = 0; }

private:
  void flush() {
    const uint32_t amount = amount_;
    clear();
    send_(amount);
  }

  Send send_;
  double limit_ps_ = 0;
  unsigned packets_ = 0;
  uint32_t amount_ = 0;
  uint64_t since_ps_ = 0; // time of the first of them
};

} // namespace testbench

#endif
