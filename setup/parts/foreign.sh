# SPDX-License-Identifier: Apache-2.0
# Read by setup/install. Debian packages of other machines: fetched and unpacked below build/, never installed.

# The name of this release, such as trixie.
codename() {
  # shellcheck disable=SC1091
  (. /etc/os-release && printf '%s' "${VERSION_CODENAME:-}")
}

# foreign_apt COMMAND...: apt as on a machine of $architecture with nothing installed, in the folder $foreign. This
# machine's packages, and its apt's data, stay unchanged.
foreign_apt() {
  env APT_CONFIG="$foreign/apt/conf" "$@"
}

# begin_foreign ARCHITECTURE FOLDER [SUITE...]: uses this machine's sources of packages, and other suites of its mirror, if given.
begin_foreign() {
  architecture=$1
  foreign=$2
  sources=/etc/apt/sources.list.d
  has_apt || fail "Debian packages for $1 are needed, and this system has no apt-get"
  rm -rf "$foreign"
  mkdir -p "$foreign/apt/state/lists/partial" "$foreign/apt/cache/archives/partial" "$foreign/packages"
  : > "$foreign/apt/status"
  shift 2
  [ $# -eq 0 ] || add_suites "$@"
  cat > "$foreign/apt/conf" <<END
APT::Architecture "$architecture";
APT::Architectures { "$architecture"; };
APT::Sandbox::User "";
Dir::State "$foreign/apt/state";
Dir::State::status "$foreign/apt/status";
Dir::Cache "$foreign/apt/cache";
Dir::Etc::sourceparts "$sources";
quiet "2";
END
  # A mirror may not have every index yet. That is no failure as long as the wanted packages can be fetched.
  foreign_apt apt-get update > "$build/apt.log" 2>&1 || true
}

# add_suites SUITE...
add_suites() {
  # shellcheck disable=SC2016 # apt's own variable
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Codename: $(codename)" | head -n 1)
  mkdir "$foreign/apt/sources"
  find "$sources" -maxdepth 1 '(' -name '*.list' -o -name '*.sources' ')' -exec cp -t "$foreign/apt/sources" '{}' +
  for suite; do
    printf 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s %s main\n' "$mirror" "$suite"
  done > "$foreign/apt/sources/more.list"
  sources=$foreign/apt/sources
}

foreign_so_far() {
  du -sk "$foreign/packages" "$foreign/apt/cache/archives" |
    awk -v size_mb="$size_mb" '{ kilobytes += $1 } END { printf "%d of %d MB fetched", kilobytes / 1000, size_mb }'
}

# The version of a fetched package is at least the one of the list.
check_version() {
  fetched=$(dpkg-deb --field "$foreign/packages/$1"_*.deb Version)
  dpkg --compare-versions "$fetched" ge "$2" || fail "the archive's $1 is $fetched, setup/packages.txt requires $2"
}

# end_foreign WHAT LINES MORE...: fetches the packages of these lines of the list, and MORE.
end_foreign() {
  what=$1
  wanted=$2
  shift 2
  chosen=
  for names in $(printf '%s\n' "$wanted" | awk '{ print $1 }'); do
    name=$(first_known foreign_apt "$(printf '%s' "$names" | sed 's/:[a-z0-9]*//g')") ||
      fail_of "this release has no $names, which $what needs" "$build/apt.log"
    chosen="$chosen $name"
  done
  # shellcheck disable=SC2086 # one word a package
  size_mb=$(foreign_apt apt-get download --print-uris $chosen "$@" 2>/dev/null | megabytes)
  echo "setup: fetching $what into ${foreign#"$root/"} ($size_mb MB, about $(about_s "$size_mb") s)"
  # shellcheck disable=SC2086
  run_measured "apt-get could not fetch packages for $architecture" apt.log foreign_so_far \
    env -C "$foreign/packages" APT_CONFIG="$foreign/apt/conf" apt-get download $chosen "$@"
  rm -r "$foreign/apt"
  for package in $chosen; do
    minimum=$(printf '%s\n' "$wanted" | awk -v name="$package" '{ names = "|" $1 "|"; gsub(":[a-z0-9]*", "", names) }
      index(names, "|" name "|") { print $2; exit }')
    check_version "$package" "$minimum"
  done
}

# fetch_guest ARCHITECTURE FOLDER GROUP: tools/linux_guest.py extracts what the guest needs. The kernel's package is the
# one on which linux-image-ARCHITECTURE depends.
fetch_guest() {
  lines=$(lines_of "$3" | grep "^[^ ]*:$1[ |]")
  printf '%s\n' "$lines" | cmp -s - "$2/fetched-from" && return
  begin_foreign "$1" "$2"
  kernel=$(foreign_apt apt-cache depends "linux-image-$1" 2>/dev/null | awk '/Depends: linux-image-/ { print $2; exit }')
  [ -n "$kernel" ] || fail_of "this release has no kernel for $1" "$build/apt.log"
  end_foreign "the Linux guest's packages for $1" "$lines" "$kernel"
  printf '%s\n' "$lines" > "$2/fetched-from"
}

# tools/linux_boards.py unpacks the files that it needs.
fetch_kernel_source() {
  lines=$(lines_of kernel-source)
  printf '%s\n' "$lines" | cmp -s - "$build/linux-source/fetched-from" && return
  begin_foreign arm64 "$build/linux-source"
  end_foreign "the kernel's source" "$lines"
  printf '%s\n' "$lines" > "$build/linux-source/fetched-from"
}

# With dependencies: bench/linux/guest.py extracts what it needs. For a kernel, fetches the package on which the one in
# the list depends. The guest uses the oldest kernel. "backports" are those of this release.
fetch_bench() {
  lines=$(lines_of linux-bench | sed 's/:arm64//')
  printf '%s\n' "$lines" | cmp -s - "$build/linux-bench/fetched-from" && return
  kernels=$(printf '%s\n' "$lines" | awk '/^linux-image/ { print $1 }' | sed "s,/backports,/$(codename)-backports,")
  # shellcheck disable=SC2046 # one word a suite
  begin_foreign arm64 "$build/linux-bench" $(printf '%s\n' "$kernels" | sed -n 's,.*/,,p' | sort -u)
  # shellcheck disable=SC2086 # one word a package
  images=$(foreign_apt apt-cache depends $kernels 2>/dev/null | awk '/Depends: linux-image-/ { print $2 }' | sort -u)
  # Debian divides later kernels into several packages.
  # shellcheck disable=SC2086
  images="$images $(foreign_apt apt-cache depends $images 2>/dev/null | awk '/Depends: linux-(binary|modules)-/ { print $2 }')"
  programs=$(printf '%s\n' "$lines" | awk '!/^linux-image/ { print $1 }')
  # shellcheck disable=SC2086
  size_mb=$(foreign_apt apt-get install --yes --no-install-recommends --print-uris $programs 2>/dev/null | megabytes)
  echo "setup: fetching the packages of make bench-linux into build/linux-bench ($size_mb MB, about $(about_s "$size_mb") s)"
  # shellcheck disable=SC2086
  run_measured "apt-get could not fetch the packages of make bench-linux" apt.log foreign_so_far \
    env APT_CONFIG="$foreign/apt/conf" apt-get install --yes --download-only --no-install-recommends $programs
  mv "$foreign"/apt/cache/archives/*.deb "$foreign/packages"
  # shellcheck disable=SC2086
  end_foreign "its kernels" "$(printf '%s\n' "$lines" | grep -v '^linux-image')" $images
  printf '%s\n' "$lines" > "$build/linux-bench/fetched-from"
}

# unpack_packages FOLDER LOG: those of $foreign.
unpack_packages() {
  for package in "$foreign"/packages/*.deb; do
    run "$package could not be unpacked" "$2" dpkg-deb --extract "$package" "$1"
  done
}

# Programs of Debian's unstable release, with the libraries that they need.
fetch_new_judges() {
  lines=$(lines_of new-judges)
  printf '%s\n' "$lines" | cmp -s - "$build/new-judges/fetched-from" && return
  begin_foreign amd64 "$build/new-judges" sid
  end_foreign "the newest judges" "$lines"
  unpack_packages "$foreign/root" new-judges.log
  printf '%s\n' "$lines" > "$build/new-judges/fetched-from"
}

# The figures of make place depend on the very files of nextpnr and of its libraries: place.sha256. Debian's unstable release
# replaces them from time to time. snapshot.debian.org keeps them.
has_place_files() {
  [ -d "$build/place/packages" ] && (cd "$build/place/packages" && sha256sum --check --status --strict "$here/place.sha256") 2>/dev/null
}

fetch_place() {
  cmp -s "$here/place.sha256" "$build/place/unpacked-from" && return
  if ! has_place_files; then
    begin_foreign amd64 "$build/place" sid
    end_foreign "nextpnr and its database" "$(lines_of place)"
  fi
  has_place_files || fail "Debian's unstable release has other files than setup/place.sha256 names, and their figures would not" \
    "compare with bench/place.json. Either fetch those files from snapshot.debian.org into build/place/packages and start again," \
    "or run setup/pin-place to use the new ones, and measure all designs again: make place KEEP=1"
  foreign=$build/place
  rm -rf "$foreign/root"
  unpack_packages "$foreign/root" place.log
  cp "$here/place.sha256" "$foreign/unpacked-from"
}

# fetch_sysroot ARCHITECTURE: headers and static libraries. The shared libraries are links to files of packages that are
# not fetched, so they are removed. The .pc files get paths relative to themselves: with PKG_CONFIG_SYSROOT_DIR, a blank
# in the path would split pkg-config's output.
fetch_sysroot() {
  lines=$(lines_of sysroot | grep "^[^ ]*:$1 ")
  printf '%s\n' "$lines" | cmp -s - "$build/sysroot/$1/unpacked-from" && return
  begin_foreign "$1" "$build/sysroot/$1"
  end_foreign "libraries for $1" "$lines"
  unpack_packages "$foreign" sysroot.log
  find "$foreign/usr/lib" -name '*.so*' -delete
  # shellcheck disable=SC2016 # pkg-config's variable
  sed -i 's|=/usr|=${pcfiledir}/../../..|' "$foreign"/usr/lib/*/pkgconfig/*.pc
  printf '%s\n' "$lines" > "$foreign/unpacked-from"
}
