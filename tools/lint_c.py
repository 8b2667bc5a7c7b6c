# SPDX-License-Identifier: Apache-2.0
"""
Runs clang-tidy on every C file that the presets below compile, and on two that none of them compiles. No finding is allowed.

A file that had no finding is not read again until it, a header that it includes, its command line, .clang-tidy or clang-tidy
itself changes: build/cache/clang-tidy remembers it.
"""

import concurrent.futures
import dataclasses
import functools
import hashlib
import json
import os
import pathlib
import re
import shlex
import sys

import program

CLANG_TIDY = program.BUILD / "venv-lint" / "bin" / "clang-tidy"
CACHE = program.BUILD / "cache" / "clang-tidy"
# Each preset compiles files that the others do not: host-clang-asan the library and its tests, linux-asan the command,
# qemu-virt the applications and a board, qemu-riscv the files for RISC-V, linux-aarch64 the programs of bench-linux.
# string.c is left out, because it is compiled with an option that Clang does not have.
FILES = {
    "host-clang-asan": r"(src|sim|bench/lab|tests|ports|integrations)/.*",
    "linux-asan": r"(linux|examples|ports|tests)/.*",
    "qemu-virt": r"(firmware|ports)/.*(?<!string)",
    "qemu-riscv": r"ports/.*riscv.*/.*",
    "linux-aarch64": r"bench/linux/.*",
}
# In the place of other files, where a library or Python is missing. clang-tidy takes the command of a file beside them.
ABSENT = {"linux-asan": ["linux/command/target/blkid_absent.c", "linux/command/target/sim_absent.c"]}
# Clang has another name for the processor, and -mstrict-align is GCC's.
EXTRA = {"qemu-riscv": ["-extra-arg=-march=rv64imac", "-extra-arg=-Wno-unused-command-line-argument"]}


@dataclasses.dataclass(frozen=True)
class Job:
    preset: str
    file: pathlib.Path
    command: str
    headers: tuple[str, ...]  # what the compiler read for it; empty: unknown


def included(preset: str) -> dict[str, tuple[str, ...]]:
    """{object: files that it was made from}, as ninja has recorded them."""
    found, name = {}, ""
    for line in program.run("ninja", "-C", program.BUILD / preset, "-t", "deps").stdout.splitlines():
        if match := re.match(r"(\S.*): #deps \d+", line):
            name = match[1]
            found[name] = []
        elif line.startswith("    "):
            found[name].append(line.strip())
    return {name: tuple(files) for name, files in found.items()}


def object_of(command: str) -> str:
    words = shlex.split(command)
    return words[words.index("-o") + 1]


def jobs(preset: str) -> list[Job]:
    headers = included(preset)
    found = {}
    for entry in json.loads((program.BUILD / preset / "compile_commands.json").read_text()):
        file = pathlib.Path(entry["file"])
        inside = file.relative_to(program.ROOT) if file.is_relative_to(program.ROOT) else file
        if re.fullmatch(FILES[preset] + r"[.]c", str(inside)) and file not in found:
            found[file] = Job(preset, file, entry["command"], headers.get(object_of(entry["command"]), ()))
    if not found:
        sys.exit(f"clang-tidy: no file of {FILES[preset]} in build/{preset}")
    absent = [Job(preset, program.ROOT / name, "", ()) for name in ABSENT.get(preset, [])]
    return [*found.values(), *absent]


@functools.cache
def digest(path: pathlib.Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@functools.cache
def version() -> str:
    return program.run(CLANG_TIDY, "--version").stdout


def key(job: Job) -> str:
    """Whatever can change the findings. Without the list of headers, none: then the file is always read."""
    settings = [folder / ".clang-tidy" for folder in job.file.parents if (folder / ".clang-tidy").exists()]
    paths = [job.file, *settings, *(program.BUILD / job.preset / name for name in job.headers)]
    text = "\n".join([version(), job.command, *EXTRA.get(job.preset, []), *(f"{path} {digest(path)}" for path in paths)])
    return hashlib.sha256(text.encode()).hexdigest()


def check(job: Job) -> str:
    """The findings, or nothing."""
    mark = CACHE / key(job)
    if job.headers and mark.exists():
        return ""
    command = [CLANG_TIDY, "-quiet", "-p", program.BUILD / job.preset, *EXTRA.get(job.preset, []), job.file]
    done = program.run(*command, statuses=(0, 1), cwd=program.ROOT)
    if done.returncode == 0:
        mark.touch()
        return ""
    return done.stdout + done.stderr or f"{job.file}: clang-tidy failed without a message\n"


def main() -> None:
    CACHE.mkdir(parents=True, exist_ok=True)
    wanted = [job for preset in FILES for job in jobs(preset)]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for said in pool.map(check, wanted):
            failed += bool(said)
            print(said, end="", flush=True)
    print(f"clang-tidy  {len(wanted) - failed} files without a finding, {failed} with")
    if failed:
        sys.exit(1)


if __name__ == "__main__":
    main()
