# SPDX-License-Identifier: Apache-2.0
# Converts help texts of spate to scdoc. Each input file holds the help text of one command and is named after it. The
# output is the chapters COMMANDS and COMMON OPTIONS; with -v overview=1, the input is the text of spate --help and the
# output is that text alone. A line that begins with two blanks and a dash is an option, and the indented lines after it
# belong to it. Other indented lines are examples. An option that more than half of the commands have in the same words is
# described once, and only named at each command.

function escaped(text) {
  gsub(/[\\*_]/, "\\\\&", text)
  return text
}

# Makes literal words bold and placeholders underlined.
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

# One paragraph of text. Its first character is escaped if it would begin a list or a heading.
function paragraph(text) {
  text = escaped(text)
  return (text ~ /^[-#;.|]/ ? "\\" : "") text "\n"
}

# Splits an option's line into term and text. "--block SIZE   of a request": two blanks end a value. In "--random,
# --sequential where to" the options have no value.
function option(line) {
  match(line, /^-[^ ,=]+(, -[^ ,=]+)*(=[^ ]+| [^ ]+(  |$)| [A-Z][A-Z0-9|.]*( |$))?/)
  term = substr(line, 1, RLENGTH)
  text = substr(line, RLENGTH + 1)
  sub(/ +$/, "", term)
  sub(/^ +/, "", text)
}

function add(kind, text, term) {
  blocks[commands]++
  kinds[commands, blocks[commands]] = kind
  texts[commands, blocks[commands]] = text
  terms[commands, blocks[commands]] = term
  if (kind == "option") having[text]++
}

function finish() {
  if (kind == "usage") add("text", text "\n")
  if (kind == "text") add("text", paragraph(text))
  if (kind == "example") add("text", (last == "option" ? "Examples:\n\n" : "") "```\n" text "\n```\n")
  if (kind == "option") add("option", names(term) "\n\t" paragraph(text), names(term))
  if (kind != "") last = kind
  kind = text = ""
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
  heading[++commands] = FILENAME
}
/^$/ { finish(); next }
/^Usage: / || (kind == "usage" && /^ /) { begin("usage"); more("++\n", usage($0)); next }
/^  -/ { begin("option"); option(substr($0, 3)); next }
/^   / && kind == "option" { sub(/^ +/, ""); more(" ", $0); next }
/^ / { begin("example"); more("\n", substr($0, 3)); next }
{ begin("text"); more(" ", $0) }

function common(c, b) {
  return kinds[c, b] == "option" && 2 * having[texts[c, b]] > commands
}

# Prints a command's text, and names its common options at the place of the first of them.
function print_command(c,    b, line) {
  for (b = 1; b <= blocks[c]; b++)
    if (common(c, b)) line = (line == "" ? "Common options: " : line ", ") terms[c, b]
  for (b = 1; b <= blocks[c]; b++) {
    if (!common(c, b)) print texts[c, b]
    else if (line != "") { print line "\n"; line = "" }
  }
}

function print_commands(    b, c, done) {
  print "# COMMANDS\n"
  for (c = 1; c <= commands; c++) {
    print "## " heading[c] "\n"
    print_command(c)
  }
  print "# COMMON OPTIONS\n"
  for (c = 1; c <= commands; c++)
    for (b = 1; b <= blocks[c]; b++)
      if (common(c, b) && !done[texts[c, b]]++) print texts[c, b]
}

END {
  finish()
  if (!overview) print_commands()
  else for (i = 1; i <= blocks[1]; i++) print texts[1, i]
}
