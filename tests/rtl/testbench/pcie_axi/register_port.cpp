// SPDX-License-Identifier: Apache-2.0
#include "register_port.h"

namespace testbench {

namespace {

constexpr uint64_t kTakenCycles = 20'000;

// mmio_request_t: id, space, write, address, data, from the highest bit on. mmio_response_t: id, error, data.
void put_request(VlWide<3> &pin, bool id, Space space, bool write, uint32_t address, uint32_t data) {
  pin[0] = data;
  pin[1] = address;
  pin[2] = static_cast<uint32_t>(write) | static_cast<uint32_t>(space) << 1 | static_cast<uint32_t>(id) << 3;
}

} // namespace

RegisterPort::RegisterPort(Board &board) : board_(board), pins_(board.pins()) {
  pins_.mmio_request_valid_i = 0;
  board.attach(Clock::Core, *this);
}

void RegisterPort::offer(Space space, bool write, uint32_t address, uint32_t data) {
  id_ = !id_;
  space_ = space;
  write_ = write;
  address_ = address;
  data_ = data;
  valid_ = true;
}

void RegisterPort::request(Space space, bool write, uint32_t address, uint32_t data) {
  offer(space, write, address, data);
  if (!board_.run_until([this] { return !valid_; }, kTakenCycles)) board_.fail("a register request is not taken");
}

RegisterResult RegisterPort::response(uint64_t cycles_max) {
  if (!board_.run_until([this] { return answered(); }, cycles_max))
    board_.fail("no response to a register request within %u cycles", static_cast<unsigned>(cycles_max));
  return result_;
}

RegisterResult RegisterPort::read(Space space, uint32_t address, uint64_t cycles_max) {
  request(space, false, address);
  return response(cycles_max);
}

bool RegisterPort::write(Space space, uint32_t address, uint32_t data, uint64_t cycles_max) {
  request(space, true, address, data);
  return response(cycles_max).error;
}

void RegisterPort::sample() {
  if (!pins_.rst_ni) return;
  if (pins_.mmio_response_valid_o) {
    if (++responses_ > requests_) board_.fail("a register response without a request");
    if ((pins_.mmio_response_o >> 33 & 1) != id_) board_.fail("a register response with another request's identifier");
    result_ = {(pins_.mmio_response_o >> 32 & 1) != 0, static_cast<uint32_t>(pins_.mmio_response_o)};
  }
  if (pins_.mmio_request_valid_i && pins_.mmio_request_ready_o) {
    requests_++;
    valid_ = false;
  }
}

// Without a request, its fields are random.
void RegisterPort::drive() {
  pins_.mmio_request_valid_i = valid_;
  if (valid_) {
    put_request(pins_.mmio_request_i, id_, space_, write_, address_, data_);
  } else {
    const uint64_t noise = board_.random().next();
    put_request(pins_.mmio_request_i, noise & 1, static_cast<Space>(noise >> 1 & 3), noise >> 3 & 1,
                static_cast<uint32_t>(noise >> 32), static_cast<uint32_t>(noise >> 4));
  }
}

} // namespace testbench
