# SPDX-License-Identifier: Apache-2.0
# Of each spate_cdc_fifo between two clocks. The bits of a Gray code must arrive less than a period apart, or the other
# side sees a position that there never was. A word is stable while it is read: it must arrive before its position does.
# Where nothing reads the words, both ends of the last line are gone. With one clock on both sides these paths may take
# a period without skew, which the synchronisers tolerate, too.

set in_clock [get_clocks -of_objects [get_pins {gen_far[0].u_head/level_q_reg[0]/C}]]
set out_clock [get_clocks -of_objects [get_pins {gen_far[0].u_tail/level_q_reg[0]/C}]]
set period [expr {min([get_property -min PERIOD $in_clock], [get_property -min PERIOD $out_clock])}]

set tail [get_cells {tail_gray_q_reg[*]}]
set tail_far [get_cells {gen_far[*].u_tail/level_q_reg[0]}]
set_max_delay -datapath_only -from $tail -to $tail_far $period
set_bus_skew -from $tail -to $tail_far $period

set head [get_cells {head_gray_q_reg[*]}]
set head_far [get_cells {gen_far[*].u_head/level_q_reg[0]}]
set_max_delay -datapath_only -from $head -to $head_far $period
set_bus_skew -from $head -to $head_far $period

set_max_delay -quiet -datapath_only -from [get_cells -quiet words_reg*] -to [get_cells -quiet out_data_q_reg*] $period
