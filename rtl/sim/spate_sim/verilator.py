# SPDX-License-Identifier: Apache-2.0
"""cocotb's runner for Verilator, but only the signals of the top are visible. cocotb makes every signal visible
(--public-flat-rw). Then nothing inside can be optimised, and the compiler takes many times as long.

    runner = Verilator()
    runner.build(...)
    runner.test(...)
"""

import pathlib

import cocotb_tools.runner


class Verilator(cocotb_tools.runner.Verilator):
    def _build_command(self) -> list[list[str]]:
        (verilator, *words), *others = super()._build_command()
        words[words.index("--public-flat-rw")] = str(self._visible())
        return [[verilator, *words], *others]

    def _visible(self) -> pathlib.Path:
        path = pathlib.Path(self.build_dir) / "visible.vlt"
        text = f'`verilator_config\npublic_flat_rw -module "{self.hdl_toplevel}" -var "*"\n'
        if not path.exists() or path.read_text() != text:  # a newer file would be a reason to build again
            path.write_text(text)
        return path
