// SPDX-License-Identifier: Apache-2.0
#include "master.h"

#include <algorithm>
#include <utility>

namespace testbench {

namespace {

constexpr unsigned kFixed = 0, kIncrementing = 1;

} // namespace

Master::Master(Board &board, unsigned stall_percent)
    : board_(board), pins_(board.pins()), ar_stall_(board.random(), stall_percent),
      r_stall_(board.random(), stall_percent), aw_stall_(board.random(), stall_percent),
      w_stall_(board.random(), stall_percent), b_stall_(board.random(), stall_percent) {
  board.attach(Clock::Axi, *this);
  drop();
}

void Master::read(const Burst &burst, std::function<void(const Bytes &)> done) {
  reads_.push_back({burst, any_id(), std::move(done), 0, {}});
}

void Master::write(const Burst &burst, Bytes data, std::vector<bool> written, std::function<void()> done) {
  writes_.push_back({burst, any_id(), std::move(data), std::move(written), std::move(done), 0, 0});
}

void Master::check(bool kept, const char *what) {
  if (!kept) board_.fail("%s", what);
}

void Master::drop() {
  reads_.clear();
  writes_.clear();
  ar_next_ = aw_next_ = w_next_ = 0;
  ar_valid_ = r_ready_ = aw_valid_ = w_valid_ = b_ready_ = false;
  pins_.s_axi_arvalid_i = pins_.s_axi_rready_i = pins_.s_axi_awvalid_i = pins_.s_axi_wvalid_i = 0;
  pins_.s_axi_bready_i = 0;
  stable_r_.drop();
  stable_b_.drop();
}

void Master::sample() {
  cycles_++;
  if (!pins_.axi_aresetn_i) {
    check(!pins_.s_axi_rvalid_o && !pins_.s_axi_bvalid_o, "RVALID or BVALID during the bridge's reset");
    return;
  }
  sample_read();
  sample_write();
  sample_response();
}

// ---- reads ----

void Master::take_beat(const ReadOutput &output) {
  check(ar_next_ != 0, "RVALID without a read");
  Read &read = reads_.front();
  const BurstBeat beat = beat_of(read.burst, read.beat++);
  const bool last = read.beat == read.burst.beats;
  check(output.id == read.id, "RID is not that of the oldest read");
  check(output.response == 0, "RRESP is not OKAY");
  check(output.last == last, "RLAST is not with the last beat of its burst");
  const auto first = output.data.begin() + static_cast<std::ptrdiff_t>(beat.address % kBeatBytes);
  read.data.insert(read.data.end(), first, first + beat.bytes);
  read_beats.add(cycles_);
  if (!last) return;
  const Read taken = std::move(read);
  reads_.pop_front();
  ar_next_--;
  taken.done(taken.data);
}

void Master::sample_read() {
  if (ar_valid_ && pins_.s_axi_arready_o) {
    ar_valid_ = false;
    ar_next_++;
  }
  ReadOutput output{pins_.s_axi_rid_o, pins_.s_axi_rresp_o, pins_.s_axi_rlast_o, {}};
  get_beat(pins_.s_axi_rdata_o, output.data);
  check(stable_r_.check(pins_.s_axi_rvalid_o, r_ready_, output), "the read channel changed before RREADY");
  if (pins_.s_axi_rvalid_o && r_ready_) take_beat(output);
}

// ---- writes ----

void Master::sample_write() {
  if (aw_valid_ && pins_.s_axi_awready_o) {
    aw_valid_ = false;
    aw_next_++;
  }
  if (w_valid_ && pins_.s_axi_wready_o) {
    w_valid_ = false;
    Write &write = writes_[w_next_];
    write.sent += beat_of(write.burst, write.beat).bytes;
    if (++write.beat == write.burst.beats) w_next_++;
  }
}

void Master::sample_response() {
  const uint64_t output = static_cast<uint64_t>(pins_.s_axi_bresp_o) << 8 | pins_.s_axi_bid_o;
  check(stable_b_.check(pins_.s_axi_bvalid_o, b_ready_, output), "the response channel changed before BREADY");
  if (!pins_.s_axi_bvalid_o || !b_ready_) return;
  check(aw_next_ != 0 && w_next_ != 0, "BVALID before a write's address and data were taken");
  const Write taken = std::move(writes_.front());
  check(pins_.s_axi_bid_o == taken.id, "BID is not that of the oldest write");
  check(pins_.s_axi_bresp_o == 0, "BRESP is not OKAY");
  writes_.pop_front();
  aw_next_--;
  w_next_--;
  taken.done();
}

// ---- inputs of the adapter. What is not valid has random fields ----

void Master::drive() {
  if (!pins_.axi_aresetn_i) return;
  drive_read();
  drive_write_address();
  drive_write_data();
  b_ready_ = !holds_responses && !b_stall_.next();
  pins_.s_axi_bready_i = b_ready_;
}

void Master::drive_read() {
  if (!ar_valid_ && ar_next_ < reads_.size() && !ar_stall_.next()) ar_valid_ = true;
  const uint64_t noise = board_.random().next();
  pins_.s_axi_arvalid_i = ar_valid_;
  Burst burst{noise, static_cast<unsigned>(noise % (kFullSize + 1)), static_cast<unsigned>(1 + noise % 256),
              (noise & 1) != 0};
  if (ar_valid_) burst = reads_[ar_next_].burst;
  put(pins_.s_axi_arid_i, ar_valid_ ? reads_[ar_next_].id : noise % 16);
  put(pins_.s_axi_araddr_i, burst.address);
  put(pins_.s_axi_arlen_i, burst.beats - 1);
  put(pins_.s_axi_arsize_i, burst.size);
  put(pins_.s_axi_arburst_i, burst.fixed ? kFixed : kIncrementing);
  r_ready_ = !holds_responses && !r_stall_.next();
  pins_.s_axi_rready_i = r_ready_;
}

void Master::drive_write_address() {
  if (!aw_valid_ && aw_next_ < writes_.size() && !holds_write_addresses && !aw_stall_.next()) aw_valid_ = true;
  const uint64_t noise = board_.random().next();
  pins_.s_axi_awvalid_i = aw_valid_;
  Burst burst{noise, static_cast<unsigned>(noise % (kFullSize + 1)), static_cast<unsigned>(1 + noise % 256),
              (noise & 1) != 0};
  if (aw_valid_) burst = writes_[aw_next_].burst;
  put(pins_.s_axi_awid_i, aw_valid_ ? writes_[aw_next_].id : noise % 16);
  put(pins_.s_axi_awaddr_i, burst.address);
  put(pins_.s_axi_awlen_i, burst.beats - 1);
  put(pins_.s_axi_awsize_i, burst.size);
  put(pins_.s_axi_awburst_i, burst.fixed ? kFixed : kIncrementing);
}

void Master::drive_write_data() {
  const bool begins = !w_valid_ && w_next_ < writes_.size() && !holds_write_data && !w_stall_.next();
  if (w_valid_ && !begins) return; // unchanged until it is taken
  w_valid_ = begins;
  pins_.s_axi_wvalid_i = w_valid_;
  Beat data;
  for (uint8_t &byte : data)
    byte = static_cast<uint8_t>(board_.random().next());
  uint64_t strobes = board_.random().next();
  if (w_valid_) {
    const Write &write = writes_[w_next_];
    const BurstBeat beat = beat_of(write.burst, write.beat);
    const uint64_t lane = beat.address % kBeatBytes;
    strobes = 0;
    for (unsigned index = 0; index < beat.bytes; index++) {
      data[lane + index] = write.data[write.sent + index];
      strobes |= static_cast<uint64_t>(write.written[write.sent + index]) << (lane + index);
    }
    put(pins_.s_axi_wlast_i, write.beat + 1 == write.burst.beats);
  }
  put_beat(pins_.s_axi_wdata_i, data);
  put(pins_.s_axi_wstrb_i, kBeatBytes == 64 ? strobes : strobes & ((UINT64_C(1) << kBeatBytes % 64) - 1));
}

} // namespace testbench
