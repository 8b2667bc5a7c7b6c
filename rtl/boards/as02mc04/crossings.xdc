# SPDX-License-Identifier: Apache-2.0
#
# NEVER BUILT. Vivado version assumed: 2023.2.
#
# What crosses between the core's clock and the block's user clock, of 126 and 125 MHz: docs/use/gateware.md, Clocks and
# resets. rtl/constraints has the constraints of each crossing module. Those here bound every path between the two
# clocks, also if a name there is not found. build.tcl reads this file for implementation only, because the block's
# clocks are in its netlist. 7.936 ns is the shorter period.

set core_clk [get_clocks -of_objects [get_pins u_mmcm/CLKOUT0]]
set user_clk [get_clocks -of_objects [get_pins u_board/u_pcie/user_clk]]
set_max_delay -datapath_only -from $core_clk -to $user_clk 7.936
set_max_delay -datapath_only -from $user_clk -to $core_clk 7.936

# The block takes its reset as an asynchronous one, in several clocks. phy_rdy_out is a level for a person.
set_false_path -through [get_pins u_board/u_pcie/sys_reset]
set_false_path -through [get_pins u_board/u_pcie/phy_rdy_out]
