// SPDX-License-Identifier: Apache-2.0
// The core's accesses: single beats to the drive's BAR, and AXI4-Lite to configuration space.
#include "bridge.h"

namespace testbench {

namespace {

constexpr uint32_t kBus1 = 0x10'0000, kFunctionBytes = 0x1000;
constexpr uint8_t kOkay = 0, kSlaveError = 2;

} // namespace

// The callback for an access that is issued now. If it is called after a reset or the timeout, the number differs.
Downstream::Answer Bridge::answer_to(Access &access) {
  return [this, &access, number = access.number](bool ok, uint32_t value) {
    if (access.number != number || access.state != Access::Waiting) return;
    access.state = Access::Answering;
    access.ok = ok;
    access.data = value;
  };
}

// There is no device: respond as configured.
void Bridge::no_answer(Access &access) {
  if (config_.no_link == NoLink::Hang) return;
  access.state = Access::Answering;
  access.ok = config_.no_link == NoLink::Zeros;
  access.data = access.ok ? 0 : UINT32_MAX;
}

void Bridge::carry_out_register(Access &access) {
  const uint64_t bus_address = access.address - config_.bar_axi_base + config_.bar_bus_base;
  if (!below_->link_up() || !root_port_.forwards_memory(bus_address)) {
    // A write is posted: the failure is not visible.
    if (access.write) {
      access.state = Access::Answering;
      access.ok = true;
    } else {
      no_answer(access);
    }
    return;
  }
  if (!root_port_.times_out_by_default())
    board_.fail("the root port's completion timeout was not set before the drive is used");
  if (access.write) {
    see(Seen::RegisterWrite, bus_address);
    below_->memory_write(bus_address, access.data);
    access.state = Access::Answering;
    access.ok = true;
  } else {
    below_->memory_read(bus_address, answer_to(access));
  }
}

void Bridge::carry_out_config(Access &access) {
  const uint32_t offset = static_cast<uint32_t>(access.address);
  if (offset < kFunctionBytes) { // the root port
    if (access.write)
      root_port_.write(offset, access.data);
    else
      access.data = root_port_.read(offset, link_shown_);
    access.state = Access::Answering;
    access.ok = true;
  } else if (offset >= kBus1 && offset < kBus1 + kFunctionBytes && root_port_.forwards_config() && below_->link_up()) {
    if (access.write)
      below_->config_write(offset - kBus1, access.data, answer_to(access));
    else
      below_->config_read(offset - kBus1, answer_to(access));
  } else {
    no_answer(access);
  }
}

void Bridge::carry_out(Access &access) {
  access.state = Access::Waiting;
  access.number++;
  access.ok = true;
  access.deadline_ps = board_.now_ps() + config_.completion_timeout_us * UINT64_C(1000000);
  if (&access == &bar_write_ || &access == &bar_read_)
    carry_out_register(access);
  else
    carry_out_config(access);
}

// What all four kinds of access share, after the pins were sampled.
void Bridge::sample_access(Access &access) {
  if (access.state == Access::Idle && access.address_taken && (access.data_taken || !access.write)) {
    access.address_taken = access.data_taken = false;
    carry_out(access);
  } else if (access.state == Access::Waiting && board_.now_ps() > access.deadline_ps) {
    no_answer(access);
  }
  const bool idle = access.state == Access::Idle;
  access.address_ready = idle && !access.address_taken && go();
  access.data_ready = idle && access.write && !access.data_taken && go();
}

void Bridge::check_registers() {
  Beat data;
  get_beat(pins_.m_axi_wdata_o, data);
  check(stable_m_aw_.check(pins_.m_axi_awvalid_o, bar_write_.address_ready, pins_.m_axi_awaddr_o), "m_axi: AW changed");
  check(stable_m_w_.check(pins_.m_axi_wvalid_o, bar_write_.data_ready, data), "m_axi: W changed");
  check(stable_m_ar_.check(pins_.m_axi_arvalid_o, bar_read_.address_ready, pins_.m_axi_araddr_o), "m_axi: AR changed");
  check(stable_c_aw_.check(pins_.c_axil_awvalid_o, config_write_.address_ready, pins_.c_axil_awaddr_o),
        "c_axil: AW changed");
  check(stable_c_w_.check(pins_.c_axil_wvalid_o, config_write_.data_ready, pins_.c_axil_wdata_o), "c_axil: W changed");
  check(stable_c_ar_.check(pins_.c_axil_arvalid_o, config_read_.address_ready, pins_.c_axil_araddr_o),
        "c_axil: AR changed");
}

void Bridge::sample_registers() {
  check_registers();
  if (pins_.m_axi_awvalid_o && bar_write_.address_ready) {
    check(pins_.m_axi_awsize_o == 2 && pins_.m_axi_awaddr_o % 4 == 0, "m_axi: a write that is not of one dword");
    bar_write_.address_taken = true;
    bar_write_.address = pins_.m_axi_awaddr_o;
  }
  if (pins_.m_axi_wvalid_o && bar_write_.data_ready) {
    // The lane follows from the address, which may come later: keep the dword that the strobes select.
    const uint64_t strobes = pins_.m_axi_wstrb_o;
    const unsigned lane = strobes == 0 ? 0 : static_cast<unsigned>(__builtin_ctzll(strobes));
    check(lane % 4 == 0 && strobes == UINT64_C(0xf) << lane, "m_axi: strobes that are not of one dword");
    bar_write_.data_taken = true;
    bar_write_.data = pins_.m_axi_wdata_o.data()[lane / 4];
  }
  if (pins_.m_axi_arvalid_o && bar_read_.address_ready) {
    check(pins_.m_axi_arsize_o == 2 && pins_.m_axi_araddr_o % 4 == 0, "m_axi: a read that is not of one dword");
    bar_read_.address_taken = true;
    bar_read_.address = pins_.m_axi_araddr_o;
  }
  if (pins_.c_axil_awvalid_o && config_write_.address_ready) {
    config_write_.address_taken = true;
    config_write_.address = pins_.c_axil_awaddr_o;
  }
  if (pins_.c_axil_wvalid_o && config_write_.data_ready) {
    check(pins_.c_axil_wstrb_o == 0xf, "c_axil: strobes that are not of one dword");
    config_write_.data_taken = true;
    config_write_.data = pins_.c_axil_wdata_o;
  }
  if (pins_.c_axil_arvalid_o && config_read_.address_ready) {
    config_read_.address_taken = true;
    config_read_.address = pins_.c_axil_araddr_o;
  }
  const auto taken = [](Access &access, bool ready) {
    if (access.state == Access::Answering && ready) access.state = Access::Idle;
  };
  taken(bar_write_, pins_.m_axi_bready_o && pins_.m_axi_bvalid_i);
  taken(bar_read_, pins_.m_axi_rready_o && pins_.m_axi_rvalid_i);
  taken(config_write_, pins_.c_axil_bready_o && pins_.c_axil_bvalid_i);
  taken(config_read_, pins_.c_axil_rready_o && pins_.c_axil_rvalid_i);
  for (Access *access : {&bar_write_, &bar_read_, &config_write_, &config_read_})
    sample_access(*access);
}

void Bridge::drive_registers() {
  const auto response = [](const Access &access) { return access.ok ? kOkay : kSlaveError; };
  pins_.m_axi_awready_i = bar_write_.address_ready;
  pins_.m_axi_wready_i = bar_write_.data_ready;
  pins_.m_axi_bvalid_i = bar_write_.state == Access::Answering;
  put(pins_.m_axi_bresp_i, response(bar_write_));
  pins_.m_axi_arready_i = bar_read_.address_ready;
  pins_.m_axi_rvalid_i = bar_read_.state == Access::Answering;
  put(pins_.m_axi_rresp_i, response(bar_read_));
  Beat beat{};
  const std::size_t lane = bar_read_.address % kBeatBytes;
  __builtin_memcpy(beat.data() + lane, &bar_read_.data, sizeof bar_read_.data);
  put_beat(pins_.m_axi_rdata_i, beat);
  pins_.c_axil_awready_i = config_write_.address_ready;
  pins_.c_axil_wready_i = config_write_.data_ready;
  pins_.c_axil_bvalid_i = config_write_.state == Access::Answering;
  put(pins_.c_axil_bresp_i, response(config_write_));
  pins_.c_axil_arready_i = config_read_.address_ready;
  pins_.c_axil_rvalid_i = config_read_.state == Access::Answering;
  put(pins_.c_axil_rresp_i, response(config_read_));
  put(pins_.c_axil_rdata_i, config_read_.data);
}

} // namespace testbench
