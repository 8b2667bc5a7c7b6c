# SPDX-License-Identifier: Apache-2.0
# The chapter of the manual page that describes the commands, in scdoc, from their help texts: one file a command,
# named after it. A line that begins with two blanks and a dash is an option, and the indented lines after it belong to
# it. Other indented lines are examples. Options that all commands have are described once.

function escaped(text) {
  gsub(/[\\*_]/, "\\\\&", text)
  return text
}

# Bold what is typed as it stands, underlined what somebody fills in.
function names(text) {
  text = escaped(text)
  gsub(/[A-Z][A-Z0-9]*/, "_&_", text)
  gsub(/--?[a-z][-a-z0-9]*/, "*&*", text)
  return text
}

function usage(text) {
  sub(/^(Usage:)? */, "", text)
  match(text, /^spate [a-z-]+/)
  return "*" substr(text, 1, RLENGTH) "*" names(substr(text, RLENGTH + 1))
}

# Text of one paragraph; its first character must not mean a list or a heading.
function paragraph(text) {
  text = escaped(text)
  return (text ~ /^[-#;.|]/ ? "\\" : "") text "\n"
}

function finish() {
  if (kind == "usage") add("text", text "\n")
  if (kind == "text") add("text", paragraph(text))
  if (kind == "example") add("text", (last == "option" ? "Examples:\n\n" : "") "```\n" text "\n```\n")
  if (kind == "option") add("option", names(term) "\n\t" paragraph(text))
  if (kind != "") last = kind
  kind = text = ""
}

function add(kind, text) {
  blocks[commands]++
  kinds[commands, blocks[commands]] = kind
  texts[commands, blocks[commands]] = text
  if (kind == "option") having[text]++
}

function begin(new) {
  if (kind != new || new == "option") finish()
  kind = new
}

function more(separator, line) {
  text = text == "" ? line : text separator line
}

FNR == 1 {
  finish()
  command = FILENAME
  sub(/.*\//, "", command)
  commands++
  heading[commands] = command
}
/^$/ { finish(); next }
/^Usage: / || (kind == "usage" && /^ /) { begin("usage"); more("++\n", usage($0)); next }
/^  -/ {
  begin("option")
  term = substr($0, 3)
  if (match(term, /  +/)) {
    text = substr(term, RSTART + RLENGTH)
    term = substr(term, 1, RSTART - 1)
  }
  next
}
/^   / && kind == "option" { sub(/^ +/, ""); more(" ", $0); next }
/^ / { begin("example"); more("\n", substr($0, 3)); next }
{ begin("text"); more(" ", $0) }

END {
  finish()
  print "# COMMANDS\n"
  for (c = 1; c <= commands; c++) {
    print "## " heading[c] "\n"
    for (b = 1; b <= blocks[c]; b++)
      if (kinds[c, b] == "text" || having[texts[c, b]] < commands) print texts[c, b]
  }
  print "# OPTIONS OF EVERY COMMAND\n"
  for (b = 1; b <= blocks[1]; b++)
    if (kinds[1, b] == "option" && having[texts[1, b]] == commands) print texts[1, b]
}
