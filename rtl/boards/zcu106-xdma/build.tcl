# SPDX-License-Identifier: Apache-2.0
#
# NEVER BUILT. Vivado version assumed: 2023.2.
#
# Makes build/spate_zcu106-xdma.bit, and the hardware description (.xsa) that Vitis makes the loader from, with reports
# beside them: `vivado -mode batch -source build.tcl`. It ends with an error, and no bitstream, when timing is not met.

# What may differ.
set part xczu7ev-ffvc1156-2-e
set board_part xilinx.com:zcu106:part0:2.6
set jobs 4

set here [file dirname [file normalize [info script]]]
source [file join $here .. project.tcl]

create_project -force -part $part spate_zcu106-xdma [file join $build project]
if {[get_board_parts -quiet $board_part] eq ""} {
  error [concat "this Vivado has no $board_part: install it (Tools, Vivado Store, Boards), or name the one that" \
    "`get_board_parts *zcu106*` lists in build.tcl"]
}
set_property board_part $board_part [current_project]
source [file join $here design.tcl]
make_wrapper -files [get_files spate.bd] -top -import
set_property top spate_wrapper [current_fileset]
update_compile_order -fileset sources_1

# The lanes' cells are in the bridge's netlist.
add_files -fileset constrs_1 -norecurse [list [file join $here zcu106-xdma.xdc] [file join $here lanes.xdc]]
set_property used_in {implementation} [get_files lanes.xdc]

puts [finish_project zcu106-xdma $jobs {}]
write_hw_platform -fixed -force -file [file join $build spate_zcu106-xdma.xsa]
