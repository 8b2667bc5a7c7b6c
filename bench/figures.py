# SPDX-License-Identifier: Apache-2.0
"""Collects figures, writes them to build/bench/NAME.json, and prints them with their aims."""

import json
import sys

import qemu


class Bench:
    def __init__(self, name: str, command: str, compiler: str | None = None):
        """`compiler`: what made the programs, if the figures depend on it."""
        self.name, self.command, self.compiler, self.figures = name, command, compiler, []

    def add(self, name: str, value: float, unit: str, *, aim: float | None = None, aim_is: str = "none",
            peer: str | None = None, peer_value: float | None = None, note: str | None = None) -> None:
        figure = {"name": name, "value": value, "unit": unit, "aim": aim, "aim_is": aim_is}
        if peer is not None:
            figure |= {"peer": peer, "peer_value": peer_value}
        if note is not None:
            figure["note"] = note
        self.figures.append(figure)

    @staticmethod
    def missed(figure: dict) -> bool:
        if figure["aim_is"] == "max":
            return figure["value"] > figure["aim"]
        return figure["aim_is"] == "min" and figure["value"] < figure["aim"]

    def write(self) -> None:
        folder = qemu.BUILD / "bench"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.name}.json"
        made_by = {} if self.compiler is None else {"compiler": self.compiler}
        path.write_text(
            json.dumps({"bench": self.name, "command": self.command, **made_by, "figures": self.figures}, indent=1) + "\n"
        )
        print(f"bench  {len(self.figures)} figures in {path.relative_to(qemu.ROOT)}")

    def show(self) -> None:
        if self.compiler is not None:
            print(f"  {self.compiler}")
        width = max((len(figure["name"]) for figure in self.figures), default=0)
        for figure in self.figures:
            aim = "" if figure["aim_is"] == "none" else f"  aim: at {'most' if figure['aim_is'] == 'max' else 'least'} {figure['aim']:g}"
            peer = f"  {figure['peer']}: {figure['peer_value']:g}" if "peer" in figure else ""
            missed = "  MISSED" if self.missed(figure) else ""
            print(f"  {figure['name']:<{width}} {figure['value']:>10g} {figure['unit']}{aim}{peer}{missed}")


def die(step: str, why: str) -> None:
    print(f"\nFAILED at {step}: {why}", flush=True)
    sys.exit(1)
