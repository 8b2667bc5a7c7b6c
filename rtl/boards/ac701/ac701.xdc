# SPDX-License-Identifier: Apache-2.0
#
# NEVER BUILT. Vivado version assumed: 2023.2.
#
# Pins and clocks of the AC701 with an FPGA Drive FMC on its HPC connector. Where they are from:
#   [opsero] fpgadeveloper/fpga-drive-aximm-pcie, Vivado/src/constraints/ac701-hpc.xdc
#   [boards] Xilinx/XilinxBoardStore, boards/Xilinx/ac701/1.4/part0_pins.xml
#   [litex]  litex-hub/litex-boards, litex_boards/platforms/xilinx_ac701.py
#   [kc705]  fpgadeveloper/fpga-drive-aximm-pcie, Vivado/src/constraints/kc705_hpc.xdc: the line that switches SSD2 off

set_property BITSTREAM.GENERAL.COMPRESS true [current_design]

# ---- the oscillator of 200 MHz [opsero, litex]. LVDS_25 takes inputs at any voltage of this kind of bank ----

set_property PACKAGE_PIN R3 [get_ports clk_200mhz_pi]
set_property PACKAGE_PIN P3 [get_ports clk_200mhz_ni]
set_property IOSTANDARD LVDS_25 [get_ports {clk_200mhz_pi clk_200mhz_ni}]
create_clock -name board_clk -period 5.000 [get_ports clk_200mhz_pi]

# ---- PCIe: GBTCLK0 of the FMC connector, through the board's multiplexer, MGTREFCLK0 of quad 213 [opsero] ----

set_property PACKAGE_PIN AA13 [get_ports pcie_refclk_pi]
set_property PACKAGE_PIN AB13 [get_ports pcie_refclk_ni]
create_clock -name pcie_refclk -period 10.000 [get_ports pcie_refclk_pi]

# SFP_MGT_CLK_SEL0 and 1: 0 and 1 choose the FMC card [opsero]
set_property -dict {PACKAGE_PIN B26 IOSTANDARD LVCMOS25 SLEW SLOW DRIVE 8} [get_ports {refclk_select_o[0]}]
set_property -dict {PACKAGE_PIN C24 IOSTANDARD LVCMOS25 SLEW SLOW DRIVE 8} [get_ports {refclk_select_o[1]}]

# ---- PCIe: lanes 0 and 1, DP0 and DP1 of the FMC connector [opsero] ----

set_property PACKAGE_PIN AE13 [get_ports {pcie_rx_pi[0]}]
set_property PACKAGE_PIN AF13 [get_ports {pcie_rx_ni[0]}]
set_property PACKAGE_PIN AE9 [get_ports {pcie_tx_po[0]}]
set_property PACKAGE_PIN AF9 [get_ports {pcie_tx_no[0]}]
set_property PACKAGE_PIN AC14 [get_ports {pcie_rx_pi[1]}]
set_property PACKAGE_PIN AD14 [get_ports {pcie_rx_ni[1]}]
set_property PACKAGE_PIN AC8 [get_ports {pcie_tx_po[1]}]
set_property PACKAGE_PIN AD8 [get_ports {pcie_tx_no[1]}]

# ---- FMC connector, banks of VADJ, 2.5 V [opsero, boards] ----

# LA00_CC_P. The FMC card inverts it: high holds the drive in reset.
set_property -dict {PACKAGE_PIN D18 IOSTANDARD LVCMOS25 SLEW SLOW DRIVE 8} [get_ports perst_o]
set_false_path -to [get_ports perst_o]
# LA07_P: high takes power and clock from the slot SSD2 [kc705 has the line, boards the pin].
set_property -dict {PACKAGE_PIN H16 IOSTANDARD LVCMOS25 SLEW SLOW DRIVE 8} [get_ports ssd2_off_o]

# ---- LEDs GPIO_LED_0 to GPIO_LED_3 [opsero has two, litex all] ----

set_property -dict {PACKAGE_PIN M26 IOSTANDARD LVCMOS33 SLEW SLOW DRIVE 8} [get_ports {led_o[0]}]
set_property -dict {PACKAGE_PIN T24 IOSTANDARD LVCMOS33 SLEW SLOW DRIVE 8} [get_ports {led_o[1]}]
set_property -dict {PACKAGE_PIN T25 IOSTANDARD LVCMOS33 SLEW SLOW DRIVE 8} [get_ports {led_o[2]}]
set_property -dict {PACKAGE_PIN R26 IOSTANDARD LVCMOS33 SLEW SLOW DRIVE 8} [get_ports {led_o[3]}]
set_false_path -to [get_ports {led_o[*]}]
