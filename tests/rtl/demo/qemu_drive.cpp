// SPDX-License-Identifier: Apache-2.0
#include "qemu_drive.h"

#include <utility>

namespace testbench {

namespace {

constexpr uint64_t kTrainingPs = 100'000'000; // of the core's clock; no test depends on it
constexpr uint32_t kPacketBytes = 256, kRequestBytes = 512;
constexpr uint32_t kCapabilities = 0x34, kExpress = 0x10, kDeviceControl = 8, kFunctionReset = 0x8000;

} // namespace

QemuDrive::QemuDrive(Board &board, Bridge &bridge, struct qtest &qtest, uint64_t bar)
    : board_(board), qtest_(qtest), bar_(bar), master_(board, bridge, [&board] { board.step(); }),
      mirror_(
          qtest, bar,
          {[this](uint64_t address, uint8_t *data, size_t bytes) { master_.read(address, data, bytes, kRequestBytes); },
           [this](uint64_t address, const uint8_t *data, size_t bytes) {
             master_.write(address, data, bytes, kPacketBytes);
           }}) {
  bridge.connect(*this);
}

void QemuDrive::step() {
  board_.step();
  serve();
}

void QemuDrive::serve() {
  while (!waiting_.empty()) {
    const Access access = std::move(waiting_.front());
    waiting_.pop_front();
    carry_out(access);
  }
  (void)mirror_.poll();
}

void QemuDrive::carry_out(const Access &access) {
  uint32_t value = 0;
  accesses_++;
  switch (access.kind) {
  case Kind::Reset: reset_function(); break;
  case Kind::MemoryWrite: mirror_.register_write(static_cast<uint32_t>(access.address - bar_), access.value); break;
  case Kind::MemoryRead: value = mirror_.register_read(static_cast<uint32_t>(access.address - bar_)); break;
  case Kind::ConfigWrite: qtest_write(&qtest_, QTEST_CONFIG_BASE + access.address, access.value, 'l'); break;
  case Kind::ConfigRead:
    value = static_cast<uint32_t>(qtest_read(&qtest_, QTEST_CONFIG_BASE + access.address, 'l'));
    break;
  }
  if (access.done) access.done(true, value);
}

void QemuDrive::reset_function() {
  uint32_t at = static_cast<uint32_t>(qtest_read(&qtest_, QTEST_CONFIG_BASE + kCapabilities, 'b'));
  while (at != 0 && qtest_read(&qtest_, QTEST_CONFIG_BASE + at, 'b') != kExpress)
    at = static_cast<uint32_t>(qtest_read(&qtest_, QTEST_CONFIG_BASE + at + 1, 'b'));
  if (at == 0) board_.fail("QEMU's controller has no PCI Express capability");
  const uint64_t control = QTEST_CONFIG_BASE + at + kDeviceControl;
  qtest_write(&qtest_, control, qtest_read(&qtest_, control, 'w') | kFunctionReset, 'w');
}

// ---- for the bridge ----

void QemuDrive::tick(uint64_t now_ps) { now_ps_ = now_ps; }

bool QemuDrive::link_up() const { return !perst_ && now_ps_ - released_ps_ > kTrainingPs; }

void QemuDrive::perst(bool asserted) {
  perst_ = asserted;
  released_ps_ = now_ps_;
  if (asserted) {
    waiting_.clear();
    waiting_.push_back({Kind::Reset, 0, 0, {}});
  }
}

void QemuDrive::memory_write(uint64_t bus_address, uint32_t value) {
  waiting_.push_back({Kind::MemoryWrite, bus_address, value, {}});
}

void QemuDrive::memory_read(uint64_t bus_address, Answer done) {
  waiting_.push_back({Kind::MemoryRead, bus_address, 0, std::move(done)});
}

void QemuDrive::config_write(uint32_t offset, uint32_t value, Answer done) {
  waiting_.push_back({Kind::ConfigWrite, offset, value, std::move(done)});
}

void QemuDrive::config_read(uint32_t offset, Answer done) {
  waiting_.push_back({Kind::ConfigRead, offset, 0, std::move(done)});
}

} // namespace testbench
