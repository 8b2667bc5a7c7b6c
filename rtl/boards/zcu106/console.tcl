# SPDX-License-Identifier: Apache-2.0
#
# NEVER RUN IN VIVADO. Version assumed: 2023.2.
#
# The console of the ZCU106: `vivado -mode tcl -nojournal -nolog -source console.tcl`, then `program`, `status`,
# `record 1M`, `verify 1M`. ../console.tcl has all commands.

namespace eval spate {
  variable name zcu106
  variable part xczu7
  variable reference "GBTCLK0 of HPC0"
  variable tells_training 1    ;# the block has ports for the link's speed, width and LTSSM state
  variable bitstream [file join [file dirname [file normalize [info script]]] build spate_zcu106.bit]
}
source [file join [file dirname [file normalize [info script]]] .. console.tcl]
connect
