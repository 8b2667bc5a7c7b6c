# SPDX-License-Identifier: Apache-2.0
#
# NEVER BUILT. Vivado version assumed: 2023.2.
#
# The lanes of SSD1. HPC0 has DP0 to DP3 at the channels 2, 1, 3, 0 of quad 226 (UG1244; the master XDC of the board
# names the bank and channel of each pin). The block would place lanes 0 to 3 in the order of the channels. So each
# channel gets its place here, and the pins follow from it: pins in the constraints would contradict the block's own,
# and lose (enjoy-digital/litepcie issues 87 and 115). Cells and places are those of zcu106_hpc0.xdc of
# fpgadeveloper/fpga-drive-aximm-pcie.
#
#   lane  FMC  channel  transmit  receive
#   0     DP0  X0Y14    R6 R5     R2 R1
#   1     DP1  X0Y13    T4 T3     U2 U1
#   2     DP2  X0Y15    N6 N5     P4 P3
#   3     DP3  X0Y12    U6 U5     V4 V3

set_property LOC GTHE4_CHANNEL_X0Y14 [get_cells -hierarchical \
  -filter {PRIMITIVE_TYPE =~ ADVANCED.GT.GTHE4_CHANNEL && NAME =~ "*xdma_0*channel_inst[0]*"}]
set_property LOC GTHE4_CHANNEL_X0Y13 [get_cells -hierarchical \
  -filter {PRIMITIVE_TYPE =~ ADVANCED.GT.GTHE4_CHANNEL && NAME =~ "*xdma_0*channel_inst[1]*"}]
set_property LOC GTHE4_CHANNEL_X0Y15 [get_cells -hierarchical \
  -filter {PRIMITIVE_TYPE =~ ADVANCED.GT.GTHE4_CHANNEL && NAME =~ "*xdma_0*channel_inst[2]*"}]
set_property LOC GTHE4_CHANNEL_X0Y12 [get_cells -hierarchical \
  -filter {PRIMITIVE_TYPE =~ ADVANCED.GT.GTHE4_CHANNEL && NAME =~ "*xdma_0*channel_inst[3]*"}]

set_property LOC PCIE40E4_X0Y1 [get_cells -hierarchical \
  -filter {PRIMITIVE_TYPE =~ ADVANCED.PCIE.* && NAME =~ "*xdma_0*"}]
