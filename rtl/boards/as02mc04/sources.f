// SPDX-License-Identifier: Apache-2.0
// The board's sources, read after rtl/spate.f. Paths are relative to the repository.
rtl/boards/spate_board_reset.sv
rtl/boards/spate_board_console.sv
rtl/boards/spate_board_bench.sv
rtl/boards/spate_board_usp.sv
rtl/boards/as02mc04/spate_as02mc04.sv
