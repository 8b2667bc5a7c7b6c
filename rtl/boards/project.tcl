# SPDX-License-Identifier: Apache-2.0
#
# NEVER RUN IN VIVADO. Version assumed: 2023.2.
#
# What the build.tcl of each board does in the same way. It reads this file, and calls:
#
#   begin_project BOARD PART READ   make the project, with the sources and constraints of the board; READ is the file
#                                   of rtl/constraints that the core needs
#   create_checked IP NAME {PROPERTY VALUE …} ?{PROPERTY VALUE …}?
#                                   an IP core, with these properties; with the second ones if it has them
#   create_bench                    the JTAG master and the logic analyser of spate_board_bench
#   finish_project BOARD JOBS PINS  build, check, and write the bitstream; PINS are the clocks of crossings.xdc
#
# It needs `here`, the folder of the board. A board with a block design makes its project itself.

set repository [file normalize [file join $here .. .. ..]]
set build [file join $here build]

# ---- the vendor's modules ----

# Vivado only warns of a property that it does not know, and corrects values without a word: both are errors here.
# `object` is an IP core, or a cell of a block design.
proc set_checked {ip object properties {if_present {}}} {
  set known [string tolower [list_property $object]]
  foreach property [dict keys $if_present] {
    if {"config.[string tolower $property]" in $known} {
      dict set properties $property [dict get $if_present $property]
    } else {
      puts "$ip has no property $property: left as it is"
    }
  }
  set settings {}
  dict for {property value} $properties {
    if {"config.[string tolower $property]" ni $known} {
      error [concat "$ip of this Vivado has no property $property:" \
        "report_property of $object lists what it has; change it where it is set, below rtl/boards"]
    }
    lappend settings CONFIG.$property $value
  }
  set_property -dict $settings $object
  dict for {property value} $properties {
    set is [get_property CONFIG.$property $object]
    if {![string equal -nocase $is $value]} {
      error "$ip: $property is $is, not $value as it was set: set what decides it before"
    }
  }
}

proc create_checked {ip name properties {if_present {}}} {
  create_ip -vendor xilinx.com -library ip -name $ip -module_name $name
  set_checked $ip [get_ips $name] $properties $if_present
}

proc create_bench {} {
  create_checked jtag_axi jtag_axi_0 {PROTOCOL 2 M_AXI_DATA_WIDTH 32 M_AXI_ADDR_WIDTH 32}
  create_checked ila ila_0 {
    C_DATA_DEPTH 2048
    C_INPUT_PIPE_STAGES 1
    C_NUM_OF_PROBES 7
    C_PROBE0_WIDTH 8
    C_PROBE1_WIDTH 8
    C_PROBE2_WIDTH 4
    C_PROBE3_WIDTH 2
    C_PROBE4_WIDTH 64
    C_PROBE5_WIDTH 4
    C_PROBE6_WIDTH 64
  }
}

# ---- sources ----

proc listed {file} {
  set channel [open $file]
  set paths {}
  foreach line [split [read $channel] \n] { if {[string match rtl/* $line]} { lappend paths $line } }
  close $channel
  return $paths
}

# The clocks and cells of the vendor's modules are known only when their netlists are there: all constraints but those
# of the pins are for the implementation.
proc begin_project {board part read} {
  global here repository build
  create_project -force -part $part spate_$board [file join $build project]
  foreach path [concat [listed $repository/rtl/spate.f] [listed $here/sources.f]] {
    add_files -norecurse [file join $repository $path]
  }
  set_property top spate_$board [current_fileset]
  update_compile_order -fileset sources_1
  add_files -fileset constrs_1 -norecurse [list [file join $here $board.xdc] [file join $here crossings.xdc]]
  set_property used_in {implementation} [get_files crossings.xdc]
  source [file join $repository rtl constraints $read]
}

# ---- synthesis, implementation ----

proc complete {name jobs} {
  launch_runs $name -jobs $jobs
  wait_on_run $name
  if {[get_property PROGRESS [get_runs $name]] ne "100%"} {
    error "$name failed: the first ERROR in [get_property DIRECTORY [get_runs $name]]/runme.log says why"
  }
}

# A constraint whose objects are not found is only a warning to Vivado.
proc check_clocks {pins} {
  foreach pin $pins {
    if {[llength [get_clocks -of_objects [get_pins $pin]]] == 0} {
      error "no clock is found at pin $pin, so the crossings have no constraint: correct the name in crossings.xdc"
    }
  }
}

proc check_timing {} {
  global build
  foreach {property what} {WNS setup WHS hold TPWS "pulse width"} {
    set slack [get_property STATS.$property [get_runs impl_1]]
    puts "$what: slack $slack ns"
    if {![string is double -strict $slack] || $slack < 0} {
      error "timing is not met: $what, slack $slack ns. No bitstream. [file join $build timing.rpt] has the paths"
    }
  }
}

# Returns the bitstream's name.
proc finish_project {board jobs pins} {
  global build
  set_property strategy Performance_Explore [get_runs impl_1]
  complete synth_1 $jobs
  complete impl_1 $jobs
  open_run impl_1
  report_timing_summary -file [file join $build timing.rpt]
  report_utilization -hierarchical -file [file join $build utilization.rpt]
  report_cdc -details -file [file join $build cdc.rpt]
  report_bus_skew -file [file join $build bus_skew.rpt]
  report_methodology -file [file join $build methodology.rpt]
  report_drc -file [file join $build drc.rpt]
  check_clocks $pins
  check_timing
  set bitstream [file join $build spate_$board.bit]
  write_bitstream -force $bitstream
  write_debug_probes -force [file rootname $bitstream].ltx
  return $bitstream
}
