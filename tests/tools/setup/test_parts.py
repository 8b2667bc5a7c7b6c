# SPDX-License-Identifier: Apache-2.0
"""setup/parts/: what the set-up installs, says and does when a tool fails or is interrupted, with stand-ins for apt and dpkg."""

import os
import pathlib
import shlex
import signal
import subprocess
import time

import pytest

from conftest import ROOT, run

PARTS = ROOT / "setup" / "parts"
BEGIN = f"set -eu; root={shlex.quote(str(ROOT))}; here=$root/setup; build=$PWD; known=$build/known; groups=command\n" + "".join(
    f". {shlex.quote(str(PARTS / name))}.sh\n" for name in ("running", "debian", "foreign", "python"))
# A release that has old, other and good, and speaks German unless it is told not to. good is installed once it was asked for.
STAND_INS = {
    "apt-cache": """case $2 in old | other | good) found=1.0 ;; *) found="(none)" ;; esac
                    [ "$LC_ALL" = C.UTF-8 ] && [ -z "${LANGUAGE:-}" ] && word=Candidate || word=Installationskandidat
                    printf '%s:\\n  Installed: (none)\\n  %s: %s\\n' "$2" "$word" "$found" """,
    "apt-get": """echo "$@" >> asked
                  case "$*" in
                  *"Error-Mode=any update"*) [ ! -e offline ] || { echo "W: Could not resolve 'deb.example'"; exit 100; } ;;
                  *" update"*) ;; # succeeds without a connection
                  *--print-uris*) echo "'http://x/y' y.deb 5000000 MD5Sum:0" ;; *only*) ;;
                  *) for word; do case $word in old | good) echo "ii  $word 2.0" >> installed ;; esac; done ;; esac""",
    "dpkg-query": "cat installed",
    "sudo": '"$@"',
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "bin").mkdir()
    for name, text in STAND_INS.items():
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    (tmp_path / "installed").write_text("ii  there 3.0\n")
    return tmp_path


def shell(folder, script, packages="", statuses=(0,)):
    (folder / "packages.txt").write_text(packages)
    environment = os.environ | {"PATH": f"{folder}/bin:{os.environ['PATH']}:/usr/bin:/bin", "LANGUAGE": "de", "LC_ALL": "de_DE.UTF-8"}
    return run("sh", "-c", f"list=$PWD/packages.txt\n{BEGIN}{script}", cwd=folder, env=environment, statuses=statuses)


def asked(folder):
    return (folder / "asked").read_text() if (folder / "asked").exists() else ""


@pytest.mark.parametrize(("names", "first"), [("old", "old"), ("new|old", "old"), ("old|other", "old"), ("new|newer|other", "other")])
def test_the_first_name_that_the_release_has(folder, names, first):
    assert shell(folder, f'first_known "" "{names}"').stdout == f"{first}\n"


def test_no_name_that_the_release_has(folder):
    assert shell(folder, 'first_known "" "new|newer"', statuses=(1,)).stdout == ""


def test_what_is_there_is_not_asked_for(folder):
    shell(folder, "check_packages", "there 2.0 command for this\nabsent|there 1 command for that\nnever 1 boards for others\n")
    assert not asked(folder)


def test_what_is_missing_is_installed_and_announced(folder):
    said = shell(folder, "check_packages", "new|old 1.0 command for this\nthere 2.0 command for that\n").stdout
    assert "setup: installing Debian packages (5 MB, about 3 s): old\n" in said
    assert asked(folder).endswith("--no-install-recommends old\n") and "new" not in asked(folder)


def test_it_goes_on_without_what_the_release_does_not_have(folder):
    """A system that is like Debian may have other names or older versions. The build finds out what is really missing."""
    packages = "new|newer 1.0 command for this\ngood 1.0 command for that\nold 9.0 command for these\n"
    said = shell(folder, "check_packages; echo continued", packages)
    assert "new|newer 1.0" in said.stderr and "old 9.0" in said.stderr and "good" not in said.stderr
    assert said.stdout.endswith("continued\n") and "good" in asked(folder)
    (folder / "asked").unlink()
    for more in ("", "groups='command boards'; ", ""):
        again = shell(folder, f"{more}check_packages; echo continued", packages + "there 1.0 boards for others\n")
        assert (again.stdout, again.stderr, asked(folder)) == ("continued\n", "", ""), "said and tried again"


def test_without_a_connection_it_does_not_go_on(folder):
    """Without lists of packages nothing is known of the release."""
    (folder / "offline").write_text("")
    said = shell(folder, "check_packages; echo continued", "good 1.0 command for this\n", statuses=(1,))
    assert "continued" not in said.stdout and "Is the network up?" in said.stderr
    (folder / "offline").unlink()
    assert "continued" in shell(folder, "check_packages; echo continued", "good 1.0 command for this\n").stdout
    assert "ii  good" in (folder / "installed").read_text()


@pytest.mark.parametrize(("said", "why"), [
    ("E: Could not resolve 'deb.example'", "a connection failed. Is the network up?"),
    ("NewConnectionError('<pip._vendor>')", "a connection failed. Is the network up?"),
    ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES", "The lines above are what the tool said"),
])
@pytest.mark.parametrize("how", ["run 'it failed' log", "run_measured 'it failed' log true"])
def test_a_failure_shows_what_the_tool_said(folder, how, said, why):
    (folder / "tool").write_text(f'echo "{said}"; exit 3\n')
    done = shell(folder, f"{how} sh ./tool; echo never", statuses=(1,))
    assert said in done.stderr and done.stderr.rstrip().endswith(why) and "it failed" in done.stderr
    assert "never" not in done.stdout


def test_progress_is_shown_while_a_tool_runs(folder):
    """Every 15 seconds where there is no terminal; here a second takes a hundredth."""
    (folder / "tool").write_text("while [ ! -e shown ]; do sleep 0.05; done\n")
    said = shell(folder, "sleep() { command sleep 0.01; }\nmeasure() { : > shown; echo 3 of 5 MB; }\n"
                 "run_measured why log measure sh ./tool; echo end")
    assert said.stdout.startswith("setup:   3 of 5 MB\n") and said.stdout.endswith("end\n")


def test_ctrl_c_ends_the_tool_and_frees_the_lock(folder):
    """The next command must not wait for what the first one has left behind."""
    (folder / "tool").write_text("echo $$ > tool-is; exec sleep 60\n")
    script = f"list=/dev/null\n{BEGIN}exec 9> lock; flock 9\nrun_measured why log true sh ./tool"
    with subprocess.Popen(["sh", "-c", script], cwd=folder, start_new_session=True, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as process:
        while not (folder / "tool-is").exists() or not (folder / "tool-is").read_text().strip():
            assert process.poll() is None
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait() != 0
    run("flock", "--timeout", "5", folder / "lock", "true")
    assert not pathlib.Path(f"/proc/{(folder / 'tool-is').read_text().strip()}").exists()


# setup/place.sha256 of a release with one package, whose file holds "right", and what stands for apt and dpkg-deb.
PLACE = """here=$PWD; begin_foreign() { foreign=$2; mkdir -p "$2/packages"; echo began; }; end_foreign() { printf %s "$held" > "$foreign/packages/a.deb"; }
lines_of() { :; }; unpack_packages() { echo "unpacked $1"; }; printf right | sha256sum | sed 's/-$/a.deb/' > place.sha256; """


def test_other_files_of_nextpnr_are_refused_with_what_to_do(folder):
    said = shell(folder, f"{PLACE} held=other; fetch_place", statuses=(1,))
    assert "unpacked" not in said.stdout and "snapshot.debian.org into build/place/packages" in said.stderr and "setup/pin-place" in said.stderr


def test_the_files_of_nextpnr_are_fetched_and_unpacked_once(folder):
    said = shell(folder, f"{PLACE} held=right; fetch_place; echo again; fetch_place").stdout
    assert said.startswith("began\nunpacked ") and said.endswith("again\n")


def test_files_of_nextpnr_that_somebody_has_put_there_are_not_fetched(folder):
    said = shell(folder, f"{PLACE} mkdir -p place/packages; printf right > place/packages/a.deb; fetch_place").stdout
    assert said.startswith("unpacked ")


# setup/cores.txt, and what stands for pip: it delivers a wheel with this file.
CORES = """here=$PWD; echo list > cores.txt; mkdir -p venv/bin
cat > venv/bin/pip <<'END'
#!/bin/sh
while [ "$1" != --dest ]; do shift; done
mkdir -p "pythondata_cpu_picorv32/$(dirname "$held")"; echo module > "pythondata_cpu_picorv32/$held"
exec python3 -m zipfile --create "$2/a.whl" pythondata_cpu_picorv32
END
chmod +x venv/bin/pip; """


def test_a_core_of_the_registry_is_fetched_once(folder):
    said = shell(folder, f"{CORES} export held=verilog/picorv32.v; fetch_cores; echo again; fetch_cores").stdout
    assert said.startswith("setup: fetching PicoRV32") and said.endswith("s)\nagain\n")
    assert (folder / "calibrate/picorv32/picorv32.v").read_text() == "module\n"
    assert {path.name for path in (folder / "calibrate").iterdir()} == {"picorv32", "fetched-from"}
    (folder / "calibrate/picorv32/picorv32.v").unlink()
    assert "fetching" in shell(folder, f"{CORES} export held=verilog/picorv32.v; fetch_cores").stdout


def test_a_wheel_without_the_core_is_refused(folder):
    said = shell(folder, f"{CORES} export held=other.v; fetch_cores", statuses=(1,))
    assert "has no verilog/picorv32.v" in said.stderr and not (folder / "calibrate/fetched-from").exists()
