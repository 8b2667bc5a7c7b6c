# SPDX-License-Identifier: Apache-2.0
#
# NEVER RUN IN VIVADO. Version assumed: 2023.2.
#
# The console of the AS02MC04: `vivado -mode tcl -nojournal -nolog -source console.tcl`, then `program`, `status`,
# `record 1M`, `verify 1M`. ../console.tcl has all commands.

namespace eval spate {
  variable name as02mc04
  variable part xcku3p
  variable reference "the card's edge"
  variable tells_training 1    ;# the block has ports for the link's speed, width and LTSSM state
  variable bitstream [file join [file dirname [file normalize [info script]]] build spate_as02mc04.bit]
}
source [file join [file dirname [file normalize [info script]]] .. console.tcl]
connect
