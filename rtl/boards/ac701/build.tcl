# SPDX-License-Identifier: Apache-2.0
#
# NEVER BUILT. Vivado version assumed: 2023.2.
#
# Makes build/spate_ac701.bit, with reports beside it: `vivado -mode batch -source build.tcl`. It ends with an error,
# and no bitstream, when timing is not met.

# What may differ.
set part xc7a200tfbg676-2
set jobs 4

set here [file dirname [file normalize [info script]]]
source [file join $here .. project.tcl]
source [file join $here .. axi_pcie.tcl]

begin_project ac701 $part read_axi.tcl
create_axi_pcie X0Y0 {XLNX_REF_BOARD AC701}
create_bench

# The lanes' cells are in the bridge's netlist.
add_files -fileset constrs_1 -norecurse [list [file join $here lanes.xdc]]
set_property used_in {implementation} [get_files lanes.xdc]

puts [finish_project ac701 $jobs {u_mmcm/CLKOUT0 u_board/u_pcie/axi_aclk_out}]
