# SPDX-License-Identifier: Apache-2.0
#
# The commands of Vivado for block designs that a board's design.tcl uses, for vivado_build.tcl. Cells, pins, ports,
# address spaces and segments must exist; each interface is connected once; what is said of them is printed.
#
#   pins        {IP {PIN …} …}: the pins that an IP core has
#   interfaces  the same of its interfaces
#   segments    {IP {SEGMENT …} …}, and its address spaces

set fake_block ""
set fake_connected {}

proc current_project {} { return project }
proc get_board_parts {option name} { return $name }
proc create_bd_design {name} { set ::fake_block $name }
proc create_bd_cell {args} {
  set name [options {-type -vlnv} {} $args]
  lassign [split $::fake_option(-vlnv) :] vendor library ip
  if {[llength $name] != 1 || [list $vendor $library] ne {xilinx.com ip}} { error "create_bd_cell $args" }
  lappend ::fake_ips $name
  set ::fake_ip_of($name) $ip
  say create_bd_cell $name $ip
}
proc get_bd_cells {name} { get_ips $name }
proc apply_bd_automation {args} { say apply_bd_automation {*}[options {-rule -config} {} $args] $::fake_option(-config) }

# `what` is the table where the rest of the name must be.
proc fake_part {what path} {
  regexp {^([^/]+)/(.+)$} $path -> cell name
  if {$name ni [dict get $::fake_design($what) $::fake_ip_of([get_ips $cell])]} { error "$::fake_ip_of($cell) has no $name" }
  return $path
}
proc get_bd_pins {path} { fake_part pins $path }
proc get_bd_intf_pins {path} { fake_part interfaces $path }
proc get_bd_addr_spaces {path} { fake_part segments $path }
proc get_bd_addr_segs {path} { fake_part segments $path }

proc create_bd_port {args} { lappend ::fake_bd_ports [options {-dir -from -to -type} {} $args] }
proc create_bd_intf_port {args} { lappend ::fake_bd_ports [options {-mode -vlnv} {} $args] }
proc fake_bd_port {name} { if {$name ni $::fake_bd_ports} { error "no port $name" }; return port:$name }
proc get_bd_ports {name} { fake_bd_port $name }
proc get_bd_intf_ports {name} { fake_bd_port $name }

proc connect_bd_net {args} {
  say net {*}$args
  lappend ::fake_connected {*}$args
}
proc connect_bd_intf_net {one other} {
  foreach end [list $one $other] {
    if {$end in $::fake_connected} { error "$end is connected twice" }
    lappend ::fake_connected $end
  }
  say interface $one $other
}
proc assign_bd_address {args} {
  set segment [options {-offset -range -target_address_space} {-force} $args]
  say address $::fake_option(-target_address_space) $segment $::fake_option(-offset) $::fake_option(-range)
}
proc exclude_bd_addr_seg {args} { say exclude {*}[options {-target_address_space} {} $args] }

# Vivado leaves an input that nothing drives at 0, with a warning. Here all must be connected that the test names.
proc validate_bd_design {} {
  foreach end $::fake_design(needed) { if {$end ni $::fake_connected} { error "nothing is at $end" } }
  say validate_bd_design
}
proc save_bd_design {} {}
proc make_wrapper {args} { say make_wrapper {*}[options {-files} {-top -import} $args] }
proc write_hw_platform {args} { options {-file} {-fixed -force} $args; say write_hw_platform $::fake_option(-file) }
