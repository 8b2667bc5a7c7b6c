# SPDX-License-Identifier: Apache-2.0
# Reads the constraints of spate_nvme_axi and spate_nvme_stripe_axi, each in the scope of its module. Source it where
# all clocks exist: after synth_design or link_design. In a project it adds the files to the constraints, for the
# implementation, after all others.

foreach module {spate_cdc_bit spate_cdc_fifo spate_cdc_reset spate_pcie_axi_mmio spate_user_drive} {
  set file [read_xdc -ref $module [file join [file dirname [file normalize [info script]]] $module.xdc]]
  set_property -dict {PROCESSING_ORDER LATE USED_IN_SYNTHESIS false} [get_files $file]
}
