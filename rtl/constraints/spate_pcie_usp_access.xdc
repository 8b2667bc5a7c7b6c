# SPDX-License-Identifier: Apache-2.0
# Of each spate_pcie_usp_access. Both words are stable while the toggles tell of them.

set core_clock [get_clocks -of_objects [get_pins {u_answered/level_q_reg[0]/C}]]
set block_clock [get_clocks -of_objects [get_pins {u_asked/level_q_reg[0]/C}]]
set period [expr {min([get_property -min PERIOD $core_clock], [get_property -min PERIOD $block_clock])}]

set_max_delay -datapath_only -from [get_cells request_q_reg*] -to $block_clock $period
set_max_delay -datapath_only -from [get_cells pcie_result_q_reg*] -to $core_clock $period
