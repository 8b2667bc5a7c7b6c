# SPDX-License-Identifier: Apache-2.0
"""The tops as rtl/top/interfaces.toml and their sources describe them together: interfaces with their signals, and clocks.

What does not fit is an error that says which line to change: a port that no interface has, a signal that a bus must have, a
direction or width that is not the kind's, a clock or a parameter that does not exist.
"""

import functools
import re
import tomllib
from typing import Any, NamedTuple

import filelist
import tops_design
from tops_design import Design, Port
from tops_kinds import KINDS, signals_of

FILE = filelist.ROOT / "rtl" / "top" / "interfaces.toml"
TOPS = ("spate_nvme_axi", "spate_nvme_usp", "spate_nvme_stripe_axi")
ROLES = ("master", "slave", "monitor")
KEYS = {"clock": {"reset", "active", "synchronous", "period_ns", "what"},
        "interface": {"kind", "role", "clock", "present", "constants", "widths", "absent", "active", "what"},
        "top": {"inner"}}
CONDITION = re.compile(r"(\w+) (==|>) (\d+)")


class Wrong(Exception):
    """The description does not fit the sources."""


class Clock(NamedTuple):
    port: Port
    reset: Port
    active: str
    synchronous: bool  # the reset
    period_ns: list[float]
    what: str


class Interface(NamedTuple):
    name: str
    kind: str
    role: str  # "" if it has none
    clock: str  # a port, or "any"
    present: tuple[tuple[str, str, int], ...]  # any of these: parameter, comparison, number. (): always
    signals: dict[str, Port]  # by their names in the kind, or by the rest of the port's name
    constants: dict[str, tuple[int, int]]  # what a master also has outside: width, value
    active: str
    what: str


class Top(NamedTuple):
    design: Design
    array: str  # the parameter that is the number of drives
    clocks: dict[str, Clock]
    interfaces: dict[str, Interface]

    def is_array(self, port: Port) -> bool:
        return bool(port.dimensions) and port.dimensions[0].text == self.array


def stem(port: str) -> str:
    """A port's name without its direction: s_axi_awaddr, perst_n."""
    return re.sub(r"(_n?)[io]$", lambda match: match[1].rstrip("_") and "_n", port)


def condition(text: str, where: str, known: set[str]) -> tuple[tuple[str, str, int], ...]:
    alternatives = []
    for part in text.split(" || ") if text else ():
        match = CONDITION.fullmatch(part)
        if not match or match[1] not in known:
            raise Wrong(f'{where}: "{part}" is no condition: write PARAMETER == NUMBER or PARAMETER > NUMBER, joined with ||, '
                        f"with a parameter of a top")
        alternatives.append((match[1], match[2], int(match[3])))
    return tuple(alternatives)


def check_signal(where: str, kind: str, role: str, name: str, port: Port, is_array: bool) -> None:
    signal = signals_of(kind).get(name)
    if not signal:
        raise Wrong(f"{where}: {port.name} is no signal of {kind}: rename the port, or add {name} to tools/rtl/tops_kinds.py")
    wanted = "in" if role == "monitor" or signal.source != role else "out"
    if port.direction != wanted:
        raise Wrong(f"{where}: {port.name} must be an {wanted}put of a {role}: is the role right?")
    bits = port.bits // (port.dimensions[0].size if is_array else 1)
    if signal.width not in (None, bits):
        raise Wrong(f"{where}: {port.name} has {bits} bits, {name} of {kind} has {signal.width}")


def constants(where: str, kind: str, role: str, present: set[str], chosen: dict[str, int]) -> dict[str, tuple[int, int]]:
    """What the outside expects of a bus and the top does not have."""
    for signal in signals_of(kind).values():
        if signal.name not in present and role != "monitor" and (signal.needed == "both" or signal.needed == role):
            raise Wrong(f"{where}: {kind} must have {signal.name}, but the top has no such port")
    missing = {signal.name: (signal.width or 1, chosen.get(signal.name, signal.constant)) for signal in signals_of(kind).values()
               if signal.constant is not None and signal.name not in present and role == "master"}
    if not set(chosen) <= set(missing):
        raise Wrong(f"{where}: constants has {', '.join(sorted(set(chosen) - set(missing)))}, which the top drives or {kind} lacks")
    return missing


def interface(design: Design, name: str, said: dict[str, Any], array: str, known: set[str]) -> Interface | None:
    where = f"{design.top}, interface {name}"
    kind, role = said["kind"], said.get("role", "")
    ports = [port for port in design.ports.values() if re.fullmatch(rf"{name}(_\w+)?", stem(port.name))]
    present = condition(said.get("present", ""), where, known)
    if not ports:
        return None
    if said["clock"] != "any" and said["clock"] not in design.ports:
        raise Wrong(f"{where}: the top has no clock {said['clock']}")
    alone = len(ports) == 1 and stem(ports[0].name) == name
    single = KINDS[kind].signals[0].name if KINDS[kind].signals else ""
    signals = {single if alone else stem(port.name).removeprefix(f"{name}_"): port for port in ports}
    if len({bool(port.dimensions) and port.dimensions[0].text == array for port in ports}) > 1 and kind != "signals":
        raise Wrong(f"{where}: some of its ports are one for each drive ([{array}-1:0]), others not")
    if KINDS[kind].vlnv:
        signals = {signal.upper(): port for signal, port in signals.items()}
    for signal, port in signals.items():
        if KINDS[kind].vlnv or signal.upper() in signals_of(kind):
            check_signal(where, kind, role, signal.upper(), port, bool(port.dimensions) and port.dimensions[0].text == array)
    there = {signal.upper() for signal in signals}
    extra = constants(where, kind, role, there, said.get("constants", {}))
    mine = tuple(part for part in present if part[0] in design.parameters)
    return Interface(name, kind, role, said["clock"], mine, signals, extra, said.get("active", ""), said["what"])


def read(text: str) -> dict[str, Any]:
    said = tomllib.loads(text)
    for section, keys in KEYS.items():
        for name, entry in said[section].items():
            where = f"[{section}.{name}]"
            if unknown := set(entry) - keys:
                raise Wrong(f"{where}: unknown: {', '.join(sorted(unknown))}; known: {', '.join(sorted(keys))}")
            if section != "interface":
                continue
            if entry["kind"] not in KINDS:
                raise Wrong(f"{where}: unknown kind {entry['kind']}; known: {', '.join(KINDS)}")
            if entry["clock"] not in {"any", *said["clock"]}:
                raise Wrong(f"{where}: there is no [clock.{entry['clock']}]; known: {', '.join(said['clock'])}")
            if ("role" in entry) != (entry["kind"] != "signals") or entry.get("role", "master") not in ROLES:
                raise Wrong(f"{where}: role must be one of {', '.join(ROLES)}, and signals have none")
    return said


def describe(design: Design, said: dict[str, Any], known: set[str]) -> Top:
    clocks = {name: Clock(design.ports[name], design.ports[entry["reset"]], entry["active"], entry.get("synchronous", False),
                          entry["period_ns"], entry["what"]) for name, entry in said["clock"].items() if name in design.ports}
    found = {name: interface(design, name, entry, said["array"], known) for name, entry in said["interface"].items()}
    interfaces = {name: one for name, one in found.items() if one}
    owners = [port.name for one in interfaces.values() for port in one.signals.values()]
    owners += [port.name for clock in clocks.values() for port in (clock.port, clock.reset)]
    for port in design.ports:
        if (count := owners.count(port)) != 1:
            raise Wrong(f"{design.top}: port {port} belongs to {f'{count} interfaces' if count else 'no interface'}: "
                        f"describe it once in rtl/top/interfaces.toml")
    return Top(design, said["array"], clocks, interfaces)


def described(text: str, designs: dict[str, Design]) -> dict[str, Top]:
    said = read(text)
    known = {parameter for design in designs.values() for parameter in design.parameters}
    tops = {name: describe(design, said, known) for name, design in designs.items()}
    for section, field in (("clock", "clocks"), ("interface", "interfaces")):
        for name in said[section]:
            if not any(name in getattr(top, field) for top in tops.values()):
                raise Wrong(f"[{section}.{name}]: no top has such a port")
    return tops


@functools.cache
def tops() -> dict[str, Top]:
    return described(FILE.read_text(), {top: tops_design.elaborate(top) for top in TOPS})
