# SPDX-License-Identifier: Apache-2.0
"""Finds the signals that a model needs among the ports of a design, whatever the design calls them."""

import logging

ENDINGS = ("", "_i", "_o", "i", "o")  # of a port: none, those of the core, and those of a name that ends with _n


class Absent:
    """A signal that the design does not have. What is written to it is lost."""

    def __init__(self, bits: int):
        self.bits, self.value = bits, 0

    def __len__(self) -> int:
        return self.bits

    def setimmediatevalue(self, value) -> None:
        self.value = value


class Ports:
    """The ports of `dut` as attributes with the model's names. `stems` maps each name to what the port may be called, without an
    ending. Those of `absent` may be missing: {name: bits}."""

    def __init__(self, dut, stems: dict[str, list[str]], absent: dict[str, int] | None = None):
        self._name, self._log = f"spate_sim.{dut._name}", logging.getLogger("cocotb.spate_sim")  # of the models at these ports
        quiet(self._log)
        for name, candidates in stems.items():
            bits = (absent or {}).get(name)
            setattr(self, name, find(dut, name, candidates) if bits is None else find_or(Absent(bits), dut, candidates))


def find_or(default, dut, candidates: list[str]):
    ports = (getattr(dut, f"{stem}{ending}", None) for stem in candidates for ending in ENDINGS)
    return next((port for port in ports if port is not None), default)


def find(dut, name: str, candidates: list[str]):
    found = find_or(None, dut, candidates)
    if found is not None:
        return found
    raise AttributeError(f"{dut._name} has no port for {name}. Name it {' or '.join(candidates)}, give the prefix of your ports, "
                         "or let the simulator keep their names (with Verilator: --public-flat-rw, which cocotb gives)")


def quiet(log: logging.Logger) -> None:
    """The models log each packet, which takes more time than anything else."""
    log.setLevel(logging.WARNING)
