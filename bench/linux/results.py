# SPDX-License-Identifier: Apache-2.0
"""The counts of the machines, by kernel, mode of the IOMMU and key of the case."""

import pathlib

from linux import cases, parse

MODES = ("strict", "passthrough")


class Results:
    def __init__(self, machines: list[cases.Machine], folder: pathlib.Path):
        self.kernels = list(dict.fromkeys(machine.kernel for machine in machines))
        self.modes = [mode for mode in MODES if any(machine.mode == mode for machine in machines)]
        self.costs: dict[tuple[str, str, str], parse.Counts] = {}  # per MiB
        self.calls: dict[str, dict[tuple[str, int], parse.Call]] = {}
        self.idle: dict[str, int] = {}
        self.found, self.refused = {}, {}
        for machine in machines:
            self._load(machine, folder)

    def _load(self, machine: cases.Machine, folder: pathlib.Path) -> None:
        path = folder / f"{machine.name}.txt"
        if not path.exists():
            raise parse.Wrong(f"{path} does not exist: run it without --only and --report-only")
        text = path.read_text()
        counts = parse.counts(text)
        for case in (case for group in machine.groups for case in group.cases):
            self.costs[machine.kernel, machine.mode, case.key] = parse.cost(case, counts)
            written = folder / machine.name / f"{case.key.replace('/', '_')}.json"
            if case.key.startswith("sweep/") and written.exists():
                self._check(case, parse.requests(written.read_text()))
        if f"\n{cases.CALLS}\n" in machine.script():
            self.calls[machine.kernel], self.idle[machine.kernel] = parse.calls(text)
        if machine.before == cases.FOUND:
            self.found[machine.kernel, machine.mode] = parse.section(text, "found")
        for line in parse.section(text, "refused").splitlines():
            self.refused[machine.kernel] = line

    @staticmethod
    def _check(case: cases.Case, requests: int) -> None:
        """A cost is valid only if all requested I/Os were carried out."""
        wanted = case.long // int(case.key.rsplit("/", 1)[1])
        if requests != wanted:
            raise parse.Wrong(f"{case.key}: {requests} requests instead of {wanted}")

    def per_mib(self, kernel: str, mode: str, key: str) -> float:
        return self.costs[kernel, mode, key].instructions

    def per_io(self, kernel: str, mode: str, key: str) -> float:
        """The cost per I/O of a case of the sweep."""
        return self.per_mib(kernel, mode, key) * int(key.rsplit("/", 1)[1]) / cases.MIB

    def sizes(self) -> list[int]:
        return sorted({int(key.rsplit("/", 1)[1]) for _, _, key in self.costs if key.startswith("sweep/")})

    def best(self, kernel: str, keys: list[str], modes=None) -> tuple[float, str, str]:
        """The cheapest of these cases in any mode of the IOMMU: instructions per MiB, its key, the mode."""
        return min((self.per_mib(kernel, mode, key), key, mode) for mode in modes or self.modes for key in keys
                   if (kernel, mode, key) in self.costs)
