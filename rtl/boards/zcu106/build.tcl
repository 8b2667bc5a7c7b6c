# SPDX-License-Identifier: Apache-2.0
#
# NEVER BUILT. Vivado version assumed: 2023.2.
#
# Makes build/spate_zcu106.bit, with reports beside it: `vivado -mode batch -source build.tcl`. It ends with an error,
# and no bitstream, when timing is not met.

# What may differ.
set part xczu7ev-ffvc1156-2-e
set jobs 4

set here [file dirname [file normalize [info script]]]
source [file join $here .. project.tcl]
source [file join $here .. usp.tcl]

begin_project zcu106 $part read_usp.tcl
# The quad and the block of SSD1 on HPC0, and the settings of short lanes: fpgadeveloper/fpga-drive-aximm-pcie,
# Vivado/src/bd, gt_locs.tcl and bd_zynqmp.tcl. The block's default is for an add-in card, whose lanes lose more.
create_usp GTH_Quad_226 X0Y1 {plltype QPLL1 ins_loss_profile Chip-to-Chip}
create_bench

# The lanes' cells are in the block's netlist.
add_files -fileset constrs_1 -norecurse [list [file join $here lanes.xdc]]
set_property used_in {implementation} [get_files lanes.xdc]

puts [finish_project zcu106 $jobs {u_mmcm/CLKOUT0 u_board/u_pcie/user_clk}]
