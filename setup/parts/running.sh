# SPDX-License-Identifier: Apache-2.0
# Read by setup/install. How it runs programs, shows their progress, and reports failures.

# What apt and pip say is read here: in English.
export LC_ALL=C.UTF-8
unset LANGUAGE

fail() {
  printf '%s\n' "setup: $*" >&2
  exit 1
}

# The words by which apt and pip say that a connection failed.
NO_CONNECTION='Could not connect|Could not resolve|Temporary failure (in name )?resol|Connection (refused|timed out|failed)'
NO_CONNECTION="$NO_CONNECTION|Network is unreachable|NewConnectionError|Name or service not known|Read timed out"

# fail_of WHY LOG: tools/run has printed what the tool said.
fail_of() {
  if grep -qE "$NO_CONNECTION" "$2"; then
    fail "$1: a connection failed. Is the network up?"
  fi
  fail "$1. The lines above are what the tool said"
}

# run WHY LOG COMMAND...
run() {
  why=$1
  log=$build/$2
  shift 2
  "$root/tools/run" "$log" "$@" || fail_of "$why" "$log"
}

# show_progress MEASURE: prints what the function MEASURE prints, until it is killed or this script has ended: every second
# in place on a terminal, else every 15 seconds on a line.
show_progress() {
  seconds=0
  while sleep 1 && kill -0 $$ 2>/dev/null; do
    seconds=$((seconds + 1))
    if [ -t 1 ]; then
      printf '\r\033[Ksetup:   %s' "$($1)"
    elif [ $((seconds % 15)) -eq 0 ]; then
      printf 'setup:   %s\n' "$($1)"
    fi
  done
}

# run_measured WHY LOG MEASURE COMMAND...: the same, and shows the progress. The tool is in the foreground: Ctrl-C ends it,
# and sudo can ask for a password. What shows the progress must not keep the lock.
run_measured() {
  why=$1
  log=$build/$2
  show_progress "$3" 9>&- &
  shower=$!
  shift 3
  status=0
  "$root/tools/run" "$log" "$@" || status=$?
  # The process that shows progress may have ended already, and its status says nothing about the tool.
  kill $shower 2>/dev/null || true
  wait $shower 2>/dev/null || true
  [ ! -t 1 ] || printf '\r\033[K'
  [ $status -eq 0 ] || fail_of "$why" "$log"
}

# Seconds, roughly: 8 MB a second are fetched and unpacked.
about_s() {
  echo $((3 + $1 / 8))
}
