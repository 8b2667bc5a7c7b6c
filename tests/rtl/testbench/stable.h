// SPDX-License-Identifier: Apache-2.0
//
// The handshake rule of AXI: what is valid stays valid, and the same, until it is taken.
#ifndef SPATE_BENCH_STABLE_H
#define SPATE_BENCH_STABLE_H

namespace testbench {

template <typename Payload> class Stable {
public:
  // Once a cycle. False: an offer was withdrawn or changed.
  bool check(bool valid, bool ready, const Payload &payload) {
    const bool kept = !offered_ || (valid && payload == payload_);
    offered_ = valid && !ready;
    if (offered_) payload_ = payload;
    return kept;
  }
  void forget() { offered_ = false; }

private:
  bool offered_ = false;
  Payload payload_{};
};

} // namespace testbench

#endif
