// SPDX-License-Identifier: Apache-2.0
// The pins of both ports. Responses that are not valid have random fields.
#include "slave.h"

#include "bench.h"

namespace testbench {

namespace {

constexpr unsigned kDwordSize = 2;

} // namespace

// ---- m_axi ----

BarSlave::BarSlave(Board &board, unsigned stall_percent)
    : Slave(board, "m_axi", kAdapterBarBase, kBarBytes, stall_percent) {
  drop();
}

Slave::Requests BarSlave::requests() const {
  Requests seen{};
  seen.aw_valid = pins_.m_axi_awvalid_o;
  seen.w_valid = pins_.m_axi_wvalid_o;
  seen.ar_valid = pins_.m_axi_arvalid_o;
  seen.b_ready = pins_.m_axi_bready_o;
  seen.r_ready = pins_.m_axi_rready_o;
  seen.aw_size = pins_.m_axi_awsize_o;
  seen.ar_size = pins_.m_axi_arsize_o;
  seen.aw_address = pins_.m_axi_awaddr_o;
  seen.ar_address = pins_.m_axi_araddr_o;
  seen.strobes = pins_.m_axi_wstrb_o;
  get_beat(pins_.m_axi_wdata_o, seen.data);
  return seen;
}

void BarSlave::show(const Answers &answers) {
  pins_.m_axi_awready_i = answers.aw_ready;
  pins_.m_axi_wready_i = answers.w_ready;
  pins_.m_axi_arready_i = answers.ar_ready;
  pins_.m_axi_bvalid_i = answers.b_valid;
  pins_.m_axi_rvalid_i = answers.r_valid;
  const uint64_t noise = board_.random().next();
  put(pins_.m_axi_bresp_i, answers.b_valid ? answers.b_response : noise & 3);
  put(pins_.m_axi_rresp_i, answers.r_valid ? answers.r_response : noise >> 2 & 3);
  // The lanes around the dword are random.
  Beat beat;
  for (uint8_t &byte : beat)
    byte = static_cast<uint8_t>(board_.random().next());
  if (answers.r_valid)
    __builtin_memcpy(beat.data() + answers.r_address % kBeatBytes, &answers.r_data, sizeof answers.r_data);
  if (!answers.r_valid || !r_shown_) put_beat(pins_.m_axi_rdata_i, beat);
  r_shown_ = answers.r_valid;
}

// ---- c_axil ----

ControlSlave::ControlSlave(Board &board, unsigned stall_percent)
    : Slave(board, "c_axil", 0, kControlBytes, stall_percent) {
  drop();
}

Slave::Requests ControlSlave::requests() const {
  Requests seen{};
  seen.aw_valid = pins_.c_axil_awvalid_o;
  seen.w_valid = pins_.c_axil_wvalid_o;
  seen.ar_valid = pins_.c_axil_arvalid_o;
  seen.b_ready = pins_.c_axil_bready_o;
  seen.r_ready = pins_.c_axil_rready_o;
  seen.aw_size = seen.ar_size = kDwordSize;
  seen.aw_address = pins_.c_axil_awaddr_o;
  seen.ar_address = pins_.c_axil_araddr_o;
  seen.strobes = pins_.c_axil_wstrb_o;
  const uint32_t data = pins_.c_axil_wdata_o;
  __builtin_memcpy(seen.data.data(), &data, sizeof data);
  return seen;
}

void ControlSlave::show(const Answers &answers) {
  pins_.c_axil_awready_i = answers.aw_ready;
  pins_.c_axil_wready_i = answers.w_ready;
  pins_.c_axil_arready_i = answers.ar_ready;
  pins_.c_axil_bvalid_i = answers.b_valid;
  pins_.c_axil_rvalid_i = answers.r_valid;
  const uint64_t noise = board_.random().next();
  put(pins_.c_axil_bresp_i, answers.b_valid ? answers.b_response : noise & 3);
  put(pins_.c_axil_rresp_i, answers.r_valid ? answers.r_response : noise >> 2 & 3);
  put(pins_.c_axil_rdata_i, answers.r_valid ? answers.r_data : noise >> 32);
}

} // namespace testbench
