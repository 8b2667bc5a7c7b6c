# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Completion of spate in bash. It reads commands, arguments and options from the program's own help:
#
#    Usage: spate extract TARGET PATH FILE [options]     the arguments in their order
#      --against FILE         compare with FILE          an option and its value; two blanks end them
#
# TARGET completes to files and block devices, PATH to the files of the volume, FILE and SOURCE to files, and 512|4096 to
# these two. Other values, such as SIZE, are not completed.

# Reads candidates as lines from standard input, and offers those that begin with $1. compgen -W would expand them.
_spate_offer() {
  local candidate
  while IFS= read -r candidate; do
    [[ $candidate == "$1"* ]] && COMPREPLY+=("$candidate")
  done
}

_spate_commands() {
  sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p' <<< "$1" | grep -vx spate
}

# Prints the options of a help text, one a line, with the names of their values: "-v", "--force", "--block 512|4096",
# "--output-format=json". In "--random, --sequential where to" the options have no values: two blanks end a value.
_spate_options() {
  local option='^  (-[^ ,=]+(, -[^ ,=]+)*)(.*)' its_value='^(=[^ ]+| [^ ]+(  |$)| [A-Z][A-Z0-9|.]*( |$))'
  local line names name value
  while IFS= read -r line; do
    [[ $line =~ $option ]] || continue
    names=${BASH_REMATCH[1]//,/}
    value=''
    [[ ${BASH_REMATCH[3]} =~ $its_value ]] && read -r value <<< "${BASH_REMATCH[1]}"
    for name in $names; do
      case $value in
        '') printf '%s\n' "$name" ;;
        =*) # of the last name only
          [[ $name == "${names##* }" ]] && name+=$value
          printf '%s\n' "$name"
          ;;
        *) printf '%s\n' "$name $value" ;;
      esac
    done
  done <<< "$1"
}

# Prints the name that the help text $1 has for the value of the option $2; prints nothing if it has no value.
_spate_value() {
  local option
  while IFS= read -r option; do
    [[ $option == "$2"[\ =]* ]] && printf '%s\n' "${option#"$2"?}"
  done < <(_spate_options "$1")
}

# Prints the name that the help text $1 has for argument number $2. A name with ... after it stands for several.
_spate_word() {
  local names last name
  read -r -a names < <(
    sed -n '/^Usage: / { s/^Usage: spate [^ ]*//; s/\[options\].*//; s/ -.*//; s/[][]//g; p; q }' <<< "$1"
  )
  [[ ${#names[@]} -gt 0 ]] || return
  last=${names[-1]%...}
  name=${names[$2]:-}
  [[ -z $name && $1 == *"$last..."* ]] && name=$last
  printf '%s\n' "${name%...}"
}

# Block devices with a medium in them.
_spate_devices() {
  local entry bytes
  for entry in /sys/class/block/*; do
    { read -r bytes < "$entry/size"; } 2> /dev/null && [[ $bytes != 0 ]] && printf '%s\n' "/dev/${entry##*/}"
  done
}

# Files that begin with $1; below /dev only block devices, and folders on the way to them.
_spate_files() {
  local name
  while IFS= read -r name; do
    [[ $name != /dev/* || -b $name || -d $name ]] && printf '%s\n' "$name"
  done < <(compgen -f -- "$1")
}

# Prints the paths on the volume of the target $2; $1 is the program.
_spate_paths() {
  [[ -r $2 ]] && "$1" ls "$2" 2> /dev/null | sed -n 's/\/$//; s/^ *[-0-9]*  [0-9u][-+0-9: a-z]\{24\}  //p'
}

# Removes the usual kinds of quoting from a word.
_spate_unquoted() {
  local word=${1//[\"\'\\]/}
  printf '%s\n' "${word/#\~\//$HOME/}"
}

# Offers the completions of $2 for a name such as TARGET or 512|4096 in $1.
_spate_complete() {
  local kind kinds
  IFS='|' read -r -a kinds <<< "$1"
  for kind in "${kinds[@]}"; do
    case $kind in
      TARGET)
        compopt -o filenames 2> /dev/null
        [[ $2 == /dev/* ]] || _spate_offer "$2" < <(_spate_devices)
        _spate_offer '' < <(_spate_files "$2")
        ;;
      FILE | SOURCE)
        compopt -o filenames 2> /dev/null
        _spate_offer '' < <(compgen -f -- "$2")
        ;;
      PATH)
        _spate_offer "$(_spate_unquoted "$2")" < <(_spate_paths "$program" "$(_spate_unquoted "$target")")
        compopt -o filenames 2> /dev/null
        ;;
      *[!A-Z]*) _spate_offer "$2" <<< "$kind" ;;
    esac
  done
}

# Sets words to the arguments up to the cursor, as the program would get them. bash has split them at = and : as well.
_spate_words() {
  local word joined=
  words=()
  for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
    if [[ ${#words[@]} -gt 0 && ($joined || $word == [=:]*) ]]; then
      words[-1]+=$word
    else
      words+=("$word")
    fi
    joined=
    [[ $word == *[=:] ]] && joined=yes
  done
}

# Counts the arguments between the command and the cursor that are neither options nor their values; the first of them is
# the target. If the cursor is at the value of an option, sets value to its name in the help.
_spate_parse() {
  local word
  for word in "${words[@]:1:${#words[@]}-2}"; do
    if [[ $value ]]; then
      value=
    elif [[ $word == --*=* ]]; then
      continue
    elif [[ $word == -?* ]]; then
      value=$(_spate_value "$help" "$word")
    else
      count=$((count + 1))
      [[ $count -eq 1 ]] && target=$word
    fi
  done
}

_spate() {
  local program=${1/#\~\//$HOME/} words help current value='' target='' count=0
  COMPREPLY=()
  _spate_words
  current=${words[-1]}
  help=$("$program" --help 2> /dev/null) || return
  if [[ ${#words[@]} -eq 1 ]]; then
    _spate_offer "$current" < <(_spate_commands "$help"; printf '%s\n' --help --version)
    return
  fi
  _spate_commands "$help" | grep -qxF -e "${words[0]}" && help=$("$program" "${words[0]}" --help 2> /dev/null) || return
  _spate_parse
  if [[ $value ]]; then
    _spate_complete "$value" "$current"
  elif [[ $current == --*=* ]]; then
    value=$(_spate_value "$help" "${current%%=*}")
    current=${current#*=}
    _spate_complete "$value" "$current"
  elif [[ $current == -* ]]; then
    _spate_offer "$current" < <(_spate_options "$help" | sed 's/ .*//')
  else
    _spate_complete "$(_spate_word "$help" "$count")" "$current"
  fi
  # bash replaces only the text after the last = or : by a completion.
  [[ $current == *[=:]* ]] && COMPREPLY=("${COMPREPLY[@]#"${current%"${current##*[=:]}"}"}")
}

complete -F _spate spate
