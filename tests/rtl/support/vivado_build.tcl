# SPDX-License-Identifier: Apache-2.0
#
# The commands of Vivado that a board's build.tcl and its constraints use, for tclsh. Nothing is built. What is said of
# sources, properties, ports and pins is checked, and printed for a test (tests/rtl/test_board_build.py):
#
#   tclsh vivado_build.tcl BUILD.TCL ?NAME VALUE …?
#
# Of a block design, vivado_design.tcl beside this file has the commands.
#
# The names are those of `fake_design` below. The ports and pins are those that the top has, `cells` are those of the
# vendor's modules, each with its primitive type, and `properties` are those of each IP: {IP {CONFIG.NAME …} …}.

array set fake_design {
  ports {} pins {} cells {} properties {} corrected {} interfaces {} segments {} defaults {} needed {}
  progress 100% no_clock {} WNS 0.05 WHS 0.01 TPWS 0.000
}
set script [lindex $argv 0]
array set fake_design [lrange $argv 1 end]

proc say {args} { puts "CALL [join $args]" }
proc unknown {name args} { error "this command of Vivado is not known to the test: $name $args" }

# Options with and without a value; the rest is returned.
proc options {names flags arguments} {
  set rest {}
  while {[llength $arguments]} {
    set arguments [lassign $arguments word]
    if {$word in $names} {
      set arguments [lassign $arguments ::fake_option($word)]
    } elseif {$word ni $flags} {
      if {[string match {-[a-z]*} $word]} { error "no option $word" }
      lappend rest $word
    }
  }
  return $rest
}

# ---- the project ----

set fake_files {}
set fake_constraints {}
set fake_scoped {}
set fake_ips {}

proc create_project {args} { say create_project {*}[options {-part} {-force} $args] $::fake_option(-part) }
proc current_fileset {} { return sources_1 }
proc update_compile_order {option fileset} {}
proc add_files {args} {
  set option_fileset sources_1
  unset -nocomplain ::fake_option(-fileset)
  foreach file [concat {*}[options {-fileset} {-norecurse} $args]] {
    if {![file isfile $file]} { error "no file $file" }
    if {[info exists ::fake_option(-fileset)]} { lappend ::fake_constraints $file } else { lappend ::fake_files $file }
  }
}
proc get_files {name} {
  if {$name eq "$::fake_block.bd"} { return $name }
  foreach file [concat $::fake_files $::fake_constraints $::fake_scoped] {
    if {[file tail $file] eq [file tail $name]} { return $file }
  }
  error "no file $name"
}
proc read_xdc {args} {
  set file [options {-ref} {-unmanaged} $args]
  if {![file isfile $file]} { error "no file $file" }
  lappend ::fake_scoped $file
  say read_xdc $::fake_option(-ref)
  return $file
}
proc create_ip {args} {
  if {[llength [options {-vendor -library -name -module_name} {} $args]]} { error "create_ip $args" }
  lappend ::fake_ips $::fake_option(-module_name)
  say create_ip $::fake_option(-module_name)
  set ::fake_ip_of($::fake_option(-module_name)) $::fake_option(-name)
}
proc get_ips {name} { if {$name ni $::fake_ips} { error "no IP $name" }; return $name }
proc list_property {ip} { dict get $::fake_design(properties) $::fake_ip_of($ip) }

proc set_property {args} {
  set args [options {} {} [string map {-dict DICT} $args]]
  if {[lindex $args 0] eq "DICT"} {
    lassign $args - settings objects
  } else {
    lassign $args name value objects
    set settings [list $name $value]
  }
  if {![llength $objects]} { error "set_property without an object: $args" }
  foreach object $objects {
    dict for {name value} $settings {
      if {[info exists ::fake_property($object,$name)] && [string match port:* $object]} { error "$object has $name twice" }
      if {[dict exists $::fake_design(corrected) $name]} { set value [dict get $::fake_design(corrected) $name] }
      set ::fake_property($object,$name) $value
      say set_property $object $name $value
    }
  }
}
proc get_property {name object} {
  switch -glob $name {
    PROGRESS { return $::fake_design(progress) }
    DIRECTORY { return /build/$object }
    STATS.* { return $::fake_design([string range $name 6 end]) }
  }
  if {[info exists ::fake_property($object,$name)]} { return $::fake_property($object,$name) }
  dict get $::fake_design(defaults) $name
}

# ---- runs and reports ----

proc get_runs {name} { return $name }
proc launch_runs {name args} {
  say launch_runs $name
  if {$name eq "synth_1"} { foreach file $::fake_files { say source $file } }
  if {$name ne "impl_1"} return
  foreach file $::fake_constraints { uplevel #0 [list source $file] }
}
proc wait_on_run {name} {}
proc open_run {name} { say open_run $name }
foreach report {timing_summary utilization cdc bus_skew methodology drc} { proc report_$report {args} [list say report $report] }
proc write_bitstream {args} { say write_bitstream {*}[options {} {-force} $args] }
proc write_debug_probes {args} { say write_debug_probes {*}[options {} {-force} $args] }
proc write_cfgmem {args} {
  say write_cfgmem {*}[options {-format -interface -size -loadbit} {-force} $args] $::fake_option(-interface) $::fake_option(-size) \
    $::fake_option(-loadbit)
}

# ---- constraints ----

proc current_design {} { return design }
proc get_ports {patterns} {
  set found {}
  foreach pattern $patterns {
    set exact [string map {[ \\[ ] \\]} $pattern]
    set ports [lsearch -all -inline -glob $::fake_design(ports) $exact]
    if {![llength $ports]} { error "no port $pattern" }
    foreach port $ports { lappend found port:$port }
  }
  return $found
}
proc get_pins {name} {
  if {$name ni $::fake_design(pins)} { error "no pin $name" }
  return pin:$name
}
# The filter is a list of `PROPERTY =~ PATTERN` or `REF_NAME == NAME`, joined by &&. Brackets of a pattern are characters.
proc get_cells {args} {
  if {[llength [options {-filter} {-hierarchical} $args]] || "-hierarchical" ni $args} { error "get_cells $args" }
  set found {}
  foreach {name type} $::fake_design(cells) {
    set matches 1
    foreach term [split [string map {&& \n} $::fake_option(-filter)] \n] {
      if {![regexp {^\s*(NAME|PRIMITIVE_TYPE|REF_NAME)\s*(=~|==)\s*"?([^"\s]+)"?\s*$} $term -> property is pattern]
          || ($is eq "==") != ($property eq "REF_NAME")} {
        error "this filter is not known to the test: $term"
      }
      set value [dict get [list NAME $name PRIMITIVE_TYPE $type REF_NAME [lindex [split $type .] end]] $property]
      if {![string match [string map {[ \\[ ] \\]} $pattern] $value]} { set matches 0 }
    }
    if {$matches} { lappend found cell:$name }
  }
  if {![llength $found]} { error "no cell: $::fake_option(-filter)" }
  return $found
}
proc create_clock {args} {
  set port [options {-name -period} {} $args]
  if {[llength $port] != 1} { error "create_clock $args" }
  say create_clock $::fake_option(-name) $::fake_option(-period) $port
}
# A clock is named like the pin that it comes from.
proc get_clocks {option pins} {
  if {$option ne "-of_objects"} { error "get_clocks $option" }
  set pin [string range $pins 4 end]
  expr {$pin eq $::fake_design(no_clock) ? "" : "clock_at:$pin"}
}
proc set_max_delay {args} {
  set delay [options {-from -to} {-datapath_only} $args]
  say set_max_delay $::fake_option(-from) $::fake_option(-to) $delay [expr {"-datapath_only" in $args}]
}
proc set_false_path {args} {
  options {-from -to -through} {} $args
  say set_false_path {*}$args
}

source [file join [file dirname [info script]] vivado_design.tcl]
if {[catch {source $script} message]} {
  puts stderr $message
  exit 1
}
