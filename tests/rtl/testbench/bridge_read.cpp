// SPDX-License-Identifier: Apache-2.0
// The drive's reads: read addresses, read data.
#include "bridge.h"
#include "memory.h"

#include <algorithm>

namespace testbench {

// Chooses the next burst, if one may be issued.
void Bridge::choose_read() {
  if (ar_valid_ || reads_asked_ == reads_.size() || read_bursts_.size() >= config_.bursts_outstanding || !go()) return;
  PendingRead &pending = reads_[reads_asked_];
  if (bursts_acknowledged_ < pending.after_writes) return;
  Burst burst = cut(pending.read.address + pending.asked, pending.read.bytes - pending.asked);
  burst.offset = pending.asked;
  burst.id = static_cast<uint8_t>(board_.random().below(kIds));
  pending.asked += burst.bytes;
  burst.last = pending.asked == pending.read.bytes;
  reads_asked_ += burst.last;
  if (burst.to_memory)
    memory_->read(burst.address, burst.beats, board_.now_ps());
  else
    ar_valid_ = true;
  read_bursts_.push_back(burst);
}

void Bridge::take_beat() {
  Burst &burst = read_bursts_.front();
  Beat beat;
  if (burst.to_memory) {
    memory_->take_beat(beat);
  } else {
    get_beat(pins_.s_axi_rdata_o, beat);
    check(pins_.s_axi_rid_o == burst.id, "RID is not that of the oldest read");
    check(pins_.s_axi_rresp_o == 0, "RRESP is not OKAY");
    check(pins_.s_axi_rlast_o == (burst.beat + 1 == burst.beats), "RLAST is not with the last beat of its burst");
    if (burst.beat == 0) see(Seen::ReadBeat, burst.address);
    read_beats_++;
  }
  PendingRead &pending = reads_.front();
  Read &read = pending.read;
  const uint32_t lane = burst.beat == 0 ? static_cast<uint32_t>(burst.address % kBeatBytes) : 0;
  const uint32_t bytes = std::min(kBeatBytes - lane, burst.offset + burst.bytes - read.arrived);
  std::copy_n(beat.begin() + lane, bytes, read.data.begin() + read.arrived);
  read.arrived += bytes;
  burst.beat++;
  const bool burst_done = burst.beat == burst.beats, read_done = burst_done && burst.last;
  if (burst_done) read_bursts_.pop_front();
  if (read.bytes != 0 || read_done) read.progress(read);
  if (read_done) {
    reads_.pop_front();
    reads_asked_--;
  }
}

void Bridge::sample_read() {
  if (ar_valid_ && pins_.s_axi_arready_o) {
    ar_valid_ = false;
    see(Seen::ReadAddress, read_bursts_.back().address);
  }
  Beat beat;
  get_beat(pins_.s_axi_rdata_o, beat);
  check(stable_r_.check(pins_.s_axi_rvalid_o, r_ready_, beat), "RVALID or RDATA changed before RREADY");
  // A burst whose address is still at the pins cannot have data yet.
  const std::size_t asked = read_bursts_.size() - (ar_valid_ ? 1 : 0);
  const bool from_memory = asked != 0 && read_bursts_.front().to_memory;
  if (pins_.s_axi_rvalid_o && r_ready_) {
    check(asked != 0 && !from_memory, "RVALID without a read");
    take_beat();
  } else if (from_memory && memory_->has_beat(board_.now_ps())) {
    take_beat();
  }
  choose_read();
  r_ready_ = go() && !(!read_bursts_.empty() && read_bursts_.front().to_memory);
}

void Bridge::drive_read() {
  pins_.s_axi_arvalid_i = ar_valid_;
  if (ar_valid_) {
    const Burst &burst = read_bursts_.back();
    put(pins_.s_axi_arid_i, burst.id);
    put(pins_.s_axi_araddr_i, burst.address);
    put(pins_.s_axi_arlen_i, burst.beats - 1);
    put(pins_.s_axi_arsize_i, kBeatSize);
    put(pins_.s_axi_arburst_i, 1);
  }
  pins_.s_axi_rready_i = r_ready_;
}

} // namespace testbench
