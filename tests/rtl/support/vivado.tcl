# SPDX-License-Identifier: Apache-2.0
#
# The commands of Vivado's hardware manager that rtl/boards/console.tcl uses, for tclsh: a simulation is the device. The
# arguments are those of UG835, and others are errors. DEVICE in the environment is what the cable sees. It talks to a
# program by lines (tests/rtl/support/tcl_console.py):
#
#   to the program    R address, W address data, T ms: it answers with a line
#                     P text: output.  D: the command is done.  E text: it failed, with this text
#   from it           a Tcl command

rename puts channel_puts
fconfigure stdin -buffering line
fconfigure stdout -buffering line

proc say {kind text} {
  foreach line [split $text \n] { channel_puts stdout "$kind $line" }
}

proc puts {args} {
  if {[llength $args] != 1} { error "the console prints whole lines to the terminal only: puts $args" }
  say P [lindex $args 0]
}

proc ask {args} {
  channel_puts stdout $args
  if {[gets stdin answer] < 0} { exit 1 }
  return $answer
}

rename after tcl_after
proc after {ms args} {
  if {[llength $args] || ![string is integer -strict $ms]} { error "only a wait is known: after $ms $args" }
  ask T $ms
}

# ---- the cable and the device ----

set opened {}
proc need {what} { if {$what ni $::opened} { error "not yet: $what" } }
proc open_hw_manager {} { lappend ::opened manager }
proc connect_hw_server {} { need manager; lappend ::opened server }
proc get_hw_servers {option} { expr {"server" in $::opened ? "localhost:3121" : ""} }
proc current_hw_target {option} { expr {"target" in $::opened ? "localhost/cable" : ""} }
proc open_hw_target {} { need server; lappend ::opened target }
proc get_hw_devices {option {pattern *}} {
  need target
  expr {[string match $pattern $::env(DEVICE)] ? $::env(DEVICE) : ""}
}
proc current_hw_device {{device ""}} {
  if {$device eq $::env(DEVICE)} { lappend ::opened device }
  expr {"device" in $::opened ? $::env(DEVICE) : ""}
}
proc refresh_hw_device {option device} { need device }
proc set_msg_config {args} { if {[lsort [dict keys [lrange $args 0 1]]] ne "-id"} { error "set_msg_config $args" } }
proc program_hw_devices {device} { need device; lappend ::opened programmed }
proc set_property {name value object} {
  if {$name ni {PROGRAM.FILE PROBES.FILE}} { error "unknown property $name" }
}

# ---- the JTAG master ----

proc get_hw_axis {option} {
  need device
  return hw_axi_1
}
proc reset_hw_axi {axi} { if {$axi ne "hw_axi_1"} { error "reset_hw_axi $axi" } }

proc create_hw_axi_txn {args} {
  set options {-type "" -address "" -len 1 -data ""}
  set names {}
  while {[llength $args]} {
    set args [lassign $args word]
    if {$word eq "-force"} continue
    if {[dict exists $options $word]} {
      set args [lassign $args value]
      dict set options $word $value
    } elseif {[string match -* $word]} {
      error "create_hw_axi_txn has no option $word"
    } else {
      lappend names $word
    }
  }
  lassign $names name axi
  if {[llength $names] != 2 || $axi ne "hw_axi_1"} { error "create_hw_axi_txn needs a name and a master: $names" }
  if {[dict get $options -type] ni {read write} || [dict get $options -len] != 1} { error "create_hw_axi_txn $options" }
  if {![regexp {^[0-9a-f]{8}$} [dict get $options -address]]} { error "the address is not hexadecimal: $options" }
  if {[dict get $options -type] eq "write" && ![regexp {^[0-9a-f]{8}$} [dict get $options -data]]} {
    error "the data are not a hexadecimal word: $options"
  }
  set ::txns($name) $options
  return $name
}

proc get_hw_axi_txns {name} {
  if {![info exists ::txns($name)]} { error "no transaction $name" }
  return $name
}

proc run_hw_axi {name} {
  set options $::txns($name)
  set address [dict get $options -address]
  if {[dict get $options -type] eq "read"} {
    dict set ::txns($name) -data [ask R $address]
  } else {
    ask W $address [dict get $options -data]
  }
}

proc get_property {property name} {
  if {$property ne "DATA"} { error "unknown property $property" }
  dict get $::txns($name) -data
}

# ---- the console ----

proc serve {} {
  while {[gets stdin command] >= 0} {
    if {[catch {uplevel #0 $command} text]} { say E [string map {\n { }} $text] } else { channel_puts stdout D }
  }
}
serve
