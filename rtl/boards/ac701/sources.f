// SPDX-License-Identifier: Apache-2.0
// The board's sources, read after rtl/spate.f. Paths are relative to the repository.
rtl/boards/spate_board_reset.sv
rtl/boards/spate_board_console.sv
rtl/boards/spate_board_bench.sv
rtl/boards/spate_board_axi_pcie.sv
rtl/boards/ac701/spate_ac701.sv
