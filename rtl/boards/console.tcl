# SPDX-License-Identifier: Apache-2.0
#
# NEVER RUN IN VIVADO. Version assumed: 2023.2. A simulation of a board has run it, with Vivado's commands replaced
# (tests/rtl/support/vivado.tcl).
#
# The console of a board without a processor, for Vivado's Tcl shell with a cable on the board's JTAG. A board's own
# console.tcl reads this file. Commands:
#
#   status                      the board, the link, the drive, and what to do if there is none
#   record BYTES ?LBA? ?SEED?   write a test pattern to the drive, and flush it. DESTROYS what is there
#   verify BYTES ?LBA? ?SEED?   read it back and compare it
#   registers                   all registers
#   restart_drive               bring the drive up again
#   shut_drive_down             flush it, and prepare it for loss of power
#   program ?FILE?              load the bitstream
#
# BYTES may end in K, M, G or T (1024, 1024^2 …). LBA is a block number; without it, the pattern begins 1 MiB from the
# beginning. The pattern depends on SEED: verify with another one fails. Numbers may be hexadecimal (0x…).
#
# Tcl 8.5 is enough.

source [file join [file dirname [file normalize [info script]]] bringup.tcl]

namespace eval spate {
  variable axi ""            ;# the JTAG master
  variable board 0x4000      ;# rtl/boards/spate_board_console.sv
  variable tag 0
  variable default_seed 0x53504154
  variable quiet_s 30        ;# so long may nothing move before a command is given up

  variable core_registers {
    magic 0x0000 version 0x0004 parameters 0x0008 ring 0x000c control 0x0010 interrupt_status 0x0014
    interrupt_enable 0x0018 status 0x001c bring_up 0x0020 error_detail 0x0024 blocks_low 0x0028 blocks_high 0x002c
    geometry 0x0030 nsid 0x0034 cap_low 0x0038 power 0x003c response 0x0058 response_done_low 0x005c
    response_done_high 0x0060 health 0x0068 wear 0x006c media_errors 0x0070 unsafe_shutdowns 0x0074
    written_low 0x0078 written_high 0x007c
    stray_reads 0x00c0 stray_writes 0x00c4 stale_accesses 0x00c8 cq_phase 0x00cc cq_place 0x00d0 cq_identifier 0x00d4
    sq_head 0x00d8 retries 0x00dc recoveries 0x00e0 command_errors 0x00e4 cycles 0x00e8 beats_in 0x00ec
    beats_out 0x00f0 commands 0x00f4 responses 0x00f8 interrupts 0x00fc
  }
  variable board_registers {
    magic 0x4000 version 0x4004 clock_hz 0x4008 beat_bytes 0x400c control 0x4010 rate 0x4014 seed 0x4018 beats 0x4020
    source_beats 0x4028 source_stalls 0x4030 source_cycles 0x4038 check_beats 0x4040 check_stalls 0x4048
    check_cycles 0x4050 wrong_beats 0x4058 wrong_word 0x4060 link 0x4068 link_clock 0x406c
  }
  variable wide {seed beats source_beats source_stalls source_cycles check_beats check_stalls check_cycles wrong_beats
    wrong_word}
}

# ---- the bus ----

proc spate::run {kind address args} {
  variable axi
  if {$axi eq ""} { error "there is no JTAG master: `program` loads the bitstream, `connect` looks again" }
  create_hw_axi_txn -force spate_$kind $axi -type $kind -address [format %08x $address] -len 1 {*}$args
  if {[catch {run_hw_axi [get_hw_axi_txns spate_$kind]} message]} {
    error [concat "the registers do not answer at [format %04Xh $address] ($message): is the bitstream loaded, and" \
      "the board's oscillator running? `program` loads it again"]
  }
}

proc spate::read {address} {
  run read $address
  if {[scan [get_property DATA [get_hw_axi_txns spate_read]] %x value] != 1} {
    error "a read of [format %04Xh $address] gave no number: `connect` resets the JTAG master"
  }
  return $value
}

proc spate::read64 {address} { expr {[read $address] | [read [expr {$address + 4}]] << 32} }

proc spate::write {address value} {
  run write $address -data [format %08x [expr {$value & 0xffffffff}]]
}

proc spate::write64 {address value} {
  write $address $value
  write [expr {$address + 4}] [expr {$value >> 32}]
}

proc spate::core {name} {
  variable core_registers
  read [dict get $core_registers $name]
}

proc spate::board {name} {
  variable board_registers
  variable wide
  set address [dict get $board_registers $name]
  if {$name in $wide} { return [read64 $address] }
  read $address
}

proc spate::board_write {name value} {
  variable board_registers
  variable wide
  set address [dict get $board_registers $name]
  if {$name in $wide} { write64 $address $value } else { write $address $value }
}

proc spate::bits {value high low} { expr {($value >> $low) & ((1 << ($high - $low + 1)) - 1)} }

# ---- the cable ----

proc spate::connect {} {
  variable axi
  variable part
  set axi ""
  catch {open_hw_manager}
  if {[catch {connect_hw_server} message] && [get_hw_servers -quiet] eq ""} {
    error "no hw_server: $message"
  }
  if {[current_hw_target -quiet] eq "" && [catch {open_hw_target} message]} {
    error [concat "no JTAG cable, or no device on it ($message): check the cable, its driver, the header's pins and" \
      "the board's power; a slower clock: set_property PARAM.FREQUENCY 1000000 \[get_hw_targets\]"]
  }
  set device [lindex [get_hw_devices -quiet ${part}*] 0]
  if {$device eq ""} { error "the cable sees no $part: [get_hw_devices -quiet]" }
  current_hw_device $device
  refresh_hw_device -quiet $device
  set axi [lindex [get_hw_axis -quiet] 0]
  if {$axi eq ""} {
    puts "The device has no JTAG master yet: `program` loads the bitstream."
    return
  }
  reset_hw_axi $axi
  # Vivado would print each word that is read or written.
  catch {set_msg_config -id {Labtoolstcl 44-481} -suppress}
  if {[board magic] != 0x53504244} {
    set axi ""
    error "another design is loaded: `program` loads this one"
  }
}

proc spate::program {{file ""}} {
  variable bitstream
  if {$file eq ""} { set file $bitstream }
  if {![file exists $file]} { error "there is no $file: `vivado -mode batch -source build.tcl` makes it" }
  if {[current_hw_device -quiet] eq ""} { connect }
  set device [current_hw_device]
  set_property PROGRAM.FILE $file $device
  set probes [file rootname $file].ltx
  if {[file exists $probes]} { set_property PROBES.FILE $probes $device }
  program_hw_devices $device
  connect
}

# ---- numbers ----

proc spate::bytes_of {text} {
  if {![regexp -nocase {^([0-9]+)([KMGT]?)$} $text -> number unit]} {
    error "BYTES must be a number, or one with K, M, G or T: $text"
  }
  scan $number %lld number    ;# digits, also with a leading zero
  expr {$number * 1024 ** [dict get {"" 0 K 1 M 2 G 3 T 4} [string toupper $unit]]}
}

proc spate::number_of {what text} {
  if {![string is wideinteger -strict $text] || $text < 0} { error "$what must be a number: $text" }
  expr {$text}
}

proc spate::rate {bytes cycles} {
  if {$cycles == 0} { return "no beat" }
  set hz [board clock_hz]
  format "%.2f bytes a cycle, %.3f GB/s at %g MHz" [expr {double($bytes) / $cycles}] \
    [expr {double($bytes) / $cycles * $hz / 1e9}] [expr {$hz / 1e6}]
}

# ---- status ----

proc spate::step_text {step error} {
  variable steps
  variable errors
  set text "step $step"
  if {[dict exists $steps $step]} { append text " ([dict get $steps $step])" }
  if {$error == 0} { return $text }
  append text ", error $error"
  if {[dict exists $errors $error]} {
    lassign [dict get $errors $error] meaning advice
    append text ": $meaning"
    if {$advice ne ""} { append text ". To do: $advice" }
  }
  return $text
}

proc spate::bring_up_text {} {
  set value [core bring_up]
  set text [step_text [bits $value 7 0] [bits $value 15 8]]
  if {[bits $value 15 8] != 0} { append text " (error_detail [format %08Xh [core error_detail]])" }
  return $text
}

# Of the block's user clock, from two pairs of counts.
proc spate::link_clock_mhz {} {
  set before [list [board link_clock] [core cycles]]
  after 50
  set now [list [board link_clock] [core cycles]]
  lassign $before edges cycles
  set edges [expr {([lindex $now 0] - $edges) & 0xffffffff}]
  set cycles [expr {([lindex $now 1] - $cycles) & 0xffffffff}]
  expr {256.0 * $edges / $cycles * [board clock_hz] / 1e6}
}

proc spate::link_text {} {
  variable tells_training
  set link [board link]
  set speeds {2.5 5 8 16}
  set text [expr {[bits $link 12 12] ? "up" : "down"}]
  if {$tells_training && [bits $link 12 12]} {
    append text [format ", %s GT/s, x%d" [lindex $speeds [bits $link 10 9]] [expr {1 << [bits $link 8 6]}]]
  }
  if {$tells_training} { append text [format ", LTSSM %02Xh" [bits $link 5 0]] }
  return "$text, PERST# [expr {[bits $link 14 14] ? "high" : "low"}]"
}

proc spate::blocks {} { expr {[core blocks_low] | [core blocks_high] << 32} }
proc spate::block_bytes {} { expr {[bits [core status] 6 6] ? 4096 : 512} }

proc spate::drive_text {} {
  set status [core status]
  if {[bits $status 1 1]} { return "gone" }
  if {![bits $status 0 0]} { return "not ready yet" }
  set gigabytes [expr {[blocks] * [block_bytes] / 1e9}]
  set text [format "ready, %lld blocks of %d bytes, %.1f GB" [blocks] [block_bytes] $gigabytes]
  if {[bits $status 4 4]} { append text ", [expr {[bits [core health] 31 16] - 273}] degrees C" }
  return $text
}

proc status {} {
  set mhz [spate::link_clock_mhz]
  puts "board     $spate::name, core's clock [expr {[spate::board clock_hz] / 1e6}] MHz"
  puts [format "link      the block's clock is %.1f MHz%s" $mhz \
    [expr {$mhz == 0 ? ": no reference clock reaches $spate::reference, or the block is in reset" : ""}]]
  puts "          [spate::link_text]"
  puts "drive     [spate::drive_text]"
  puts "bring-up  [spate::bring_up_text]"
}

# ---- commands ----

proc spate::drain {} {
  while {[bits [core status] 9 9]} { write 0x0064 1 }
}

# Waits for the response of a command: {status done}. `progress` is a script whose value changes while data move.
proc spate::response {progress} {
  variable quiet_s
  set last ""
  set quiet_ms 0
  while {![bits [core status] 9 9]} {
    after 20
    incr quiet_ms 20
    set now [{*}$progress]
    if {$now ne $last} {
      set last $now
      set quiet_ms 0
    }
    if {$quiet_ms > $quiet_s * 1000} {
      error "nothing has moved for $quiet_s s. [drive_text]; [bring_up_text]"
    }
  }
  set value [core response]
  set done [expr {[core response_done_low] | [core response_done_high] << 32}]
  write 0x0064 1
  variable tag
  if {[bits $value 15 0] != $tag} { error "a response with the tag of another command: `program` again" }
  list [bits $value 31 16] $done
}

proc spate::start {op {source 0} {lba 0} {blocks 0}} {
  variable tag
  set tag [expr {($tag + 1) & 0xffff}]
  if {![bits [core status] 8 8]} { error "the core takes no command now: another one has no response yet" }
  write64 0x0040 $lba
  write 0x0048 $blocks
  write 0x0054 [expr {$op | $source << 4 | 1 << 7 | $tag << 16}]
}

proc spate::status_text {status} {
  variable statuses
  set key [format %04x $status]
  if {[dict exists $statuses $key]} {
    lassign [dict get $statuses $key] meaning advice
    return "${key}h, $meaning: $advice"
  }
  format "%sh, the drive's own: type %d, code %02Xh" $key [bits $status 10 8] [bits $status 7 0]
}

proc spate::simple {what op} {
  drain
  start $op
  lassign [response {spate::core bring_up}] status
  if {$status != 0} { error "$what ended with [status_text $status]. [bring_up_text]" }
  puts "$what: done"
}

# Vivado has a command `restart`.
proc restart_drive {} { spate::simple restart 7 }
proc shut_drive_down {} { spate::simple shutdown 6 }

# What `record` and `verify` have in common. Returns {bytes lba blocks}.
proc spate::prepare {bytes lba seed} {
  wait_for_drive
  set bytes [bytes_of $bytes]
  set block [block_bytes]
  if {$lba eq ""} { set lba [expr {1048576 / $block}] }
  set lba [number_of LBA $lba]
  if {$bytes == 0 || $bytes % $block != 0} { error "BYTES must be a multiple of the drive's blocks of $block bytes" }
  set blocks [expr {$bytes / $block}]
  if {$blocks >= 1 << 32} { error "BYTES must be fewer than 2^32 blocks" }
  if {$lba + $blocks > [blocks]} { error "the drive has [blocks] blocks, and $blocks from $lba on are more" }
  if {[bits [board control] 0 0]} { error "the source still sends: wait, or `program` again" }
  drain
  board_write control 8    ;# clear what an earlier command has left in the streams
  after 1
  variable default_seed
  board_write seed [number_of SEED [expr {$seed eq "" ? $default_seed : $seed}]]
  list $bytes $lba $blocks
}

proc spate::wait_for_drive {} {
  for {set tries 0} {$tries < 600} {incr tries} {
    set status [core status]
    if {[bits $status 0 0]} { return }
    if {[bits $status 1 1]} { error "there is no drive: [bring_up_text]. Then: restart_drive" }
    after 20
  }
  error "the drive is not ready after 12 s: [bring_up_text]"
}

proc record {bytes {lba ""} {seed ""}} {
  lassign [spate::prepare $bytes $lba $seed] bytes lba blocks
  set beats [expr {$bytes / [spate::board beat_bytes]}]
  puts "record    $bytes bytes to blocks $lba ... [expr {$lba + $blocks - 1}]"
  spate::board_write beats $beats
  spate::board_write control 1
  spate::start 1 0 $lba $blocks
  lassign [spate::response {spate::board source_beats}] status done
  if {$status != 0} {
    spate::board_write control 4
    error "the write ended with [spate::status_text $status], after $done good blocks. [spate::bring_up_text]"
  }
  spate::start 0
  lassign [spate::response {}] status
  if {$status != 0} { error "the flush ended with [spate::status_text $status]" }
  puts "          [spate::rate $bytes [spate::board source_cycles]]; the source waited\
    [spate::board source_stalls] cycles"
  puts "          written and flushed. `verify` with the same numbers reads it back"
}

proc verify {bytes {lba ""} {seed ""}} {
  lassign [spate::prepare $bytes $lba $seed] bytes lba blocks
  set beats [expr {$bytes / [spate::board beat_bytes]}]
  puts "verify    $bytes bytes of blocks $lba ... [expr {$lba + $blocks - 1}]"
  spate::board_write control 2
  spate::start 2 0 $lba $blocks
  lassign [spate::response {spate::board check_beats}] status done
  for {set tries 0} {[spate::board check_beats] < $beats} {incr tries} {
    if {$tries > 500} { error "only [spate::board check_beats] of $beats beats came. [spate::bring_up_text]" }
    after 20    ;# the response may come before the last beats
  }
  set wrong [spate::board wrong_beats]
  if {$status != 0} {
    error "the read ended with [spate::status_text $status], after $done good blocks. [spate::bring_up_text]"
  }
  if {$wrong != 0} {
    set at [expr {8 * [spate::board wrong_word]}]
    set block [expr {$lba + $at / [spate::block_bytes]}]
    error [concat "$wrong of $beats beats are wrong, the first at byte $at, in block $block:" \
      "was it recorded with this LBA and SEED?"]
  }
  puts "          [spate::rate $bytes [spate::board check_cycles]]; the checker waited\
    [spate::board check_stalls] cycles"
  puts "          all $beats beats are as recorded"
}

proc registers {} {
  foreach {name address} $spate::core_registers {
    puts [format "core   %04Xh  %-20s %08Xh" $address $name [spate::core $name]]
  }
  foreach {name address} $spate::board_registers {
    puts [format "board  %04Xh  %-20s %08llXh" $address $name [spate::board $name]]
  }
}

foreach name {connect program} { interp alias {} $name {} spate::$name }
