# SPDX-License-Identifier: Apache-2.0
"""The half for src/ with the semantic operators (meaning.py), and with the mutants that somebody has written down because no test
noticed them (tests/mutants-semantic.toml). A mutant that only lets programs wait is not killed."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve()
sys.path[:1] = [str(HERE.parents[2] / folder) for folder in ("bench", "tools")]

import program  # noqa: E402: found through the line above
from mutants import library, meaning, written  # noqa: E402

LIST = program.ROOT / "tests/mutants-semantic.toml"

KIND = library.Kind("semantic", meaning.mutants_of, LIST, in_headers=True, time_out_is_noticed=False,
                    always=lambda root: written.read(root, LIST))

if __name__ == "__main__":
    library.main(__doc__, KIND)
