// SPDX-License-Identifier: Apache-2.0
#include "ring_port.h"

#include "page.h"

#include <algorithm>

namespace testbench {

namespace {

constexpr unsigned kBeatSize = kBeatBytes == 16 ? 4 : kBeatBytes == 32 ? 5 : 6;
constexpr uint64_t kAllLanes = kBeatBytes == 64 ? UINT64_MAX : (UINT64_C(1) << kBeatBytes % 64) - 1;

} // namespace

RingPort::RingPort(Board &board, Memory &memory, const RingPortConfig &config)
    : board_(board), pins_(board.pins()), memory_(memory), config_(config) {
  // Memory that was never written must not look like data, so it is not zero.
  std::vector<uint8_t> garbage(config.bytes);
  std::generate(garbage.begin(), garbage.end(), [&board] { return static_cast<uint8_t>(board.random().next()); });
  memory.store(config.bus_base, garbage.data(), static_cast<uint32_t>(garbage.size()));
  board.attach(Clock::Core, *this);
}

RingPort::Burst RingPort::burst(uint64_t address, unsigned length, unsigned size, unsigned kind, const char *channel) {
  Burst burst;
  burst.beats = length + 1;
  burst.bus_address = address - config_.base + config_.bus_base;
  const uint64_t bytes = uint64_t{burst.beats} * kBeatBytes;
  if (size != kBeatSize || kind != 1 || address % kBeatBytes != 0)
    board_.fail("ring_axi: %s is not of whole beats", channel);
  if (address / kPageBytes != (address + bytes - 1) / kPageBytes) board_.fail("ring_axi: %s crosses 4 KiB", channel);
  if (address < config_.base || bytes > config_.bytes || address - config_.base > config_.bytes - bytes)
    board_.fail("ring_axi: %s at %llx is outside the ring", channel, static_cast<unsigned long long>(address));
  return burst;
}

void RingPort::check_stable() {
  const uint64_t aw = pins_.ring_axi_awaddr_o << 8 | pins_.ring_axi_awlen_o;
  const uint64_t ar = pins_.ring_axi_araddr_o << 8 | pins_.ring_axi_arlen_o;
  Beat data;
  get_beat(pins_.ring_axi_wdata_o, data);
  if (!stable_aw_.check(pins_.ring_axi_awvalid_o, aw_ready_, aw)) board_.fail("ring_axi: AW changed");
  if (!stable_ar_.check(pins_.ring_axi_arvalid_o, ar_ready_, ar)) board_.fail("ring_axi: AR changed");
  if (!stable_w_.check(pins_.ring_axi_wvalid_o, w_ready_, data)) board_.fail("ring_axi: W changed");
}

void RingPort::sample_write() {
  if (pins_.ring_axi_awvalid_o && aw_ready_) {
    writes_.push_back(burst(pins_.ring_axi_awaddr_o, pins_.ring_axi_awlen_o, pins_.ring_axi_awsize_o,
                            pins_.ring_axi_awburst_o, "AW"));
    writes_.back().number = bursts_written_++;
  }
  if (pins_.ring_axi_wvalid_o && w_ready_) {
    if (pins_.ring_axi_wstrb_o != kAllLanes) board_.fail("ring_axi: W is not of whole beats");
    Beat data;
    get_beat(pins_.ring_axi_wdata_o, data);
    storing_.insert(storing_.end(), data.begin(), data.end());
    beats_++;
    if (!pins_.ring_axi_wlast_o) return;
    const uint64_t delay_ns = board_.random().between(config_.write_ns_least, config_.write_ns_most);
    last_write_ps_ = std::max(last_write_ps_, board_.now_ps() + delay_ns * 1000);
    stored_.push_back({last_write_ps_, std::move(storing_)});
    storing_.clear();
  }
}

// With one identifier, in order. The contents change with the response.
void RingPort::answer_write() {
  if (b_valid_ && pins_.ring_axi_bready_o) b_valid_ = false;
  if (b_valid_ || writes_.empty() || stored_.empty() || stored_.front().ready_ps > board_.now_ps() || !go()) return;
  const Burst &front = writes_.front();
  const std::vector<uint8_t> &data = stored_.front().data;
  if (data.size() != front.beats * kBeatBytes) board_.fail("ring_axi: WLAST is not with the last beat");
  b_valid_ = true;
  b_error_ = front.number == refused_;
  if (!b_error_) memory_.store(front.bus_address, data.data(), static_cast<uint32_t>(data.size()));
  writes_.pop_front();
  stored_.pop_front();
}

void RingPort::sample_read() {
  if (pins_.ring_axi_arvalid_o && ar_ready_) {
    reads_.push_back(burst(pins_.ring_axi_araddr_o, pins_.ring_axi_arlen_o, pins_.ring_axi_arsize_o,
                           pins_.ring_axi_arburst_o, "AR"));
    const uint64_t delay_ns = board_.random().between(config_.read_ns_least, config_.read_ns_most);
    last_read_ps_ = std::max(last_read_ps_, board_.now_ps() + delay_ns * 1000);
    reads_.back().ready_ps = last_read_ps_;
  }
  if (r_valid_ && pins_.ring_axi_rready_o) r_valid_ = false;
  if (r_valid_ || reads_.empty() || reads_.front().ready_ps > board_.now_ps() || !go()) return;
  Burst &front = reads_.front();
  memory_.load(front.bus_address, r_beat_.data(), kBeatBytes);
  front.bus_address += kBeatBytes;
  if (--front.beats == 0) reads_.pop_front();
  r_valid_ = true;
  beats_++;
}

void RingPort::sample() {
  if (!pins_.rst_ni) return;
  check_stable();
  sample_write();
  answer_write();
  sample_read();
  aw_ready_ = go();
  w_ready_ = go();
  ar_ready_ = go();
}

void RingPort::drive() {
  pins_.ring_axi_awready_i = aw_ready_;
  pins_.ring_axi_wready_i = w_ready_;
  pins_.ring_axi_bvalid_i = b_valid_;
  put(pins_.ring_axi_bresp_i, b_error_ ? 2 : 0);
  pins_.ring_axi_arready_i = ar_ready_;
  pins_.ring_axi_rvalid_i = r_valid_;
  put(pins_.ring_axi_rresp_i, 0);
  if (r_valid_) put_beat(pins_.ring_axi_rdata_i, r_beat_);
}

} // namespace testbench
