// SPDX-License-Identifier: Apache-2.0
//
// The Verilated top `spate_nvme_stripe_axi` with two drives, in the form that the parts of the testbench expect of a
// top with one drive: a drive's pins have the names and types of `spate_nvme_axi`. A StripeModel is the whole model and
// the pins of the first drive; member() has those of the others. It is named like the Verilated class that it replaces
// (SPATE_BENCH_MODEL).
#ifndef SPATE_BENCH_STRIPE_MODEL_H
#define SPATE_BENCH_STRIPE_MODEL_H

#include "Vstripe.h"
#include "verilated.h"

#include <cstdint>
#include <memory>
#include <type_traits>

// Pins that exist once: inputs, outputs.
#define SPATE_STRIPE_SHARED_INPUTS(X)                                                                                  \
  X(clk_i)                                                                                                             \
  X(rst_ni)                                                                                                            \
  X(array_valid_i)                                                                                                     \
  X(array_data_lba_i)                                                                                                  \
  X(array_member_blocks_i)                                                                                             \
  X(app_clk_i)                                                                                                         \
  X(app_rst_ni)                                                                                                        \
  X(cmd_valid_i)                                                                                                       \
  X(cmd_op_i)                                                                                                          \
  X(cmd_source_i)                                                                                                      \
  X(cmd_fua_i)                                                                                                         \
  X(cmd_tag_i)                                                                                                         \
  X(cmd_lba_i)                                                                                                         \
  X(cmd_blocks_i)                                                                                                      \
  X(cmd_address_i)                                                                                                     \
  X(rsp_ready_i)                                                                                                       \
  X(s_axis_tvalid_i)                                                                                                   \
  X(s_axis_tdata_i)                                                                                                    \
  X(s_axis_tkeep_i)                                                                                                    \
  X(s_axis_tlast_i)                                                                                                    \
  X(m_axis_tready_i)
#define SPATE_STRIPE_SHARED_OUTPUTS(X)                                                                                 \
  X(array_frames_o)                                                                                                    \
  X(array_written_blocks_o)                                                                                            \
  X(cmd_ready_o)                                                                                                       \
  X(rsp_valid_o)                                                                                                       \
  X(rsp_tag_o)                                                                                                         \
  X(rsp_status_o)                                                                                                      \
  X(rsp_done_o)                                                                                                        \
  X(s_axis_tready_o)                                                                                                   \
  X(m_axis_tvalid_o)                                                                                                   \
  X(m_axis_tdata_o)                                                                                                    \
  X(m_axis_tlast_o)                                                                                                    \
  X(m_axis_tuser_o)

// Pins of each drive, with the width for one drive. The first drive's `axi_aclk_i` is used for all.
#define SPATE_STRIPE_DRIVE_INPUTS(X)                                                                                   \
  X(s_axil_awaddr_i, 14)                                                                                               \
  X(s_axil_awvalid_i, 1)                                                                                               \
  X(s_axil_wdata_i, 32)                                                                                                \
  X(s_axil_wstrb_i, 4)                                                                                                 \
  X(s_axil_wvalid_i, 1)                                                                                                \
  X(s_axil_bready_i, 1)                                                                                                \
  X(s_axil_araddr_i, 14)                                                                                               \
  X(s_axil_arvalid_i, 1)                                                                                               \
  X(s_axil_rready_i, 1)                                                                                                \
  X(axi_aresetn_i, 1)                                                                                                  \
  X(user_link_up_i, 1)                                                                                                 \
  X(s_axi_awid_i, 4)                                                                                                   \
  X(s_axi_awaddr_i, 64)                                                                                                \
  X(s_axi_awlen_i, 8)                                                                                                  \
  X(s_axi_awsize_i, 3)                                                                                                 \
  X(s_axi_awburst_i, 2)                                                                                                \
  X(s_axi_awvalid_i, 1)                                                                                                \
  X(s_axi_wdata_i, 256)                                                                                                \
  X(s_axi_wstrb_i, 32)                                                                                                 \
  X(s_axi_wlast_i, 1)                                                                                                  \
  X(s_axi_wvalid_i, 1)                                                                                                 \
  X(s_axi_bready_i, 1)                                                                                                 \
  X(s_axi_arid_i, 4)                                                                                                   \
  X(s_axi_araddr_i, 64)                                                                                                \
  X(s_axi_arlen_i, 8)                                                                                                  \
  X(s_axi_arsize_i, 3)                                                                                                 \
  X(s_axi_arburst_i, 2)                                                                                                \
  X(s_axi_arvalid_i, 1)                                                                                                \
  X(s_axi_rready_i, 1)                                                                                                 \
  X(m_axi_awready_i, 1)                                                                                                \
  X(m_axi_wready_i, 1)                                                                                                 \
  X(m_axi_bresp_i, 2)                                                                                                  \
  X(m_axi_bvalid_i, 1)                                                                                                 \
  X(m_axi_arready_i, 1)                                                                                                \
  X(m_axi_rdata_i, 256)                                                                                                \
  X(m_axi_rresp_i, 2)                                                                                                  \
  X(m_axi_rvalid_i, 1)                                                                                                 \
  X(c_axil_awready_i, 1)                                                                                               \
  X(c_axil_wready_i, 1)                                                                                                \
  X(c_axil_bresp_i, 2)                                                                                                 \
  X(c_axil_bvalid_i, 1)                                                                                                \
  X(c_axil_arready_i, 1)                                                                                               \
  X(c_axil_rdata_i, 32)                                                                                                \
  X(c_axil_rresp_i, 2)                                                                                                 \
  X(c_axil_rvalid_i, 1)                                                                                                \
  X(tap_awid_i, 4)                                                                                                     \
  X(tap_awvalid_i, 1)                                                                                                  \
  X(tap_awready_i, 1)                                                                                                  \
  X(tap_bid_i, 4)                                                                                                      \
  X(tap_bvalid_i, 1)                                                                                                   \
  X(tap_bready_i, 1)
#define SPATE_STRIPE_DRIVE_OUTPUTS(X)                                                                                  \
  X(s_axil_awready_o, 1)                                                                                               \
  X(s_axil_wready_o, 1)                                                                                                \
  X(s_axil_bresp_o, 2)                                                                                                 \
  X(s_axil_bvalid_o, 1)                                                                                                \
  X(s_axil_arready_o, 1)                                                                                               \
  X(s_axil_rdata_o, 32)                                                                                                \
  X(s_axil_rresp_o, 2)                                                                                                 \
  X(s_axil_rvalid_o, 1)                                                                                                \
  X(perst_no, 1)                                                                                                       \
  X(s_axi_awready_o, 1)                                                                                                \
  X(s_axi_wready_o, 1)                                                                                                 \
  X(s_axi_bid_o, 4)                                                                                                    \
  X(s_axi_bresp_o, 2)                                                                                                  \
  X(s_axi_bvalid_o, 1)                                                                                                 \
  X(s_axi_arready_o, 1)                                                                                                \
  X(s_axi_rid_o, 4)                                                                                                    \
  X(s_axi_rdata_o, 256)                                                                                                \
  X(s_axi_rresp_o, 2)                                                                                                  \
  X(s_axi_rlast_o, 1)                                                                                                  \
  X(s_axi_rvalid_o, 1)                                                                                                 \
  X(m_axi_awaddr_o, 64)                                                                                                \
  X(m_axi_awsize_o, 3)                                                                                                 \
  X(m_axi_awvalid_o, 1)                                                                                                \
  X(m_axi_wdata_o, 256)                                                                                                \
  X(m_axi_wstrb_o, 32)                                                                                                 \
  X(m_axi_wvalid_o, 1)                                                                                                 \
  X(m_axi_bready_o, 1)                                                                                                 \
  X(m_axi_araddr_o, 64)                                                                                                \
  X(m_axi_arsize_o, 3)                                                                                                 \
  X(m_axi_arvalid_o, 1)                                                                                                \
  X(m_axi_rready_o, 1)                                                                                                 \
  X(c_axil_awaddr_o, 32)                                                                                               \
  X(c_axil_awvalid_o, 1)                                                                                               \
  X(c_axil_wdata_o, 32)                                                                                                \
  X(c_axil_wstrb_o, 4)                                                                                                 \
  X(c_axil_wvalid_o, 1)                                                                                                \
  X(c_axil_bready_o, 1)                                                                                                \
  X(c_axil_araddr_o, 32)                                                                                               \
  X(c_axil_arvalid_o, 1)                                                                                               \
  X(c_axil_rready_o, 1)

class StripeModel {
public:
  static constexpr unsigned kDrives = 2;

  StripeModel(VerilatedContext *context, const char *name);
  ~StripeModel();
  StripeModel &member(unsigned index) { return index == 0 ? *this : *other_; }
  void eval();
  void final() { whole_->final(); }

  // Verilator's type for a pin of this many bits.
  template <unsigned Bits>
  using Pin = std::conditional_t<
      Bits <= 8, CData,
      std::conditional_t<
          Bits <= 16, SData,
          std::conditional_t<Bits <= 32, IData, std::conditional_t<Bits <= 64, QData, VlWide<(Bits + 31) / 32>>>>>;

  CData axi_aclk_i = 0;
#define SPATE_STRIPE_PIN(name) std::remove_reference_t<decltype(std::declval<Vstripe &>().name)> name{};
  SPATE_STRIPE_SHARED_INPUTS(SPATE_STRIPE_PIN)
  SPATE_STRIPE_SHARED_OUTPUTS(SPATE_STRIPE_PIN)
#undef SPATE_STRIPE_PIN
#define SPATE_STRIPE_PIN(name, bits) Pin<bits> name{};
  SPATE_STRIPE_DRIVE_INPUTS(SPATE_STRIPE_PIN)
  SPATE_STRIPE_DRIVE_OUTPUTS(SPATE_STRIPE_PIN)
#undef SPATE_STRIPE_PIN

private:
  StripeModel();

  std::unique_ptr<Vstripe> whole_; // in the first drive's object
  std::unique_ptr<StripeModel> other_;
};

#endif
