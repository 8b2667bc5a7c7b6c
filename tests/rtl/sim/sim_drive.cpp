// SPDX-License-Identifier: Apache-2.0
#include "sim_drive.h"

#include <algorithm>

namespace testbench {

namespace {

constexpr uint64_t kBus1 = SIM_ECAM + 0x100000;
constexpr uint32_t kCommand = 0x04, kBusNumbers = 0x18, kMemoryWindow = 0x20, kDeviceControl = 0x48; // of sim's ports
constexpr uint64_t kQuietPs = 4'000'000; // this long without data: only time passes

} // namespace

SimDrive::SimDrive(Board &board, Bridge &bridge, struct sim *sim, struct sim_drive *drive, const SimDriveConfig &config)
    : board_(board), bridge_(bridge), master_(board, bridge, [this] { edge(); }), sim_(sim), drive_(drive),
      config_(config) {
  slow_factor_ = 1000 / config.us_per_ms;
  struct sim_window window {};
  window.address = config.window_base;
  window.bytes = config.window_bytes;
  window.read = [](void *self, uint64_t address, uint8_t *data, uint64_t bytes) {
    static_cast<SimDrive *>(self)->window_read(address, data, bytes);
  };
  window.write = [](void *self, uint64_t address, const uint8_t *data, uint64_t bytes) {
    static_cast<SimDrive *>(self)->window_write(address, data, bytes);
  };
  window.context = this;
  sim_window_add(sim, &window);
  // The bridge has the root port that the core configures. The simulator's own root port forwards everything.
  sim_pcie_config_write(sim, SIM_ECAM + kBusNumbers, 0x00010100);
  sim_pcie_config_write(sim, SIM_ECAM + kMemoryWindow,
                        static_cast<uint32_t>((SIM_WINDOW + SIM_WINDOW_BYTES - 1) >> 16 << 16 | SIM_WINDOW >> 16));
  sim_pcie_config_write(sim, SIM_ECAM + kCommand, 6);
  bridge.connect(*this);
}

// ---- time ----

void SimDrive::edge() {
  board_.step();
  if (!bridge_.idle()) moved();
  const bool quiet = board_.now_ps() - moved_ps_ > kQuietPs;
  core_ps_ += (board_.now_ps() - board_ps_) * (quiet ? slow_factor_ : 1);
  board_ps_ = board_.now_ps(); // others may advance the board, too
}

void SimDrive::step() {
  edge();
  if (core_ps_ > sim_now_ps(sim_)) sim_spend(sim_, core_ps_ - sim_now_ps(sim_));
}

// ---- the drive's reads and writes ----

// The core's side may be behind by a part of a cycle.
void SimDrive::window_read(uint64_t address, uint8_t *data, uint64_t bytes) {
  core_ps_ = std::max(core_ps_, sim_now_ps(sim_));
  master_.read(address, data, bytes, sim_drive_link(drive_)->config.read_request_bytes);
}

void SimDrive::window_write(uint64_t address, const uint8_t *data, uint64_t bytes) {
  core_ps_ = std::max(core_ps_, sim_now_ps(sim_));
  master_.write(address, data, bytes, sim_drive_link(drive_)->config.payload_bytes);
}

// ---- the core's accesses ----

void SimDrive::tick(uint64_t) {
  // The simulator's port uses the packet size that the core has configured at the bridge.
  const uint32_t payload_bytes = bridge_.root_port().payload_bytes();
  if (payload_bytes == payload_bytes_) return;
  payload_bytes_ = payload_bytes;
  uint32_t code = 0;
  while (128u << code < payload_bytes)
    code++;
  sim_pcie_config_write(sim_, SIM_ECAM + kDeviceControl, 0x2010 | code << 5);
}

bool SimDrive::link_up() const { return sim_pcie_config_drive(sim_, kBus1) != nullptr; }

// In an event of its own, because the drive may be within an event.
void SimDrive::perst(bool asserted) {
  perst_ = asserted;
  counters_.perst += asserted;
  sim_at(
      sim_, core_ps_, [](void *self, uint64_t) { static_cast<SimDrive *>(self)->set_perst(); }, this, 0);
}

void SimDrive::set_perst() { sim_drive_link_drop(drive_, perst_ || unplugged_ ? UINT32_MAX : config_.training_ms); }

void SimDrive::unplug() {
  unplugged_ = true;
  perst(perst_);
}

void SimDrive::memory_write(uint64_t bus_address, uint32_t value) {
  counters_.posts++;
  sim_logic_post(sim_, core_ps_, bus_address, value);
}

void SimDrive::ask(uint64_t address, bool write, uint32_t value, Answer done) {
  auto free = std::find_if(asks_.begin(), asks_.end(), [](const auto &one) { return !one->used; });
  if (free == asks_.end()) free = asks_.insert(asks_.end(), std::make_unique<Ask>());
  Ask &ask = **free;
  ask.used = true;
  ask.done = std::move(done);
  ask.access = {};
  ask.access.address = address;
  ask.access.write = write;
  ask.access.value = value;
  ask.access.context = &ask;
  ask.access.answered = [](void *context, const struct sim_logic_access *access) {
    auto *answered = static_cast<Ask *>(context);
    const Answer answer = std::move(answered->done);
    answered->used = false;
    answer(!access->nobody, access->value);
  };
  counters_.asks++;
  sim_logic_ask(sim_, core_ps_, &ask.access);
}

void SimDrive::memory_read(uint64_t bus_address, Answer done) { ask(bus_address, false, 0, std::move(done)); }

void SimDrive::config_write(uint32_t offset, uint32_t value, Answer done) {
  ask(kBus1 + offset, true, value, std::move(done));
}

void SimDrive::config_read(uint32_t offset, Answer done) { ask(kBus1 + offset, false, 0, std::move(done)); }

} // namespace testbench
