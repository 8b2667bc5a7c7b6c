# SPDX-License-Identifier: Apache-2.0
"""Every barrier, every cache maintenance call and every flag that marks data as the processor's is needed.

Each is removed from the library in turn, one at a time. The result is linked with the program that moves everything over
memory without coherency, and the program has to fail. With all of them in place it passes. The program also has to fail
where a call comes too late: a write barrier after the register write that it precedes, or a clean after the doorbell.

The gateware's backend has registers of its own. It gets the same treatment, on a core in memory mode. The doctor's checkup has
its own queues: it has to find faults in a sound machine.
"""

import functools
import json
import re
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from conftest import HOST_BUILD, ROOT, run

pytestmark = pytest.mark.thorough

SOURCES = sorted(ROOT.glob("src/**/*.c"))
CALL = re.compile(r"\bspate_port_(?:dma_write_barrier|dma_read_barrier|cache_clean|cache_invalidate)\s*\(")
# A function that makes such calls for its callers: each call of this function is needed as well.
HELPER_CALL = re.compile(r"(?<!static void )\bcache_maintain\s*\(")
FLAG = re.compile(r"\bSPATE_IO_CPU\b")
# Block devices read the flag; the layers above set it.
DEVICES = {"nvme", "stripe", "gateware"}
BARRIER = "spate_port_dma_write_barrier();"
REGISTER_WRITE = re.compile(r"\s*((?:if \([^;]*\) )?(?:spate_port_write(?:32|64)|spate_nvme_write_control)\()")
CLEAN = "spate_port_cache_clean(data_of(io), bytes);"
LANES = ROOT / "src/gateware/lanes.c"
START = "if (!spate_gateware_start(gateware, &command)) return SPATE_E_FULL;"
MAINTAIN = "cache_maintain(gateware, io);"
LIBRARIES = ["tests/libspate_test_support.a", "sim/libspate_sim.a", "libspate.a"]


@dataclass
class Site:
    path: Path
    start: int
    end: int
    instead: str
    program: str

    def __str__(self):
        text = self.path.read_text()
        what = text[self.start : self.end].partition("(")[0]
        return f"{self.path.relative_to(ROOT)}:{text.count(chr(10), 0, self.start) + 1}:{what}"

    def text_without(self):
        text = self.path.read_text()
        return text[: self.start] + self.instead + text[self.end :]


@dataclass
class Late:
    """A site whose call is moved after the register write that makes the device read."""

    path: Path
    line: int
    text: str
    program: str = "test_incoherent"

    def __str__(self):
        return f"{self.path.relative_to(ROOT)}:{self.line}:late"


def program_of(path):
    return {"gateware": "test_incoherent_gateware", "doctor": "test_checkup"}.get(path.parent.name, "test_incoherent")


def in_a_text(text, at):
    """Advice to people names such calls, too."""
    return text.count('"', text.rfind("\n", 0, at) + 1, at) % 2 == 1


def late_in_the_gateware():
    """Calls after the start of the command; and a read's invalidation before the read barrier."""
    text = LANES.read_text()
    for call in (MAINTAIN, BARRIER):
        late = text.replace(call, "", 1).replace(START, f"{START} if (lane == LANE_MEMORY) {call}", 1)
        yield text.index(call), late
    certain, invalidate = "spate_port_dma_read_barrier();", f"if (io->op == SPATE_READ) {MAINTAIN}"
    yield text.index(certain), text.replace(certain, "", 1).replace(invalidate, invalidate + certain, 1)


def late_sites():
    text = LANES.read_text()
    found = [Late(LANES, text.count("\n", 0, at) + 1, late, program_of(LANES)) for at, late in late_in_the_gateware()]
    for path in SOURCES:
        text = path.read_text()
        for match in re.finditer(re.escape(BARRIER), text):
            write = REGISTER_WRITE.match(text, match.end())
            if write is None:
                continue
            end = text.index(";", end_of_call(text, write.end())) + 1
            late = text[: match.start()] + text[write.start(1) : end] + BARRIER + text[end:]
            found.append(Late(path, text.count("\n", 0, match.start()) + 1, late, program_of(path)))
        if CLEAN in text:
            found.append(Late(path, text.count("\n", 0, text.index(CLEAN)) + 1, clean_behind_the_kick(text)))
    return found


def clean_behind_the_kick(text):
    """Another function rings the doorbell: here the submitting function rings it, and then cleans."""
    before, after = text.split(CLEAN)
    call = "if ((io->flags & SPATE_IO_CPU) != 0 && io->op == SPATE_WRITE)"
    size = "(size_t)io->blocks << queue->block.block_shift"
    late = f"spate_nvme_queue_kick(&queue->block); {call} spate_port_cache_clean(data_of(io), {size}); return SPATE_OK;"
    return before + "(void)bytes;" + after.replace("return SPATE_OK;", late, 1)


def end_of_call(text, at):
    depth = 1
    while depth:
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return at


def sites():
    """All sites in the library."""
    found = []
    for path in SOURCES:
        text = path.read_text()
        for match in (*CALL.finditer(text), *HELPER_CALL.finditer(text)):
            if not in_a_text(text, match.start()):
                found.append(Site(path, match.start(), end_of_call(text, match.end()), "(void)0", program_of(path)))
        if path.parent.name in DEVICES:
            continue
        found += [Site(path, *match.span(), "0", "test_incoherent_cpu_data") for match in FLAG.finditer(text)
                  if not in_a_text(text, match.start())]
    return found


@functools.cache
def compile_commands():
    entries = json.loads(run("ninja", "-C", HOST_BUILD, "-t", "compdb").stdout)
    return {entry["file"]: entry["command"] for entry in entries if entry["file"].endswith(".c")}


def compile_command(path):
    if str(path) in compile_commands():
        return shlex.split(compile_commands()[str(path)])
    pytest.fail(f"{path} is not part of build/{HOST_BUILD.name}: configure it again")


def compile_changed(path, text, folder):
    """The object of a file that is compiled with a changed text."""
    changed = folder / path.name
    changed.write_text(text)
    words = compile_command(path)
    words[words.index(str(path))] = changed
    words[words.index("-o") + 1] = changed.with_suffix(".o")
    # A variable that only the removed call used causes no error here.
    run(*words, "-Wno-error", "-iquote", path.parent, "-MF", changed.with_suffix(".d"))
    return changed.with_suffix(".o")


def link(name, folder, *objects):
    """The program with `objects` ahead of the libraries, so that library members with the same functions are not linked."""
    [source] = (ROOT / "tests").glob(f"library/*/simulated/{name}.c")
    compiler, *words = compile_command(source)
    sanitizers = [word for word in words if word.startswith("-fsanitize")]
    test = HOST_BUILD / f"tests/CMakeFiles/{name}.dir" / source.relative_to(ROOT / "tests").with_suffix(".c.o")
    libraries = [HOST_BUILD / library for library in LIBRARIES]
    run(compiler, *sanitizers, test, *objects, *libraries, "-lcmocka", "-lm", "-o", folder / name)
    return folder / name


def must_fail(program, what):
    try:
        done = subprocess.run([program], capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        return
    assert done.returncode != 0, f"{what}, and {program.name} still passes:\n{done.stderr}"


@pytest.mark.parametrize("site", sites(), ids=str)
def test_nothing_can_be_missing(site, tmp_path):
    program = link(site.program, tmp_path, compile_changed(site.path, site.text_without(), tmp_path))
    must_fail(program, f"without {site}")


@pytest.mark.parametrize("site", late_sites(), ids=str)
def test_nothing_can_be_late(site, tmp_path):
    must_fail(link(site.program, tmp_path, compile_changed(site.path, site.text, tmp_path)), str(site))


@pytest.mark.parametrize("name", sorted({site.program for site in sites()}))
def test_with_all_in_place_it_passes(name, tmp_path):
    """Compiled and linked in the same way without a change, it passes: only the removed calls cause the failures above."""
    paths = {site.path for site in sites() if site.program == name}
    for path in paths:
        (tmp_path / path.parent.name).mkdir(exist_ok=True)
    objects = [compile_changed(path, path.read_text(), tmp_path / path.parent.name) for path in paths]
    run(link(name, tmp_path, *objects))


def test_they_are_found():
    assert sum(site.program == "test_incoherent" for site in sites()) >= 10
    assert sum(site.program == "test_incoherent_gateware" for site in sites()) >= 6
    assert sum(site.program == "test_incoherent_cpu_data" for site in sites()) >= 5
    assert len(late_sites()) >= 7
    assert LANES.read_text().count(START) == 1
    assert sum(site.program == "test_checkup" for site in sites()) >= 10
    headers = (path for path in ROOT.glob("include/spate/*.h") if path.name != "port.h")  # a port defines them
    inline = [path.name for path in headers if CALL.search(path.read_text())]
    assert not inline, f"calls in headers, which this test does not remove: {inline}"
