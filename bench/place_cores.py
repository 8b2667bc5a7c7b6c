# SPDX-License-Identifier: Apache-2.0
"""bench/place_cores.toml: the open cores of `make place-calibrate`, their sources, and what others have published of them."""

import hashlib
import pathlib
import tomllib
from typing import NamedTuple

import program
from place import synthesis

TABLE = program.ROOT / "bench" / "place_cores.toml"
FOLDER = program.BUILD / "calibrate"
HOW = ("maximum", "slack", "met")


class Published(NamedTuple):
    part: str
    ultrascale_plus: bool
    mhz: float
    how: str  # one of HOW
    tool: str
    source: str

    @property
    def is_least(self) -> bool:
        """The core may be faster there."""
        return self.how != "maximum"


class Core(NamedTuple):
    name: str
    title: str
    what: str
    repository: str  # of GitHub
    commit: str
    license: str
    fetched: bool
    module: str
    parameters: dict[str, int | str]
    open_ports: list[str]
    files: dict[str, str]  # {path in the repository: SHA-256}
    published: list[Published]

    def path(self, file: str, folder: pathlib.Path = FOLDER) -> pathlib.Path:
        return folder / self.name / pathlib.PurePosixPath(file).name

    @property
    def design(self) -> synthesis.Design:
        files = (str(self.path(file).relative_to(program.ROOT)) for file in self.files)
        return synthesis.Design(self.name, self.module, self.parameters, tuple(files), tuple(self.open_ports))


class Both(NamedTuple):
    """What Vivado reaches with one source on both families."""

    name: str
    seven_series_mhz: float
    seven_series_part: str
    ultrascale_plus_mhz: float
    ultrascale_plus_part: str
    source: str


def load_both() -> list[Both]:
    return [Both(**row) for row in tomllib.loads(TABLE.read_text())["both"]]


def load() -> list[Core]:
    rows = tomllib.loads(TABLE.read_text())["core"]
    return [Core(**row | {"published": [Published(**figure) for figure in row["published"]]}) for row in rows]


def need_sources(core: Core, folder: pathlib.Path = FOLDER) -> None:
    """SystemExit, with what to do, unless each file is there and is the one that was measured."""
    found = []
    for file, digest in core.files.items():
        path = core.path(file, folder)
        if not path.is_file():
            found.append(f"{file} is not there: put it at {path}; its SHA-256 is {digest}")
        elif (own := hashlib.sha256(path.read_bytes()).hexdigest()) != digest:
            found.append(f"{path} is another file than {file}: its SHA-256 is {own} instead of {digest}")
    if found:
        where = f"github.com/{core.repository}, commit {core.commit}"
        by = "setup/install calibrate fetches them" if core.fetched else "no package registry has them, so nothing here fetches them"
        raise SystemExit("\n  ".join([f"{core.name} needs files of {where}; {by}:", *found]))
