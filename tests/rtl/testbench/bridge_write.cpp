// SPDX-License-Identifier: Apache-2.0
// The drive's writes: addresses and data, each in its own time, and the responses.
#include "bridge.h"
#include "memory.h"

#include <algorithm>

namespace testbench {

// Addresses and data are issued independently, in any order. The memory takes addresses first.
void Bridge::choose_write() {
  if (!aw_valid_ && aw_next_ < write_bursts_.size() && go()) aw_valid_ = true;
  if (!w_valid_ && w_next_ < write_bursts_.size() && (w_next_ < aw_next_ || !write_bursts_[w_next_].to_memory) && go())
    w_valid_ = true;
}

// Responses may come from two sides. Entries at the front that have their response are removed.
void Bridge::acknowledge(Burst &burst) {
  burst.acknowledged = true;
  while (!write_bursts_.empty() && write_bursts_.front().acknowledged) {
    const Burst front = write_bursts_.front();
    write_bursts_.pop_front();
    aw_next_--;
    w_next_--;
    bursts_acknowledged_++;
    see(Seen::Acknowledged, front.address);
    if (!front.last) continue;
    const std::function<void()> done = std::move(writes_.front().write.done);
    writes_.pop_front();
    w_write_--;
    if (done) done();
  }
}

void Bridge::sample_write() {
  const bool memory_aw = aw_valid_ && write_bursts_[aw_next_].to_memory;
  if (aw_valid_ && (memory_aw ? memory_aw_ready_ : pins_.s_axi_awready_o)) {
    aw_valid_ = false;
    aw_next_++;
  }
  if (w_valid_) {
    Burst &burst = write_bursts_[w_next_];
    if (burst.to_memory || pins_.s_axi_wready_o) {
      w_valid_ = false;
      burst.beat++;
      if (burst.beat == burst.beats) {
        const std::vector<uint8_t> &data = writes_[w_write_].write.data;
        see(Seen::WriteBeat, burst.address);
        if (burst.to_memory)
          memory_->write(burst.address, data.data() + burst.offset, burst.bytes, burst.id, board_.now_ps());
        w_write_ += burst.last;
        w_next_++;
      }
    }
  }
  check(stable_b_.check(pins_.s_axi_bvalid_o, b_ready_, pins_.s_axi_bid_o), "BVALID or BID changed before BREADY");
  if (pins_.s_axi_bvalid_o && b_ready_) {
    const std::size_t complete = std::min(aw_next_, w_next_);
    const auto end = write_bursts_.begin() + static_cast<std::ptrdiff_t>(complete);
    const auto oldest = std::find_if(write_bursts_.begin(), end,
                                     [](const Burst &burst) { return !burst.acknowledged && !burst.to_memory; });
    check(oldest != end, "BVALID before a write's address and data were taken");
    check(pins_.s_axi_bid_o == oldest->id, "BID is not that of the oldest write");
    check(pins_.s_axi_bresp_o == 0, "BRESP is not OKAY");
    acknowledge(*oldest);
  }
  if (memory_b_valid_) {
    const auto oldest = std::find_if(write_bursts_.begin(), write_bursts_.end(), [this](const Burst &burst) {
      return !burst.acknowledged && burst.to_memory && burst.id == memory_b_id_;
    });
    acknowledge(*oldest);
  }
  memory_b_valid_ = memory_ != nullptr && memory_->take_response(board_.now_ps(), &memory_b_id_);
  memory_aw_ready_ = go();
  choose_write();
  b_ready_ = go();
}

void Bridge::drive_write() {
  const bool aw = aw_valid_ && !write_bursts_[aw_next_].to_memory;
  pins_.s_axi_awvalid_i = aw;
  if (aw) {
    const Burst &burst = write_bursts_[aw_next_];
    put(pins_.s_axi_awid_i, burst.id);
    put(pins_.s_axi_awaddr_i, burst.address);
    put(pins_.s_axi_awlen_i, burst.beats - 1);
    put(pins_.s_axi_awsize_i, kBeatSize);
    put(pins_.s_axi_awburst_i, 1);
  }
  const bool w = w_valid_ && !write_bursts_[w_next_].to_memory;
  pins_.s_axi_wvalid_i = w;
  if (w) {
    const Burst &burst = write_bursts_[w_next_];
    const std::vector<uint8_t> &data = writes_[w_write_].write.data;
    // The burst's first byte is in lane `lane` of its first beat.
    const uint32_t lane = static_cast<uint32_t>(burst.address % kBeatBytes);
    const uint32_t begin = burst.beat == 0 ? lane : 0;
    const uint32_t end = std::min(kBeatBytes, lane + burst.bytes - burst.beat * kBeatBytes);
    Beat beat{};
    std::copy_n(data.begin() + burst.offset + burst.beat * kBeatBytes + begin - lane, end - begin,
                beat.begin() + begin);
    put_beat(pins_.s_axi_wdata_i, beat);
    const uint64_t up_to_end = end == 64 ? UINT64_MAX : (UINT64_C(1) << end) - 1;
    put(pins_.s_axi_wstrb_i, up_to_end & ~((UINT64_C(1) << begin) - 1));
    put(pins_.s_axi_wlast_i, burst.beat + 1 == burst.beats);
  }
  pins_.s_axi_bready_i = b_ready_;
  // The core's tap watches the accesses to the memory.
  pins_.tap_awvalid_i = aw_valid_ && !aw;
  pins_.tap_awready_i = memory_aw_ready_;
  if (aw_valid_) put(pins_.tap_awid_i, write_bursts_[aw_next_].id);
  pins_.tap_bvalid_i = memory_b_valid_;
  pins_.tap_bready_i = memory_b_valid_;
  put(pins_.tap_bid_i, memory_b_id_);
}

} // namespace testbench
