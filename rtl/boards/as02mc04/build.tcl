# SPDX-License-Identifier: Apache-2.0
#
# NEVER BUILT. Vivado version assumed: 2023.2.
#
# Makes build/spate_as02mc04.bit, with reports beside it: `vivado -mode batch -source build.tcl`. It ends with an error,
# and no bitstream, when timing is not met.

# What may differ. Sources disagree on the card's speed grade: a design for -1 works on a card with -2.
set part xcku3p-ffvb676-1-e
set jobs 4

set here [file dirname [file normalize [info script]]]
set repository [file normalize [file join $here .. .. ..]]
set build [file join $here build]

# ---- the vendor's modules ----

# The hard block as the core requires it (docs/use/gateware.md, On the hard block). Names and values of properties are
# those of public projects for this block: fpganinja/taxi (src/cndm/board/AS02MC04), and others that the card's page
# names.
set pcie {
  mode_selection Advanced
  device_port_type Root_Port_of_PCI_Express_Root_Complex
  en_gt_selection true
  select_quad GTY_Quad_225
  pcie_blk_locn X0Y0
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
}
# PG213 has these settings, but no public project for this block that names the properties was found. The values are its
# defaults. If the block then lacks ports that the top connects, synthesis says so.
set pcie_if_present {
  sys_reset_polarity ACTIVE_LOW
  cfg_status_if true
  cfg_ctl_if true
}
set jtag {PROTOCOL 2 M_AXI_DATA_WIDTH 32 M_AXI_ADDR_WIDTH 32}
set ila {
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

# Vivado only warns of a property that it does not know, and corrects values without a word: both are errors here.
proc create_checked {ip name properties {if_present {}}} {
  create_ip -vendor xilinx.com -library ip -name $ip -module_name $name
  set known [string tolower [list_property [get_ips $name]]]
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
        "report_property \[get_ips $name\] lists what it has; change it in build.tcl"]
    }
    lappend settings CONFIG.$property $value
  }
  set_property -dict $settings [get_ips $name]
  dict for {property value} $properties {
    set is [get_property CONFIG.$property [get_ips $name]]
    if {![string equal -nocase $is $value]} {
      error "$ip: $property is $is, not $value as it was set: set what decides it before, in build.tcl"
    }
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

create_project -force -part $part spate_as02mc04 [file join $build project]
foreach path [concat [listed $repository/rtl/spate.f] [listed $here/sources.f]] {
  add_files -norecurse [file join $repository $path]
}
set_property top spate_as02mc04 [current_fileset]
update_compile_order -fileset sources_1
add_files -fileset constrs_1 -norecurse [list [file join $here as02mc04.xdc] [file join $here crossings.xdc]]
# The block's clocks are known only when its netlist is there.
set_property used_in {implementation} [get_files crossings.xdc]
source [file join $repository rtl constraints read_usp.tcl]

create_checked pcie4_uscale_plus pcie4_uscale_plus_0 $pcie $pcie_if_present
create_checked jtag_axi jtag_axi_0 $jtag
create_checked ila ila_0 $ila

# ---- synthesis, implementation ----

proc complete {name jobs} {
  launch_runs $name -jobs $jobs
  wait_on_run $name
  if {[get_property PROGRESS [get_runs $name]] ne "100%"} {
    error "$name failed: the first ERROR in [get_property DIRECTORY [get_runs $name]]/runme.log says why"
  }
}

set_property strategy Performance_Explore [get_runs impl_1]
complete synth_1 $jobs
complete impl_1 $jobs
open_run impl_1
report_timing_summary -file [file join $build timing.rpt]
report_utilization -hierarchical -file [file join $build utilization.rpt]
report_cdc -details -file [file join $build cdc.rpt]
report_methodology -file [file join $build methodology.rpt]
report_drc -file [file join $build drc.rpt]

# A constraint whose objects are not found is only a warning to Vivado.
foreach pin {u_mmcm/CLKOUT0 u_pcie/user_clk} {
  if {[llength [get_clocks -of_objects [get_pins $pin]]] == 0} {
    error "no clock is found at pin $pin, so the crossings have no constraint: correct the name in crossings.xdc"
  }
}
foreach {property what} {WNS setup WHS hold TPWS "pulse width"} {
  set slack [get_property STATS.$property [get_runs impl_1]]
  puts "$what: slack $slack ns"
  if {![string is double -strict $slack] || $slack < 0} {
    error "timing is not met: $what, slack $slack ns. No bitstream. [file join $build timing.rpt] has the paths"
  }
}

# ---- the bitstream, also for the flash ----

set bitstream [file join $build spate_as02mc04.bit]
write_bitstream -force $bitstream
write_debug_probes -force [file rootname $bitstream].ltx
write_cfgmem -force -format mcs -interface SPIx4 -size 32 -loadbit "up 0 $bitstream" [file rootname $bitstream].mcs
puts "$bitstream"
