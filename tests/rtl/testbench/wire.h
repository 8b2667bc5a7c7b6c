// SPDX-License-Identifier: Apache-2.0
//
// One direction of a link: packets in several queues, one packet on the wire at a time. At fixed intervals an ordered
// set uses the wire; it waits for the end of the current packet.
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
    double skip_every_ps = 0, skip_ps = 0; // an ordered set takes skip_ps, once in every skip_every_ps; 0: none
  };
  struct Packet {
    uint32_t bytes = 0;    // on the wire, everything included
    uint64_t ready_ps = 0; // it does not begin earlier
    std::function<void()> arrive;
  };
  static constexpr unsigned kQueues = 5; // the first queue with a packet and credit goes first

  explicit Wire(const Time &time) { set_time(time); }
  void set_time(const Time &time) { time_ = time, next_skip_ps_ = free_ps_ + time.skip_every_ps; }
  // Called before each packet of a queue: returns whether the other side has room, and takes the room if so.
  void set_credit(unsigned queue, std::function<bool(const Packet &)> credit) { credits_[queue] = std::move(credit); }
  void push(unsigned queue, Packet packet) { queues_[queue].push_back(std::move(packet)); }
  // Sends everything that can be sent by now, and delivers everything that has arrived by now. Packets that wait follow
  // each other without a gap, even if their times lie between two ticks.
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
