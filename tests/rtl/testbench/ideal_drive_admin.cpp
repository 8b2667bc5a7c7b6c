// SPDX-License-Identifier: Apache-2.0
// Admin commands.
#include "ideal_drive.h"

#include <algorithm>
#include <cstring>

namespace testbench {

namespace {

constexpr uint8_t kDeleteSq = 0x00, kCreateSq = 0x01, kGetLog = 0x02, kDeleteCq = 0x04, kCreateCq = 0x05;
constexpr uint8_t kIdentify = 0x06, kAbort = 0x08, kSetFeatures = 0x09, kGetFeatures = 0x0a, kEvent = 0x0c;
constexpr uint8_t kFormat = 0x80, kSanitize = 0x84;
constexpr uint16_t kInvalidQueue = 0x101 | kDoNotRetry, kInvalidQueueSize = 0x102 | kDoNotRetry;
constexpr uint8_t kFeatureQueues = 0x07;

template <typename Value> void set(std::vector<uint8_t> &page, std::size_t offset, Value value) {
  std::memcpy(page.data() + offset, &value, sizeof value);
}

} // namespace

void IdealDrive::begin_admin(const CommandPointer &command) {
  counters.admin++;
  const uint8_t opcode = static_cast<uint8_t>(command->dwords[0]);
  const uint8_t feature = static_cast<uint8_t>(command->dwords[10]);
  switch (opcode) {
  case kIdentify: identify(command); break;
  case kGetLog: log_page(command); break;
  case kCreateCq:
  case kCreateSq: create_queue(command); break;
  case kDeleteSq:
  case kDeleteCq: {
    Queue &queue = opcode == kDeleteSq ? sq_[1] : cq_[1];
    const bool there = command->dwords[10] == 1 && queue.exists && (opcode == kDeleteSq || !sq_[1].exists);
    queue.exists = queue.exists && !there;
    complete(command, there ? 0 : kInvalidQueue, 0);
    break;
  }
  case kSetFeatures:
  case kGetFeatures: complete(command, 0, feature == kFeatureQueues ? 0x0007'0007 : 0); break;
  case kAbort: complete(command, 0, 1); break; // not aborted
  case kEvent: break;                          // answered only when an event occurs: never
  case kFormat:
    config_.block_shift = (command->dwords[10] & 0xf) == 0 ? 9 : 12;
    config_.blocks = config_.blocks << 9 >> config_.block_shift;
    complete(command, 0, 0);
    break;
  case kSanitize:
    sanitized_ = now_ps_;
    complete(command, 0, 0);
    break;
  default: complete(command, kInvalidOpcode, 0);
  }
}

// Transfers a page to PRP 1 and 2, then completes.
void IdealDrive::give_page(const CommandPointer &command, const std::vector<uint8_t> &page) {
  const uint64_t prp1 = command->dwords[6] | static_cast<uint64_t>(command->dwords[7]) << 32;
  const uint64_t prp2 = command->dwords[8] | static_cast<uint64_t>(command->dwords[9]) << 32;
  const uint32_t size = static_cast<uint32_t>(page.size());
  const uint32_t first = std::min(size, 4096 - static_cast<uint32_t>(prp1 % 4096));
  host_.write(prp1, page.data(), first, nullptr);
  if (first < size) host_.write(prp2, page.data() + first, size - first, nullptr);
  complete(command, 0, 0);
}

void IdealDrive::identify(const CommandPointer &command) {
  std::vector<uint8_t> page(4096);
  switch (command->dwords[10] & 0xff) {
  case 0: { // namespace
    set<uint64_t>(page, 0, config_.blocks);
    set<uint64_t>(page, 8, config_.blocks);
    set<uint64_t>(page, 16, config_.blocks);
    page[25] = 1; // two formats
    page[26] = config_.block_shift == 9 ? 0 : 1;
    set<uint32_t>(page, 128, 9u << 16);
    set<uint32_t>(page, 132, 12u << 16);
    break;
  }
  case 1: { // controller
    set<uint16_t>(page, 0, 0x1d1d);
    std::memset(page.data() + 4, ' ', 68);
    std::memcpy(page.data() + 4, "IDEAL", 5);
    std::memcpy(page.data() + 24, "Ideal drive", 11);
    page[77] = config_.mdts;
    set<uint16_t>(page, 78, 1);
    set<uint32_t>(page, 80, 0x0001'0400);
    set<uint16_t>(page, 256, 0x0006); // format, firmware
    set<uint32_t>(page, 328, 0x2);    // block erase
    page[512] = 0x66;
    page[513] = 0x44;
    set<uint32_t>(page, 516, 1);
    set<uint16_t>(page, 520, 0x0004); // dataset management
    page[525] = config_.volatile_cache;
    break;
  }
  case 2: // active namespaces
    if (command->dwords[1] == 0) set<uint32_t>(page, 0, 1);
    break;
  case 3: break; // no descriptors
  default: complete(command, kInvalidField, 0); return;
  }
  give_page(command, page);
}

void IdealDrive::log_page(const CommandPointer &command) {
  const uint32_t dwords = (command->dwords[10] >> 16) + 1 + (command->dwords[11] << 16);
  if (dwords > 1024) {
    complete(command, kInvalidField, 0);
    return;
  }
  std::vector<uint8_t> page(4096);
  switch (command->dwords[10] & 0xff) {
  case 0x01:
  case 0x03: break;
  case 0x02:
    set<uint16_t>(page, 1, 313); // kelvins
    page[3] = 100;
    page[4] = 10;
    set<uint64_t>(page, 32, counters.read_bytes / 512000);
    set<uint64_t>(page, 48, counters.written_bytes / 512000);
    break;
  case 0x81:
    set<uint16_t>(page, 0, 0xffff);
    set<uint16_t>(page, 2, sanitized_ ? 1 : 0);
    break;
  default: complete(command, 0x109 | kDoNotRetry, 0); return;
  }
  page.resize(dwords * 4);
  give_page(command, page);
}

void IdealDrive::create_queue(const CommandPointer &command) {
  const bool completion = static_cast<uint8_t>(command->dwords[0]) == kCreateCq;
  Queue &queue = completion ? cq_[1] : sq_[1];
  const uint32_t entries = (command->dwords[10] >> 16) + 1;
  if ((command->dwords[10] & 0xffff) != 1 || queue.exists || (!completion && !cq_[1].exists)) {
    complete(command, kInvalidQueue, 0);
    return;
  }
  if (entries < 2 || entries > config_.queue_entries) {
    complete(command, kInvalidQueueSize, 0);
    return;
  }
  if (!(command->dwords[11] & 1)) board_.fail("a queue that is not contiguous");
  queue = Queue();
  queue.exists = true;
  queue.base = command->dwords[6] | static_cast<uint64_t>(command->dwords[7]) << 32;
  queue.entries = entries;
  if (queue.base % 4096 != 0) board_.fail("a queue at 0x%llx", static_cast<unsigned long long>(queue.base));
  complete(command, 0, 0);
}

} // namespace testbench
