// SPDX-License-Identifier: Apache-2.0
//
// One direction of a link: packets in a few queues, one packet on the wire at a time. At fixed intervals the wire is
// taken by an ordered set, which waits for the end of the packet that is on its way.
#ifndef SPATE_BENCH_WIRE_H
#define SPATE_BENCH_WIRE_H

#include <array>
#include <cstdint>
#include <deque>
#include <functional>

namespace testbench {

class Wire {
public:
  struct Time {
    double ps_per_byte = 0, latency_ps = 0;
    double skip_every_ps = 0, skip_ps = 0; // ordered sets: one in so much time takes so much; 0: none
  };
  struct Packet {
    uint32_t bytes = 0;    // on the wire, everything counted
    uint64_t ready_ps = 0; // it does not begin before
    std::function<void()> arrive;
  };
  static constexpr unsigned kQueues = 5; // the first queue that has a packet and is let through goes first

  explicit Wire(const Time &time) { set_time(time); }
  void set_time(const Time &time) { time_ = time, next_skip_ps_ = free_ps_ + time.skip_every_ps; }
  // Asked before each packet of a queue: has the other side room for it? It takes the room when it says so.
  void set_credit(unsigned queue, std::function<bool(const Packet &)> credit) { credits_[queue] = std::move(credit); }
  void push(unsigned queue, Packet packet) { queues_[queue].push_back(std::move(packet)); }
  // Sends what can be sent by now, and delivers what has arrived by now. Packets that wait follow each other without a
  // gap, wherever the wire's times lie between two ticks.
  void tick(uint64_t now_ps);
  void clear();
  bool idle() const;
  uint64_t bytes() const { return bytes_; }

private:
  struct Arrival {
    double at_ps;
    std::function<void()> arrive;
  };
  bool send_one(uint64_t now_ps);
  double after_skips(double start_ps);

  Time time_;
  double free_ps_ = 0, next_skip_ps_ = 0;
  uint64_t bytes_ = 0;
  std::array<std::deque<Packet>, kQueues> queues_;
  std::array<std::function<bool(const Packet &)>, kQueues> credits_;
  std::deque<Arrival> arrivals_;
};

} // namespace testbench

#endif
