# SPDX-License-Identifier: Apache-2.0
# Of each spate_cdc_bit. The bit may come from any clock, so it is named by where it ends. A period of the receiving
# clock also bounds bits side by side: they are seen at most one cycle apart. spate_cdc_fifo.xdc bounds its Gray codes
# more closely, and outranks this, because it names cells on both sides.

set clock [get_clocks -of_objects [get_pins {level_q_reg[0]/C}]]
set_max_delay -datapath_only -from [all_clocks] -to [get_cells {level_q_reg[0]}] [get_property -min PERIOD $clock]
