// SPDX-License-Identifier: Apache-2.0
#include "bench.h"

namespace testbench {

Bench::Bench(const BoardConfig &config, unsigned stall)
    : board(config), stall_percent(stall), core(board, stall), registers(board), master(board, stall),
      bar(board, stall), control(board, stall) {
  // An asynchronous reset acts when it falls, before the first edge of a clock.
  board.pins().axi_aresetn_i = 1;
  board.pins().eval();
  board.pins().axi_aresetn_i = 0;
  board.pins().eval();
  board.pins().reset_i = 0;
  board.pins().user_link_up_i = 0;
  core_cycles(6);
  axi_cycles(6);
  core_reset(false);
  core_cycles(3);
  bridge_out_of_reset();
}

void Bench::axi_cycles(uint64_t count) {
  const uint64_t end = master.cycles() + count;
  wait([&] { return master.cycles() >= end; }, "the bridge's clock does not run");
}

void Bench::quiet() {
  axi_cycles(8);
  wait([&] { return board.pins().quiet_o; }, "the adapter does not get quiet");
}

// Inputs that change between two edges take effect before the next edge.

void Bench::adapter_reset(bool active) {
  board.pins().reset_i = active;
  board.pins().eval();
}

void Bench::core_reset(bool active) {
  board.pins().rst_ni = !active;
  board.pins().eval();
}

void Bench::bridge_into_reset() {
  board.pins().axi_aresetn_i = 0;
  board.pins().user_link_up_i = 0;
  master.drop();
  bar.drop();
  control.drop();
  board.pins().eval();
}

void Bench::bridge_out_of_reset() {
  axi_cycles(1);
  board.pins().axi_aresetn_i = 1;
  board.pins().user_link_up_i = 1;
  board.pins().eval();
  wait_for_link();
}

void Bench::wait_for_link() {
  wait([&] { return board.pins().link_up_o; }, "the link does not come up");
}

} // namespace testbench
