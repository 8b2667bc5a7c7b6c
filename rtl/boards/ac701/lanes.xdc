# SPDX-License-Identifier: Apache-2.0
#
# NEVER BUILT. Vivado version assumed: 2023.2.
#
# The block and the transceivers' PLL of quad 213, as in ac701-hpc.xdc of fpgadeveloper/fpga-drive-aximm-pcie. There the
# names of the cells are those of an older version of the bridge, so the cells are found by what they are. The lanes are
# placed by their pins, in ac701.xdc.

set_property LOC PCIE_X0Y0 [get_cells -hierarchical -filter {REF_NAME == PCIE_2_1}]
set_property LOC GTPE2_COMMON_X0Y0 [get_cells -hierarchical -filter {REF_NAME == GTPE2_COMMON}]
