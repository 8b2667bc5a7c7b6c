# SPDX-License-Identifier: Apache-2.0
# Clocks of spate_nvme_stripe_axi with two drives alone, out of context, and which ports belong to which. The periods,
# in ns, are an example: all differ. Ports that are not here may come from any clock: the resets of the user and of the
# bridges, and user_link_up_i.

set core_clock [create_clock -name core_clock -period 4.0 [get_ports clk_i]]
set app_clock [create_clock -name app_clock -period 6.4 [get_ports app_clk_i]]
set axi_clocks [list [create_clock -name axi_clock_0 -period 5.0 [get_ports {axi_aclk_i[0]}]] \
  [create_clock -name axi_clock_1 -period 3.2 [get_ports {axi_aclk_i[1]}]]]

set core {rst_ni array_* s_axil_* irq_o* perst_no*}
set user {cmd_* rsp_* drive_* s_axis_* m_axis_*}

foreach {clock ports} [list $core_clock $core $app_clock $user] {
  set_input_delay -clock $clock 0.0 [get_ports -filter {DIRECTION == IN} $ports]
  set_output_delay -clock $clock 0.0 [get_ports -filter {DIRECTION == OUT} $ports]
}

# Each port of the bridges has the bits of drive 0, then those of drive 1.
foreach first [get_ports {s_axi_*[0] m_axi_*[0] c_axil_*[0] tap_*[0]}] {
  set ports [lsort -dictionary [get_ports "[string range $first 0 end-3]\[*\]"]]
  set half [expr {[llength $ports] / 2}]
  set command [expr {[get_property DIRECTION $first] eq "IN" ? "set_input_delay" : "set_output_delay"}]
  $command -clock [lindex $axi_clocks 0] 0.0 [lrange $ports 0 [expr {$half - 1}]]
  $command -clock [lindex $axi_clocks 1] 0.0 [lrange $ports $half end]
}
