# SPDX-License-Identifier: Apache-2.0
# Runs files of constraints for interpreter.py. Each command that it names on standard input becomes a procedure that
# sends its words, with the file and the line of the call, and returns the answer. Words are in base64, so that they
# have no blank.

proc encoded {words} {
  return [lmap word $words {binary encode base64 -maxlen 0 [encoding convertto utf-8 "=$word"]}]
}

proc decoded {words} {
  return [lmap word $words {string range [encoding convertfrom utf-8 [binary decode base64 $word]] 1 end}]
}

proc say {kind args} {
  puts [list $kind {*}[encoded $args]]
  flush stdout
}

proc ask {place name words} {
  set file [expr {[dict exists $place file] ? [dict get $place file] : ""}]
  say call $file [dict get $place line] $name {*}$words
  while {[gets stdin line] >= 0} {
    set answer [lassign [split $line] kind]
    switch -- $kind {
      ok { return [decoded $answer] }
      text { return [lindex [decoded $answer] 0] }
      error { return -code error [lindex [decoded $answer] 0] }
      run { run [lindex [decoded $answer] 0] }
    }
  }
  exit 1
}

# What a file sets is gone after it, so that no file uses another's variables.
proc run {file} {
  set before [files eval {info globals}]
  if {[catch {files eval [list source $file]} message options]} {
    set line [expr {[regexp {\(file "[^"]*" line (\d+)\)} [dict get $options -errorinfo] -> line] ? $line : 0}]
    say failed $file $line $message
  } else {
    forget_all_but $before
    say done
  }
}

proc forget_all_but {names} {
  foreach name [files eval {info globals}] {
    if {$name ni $names} { files eval [list unset $name] }
  }
}

interp create files
interp alias files _ask {} ask
files eval {
  proc unknown {name args} { return -code error "unknown command \"$name\"" }
  foreach name {exec open socket exit cd load} { rename $name {} }
}
# What a file prints would be taken for our protocol, and a check makes and deletes no files.
files eval {
  proc puts {args} {}
  rename file real_file
  proc file {name args} {
    if {$name in {mkdir delete copy rename link attributes mtime}} { return }
    return [real_file $name {*}$args]
  }
}
foreach name [decoded [split [gets stdin]]] {
  files eval [list namespace eval :: "proc $name args { return \[_ask \[info frame -1\] [list $name] \$args\] }"]
}
while {[gets stdin line] >= 0} { run [lindex [decoded [split $line]] 0] }
