# SPDX-License-Identifier: Apache-2.0
# Clocks of spate_nvme_usp alone, out of context, and which ports belong to which. The periods, in ns, are an example:
# all differ. Ports that are not here may come from any clock: the resets of the user and of the block.

set core_clock [create_clock -name core_clock -period 4.0 [get_ports clk_i]]
set app_clock [create_clock -name app_clock -period 6.4 [get_ports app_clk_i]]
set block_clock [create_clock -name block_clock -period 5.0 [get_ports pcie_clk_i]]

set core {rst_ni s_axil_* irq_o perst_no}
set user {cmd_* rsp_* drive_* s_axis_* m_axis_*}
set block {pcie_lnk_up_i cfg_max_payload_i* pcie_m_axis_* pcie_s_axis_* pcie_cq_* cfg_mgmt_*}

foreach {clock ports} [list $core_clock $core $app_clock $user $block_clock $block] {
  set_input_delay -clock $clock 0.0 [get_ports -filter {DIRECTION == IN} $ports]
  set_output_delay -clock $clock 0.0 [get_ports -filter {DIRECTION == OUT} $ports]
}
