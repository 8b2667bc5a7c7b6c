# SPDX-License-Identifier: Apache-2.0
#
# NEVER RUN IN VIVADO. Version assumed: 2023.2.
#
# The bridge of spate_board_axi_pcie: AXI Memory Mapped to PCI Express (PG055), as a root port with two lanes. Names and
# values of properties are those of fpgadeveloper/fpga-drive-aximm-pcie, Vivado/src/bd, design_1-ac701-hpc.tcl and
# bd_mb.tcl, and of sifive/freedom, fpga/u500vc707devkit/script/ip.tcl. A board's build.tcl reads project.tcl before.
#
# The address map is the core's (spate_board_axi_pcie): the drive's registers are at E000_0000h, 1 MiB without
# translation. The control port has the root port's configuration space at 0, the drive's at 10_0000h. What the drive
# sends comes through untranslated, to all of the first 4 GiB. The BAR that lets it through is hidden: else software
# sees it, and gives it an address (bd_mb.tcl says what happens then).
#
# 2.5 GT/s with two lanes and 128 bits is what that project sets. The core needs 128 bits.

# `location` is that of the block, `more` what only this board sets.
proc create_axi_pcie {location {more {}}} {
  create_checked axi_pcie axi_pcie_0 [dict merge {
    INCLUDE_RC Root_Port_of_PCI_Express_Root_Complex
  } [list PCIE_BLK_LOCN $location] {
    REF_CLK_FREQ 100_MHz
    NO_OF_LANES X2
    MAX_LINK_SPEED 2.5_GT/s
    S_AXI_DATA_WIDTH 128
    M_AXI_DATA_WIDTH 128
    S_AXI_ID_WIDTH 4
    S_AXI_SUPPORTS_NARROW_BURST true
    BASE_CLASS_MENU Bridge_device
    SUB_CLASS_INTERFACE_MENU InfiniBand_to_PCI_host_bridge
    CLASS_CODE 0x060400
    DEVICE_ID 0x7014
    BASEADDR 0x00000000
    HIGHADDR 0x001FFFFF
    BAR_64BIT true
    BAR0_ENABLED true
    BAR0_SCALE Gigabytes
    BAR0_SIZE 4
    PCIEBAR2AXIBAR_0 0x00000000
    rp_bar_hide true
    AXIBAR_NUM 1
    AXIBAR_0 0xE0000000
    AXIBAR_HIGHADDR_0 0xE00FFFFF
    AXIBAR2PCIEBAR_0 0xE0000000
    shared_logic_in_core false
  } $more]
}
