# SPDX-License-Identifier: Apache-2.0
#
# NEVER BUILT. Vivado version assumed: 2023.2.
#
# Pins and clocks of the AS02MC04. Where they are from:
#   [taxi]     fpganinja/taxi, src/eth/example/AS02MC04/fpga/syn: pcie.xdc, gpio.xdc, fpga.xdc
#   [litex]    litex-hub/litex-boards, litex_boards/platforms/alibaba_xcku3p.py
#   [chester]  Chester-Gillon/fpga_sio, AS02MC04 designs: constraints, and VCCO measured through SYSMON
#   [liske]    FabianLiske/AS02MC04-template, PINOUT.md, after TiferKing/as02mc04_hack
# All four agree, except where a comment says otherwise.

# ---- configuration: SPI flash of 256 Mbit, 1.8 V [taxi, chester] ----

set_property CFGBVS GND [current_design]
set_property CONFIG_VOLTAGE 1.8 [current_design]
set_property CONFIG_MODE SPIx4 [current_design]
set_property BITSTREAM.GENERAL.COMPRESS true [current_design]
set_property BITSTREAM.CONFIG.SPI_BUSWIDTH 4 [current_design]
set_property BITSTREAM.CONFIG.SPI_FALL_EDGE YES [current_design]
set_property BITSTREAM.CONFIG.SPI_32BIT_ADDR YES [current_design]
# [chester] has 31.9, [taxi] 72.9.
set_property BITSTREAM.CONFIG.CONFIGRATE 31.9 [current_design]
set_property BITSTREAM.CONFIG.UNUSEDPIN PULLUP [current_design]
set_property BITSTREAM.CONFIG.OVERTEMPSHUTDOWN ENABLE [current_design]

# ---- the oscillator of 100 MHz, Y2 ----

set_property PACKAGE_PIN E18 [get_ports clk_100mhz_pi]
set_property PACKAGE_PIN D18 [get_ports clk_100mhz_ni]
set_property IOSTANDARD LVDS [get_ports {clk_100mhz_pi clk_100mhz_ni}]
create_clock -name board_clk -period 10.000 [get_ports clk_100mhz_pi]

# ---- PCIe: GTY quad 225. Lane 0 of the edge is the quad's channel 3 (GTYE4_CHANNEL_X0Y7) ----

set_property PACKAGE_PIN T7 [get_ports pcie_refclk_pi]
set_property PACKAGE_PIN T6 [get_ports pcie_refclk_ni]
create_clock -name pcie_refclk -period 10.000 [get_ports pcie_refclk_pi]

set_property PACKAGE_PIN P2 [get_ports {pcie_rx_pi[0]}]
set_property PACKAGE_PIN P1 [get_ports {pcie_rx_ni[0]}]
set_property PACKAGE_PIN T2 [get_ports {pcie_rx_pi[1]}]
set_property PACKAGE_PIN T1 [get_ports {pcie_rx_ni[1]}]
set_property PACKAGE_PIN V2 [get_ports {pcie_rx_pi[2]}]
set_property PACKAGE_PIN V1 [get_ports {pcie_rx_ni[2]}]
set_property PACKAGE_PIN Y2 [get_ports {pcie_rx_pi[3]}]
set_property PACKAGE_PIN Y1 [get_ports {pcie_rx_ni[3]}]
set_property PACKAGE_PIN R5 [get_ports {pcie_tx_po[0]}]
set_property PACKAGE_PIN R4 [get_ports {pcie_tx_no[0]}]
set_property PACKAGE_PIN U5 [get_ports {pcie_tx_po[1]}]
set_property PACKAGE_PIN U4 [get_ports {pcie_tx_no[1]}]
set_property PACKAGE_PIN W5 [get_ports {pcie_tx_po[2]}]
set_property PACKAGE_PIN W4 [get_ports {pcie_tx_no[2]}]
set_property PACKAGE_PIN AA5 [get_ports {pcie_tx_po[3]}]
set_property PACKAGE_PIN AA4 [get_ports {pcie_tx_no[3]}]

# A11 of the edge. All other designs have it as an input; LiteNVMe's root port drives it.
# [litex] and [liske] have LVCMOS18 for this bank and the LEDs'. [chester] measured VCCO of both: 3.3 V. [taxi] has
# LVCMOS33.
set_property -dict {PACKAGE_PIN A9 IOSTANDARD LVCMOS33 SLEW SLOW DRIVE 8} [get_ports perst_no]
set_false_path -to [get_ports perst_no]

# ---- LEDs DS6 to DS9 ----

set_property -dict {PACKAGE_PIN B11 IOSTANDARD LVCMOS33 SLEW SLOW DRIVE 8} [get_ports {led_o[0]}]
set_property -dict {PACKAGE_PIN C11 IOSTANDARD LVCMOS33 SLEW SLOW DRIVE 8} [get_ports {led_o[1]}]
set_property -dict {PACKAGE_PIN A10 IOSTANDARD LVCMOS33 SLEW SLOW DRIVE 8} [get_ports {led_o[2]}]
set_property -dict {PACKAGE_PIN B10 IOSTANDARD LVCMOS33 SLEW SLOW DRIVE 8} [get_ports {led_o[3]}]
set_false_path -to [get_ports {led_o[*]}]
