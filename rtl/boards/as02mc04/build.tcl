# SPDX-License-Identifier: Apache-2.0
#
# NEVER BUILT. Vivado version assumed: 2023.2.
#
# Makes build/spate_as02mc04.bit, with reports beside it: `vivado -mode batch -source build.tcl`. It ends with an error,
# and no bitstream, when timing is not met.

# What may differ. Sources disagree on the card's speed grade: a design that meets timing for -1 also meets it for -2.
set part xcku3p-ffvb676-1-e
set jobs 4

set here [file dirname [file normalize [info script]]]
source [file join $here .. project.tcl]
source [file join $here .. usp.tcl]

begin_project as02mc04 $part read_usp.tcl
create_usp GTY_Quad_225 X0Y0
create_bench

# The bitstream, also for the flash.
set bitstream [finish_project as02mc04 $jobs {u_mmcm/CLKOUT0 u_board/u_pcie/user_clk}]
write_cfgmem -force -format mcs -interface SPIx4 -size 32 -loadbit "up 0 $bitstream" [file rootname $bitstream].mcs
puts "$bitstream"
