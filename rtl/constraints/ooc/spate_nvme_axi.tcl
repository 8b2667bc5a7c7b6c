# SPDX-License-Identifier: Apache-2.0
# Clocks of spate_nvme_axi alone, out of context, and which ports belong to which. The periods, in ns, are an example:
# all differ. Ports that are not here may come from any clock: the resets of the user and of the bridge, and
# user_link_up_i.

set core_clock [create_clock -name core_clock -period 4.0 [get_ports clk_i]]
set app_clock [create_clock -name app_clock -period 6.4 [get_ports app_clk_i]]
set axi_clock [create_clock -name axi_clock -period 5.0 [get_ports axi_aclk_i]]

set core {rst_ni s_axil_* irq_o perst_no ring_axi_*}
set user {cmd_* rsp_* drive_* s_axis_* m_axis_*}
set axi {s_axi_* m_axi_* c_axil_* tap_*}

foreach {clock ports} [list $core_clock $core $app_clock $user $axi_clock $axi] {
  set_input_delay -clock $clock 0.0 [get_ports -filter {DIRECTION == IN} $ports]
  set_output_delay -clock $clock 0.0 [get_ports -filter {DIRECTION == OUT} $ports]
}
