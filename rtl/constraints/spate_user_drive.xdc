# SPDX-License-Identifier: Apache-2.0
# Of each spate_user_drive. The values are stable while u_ready or u_gone says so. Those that a design leaves open are
# gone.

set core_clock [get_clocks -of_objects [get_pins gone_q_reg/C]]
set app_clock [get_clocks -of_objects [get_pins {u_gone/level_q_reg[0]/C}]]
set period [expr {min([get_property -min PERIOD $core_clock], [get_property -min PERIOD $app_clock])}]

set values [get_cells -quiet {drive_step_o_reg* drive_error_o_reg* drive_block_4096_o_reg drive_blocks_o_reg*}]
set_max_delay -quiet -datapath_only -from $core_clock -to $values $period
