// SPDX-License-Identifier: Apache-2.0
// I/O commands: the places of their data, the time of the transfer, and faults on request.
#include "ideal_drive.h"

#include "page.h"
#include "pattern.h"

#include <algorithm>
#include <cstring>

namespace testbench {

namespace {

constexpr uint8_t kFlush = 0, kWrite = 1, kRead = 2, kDatasetManagement = 9;
constexpr uint16_t kLbaRange = 0x80 | kDoNotRetry;
constexpr uint16_t kNamespaceNotReady = 0x82; // transient
constexpr uint16_t kWriteFault = 0x280 | kDoNotRetry;
constexpr uint64_t kDropNs = 50'000;
constexpr uint64_t kStaleNs = 5'000;

uint64_t quad(const uint32_t *dwords) { return dwords[0] | static_cast<uint64_t>(dwords[1]) << 32; }

} // namespace

void IdealDrive::begin(const CommandPointer &command) {
  const uint8_t opcode = static_cast<uint8_t>(command->dwords[0]);
  if (command->dwords[1] != 1) board_.fail("an I/O command for namespace 0x%x", command->dwords[1]);
  if (!oldest_ && (opcode == kWrite || opcode == kRead)) oldest_ = command;
  choose_faults(command);
  if (!current(*command)) // the fault ended this life
    return;
  if (opcode == kFlush) {
    counters.flushes++;
    at(config_.write_ns, [this, command] { complete(command, command->refuse, 0); });
    return;
  }
  if (opcode == kDatasetManagement) {
    counters.deallocates++;
    deallocate(command);
    return;
  }
  const uint64_t blocks = (command->dwords[12] & 0xffff) + 1;
  command->lba = quad(&command->dwords[10]);
  command->bytes = static_cast<uint32_t>(blocks << config_.block_shift);
  if (on_fetched) on_fetched(command->lba);
  const bool too_long = config_.mdts != 0 && command->bytes > kPageBytes << config_.mdts;
  uint16_t status = command->refuse;
  if (opcode != kWrite && opcode != kRead)
    status = kInvalidOpcode;
  else if (command->lba + blocks > config_.blocks)
    status = kLbaRange;
  else if (too_long)
    status = kInvalidField;
  if (status != 0) {
    at(config_.write_ns, [this, command, status] { complete(command, status, 0); });
    return;
  }
  (opcode == kWrite ? counters.writes : counters.reads)++;
  (opcode == kWrite ? counters.written_bytes : counters.read_bytes) += command->bytes;
  begin_data(command);
}

void IdealDrive::choose_faults(const CommandPointer &pointer) {
  Command &command = *pointer;
  const auto chosen = [this](uint32_t once_in) {
    const bool now = random_.once_in(once_in);
    counters.faults += now;
    return now;
  };
  command.hold = chosen(faults.hold);
  command.twice = chosen(faults.twice);
  command.wrong_id = may_fail() && chosen(faults.wrong_id);
  command.wrong_phase = may_fail() && chosen(faults.wrong_phase);
  command.stuck = may_fail() && chosen(faults.stuck);
  if (chosen(faults.late)) command.extra_ns = 64 * config_.write_ns;
  if (chosen(faults.retry)) command.refuse = kNamespaceNotReady;
  if (chosen(faults.refuse)) command.refuse = kWriteFault;
  if (chosen(faults.reread)) reread(pointer);
  if (chosen(faults.stray_read)) stray_read();
  if (may_fail() && chosen(faults.fatal)) {
    fatal_ = true;
    life_++; // nothing in flight ends
  } else if (may_fail() && chosen(faults.drop)) {
    drop_link(kDropNs);
  }
}

// ---- the ranges of the data (4.3): PRP 1, then PRP 2 or a list at it ----

void IdealDrive::add_range(Command &command, uint64_t address, uint32_t bytes) {
  const uint32_t offset = command.ranges.empty() ? 0 : command.ranges.back().offset + command.ranges.back().bytes;
  // Adjacent ranges are moved as one.
  if (!command.ranges.empty() && command.ranges.back().address + command.ranges.back().bytes == address)
    command.ranges.back().bytes += bytes;
  else
    command.ranges.push_back({address, offset, bytes});
}

void IdealDrive::begin_data(const CommandPointer &command) {
  const uint64_t prp1 = quad(&command->dwords[6]), prp2 = quad(&command->dwords[8]);
  if (prp1 % 4 != 0) board_.fail("PRP 1 is 0x%llx", static_cast<unsigned long long>(prp1));
  const uint32_t first = static_cast<uint32_t>(std::min<uint64_t>(command->bytes, kPageBytes - prp1 % kPageBytes));
  const uint32_t rest = command->bytes - first;
  add_range(*command, prp1, first);
  if (rest == 0) {
    move_data(command);
  } else if (rest <= kPageBytes) {
    if (prp2 % kPageBytes != 0)
      board_.fail("PRP 2 is 0x%llx, in the middle of a page", static_cast<unsigned long long>(prp2));
    add_range(*command, prp2, rest);
    move_data(command);
  } else {
    const uint32_t entries = static_cast<uint32_t>((rest + kPageBytes - 1) / kPageBytes);
    if (prp2 % 8 != 0 || entries * 8 > kPageBytes - prp2 % kPageBytes)
      board_.fail("a PRP list of %u entries at 0x%llx", entries, static_cast<unsigned long long>(prp2));
    counters.lists++;
    counters.list_bytes += entries * 8;
    host_.read(prp2, entries * 8, true, [this, command, entries](const uint8_t *list) {
      if (current(*command) || faults.stale) list_arrived(command, list, entries);
    });
  }
}

void IdealDrive::list_arrived(const CommandPointer &command, const uint8_t *list, uint32_t entries) {
  const uint32_t first = command->ranges.front().bytes;
  uint32_t rest = command->bytes - first;
  for (uint32_t index = 0; index < entries; index++) {
    uint64_t address;
    std::memcpy(&address, list + index * 8, sizeof address);
    if (address % kPageBytes != 0 && current(*command))
      board_.fail("entry %u of a PRP list is 0x%llx", index, static_cast<unsigned long long>(address));
    if (!current(*command) && address == 0) return; // a list from before the reset that no longer exists
    const uint32_t bytes = static_cast<uint32_t>(std::min<uint64_t>(rest, kPageBytes));
    add_range(*command, address, bytes);
    rest -= bytes;
  }
  move_data(command);
}

// ---- the data ----

void IdealDrive::move_data(const CommandPointer &command) {
  command->data.resize(command->bytes);
  if (static_cast<uint8_t>(command->dwords[0]) == kRead) {
    at(config_.read_ns, [this, command] {
      if (current(*command) || faults.stale) send_data(command);
    });
    return;
  }
  command->missing = command->bytes;
  for (const Range &range : command->ranges)
    host_.read(range.address, range.bytes, false, [this, command, range](const uint8_t *data) {
      std::memcpy(command->data.data() + range.offset, data, range.bytes);
      command->missing -= range.bytes;
      if (command->missing != 0) return;
      if (current(*command)) keep_data(command);
      at(config_.write_ns + command->extra_ns, [this, command] { finish(command); });
    });
}

void IdealDrive::send_data(const CommandPointer &command) {
  // Work that continues after a reset does so at the worst time: when the controller is enabled again.
  if (!current(*command) && (fatal_ || !ready_)) {
    at(kStaleNs, [this, command] { send_data(command); });
    return;
  }
  for (uint32_t offset = 0; offset < command->bytes; offset += block_bytes()) {
    const uint64_t lba = command->lba + (offset >> config_.block_shift);
    pattern_fill(command->data.data() + offset, block_bytes(), number_of(lba), contents_.version(lba));
  }
  for (const Range &range : command->ranges)
    host_.write(range.address, command->data.data() + range.offset, range.bytes, nullptr);
  at(command->extra_ns, [this, command] { finish(command); });
}

void IdealDrive::keep_data(const CommandPointer &command) {
  for (uint32_t offset = 0; offset < command->bytes; offset += block_bytes()) {
    const uint64_t lba = command->lba + (offset >> config_.block_shift);
    const std::optional<uint32_t> version =
        pattern_version(command->data.data() + offset, block_bytes(), number_of(lba));
    if (!version)
      board_.fail("block %llu was written with the data of another block", static_cast<unsigned long long>(lba));
    if (!contents_.set(lba, *version))
      board_.fail("block %llu was written with version %u", static_cast<unsigned long long>(lba), *version);
  }
}

void IdealDrive::deallocate(const CommandPointer &command) {
  if ((command->dwords[10] & 0xff) != 0 || command->dwords[11] != 4)
    board_.fail("a deallocation that does not have one range: 0x%x 0x%x", command->dwords[10], command->dwords[11]);
  host_.read(quad(&command->dwords[6]), 16, true, [this, command](const uint8_t *range) {
    if (!current(*command)) return;
    uint32_t dwords[4];
    std::memcpy(dwords, range, sizeof dwords);
    const uint64_t lba = quad(&dwords[2]);
    if (lba + dwords[1] > config_.blocks || dwords[1] == 0)
      board_.fail("a deallocation of %u blocks at %llu", dwords[1], static_cast<unsigned long long>(lba));
    for (uint64_t block = lba; block < lba + dwords[1] && block < contents_.tracked(); block++)
      contents_.set(block, 0);
    at(config_.write_ns, [this, command] { complete(command, command->refuse, 0); });
  });
}

// ---- the end ----

void IdealDrive::finish(const CommandPointer &command) {
  if (!current(*command)) {
    if (faults.stale && (fatal_ || !ready_))
      at(kStaleNs, [this, command] { finish(command); });
    else
      post_stale(*command);
    return;
  }
  if (command->stuck) return;
  if (command->hold) {
    command->hold = false;
    held_.push_back(command);
    // If no later command comes, it is completed after this time.
    at(config_.read_ns + config_.write_ns, [this, command] {
      const auto found = std::find(held_.begin(), held_.end(), command);
      if (found == held_.end() || !current(*command)) return;
      held_.erase(found);
      finish(command);
    });
    return;
  }
  complete(command, 0, 0);
  if (!held_.empty() && random_.percent(25)) {
    const CommandPointer held = held_.back(); // the latest first
    held_.pop_back();
    finish(held);
  }
}

// An entry must not change until a completion has reported to the host that the head has passed it.
void IdealDrive::reread(const CommandPointer &command) {
  host_.read(sq_[1].base + command->slot * 64, 64, true, [this, command](const uint8_t *entry) {
    if (!current(*command)) return;
    const uint32_t entries = sq_[1].entries;
    const uint32_t unknown = (sq_[1].head + entries - known_head_[1]) % entries;
    const uint32_t age = (sq_[1].head + entries - command->slot) % entries;
    if (age <= unknown && std::memcmp(entry, command->dwords.data(), 64) != 0)
      board_.fail("entry %u changed while the host could not know that it was taken", command->slot);
  });
}

void IdealDrive::stray_read() {
  if (stray_bytes == 0) return;
  const uint32_t lengths[] = {0, 4, 12, 60, 64, 68, 128, 256, 512, 1020};
  const uint32_t bytes = lengths[random_.below(sizeof lengths / sizeof *lengths)];
  // Near the queue, where drives prefetch; in a list; or anywhere.
  const uint64_t places[] = {sq_[1].base + random_.below(sq_[1].entries) * 64, stray_base + random_.below(stray_bytes)};
  const uint64_t address = (places[random_.below(2)] + random_.below(16) * 4) & ~UINT64_C(3);
  const uint64_t last = stray_base + stray_bytes - 1024;
  host_.read(std::min(address, last & ~UINT64_C(3)), bytes, true, [](const uint8_t *) {});
}

} // namespace testbench
