// SPDX-License-Identifier: Apache-2.0
//
// One direction of a link: packets in a few queues, one packet on the wire at a time.
#ifndef SPATE_BENCH_WIRE_H
#define SPATE_BENCH_WIRE_H

#include <array>
#include <cstdint>
#include <deque>
#include <functional>

namespace bench {

class Wire {
public:
  struct Packet {
    uint32_t bytes = 0;    // on the wire, everything counted
    uint64_t ready_ps = 0; // it does not begin before
    std::function<void()> arrive;
  };
  static constexpr unsigned kQueues = 4; // the first queue that has a packet and is let through goes first

  Wire(double ps_per_byte, double latency_ps) : ps_per_byte_(ps_per_byte), latency_ps_(latency_ps) {}
  void set_time(double ps_per_byte, double latency_ps) { ps_per_byte_ = ps_per_byte, latency_ps_ = latency_ps; }
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

  double ps_per_byte_, latency_ps_;
  double free_ps_ = 0;
  uint64_t bytes_ = 0;
  std::array<std::deque<Packet>, kQueues> queues_;
  std::array<std::function<bool(const Packet &)>, kQueues> credits_;
  std::deque<Arrival> arrivals_;
};

} // namespace bench

#endif
