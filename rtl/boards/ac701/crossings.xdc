# SPDX-License-Identifier: Apache-2.0
#
# NEVER BUILT. Vivado version assumed: 2023.2.
#
# What crosses between the core's clock, 130 MHz, and the bridge's, which is slower: docs/use/gateware.md, Clocks and
# resets. rtl/constraints has the constraints of each crossing module. Those here bound every path between the two
# clocks, also if a name there is not found. build.tcl reads this file for implementation only, because the bridge's
# clocks are in its netlist. 7.692 ns is the shorter period.

set core_clk [get_clocks -of_objects [get_pins u_mmcm/CLKOUT0]]
set bridge_clk [get_clocks -of_objects [get_pins u_board/u_pcie/axi_aclk_out]]
set_max_delay -datapath_only -from $core_clk -to $bridge_clk 7.692
set_max_delay -datapath_only -from $bridge_clk -to $core_clk 7.692

# The bridge takes its reset as an asynchronous one. mmcm_lock is a level that a synchroniser takes.
set_false_path -through [get_pins u_board/u_pcie/axi_aresetn]
set_false_path -through [get_pins u_board/u_pcie/mmcm_lock]
