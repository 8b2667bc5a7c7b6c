# SPDX-License-Identifier: Apache-2.0
"""Parses the guest's console output and its programs' JSON, and computes the costs."""

import dataclasses
import json
import re

from linux.cases import Case

COUNT = re.compile(r"^count (\S+) user (\d+) kernel (\d+) switches (\d+) interrupts (\d+)$", re.M)
CALLS = re.compile(r"^cost (write|read) (\d+) submit (\d+) doorbell (\d+) complete (\d+) batch (\d+)$", re.M)
CALLBACK = re.compile(r"^cost callback (\d+)$", re.M)
IDLE = re.compile(r"^cost idle poll (\d+)$", re.M)


class Wrong(Exception):
    """The guest's output is not complete. The message says what is missing."""


@dataclasses.dataclass(frozen=True)
class Counts:
    user: float
    kernel: float
    switches: float
    interrupts: float

    @property
    def instructions(self) -> float:
        return self.user + self.kernel

    def __sub__(self, other: "Counts") -> "Counts":
        return Counts(*(a - b for a, b in zip(dataclasses.astuple(self), dataclasses.astuple(other))))

    def __truediv__(self, by: float) -> "Counts":
        return Counts(*(value / by for value in dataclasses.astuple(self)))


def counts(text: str) -> dict[str, Counts]:
    return {match[1]: Counts(*map(int, match.groups()[1:])) for match in COUNT.finditer(text)}


def cost(case: Case, found: dict[str, Counts]) -> Counts:
    """The cost per MiB: the long run minus the short one. Of several repetitions, the one with the median instructions."""
    samples = []
    for repeat in range(case.repeats):
        try:
            short, long = found[f"{case.key}/{repeat}/short"], found[f"{case.key}/{repeat}/long"]
        except KeyError as missing:
            raise Wrong(f"no count of {missing}") from missing
        samples.append((long - short) / ((case.long - case.short) / (1 << 20)))
    return sorted(samples, key=lambda sample: sample.instructions)[len(samples) // 2]


def failures(text: str) -> list[str]:
    return re.findall(r"^failed (\S+)$", text, re.M)


@dataclasses.dataclass(frozen=True)
class Call:
    """Instructions of one command, in user space."""

    submit: int
    doorbell: float
    complete: float

    @property
    def all(self) -> float:
        return self.submit + self.doorbell + self.complete


def calls(text: str) -> tuple[dict[tuple[str, int], Call], int]:
    """The costs by operation and size, and the cost of a poll that finds nothing."""
    callback, idle = CALLBACK.search(text), IDLE.search(text)
    found = {}
    for op, size, submit, doorbell, complete, batch in CALLS.findall(text):
        if callback is not None:
            per_batch = int(batch)
            found[op, int(size)] = Call(int(submit), int(doorbell) / per_batch,
                                        int(complete) / per_batch - int(callback[1]))
    if not found or idle is None:
        raise Wrong("no costs of the library's calls")
    return found, int(idle[1])


def section(text: str, word: str) -> str:
    """The lines that begin with a word, without that word."""
    return "\n".join(re.findall(rf"^{word} ?(.*)$", text, re.M))


def requests(document: str) -> int:
    """How many requests a job of fio, or of spate speedtest, carried out."""
    jobs = json.loads(document)["jobs"]
    if len(jobs) != 1 or jobs[0].get("error", 0) != 0:
        raise Wrong(f"{len(jobs)} jobs, or one that failed")
    return sum(jobs[0].get(op, {}).get("total_ios", 0) for op in ("read", "write"))
