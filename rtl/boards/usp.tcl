# SPDX-License-Identifier: Apache-2.0
#
# NEVER RUN IN VIVADO. Version assumed: 2023.2.
#
# The hard block of spate_board_usp, as the core requires it (docs/use/gateware.md, On the hard block). Names and values
# of properties are those of public projects for this block: fpganinja/taxi (src/cndm/board/AS02MC04), and others that
# tools/rtl/xdc/properties.toml names. Two are known only from projects for the same vendor's other blocks:
# device_port_type of pcie4c_uscale_plus, AXISTEN_IF_RQ_ALIGNMENT_MODE of pcie_versal. A board's build.tcl reads
# project.tcl before.

# `quad` and `location` are those of the transceivers and of the block, `more` what only this board sets.
proc create_usp {quad location {more {}}} {
  set properties [dict merge {
    mode_selection Advanced
    device_port_type Root_Port_of_PCI_Express_Root_Complex
    en_gt_selection true
  } [list select_quad $quad pcie_blk_locn $location] {
    REF_CLK_FREQ 100_MHz
    PL_LINK_CAP_MAX_LINK_SPEED 8.0_GT/s
    PL_LINK_CAP_MAX_LINK_WIDTH X4
    axisten_if_width 256_bit
    axisten_freq 125
    axisten_if_enable_client_tag true
    extended_tag_field true
    AXISTEN_IF_RC_STRADDLE false
    AXISTEN_IF_CQ_ALIGNMENT_MODE Address_Aligned
    AXISTEN_IF_RQ_ALIGNMENT_MODE DWORD_Aligned
    pf0_dev_cap_max_payload 512_bytes
    PF0_Use_Class_Code_Lookup_Assistant false
    pf0_class_code_base 06
    pf0_class_code_sub 04
    pf0_class_code_interface 00
    cfg_mgmt_if true
    pf0_bar0_enabled false
    pf0_msi_enabled false
    pf0_msix_enabled false
  } $more]
  # PG213 has these settings, but no public project for this block that names the properties was found. The values are
  # its defaults. If the block then lacks ports that the top connects, synthesis says so.
  create_checked pcie4_uscale_plus pcie4_uscale_plus_0 $properties {
    sys_reset_polarity ACTIVE_LOW
    cfg_status_if true
    cfg_ctl_if true
  }
}
