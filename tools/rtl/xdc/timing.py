# SPDX-License-Identifier: Apache-2.0
"""What files of constraints say of time, as it was given."""

import dataclasses

from .interpreter import Place

Named = tuple[str, str]  # kind, name


@dataclasses.dataclass(eq=False)
class PathException:
    """set_max_delay, set_bus_skew or set_false_path. Without `starts` or `ends`: from or to anywhere."""

    kind: str  # "max_delay", "bus_skew" or "false_path"
    place: Place
    scope: str
    starts: list[Named]
    ends: list[Named]
    ns: float | None
    datapath_only: bool

    def __str__(self) -> str:
        return f"{self.place}: set_{self.kind}" + (f" of {self.scope}" if self.scope else "")

    def rank(self) -> tuple[bool, bool]:
        """Of two maximum delays, the one with the higher rank holds (UG903, "Exceptions Priority"): cells before clocks, then -from
        with -to before one of them. Of two that are equal, the later one holds."""
        kinds = {kind for kind, _ in self.starts + self.ends}
        return "clock" not in kinds, bool(self.starts) and bool(self.ends)


@dataclasses.dataclass
class Timing:
    exceptions: list[PathException] = dataclasses.field(default_factory=list)
    groups: list[Place] = dataclasses.field(default_factory=list)
    inputs: dict[str, set[str]] = dataclasses.field(default_factory=dict)  # port → clocks
    outputs: dict[str, set[str]] = dataclasses.field(default_factory=dict)
