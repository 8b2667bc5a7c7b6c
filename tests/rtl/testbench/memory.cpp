// SPDX-License-Identifier: Apache-2.0
#include "memory.h"

#include <algorithm>

namespace testbench {

void Memory::read(uint64_t address, uint32_t beats, uint64_t now_ps) {
  readings_.push_back({address, now_ps + config_.read_ns * UINT64_C(1000), beats});
}

bool Memory::has_beat(uint64_t now_ps) const { return !readings_.empty() && readings_.front().ready_ps <= now_ps; }

void Memory::take_beat(Beat &beat) {
  Reading &reading = readings_.front();
  load(reading.address - reading.address % kBeatBytes, beat.data(), kBeatBytes);
  reading.address += kBeatBytes;
  if (--reading.beats == 0) readings_.pop_front();
}

void Memory::write(uint64_t address, const uint8_t *data, uint32_t bytes, uint8_t id, uint64_t now_ps) {
  const uint64_t delay_ns = board_.random().between(config_.write_ns_least, config_.write_ns_most);
  writings_.push_back({address, now_ps + delay_ns * 1000, std::vector<uint8_t>(data, data + bytes), id});
}

bool Memory::take_response(uint64_t now_ps, uint8_t *id) {
  // AXI: responses with one identifier come in order; others may pass each other.
  for (auto writing = writings_.begin(); writing != writings_.end(); ++writing) {
    const auto same_id = [&](const Writing &earlier) { return earlier.id == writing->id; };
    if (writing->ready_ps > now_ps || std::any_of(writings_.begin(), writing, same_id)) continue;
    store(writing->address, writing->data.data(), static_cast<uint32_t>(writing->data.size()));
    *id = writing->id;
    writings_.erase(writing);
    return true;
  }
  return false;
}

void Memory::store(uint64_t address, const uint8_t *data, uint32_t bytes) {
  for (uint32_t done = 0; done < bytes;) {
    const uint64_t at = (address + done) % kPageBytes;
    const uint32_t in_page_bytes = static_cast<uint32_t>(std::min<uint64_t>(bytes - done, kPageBytes - at));
    std::copy_n(data + done, in_page_bytes, page(address + done).begin() + static_cast<std::ptrdiff_t>(at));
    done += in_page_bytes;
  }
}

void Memory::load(uint64_t address, uint8_t *data, uint32_t bytes) {
  for (uint32_t done = 0; done < bytes;) {
    const uint64_t at = (address + done) % kPageBytes;
    const uint32_t in_page_bytes = static_cast<uint32_t>(std::min<uint64_t>(bytes - done, kPageBytes - at));
    std::copy_n(page(address + done).begin() + static_cast<std::ptrdiff_t>(at), in_page_bytes, data + done);
    done += in_page_bytes;
  }
}

} // namespace testbench
