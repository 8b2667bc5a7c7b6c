# SPDX-License-Identifier: Apache-2.0
#
# NEVER RUN IN VIVADO. Version assumed: 2023.2.
#
# The console of the AC701: `vivado -mode tcl -nojournal -nolog -source console.tcl`, then `program`, `status`,
# `record 1M`, `verify 1M`. ../console.tcl has all commands.

namespace eval spate {
  variable name ac701
  variable part xc7a200t
  variable reference "GBTCLK0 of the FMC connector"
  variable tells_training 0    ;# the block has ports for the link's speed, width and LTSSM state
  variable bitstream [file join [file dirname [file normalize [info script]]] build spate_ac701.bit]
}
source [file join [file dirname [file normalize [info script]]] .. console.tcl]
connect
