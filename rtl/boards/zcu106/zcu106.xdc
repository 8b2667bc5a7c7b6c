# SPDX-License-Identifier: Apache-2.0
#
# NEVER BUILT. Vivado version assumed: 2023.2.
#
# Pins and clocks of the ZCU106 with an FPGA Drive FMC on HPC0. Where they are from:
#   [boards]   Xilinx/XilinxBoardStore, boards/Xilinx/zcu106/2.6/part0_pins.xml
#   [opsero]   fpgadeveloper/fpga-drive-aximm-pcie, Vivado/src/constraints/zcu106_hpc0.xdc
#   [corundum] corundum/corundum, fpga/mqnic/ZCU106/fpga_pcie/fpga.xdc and fpga_zynqmp/fpga.xdc
# They agree where several have a pin. Pins of the lanes: lanes.xdc.

set_property BITSTREAM.GENERAL.COMPRESS true [current_design]

# ---- CLK_125, from the clock generator SI5341, which needs no software [corundum] ----

set_property PACKAGE_PIN H9 [get_ports clk_125mhz_pi]
set_property PACKAGE_PIN G9 [get_ports clk_125mhz_ni]
set_property IOSTANDARD LVDS [get_ports {clk_125mhz_pi clk_125mhz_ni}]
create_clock -name board_clk -period 8.000 [get_ports clk_125mhz_pi]

# ---- PCIe: GBTCLK0 of HPC0, MGTREFCLK0 of quad 226, from the FMC card's oscillator of 100 MHz [boards, opsero] ----

set_property PACKAGE_PIN V8 [get_ports pcie_refclk_pi]
set_property PACKAGE_PIN V7 [get_ports pcie_refclk_ni]
create_clock -name pcie_refclk -period 10.000 [get_ports pcie_refclk_pi]

# ---- HPC0, bank of VADJ, 1.8 V [boards, opsero] ----

# LA00_CC_P. The FMC card inverts it: high holds the drive in reset.
set_property -dict {PACKAGE_PIN F17 IOSTANDARD LVCMOS18 SLEW SLOW DRIVE 8} [get_ports perst_o]
set_false_path -to [get_ports perst_o]
# LA07_P: high takes power and clock from the slot SSD2.
set_property -dict {PACKAGE_PIN J16 IOSTANDARD LVCMOS18 SLEW SLOW DRIVE 8} [get_ports ssd2_off_o]

# ---- LEDs GPIO_LED_0 to GPIO_LED_3 [boards, corundum] ----

set_property -dict {PACKAGE_PIN AL11 IOSTANDARD LVCMOS12 SLEW SLOW DRIVE 8} [get_ports {led_o[0]}]
set_property -dict {PACKAGE_PIN AL13 IOSTANDARD LVCMOS12 SLEW SLOW DRIVE 8} [get_ports {led_o[1]}]
set_property -dict {PACKAGE_PIN AK13 IOSTANDARD LVCMOS12 SLEW SLOW DRIVE 8} [get_ports {led_o[2]}]
set_property -dict {PACKAGE_PIN AE15 IOSTANDARD LVCMOS12 SLEW SLOW DRIVE 8} [get_ports {led_o[3]}]
set_false_path -to [get_ports {led_o[*]}]
