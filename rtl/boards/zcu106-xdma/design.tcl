# SPDX-License-Identifier: Apache-2.0
#
# NEVER RUN IN VIVADO. Version assumed: 2023.2.
#
# The block design: the processing system, DMA/Bridge Subsystem for PCI Express (PG194) as a bridge and a root port, and
# what connects them. build.tcl reads it. design.h has the same addresses for the firmware.
#
#   M_AXI_HPM0_FPD ─► config ─► S_AXI_LITE ┐
#   M_AXI_HPM1_FPD ─► window ─► S_AXI_B    ├ xdma_0 ─► four lanes
#   S_AXI_HP0_FPD  ◄─ memory ◄─ M_AXI_B    ┘
#
# One clock, the bridge's axi_aclk of 250 MHz, so nothing crosses. 128 bits of it carry what the link carries.
# Names and values of the properties of xdma, zynq_ultra_ps_e and util_ds_buf, and the connections of reference clock
# and resets, are those of fpgadeveloper/fpga-drive-aximm-pcie, Vivado/src/bd/bd_zynqmp.tcl. There the clock of the
# interconnects is pl_clk0.

create_bd_design spate

# ---- the processing system ----

create_bd_cell -type ip -vlnv xilinx.com:ip:zynq_ultra_ps_e ps
apply_bd_automation -rule xilinx.com:bd_rule:zynq_ultra_ps_e -config {apply_board_preset "1"} [get_bd_cells ps]
# Above the board's own: the three ports, addresses above 4 GiB, and one line to the logic, PERST#.
set_checked zynq_ultra_ps_e [get_bd_cells ps] {
  PSU__USE__M_AXI_GP0 1
  PSU__USE__M_AXI_GP1 1
  PSU__USE__M_AXI_GP2 0
  PSU__USE__S_AXI_GP2 1
  PSU__USE__S_AXI_GP3 0
  PSU__HIGH_ADDRESS__ENABLE 1
  PSU__GPIO_EMIO__PERIPHERAL__ENABLE 1
  PSU__GPIO_EMIO__PERIPHERAL__IO 1
}

# ---- the bridge ----

create_bd_cell -type ip -vlnv xilinx.com:ip:xdma xdma_0
# The name of the block has a prefix that depends on the device and the version.
regsub {X\d+Y\d+$} [get_property CONFIG.pcie_blk_locn [get_bd_cells xdma_0]] X0Y1 location
# The BARs of the root port are off: what the drive sends comes through untranslated. axibar2pciebar_0 is the address on
# the bus of the window, and equal to its address here.
set_checked xdma [get_bd_cells xdma_0] [dict merge {
  functional_mode AXI_Bridge
  mode_selection Advanced
  device_port_type Root_Port_of_PCI_Express_Root_Complex
  en_gt_selection true
  select_quad GTH_Quad_226
} [list pcie_blk_locn $location] {
  pl_link_cap_max_link_width X4
  pl_link_cap_max_link_speed 8.0_GT/s
  plltype QPLL1
  ins_loss_profile Chip-to-Chip
  axi_addr_width 49
  axi_data_width 128_bit
  axisten_freq 250
  dedicate_perst false
  sys_reset_polarity ACTIVE_LOW
  dma_reset_source_sel Phy_Ready
  pf0_base_class_menu Bridge_device
  pf0_class_code_base 06
  pf0_sub_class_interface_menu PCI_to_PCI_bridge
  pf0_class_code_sub 04
  pf0_class_code_interface 00
  pf0_bar0_enabled false
  xdma_axilite_slave true
  BASEADDR 0x00000000
  HIGHADDR 0x001FFFFF
  type1_membase_memlimit_enable Enabled
  type1_prefetchable_membase_memlimit 64bit_Enabled
  axibar_num 1
  axibar2pciebar_0 0x00000000B0000000
}]

# ---- clocks, resets, pins ----

create_bd_cell -type ip -vlnv xilinx.com:ip:util_ds_buf refclk_buffer
set_checked util_ds_buf [get_bd_cells refclk_buffer] {C_BUF_TYPE IBUFDSGTE}
create_bd_intf_port -mode Slave -vlnv xilinx.com:interface:diff_clock_rtl:1.0 pcie_refclk
connect_bd_intf_net [get_bd_intf_pins refclk_buffer/CLK_IN_D] [get_bd_intf_ports pcie_refclk]
connect_bd_net [get_bd_pins refclk_buffer/IBUF_DS_ODIV2] [get_bd_pins xdma_0/sys_clk]
connect_bd_net [get_bd_pins refclk_buffer/IBUF_OUT] [get_bd_pins xdma_0/sys_clk_gt]

create_bd_intf_port -mode Master -vlnv xilinx.com:interface:pcie_7x_mgt_rtl:1.0 pcie
connect_bd_intf_net [get_bd_intf_pins xdma_0/pcie_mgt] [get_bd_intf_ports pcie]

# The bridge's own reset is not PERST#: the firmware resets a drive that is stuck, and the bridge's registers stay.
connect_bd_net [get_bd_pins ps/pl_resetn0] [get_bd_pins xdma_0/sys_rst_n]
create_bd_port -dir O -from 0 -to 0 perst_o
connect_bd_net [get_bd_pins ps/emio_gpio_o] [get_bd_ports perst_o]

create_bd_cell -type ip -vlnv xilinx.com:ip:xlconstant ssd2_off
set_checked xlconstant [get_bd_cells ssd2_off] {CONST_VAL 1}
create_bd_port -dir O ssd2_off_o
connect_bd_net [get_bd_pins ssd2_off/dout] [get_bd_ports ssd2_off_o]

connect_bd_net [get_bd_pins xdma_0/axi_aclk] [get_bd_pins ps/maxihpm0_fpd_aclk] [get_bd_pins ps/maxihpm1_fpd_aclk] \
  [get_bd_pins ps/saxihp0_fpd_aclk]

# ---- the three ways ----

# The control port has a reset of its own: it answers also when the link is down.
foreach {way master slave reset} {
  config ps/M_AXI_HPM0_FPD xdma_0/S_AXI_LITE xdma_0/axi_ctl_aresetn
  window ps/M_AXI_HPM1_FPD xdma_0/S_AXI_B xdma_0/axi_aresetn
  memory xdma_0/M_AXI_B ps/S_AXI_HP0_FPD xdma_0/axi_aresetn
} {
  create_bd_cell -type ip -vlnv xilinx.com:ip:smartconnect $way
  set_checked smartconnect [get_bd_cells $way] {NUM_SI 1 NUM_MI 1}
  connect_bd_intf_net [get_bd_intf_pins $master] [get_bd_intf_pins $way/S00_AXI]
  connect_bd_intf_net [get_bd_intf_pins $way/M00_AXI] [get_bd_intf_pins $slave]
  connect_bd_net [get_bd_pins xdma_0/axi_aclk] [get_bd_pins $way/aclk]
  connect_bd_net [get_bd_pins $reset] [get_bd_pins $way/aresetn]
}

# ---- addresses: design.h ----

set processor [get_bd_addr_spaces ps/Data]
assign_bd_address -offset 0x400000000 -range 512M -target_address_space $processor \
  [get_bd_addr_segs xdma_0/S_AXI_LITE/CTL0] -force
assign_bd_address -offset 0xB0000000 -range 16M -target_address_space $processor \
  [get_bd_addr_segs xdma_0/S_AXI_B/BAR0] -force

# The drive reaches DDR below 2 GiB, and the on-chip memory, at the processor's addresses.
set drive [get_bd_addr_spaces xdma_0/M_AXI_B]
assign_bd_address -offset 0x00000000 -range 2G -target_address_space $drive \
  [get_bd_addr_segs ps/SAXIGP2/HP0_DDR_LOW] -force
assign_bd_address -offset 0xFF000000 -range 16M -target_address_space $drive \
  [get_bd_addr_segs ps/SAXIGP2/HP0_LPS_OCM] -force
exclude_bd_addr_seg -target_address_space $drive [get_bd_addr_segs ps/SAXIGP2/HP0_DDR_HIGH]
exclude_bd_addr_seg -target_address_space $drive [get_bd_addr_segs ps/SAXIGP2/HP0_QSPI]

validate_bd_design
save_bd_design
