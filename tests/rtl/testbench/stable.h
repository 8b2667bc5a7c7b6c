// SPDX-License-Identifier: Apache-2.0
//
// The handshake rule of AXI: a valid output stays valid and unchanged until it is taken.
#ifndef SPATE_BENCH_STABLE_H
#define SPATE_BENCH_STABLE_H

namespace testbench {

template <typename Payload> class Stable {
public:
  // Called once a cycle. Returns false if an output was withdrawn or changed.
  bool check(bool valid, bool ready, const Payload &payload) {
    const bool kept = !offered_ || (valid && payload == payload_);
    offered_ = valid && !ready;
    if (offered_) payload_ = payload;
    return kept;
  }
  void drop() { offered_ = false; }

private:
  bool offered_ = false;
  Payload payload_{};
};

} // namespace testbench

#endif
