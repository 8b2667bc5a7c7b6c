// SPDX-License-Identifier: Apache-2.0
#include "user.h"

namespace testbench {

User::User(Board &board, unsigned stall_percent) : board_(board), pins_(board.pins()), stall_percent_(stall_percent) {
  board.attach(Clock::User, *this);
}

void User::sample() {
  if (!pins_.app_rst_ni) return;
  if (command_valid_ && pins_.cmd_ready_o) {
    const UserCommand command = commands_.front();
    commands_.pop_front();
    command_valid_ = false;
    if (on_accepted) on_accepted(command);
  }
  if (!command_valid_ && !commands_.empty() && go()) command_valid_ = true;
  sample_response();
  sample_beats();
}

void User::sample_response() {
  const uint64_t payload = pins_.rsp_done_o << 32 | static_cast<uint64_t>(pins_.rsp_status_o) << 16 | pins_.rsp_tag_o;
  if (!stable_response_.check(pins_.rsp_valid_o, response_ready_, payload))
    board_.fail("a response changed before it was taken");
  if (pins_.rsp_valid_o && response_ready_ && on_response)
    on_response({pins_.rsp_tag_o, pins_.rsp_status_o, pins_.rsp_done_o});
  response_ready_ = go();
}

void User::sample_beats() {
  if (in_valid_ && pins_.s_axis_tready_o) in_valid_ = false;
  if (!in_valid_ && next_beat && go()) in_valid_ = in_fresh_ = next_beat(in_beat_);
  Beat beat;
  get_beat(pins_.m_axis_tdata_o, beat);
  if (!stable_beat_.check(pins_.m_axis_tvalid_o, out_ready_, beat)) board_.fail("a beat changed before it was taken");
  if (pins_.m_axis_tvalid_o && out_ready_ && on_beat) on_beat(beat, pins_.m_axis_tlast_o, pins_.m_axis_tuser_o);
  out_ready_ = go();
}

void User::drive() {
  pins_.cmd_valid_i = command_valid_;
  if (command_valid_) {
    const UserCommand &command = commands_.front();
    put(pins_.cmd_op_i, command.op);
    put(pins_.cmd_source_i, command.source);
    pins_.cmd_fua_i = command.fua;
    pins_.cmd_tag_i = command.tag;
    pins_.cmd_lba_i = command.lba;
    pins_.cmd_blocks_i = command.blocks;
    pins_.cmd_address_i = command.address;
  }
  pins_.rsp_ready_i = response_ready_;
  pins_.s_axis_tvalid_i = in_valid_;
  if (in_fresh_) put_beat(pins_.s_axis_tdata_i, in_beat_);
  in_fresh_ = false;
  pins_.m_axis_tready_i = out_ready_;
}

} // namespace testbench
