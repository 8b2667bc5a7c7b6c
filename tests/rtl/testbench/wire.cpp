// SPDX-License-Identifier: Apache-2.0
#include "wire.h"

#include <algorithm>

namespace testbench {

// When a packet that is ready at `start_ps` can begin: after the ordered sets that are due by then.
double Wire::after_skips(double start_ps) {
  if (time_.skip_every_ps == 0) return start_ps;
  double free_ps = free_ps_;
  while (next_skip_ps_ <= start_ps) {
    free_ps = std::max(free_ps, next_skip_ps_) + time_.skip_ps;
    next_skip_ps_ += time_.skip_every_ps;
    start_ps = std::max(start_ps, free_ps);
  }
  return start_ps;
}

bool Wire::send_one(uint64_t now_ps) {
  if (free_ps_ > static_cast<double>(now_ps)) return false;
  for (unsigned index = 0; index < kQueues; index++) {
    std::deque<Packet> &queue = queues_[index];
    if (queue.empty() || (credits_[index] && !credits_[index](queue.front()))) continue;
    Packet packet = std::move(queue.front());
    queue.pop_front();
    const double start_ps = after_skips(std::max(free_ps_, static_cast<double>(packet.ready_ps)));
    free_ps_ = start_ps + packet.bytes * time_.ps_per_byte;
    bytes_ += packet.bytes;
    arrivals_.push_back({free_ps_ + time_.latency_ps, std::move(packet.arrive)});
    return true;
  }
  return false;
}

void Wire::tick(uint64_t now_ps) {
  while (send_one(now_ps)) {
  }
  while (!arrivals_.empty() && arrivals_.front().at_ps <= static_cast<double>(now_ps)) {
    const std::function<void()> arrive = std::move(arrivals_.front().arrive);
    arrivals_.pop_front();
    arrive();
  }
}

void Wire::clear() {
  for (std::deque<Packet> &queue : queues_)
    queue.clear();
  arrivals_.clear();
}

bool Wire::idle() const {
  return arrivals_.empty() &&
         std::all_of(queues_.begin(), queues_.end(), [](const auto &queue) { return queue.empty(); });
}

} // namespace testbench
