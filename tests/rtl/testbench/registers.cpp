// SPDX-License-Identifier: Apache-2.0
#include "registers.h"

namespace testbench {

namespace {

constexpr uint64_t kCyclesMax = 10'000;

} // namespace

Registers::Registers(Board &board) : board_(board), pins_(board.pins()) { board.attach(Clock::Core, *this); }

uint32_t Registers::read(uint32_t offset) {
  offset_ = offset;
  reading_ = ar_ = true;
  if (!board_.run_until([this] { return !reading_; }, kCyclesMax)) board_.fail("register 0x%x does not answer", offset);
  return value_;
}

void Registers::write(uint32_t offset, uint32_t value) {
  offset_ = offset;
  value_ = value;
  writing_ = aw_ = w_ = true;
  if (!board_.run_until([this] { return !writing_; }, kCyclesMax))
    board_.fail("register 0x%x does not take a write", offset);
}

void Registers::sample() {
  ar_ = ar_ && !(pins_.s_axil_arvalid_i && pins_.s_axil_arready_o);
  aw_ = aw_ && !(pins_.s_axil_awvalid_i && pins_.s_axil_awready_o);
  w_ = w_ && !(pins_.s_axil_wvalid_i && pins_.s_axil_wready_o);
  if (pins_.s_axil_rvalid_o && pins_.s_axil_rready_i) {
    if (pins_.s_axil_rresp_o != 0) board_.fail("register 0x%x answers with an error", offset_);
    value_ = pins_.s_axil_rdata_o;
    reading_ = false;
  }
  if (pins_.s_axil_bvalid_o && pins_.s_axil_bready_i) {
    if (pins_.s_axil_bresp_o != 0) board_.fail("register 0x%x answers a write with an error", offset_);
    writing_ = false;
  }
}

void Registers::drive() {
  pins_.s_axil_arvalid_i = ar_;
  put(pins_.s_axil_araddr_i, offset_);
  pins_.s_axil_rready_i = reading_;
  pins_.s_axil_awvalid_i = aw_;
  put(pins_.s_axil_awaddr_i, offset_);
  pins_.s_axil_wvalid_i = w_;
  pins_.s_axil_wdata_i = value_;
  pins_.s_axil_wstrb_i = 0xf;
  pins_.s_axil_bready_i = writing_;
}

} // namespace testbench
