# SPDX-License-Identifier: Apache-2.0
#
# NEVER BUILT. Vivado version assumed: 2023.2.
#
# Pins and clocks of the ZCU106 with an FPGA Drive FMC on HPC0; those of the processing system come with the board's
# preset. Pins of the lanes: lanes.xdc. Where they are from: fpgadeveloper/fpga-drive-aximm-pcie,
# Vivado/src/constraints/zcu106_hpc0.xdc, and Xilinx/XilinxBoardStore, boards/Xilinx/zcu106/2.6/part0_pins.xml.

set_property BITSTREAM.GENERAL.COMPRESS true [current_design]

# GBTCLK0 of HPC0, MGTREFCLK0 of quad 226, from the FMC card's oscillator of 100 MHz.
set_property PACKAGE_PIN V8 [get_ports {pcie_refclk_clk_p[0]}]
set_property PACKAGE_PIN V7 [get_ports {pcie_refclk_clk_n[0]}]
create_clock -name pcie_refclk -period 10.000 [get_ports {pcie_refclk_clk_p[0]}]

# HPC0, bank of VADJ, 1.8 V: LA00_CC_P. The FMC card inverts it: high holds the drive in reset.
set_property -dict {PACKAGE_PIN F17 IOSTANDARD LVCMOS18 SLEW SLOW DRIVE 8} [get_ports {perst_o[0]}]
set_false_path -to [get_ports {perst_o[0]}]
# LA07_P: high takes power and clock from the slot SSD2.
set_property -dict {PACKAGE_PIN J16 IOSTANDARD LVCMOS18 SLEW SLOW DRIVE 8} [get_ports ssd2_off_o]
