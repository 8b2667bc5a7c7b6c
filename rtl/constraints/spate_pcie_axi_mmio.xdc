# SPDX-License-Identifier: Apache-2.0
# Of each spate_pcie_axi_mmio. Both words are stable while the toggles tell of them. The access goes on to the bridge
# without a register, so its paths are named by the bridge's clock.

set core_clock [get_clocks -of_objects [get_pins {u_answered/level_q_reg[0]/C}]]
set axi_clock [get_clocks -of_objects [get_pins {u_asked/level_q_reg[0]/C}]]
set period [expr {min([get_property -min PERIOD $core_clock], [get_property -min PERIOD $axi_clock])}]

set access [get_cells {bar_q_reg write_q_reg address_q_reg[*] data_q_reg[*]}]
set answer [get_cells {answer_error_q_reg answer_data_q_reg[*]}]
set_max_delay -datapath_only -from $access -to $axi_clock $period
set_max_delay -datapath_only -from $answer -to $core_clock $period
