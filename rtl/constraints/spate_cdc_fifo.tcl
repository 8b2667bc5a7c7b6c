# SPDX-License-Identifier: Apache-2.0
# Of each spate_cdc_fifo between two clocks. The bits of a Gray code must arrive less than a period apart, or the other
# side sees a position that there never was. A word is stable while it is read: it must arrive before its position does.
# out_data_q may be gone, where nothing reads the words.

set in_clock [get_clocks -of_objects [get_pins {gen_far[0].u_head/level_q_reg[0]/C}]]
set out_clock [get_clocks -of_objects [get_pins {gen_far[0].u_tail/level_q_reg[0]/C}]]

if {$in_clock ne $out_clock} {
  set period [expr {min([get_property -min PERIOD $in_clock], [get_property -min PERIOD $out_clock])}]
  foreach {gray far} {tail_gray_q u_tail head_gray_q u_head} {
    set from [get_cells "${gray}_reg\[*\]"]
    set to [get_cells "gen_far\[*\].${far}/level_q_reg\[0\]"]
    set_max_delay -datapath_only -from $from -to $to $period
    set_bus_skew -from $from -to $to $period
  }
  set words [get_cells -quiet out_data_q_reg*]
  if {[llength $words] > 0} {
    set_max_delay -datapath_only -from $in_clock -to $words $period
  }
}
