# SPDX-License-Identifier: Apache-2.0
# Read by setup/install. Debian's packages, for this machine.

has_apt() {
  command -v dpkg-query >/dev/null && command -v apt-get >/dev/null
}

# lines GROUP...: "name lowest-version" of the list, of all groups named.
lines_of() {
  awk -v groups="$*" '
    BEGIN { count = split(groups, wanted, " "); for (i = 1; i <= count; i++) is_wanted[wanted[i]] = 1 }
    /^[^#]/ { count = split($3, of, ","); for (i = 1; i <= count; i++) if (of[i] in is_wanted) { print $1, $2; next } }' "$list"
}

# The lines of this machine's packages.
native_lines() {
  # shellcheck disable=SC2086 # one word a group
  lines_of $groups | grep -v '^[^ ]*:'
}

# Prints the lines whose package is not installed, or too old. Reads the list of installed packages once: a call of
# dpkg-query for each would take longer than everything else here.
missing_lines() {
  dpkg-query --show --showformat='${db:Status-Abbrev} ${Package} ${Version}\n' 2>/dev/null |
    awk '/^ii/ { print $2, $3 }' | sort -u > "$known"
  native_lines | while read -r names minimum; do
    installed=$(awk -v names="$names" '
      BEGIN { count = split(names, of, "|"); for (i = 1; i <= count; i++) is_wanted[of[i]] = 1 }
      $1 in is_wanted { print $2; exit }' "$known")
    if [ -z "$installed" ] || ! dpkg --compare-versions "$installed" ge "$minimum"; then
      printf '%s %s\n' "$names" "$minimum"
    fi
  done
}

# first_known APT NAMES: the first of a|b that has a version to install, or status 1. APT is the command that asks.
first_known() {
  apt=$1
  for name in $(printf '%s' "$2" | tr '|' ' '); do
    if $apt apt-cache policy "$name" 2>/dev/null | grep -q '^  Candidate: [^(]'; then
      printf '%s\n' "$name"
      return
    fi
  done
  return 1
}

# The megabytes that apt says it would fetch, from its list of addresses.
megabytes() {
  awk '/^./ { bytes += $3 } END { print int((bytes + 999999) / 1000000) }'
}

fetched_so_far() {
  kilobytes=$(du -sk /var/cache/apt/archives 2>/dev/null | cut -f 1)
  printf '%d of %d MB fetched' $(((kilobytes - kilobytes_before) / 1000)) "$size_mb"
}

what_apt_does() {
  printf 'unpacking: %s' "$(tail -n 1 "$log" | cut -c 1-60)"
}

install_packages() {
  as_root=
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || fail "installing needs root: run as root, or install sudo. Missing:" "$(echo "$1" | cut -d' ' -f1)"
    as_root=sudo
    sudo true || fail "sudo refused"
  fi
  # Otherwise it succeeds with old lists, or none, where no connection is possible.
  run "apt-get update failed" apt.log $as_root apt-get -o APT::Update::Error-Mode=any update -qq
  chosen=
  for names in $(echo "$1" | cut -d' ' -f1); do
    ! name=$(first_known "" "$names") || chosen="$chosen $name"
  done
  [ -n "$chosen" ] || return 0
  options="--yes -qq --no-install-recommends"
  # shellcheck disable=SC2086 # one word an option, and a package
  size_mb=$(apt-get install $options --print-uris $chosen 2>/dev/null | megabytes)
  echo "setup: installing Debian packages ($size_mb MB, about $(about_s "$size_mb") s):$chosen"
  kilobytes_before=$(du -sk /var/cache/apt/archives 2>/dev/null | cut -f 1)
  # shellcheck disable=SC2086
  run_measured "apt-get could not fetch the packages" apt.log fetched_so_far \
    $as_root apt-get install $options --download-only $chosen
  # shellcheck disable=SC2086
  run_measured "apt-get could not install the packages" apt.log what_apt_does \
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install $options $chosen
}

# The missing lines that are not yet known to be absent.
missing_and_unknown() {
  missing_lines | grep -vxFf "$absent" || [ $? -eq 1 ] # 1: no line
}

# What this release does not have, or not as new, is said once. What needs it then fails, and says so itself.
check_packages() {
  absent=$build/packages-absent
  [ -e "$absent" ] || : > "$absent"
  missing=$(missing_and_unknown)
  [ -n "$missing" ] || return 0
  install_packages "$missing"
  missing=$(missing_and_unknown)
  [ -n "$missing" ] || return 0
  printf '%s\n' "setup: this release does not have these packages, or not in these versions (setup/packages.txt):" \
    "$missing" "setup: it goes on without them; the build names what it does not find. After make clean it tries again." >&2
  printf '%s\n' "$missing" >> "$absent"
}

# Without apt: what the packages are called there is not known. Says it once for each set of groups.
name_packages() {
  said=$build/packages-named
  grep -qsxF "$groups" "$said" && return
  {
    echo "setup: this system has no apt-get. Debian's names of what this command needs:"
    echo "   " "$(native_lines | cut -d' ' -f1 | tr '\n' ' ')"
    echo "setup: it goes on with what is installed; the build names what it does not find."
  } >&2
  printf '%s\n' "$groups" >> "$said"
}

# build/programs is the PATH of the Makefile's commands. The links depend on the list and on the installed packages,
# which check_packages has written to a file. Programs that fill it need python3.
link_programs() {
  [ -x /usr/bin/python3 ] || return 0
  cat "$list" "$known" | cmp -s - "$build/programs-made-from" && return
  run "setup/programs failed" programs.log "$here/programs" "$build/programs"
  cat "$list" "$known" > "$build/programs-made-from"
}
