// SPDX-License-Identifier: Apache-2.0
#include "qemu_mirror.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace {

constexpr uint32_t kCapHigh = 0x04, kCc = 0x14, kAqa = 0x24, kAsq = 0x28, kAcq = 0x30, kDoorbells = 0x1000;
constexpr size_t kPage = 4096, kSubmissionBytes = 64, kCompletionBytes = 16, kListEntryBytes = 8;
constexpr uint8_t kAdminCreateSq = 0x01, kAdminGetLog = 0x02, kAdminCreateCq = 0x05, kAdminIdentify = 0x06;
constexpr uint8_t kAdminSetFeatures = 0x09, kAdminGetFeatures = 0x0a;
constexpr uint8_t kIoWrite = 0x01, kIoRead = 0x02, kIoDatasetManagement = 0x09;
constexpr uint8_t kFeatureHostMemory = 0x0d;

uint16_t get16(const uint8_t *at) { return static_cast<uint16_t>(at[0] | at[1] << 8); }
uint32_t get32(const uint8_t *at) { return get16(at) | static_cast<uint32_t>(get16(at + 2)) << 16; }
uint64_t get64(const uint8_t *at) { return get32(at) | static_cast<uint64_t>(get32(at + 4)) << 32; }
uint32_t key(uint16_t queue, uint16_t id) { return static_cast<uint32_t>(queue) << 16 | id; }

// The opcode's lowest bits tell the direction of a command's data (4.2).
bool is_to_host(uint8_t opcode) { return (opcode & 3) == 2; }

} // namespace

QemuMirror::QemuMirror(struct qtest &qtest, uint64_t bar, Windows windows)
    : qtest_(qtest), bar_(bar), windows_(std::move(windows)) {}

// ---- the two memories ----

uint8_t *QemuMirror::memory(uint64_t address, size_t bytes) {
  const uint64_t at = address - QTEST_MEMORY_BASE;
  if (at < QTEST_MEMORY_BYTES && bytes <= QTEST_MEMORY_BYTES - at) return qtest_.memory + at;
  refused_++;
  return nullptr;
}

void QemuMirror::fetch(uint64_t address, size_t bytes) {
  uint8_t *at = memory(address, bytes);
  if (at != nullptr) windows_.read(address, at, bytes);
}

void QemuMirror::give(uint64_t address, size_t bytes) {
  const uint8_t *at = memory(address, bytes);
  if (at != nullptr) windows_.write(address, at, bytes);
}

// ---- registers ----

uint32_t QemuMirror::register_read(uint32_t offset) {
  const auto value = static_cast<uint32_t>(qtest_read(&qtest_, bar_ + offset, 'l'));
  if (offset == kCapHigh) stride_ = value & 0xf;
  return value;
}

void QemuMirror::register_write(uint32_t offset, uint32_t value) {
  const auto halve = [value](uint64_t &whole, bool high) {
    whole = high ? (whole & 0xffffffff) | static_cast<uint64_t>(value) << 32 : (whole & ~UINT64_C(0xffffffff)) | value;
  };
  switch (offset) {
  case kAqa: aqa_ = value; break;
  case kAsq: halve(asq_, false); break;
  case kAsq + 4: halve(asq_, true); break;
  case kAcq: halve(acq_, false); break;
  case kAcq + 4: halve(acq_, true); break;
  case kCc:
    if ((value & 1) != 0 && (cc_ & 1) == 0) enable();
    cc_ = value;
    break;
  default:
    if (offset >= kDoorbells) doorbell((offset - kDoorbells) >> (2 + stride_), value);
  }
  qtest_write(&qtest_, bar_ + offset, value, 'l');
}

// Commands in flight are dropped, and QEMU's memory must not show completions from before.
void QemuMirror::enable() {
  submission_.clear();
  completion_.clear();
  commands_.clear();
  submission_[0] = {asq_, (aqa_ & 0xfff) + 1, 0, 0};
  completion_[0] = {acq_, (aqa_ >> 16 & 0xfff) + 1, 0, true};
  clear(completion_[0]);
}

void QemuMirror::clear(const CompletionQueue &queue) {
  uint8_t *at = memory(queue.address, queue.entries * kCompletionBytes);
  if (at != nullptr) std::memset(at, 0, queue.entries * kCompletionBytes);
}

// Heads are passed on unchanged.
void QemuMirror::doorbell(uint32_t number, uint32_t value) {
  counters_.doorbells++;
  if ((number & 1) != 0) return;
  const auto found = submission_.find(static_cast<uint16_t>(number / 2));
  if (found == submission_.end() || value >= found->second.entries) {
    refused_++;
    return;
  }
  const uint16_t queue_number = found->first;
  while (found->second.tail != value) {
    SubmissionQueue &queue = found->second;
    const uint64_t address = queue.address + queue.tail * kSubmissionBytes;
    queue.tail = (queue.tail + 1) % queue.entries;
    fetch(address, kSubmissionBytes);
    const uint8_t *entry = memory(address, kSubmissionBytes);
    if (entry != nullptr) submit(queue_number, entry);
  }
}

// ---- commands ----

size_t QemuMirror::data_bytes(uint16_t queue, const uint8_t *entry) const {
  const uint32_t dword10 = get32(entry + 40), dword11 = get32(entry + 44), dword12 = get32(entry + 48);
  if (queue == 0) {
    switch (entry[0]) {
    case kAdminIdentify: return kPage;
    case kAdminGetLog: return ((dword10 >> 16) + (static_cast<size_t>(dword11 & 0xffff) << 16) + 1) * 4;
    default: return 0;
    }
  }
  switch (entry[0]) {
  case kIoWrite:
  case kIoRead: {
    const auto shift = block_shift_.find(get32(entry + 4));
    return shift == block_shift_.end() ? 0 : static_cast<size_t>((dword12 & 0xffff) + 1) << shift->second;
  }
  case kIoDatasetManagement: return ((dword10 & 0xff) + 1) * 16;
  default: return 0;
  }
}

// By PRP1 and PRP2 (4.3). A list is fetched when it is needed; QEMU reads its own copy of it.
std::vector<QemuMirror::Run> QemuMirror::data_runs(const uint8_t *entry, size_t bytes) {
  const uint64_t first = get64(entry + 24), second = get64(entry + 32);
  const size_t first_bytes = std::min(bytes, kPage - first % kPage);
  std::vector<Run> runs{{first, first_bytes}};
  size_t left = bytes - first_bytes;

  if (left == 0) return runs;
  if (left <= kPage) {
    runs.push_back({second, left});
    return runs;
  }
  const size_t count = (left + kPage - 1) / kPage;
  counters_.lists++;
  // No chained lists: the core has none.
  if (second % kPage + count * kListEntryBytes > kPage) {
    refused_++;
    return {};
  }
  fetch(second, count * kListEntryBytes);
  const uint8_t *list = memory(second, count * kListEntryBytes);
  for (size_t i = 0; list != nullptr && i < count; i++) {
    const size_t here = std::min(left, kPage);
    runs.push_back({get64(list + i * kListEntryBytes), here});
    left -= here;
  }
  return runs;
}

void QemuMirror::submit(uint16_t queue, const uint8_t *entry) {
  const uint8_t opcode = entry[0];
  const size_t bytes = data_bytes(queue, entry);
  Command command;

  (queue == 0 ? counters_.admin_commands : counters_.io_commands)++;
  if (bytes != 0) {
    std::vector<Run> runs = data_runs(entry, bytes);
    if (is_to_host(opcode)) {
      command.to_host = std::move(runs);
    } else {
      for (const Run &run : runs)
        fetch(run.address, run.bytes);
      counters_.written_bytes += queue == 0 ? 0 : bytes;
    }
  } else if (queue != 0 && (opcode == kIoWrite || opcode == kIoRead)) {
    refused_++; // of a namespace that was not identified
  }
  if (queue == 0) {
    if (opcode == kAdminCreateSq || opcode == kAdminCreateCq) create(entry);
    if (opcode == kAdminIdentify && (get32(entry + 40) & 0xff) == 0) command.identified = get32(entry + 4);
    if ((opcode == kAdminSetFeatures || opcode == kAdminGetFeatures) &&
        (get32(entry + 40) & 0xff) == kFeatureHostMemory)
      refused_++; // it has data that the mirror does not copy
  }
  commands_[key(queue, get16(entry + 2))] = std::move(command);
}

// The commands that create the I/O queues give their addresses (5.3, 5.4).
void QemuMirror::create(const uint8_t *entry) {
  const uint16_t number = get16(entry + 40);
  const uint32_t entries = static_cast<uint32_t>(get16(entry + 42)) + 1;
  const uint64_t address = get64(entry + 24);

  if (entry[0] == kAdminCreateSq) {
    submission_[number] = {address, entries, 0, get16(entry + 46)};
    return;
  }
  completion_[number] = {address, entries, 0, true};
  clear(completion_[number]);
}

// ---- completions ----

bool QemuMirror::poll() {
  bool any = false;
  for (auto &queue : completion_)
    any |= poll_queue(queue.first);
  return any;
}

bool QemuMirror::poll_queue(uint16_t number) {
  CompletionQueue &queue = completion_[number];
  bool any = false;

  for (;;) {
    const uint64_t address = queue.address + queue.next * kCompletionBytes;
    uint8_t *entry = memory(address, kCompletionBytes);
    // QEMU writes the phase last; this reads it first.
    if (entry == nullptr || (__atomic_load_n(entry + 14, __ATOMIC_ACQUIRE) & 1) != queue.phase) return any;
    queue.next = (queue.next + 1) % queue.entries;
    if (queue.next == 0) queue.phase = !queue.phase;
    completed(get16(entry + 10), entry);
    give(address, kCompletionBytes);
    counters_.completions++;
    any = true;
  }
}

void QemuMirror::completed(uint16_t number, const uint8_t *entry) {
  const auto found = commands_.find(key(number, get16(entry + 12)));
  if (found == commands_.end()) {
    refused_++;
    return;
  }
  const Command command = std::move(found->second);
  commands_.erase(found);
  if (get16(entry + 14) >> 1 != 0) return; // it failed: it has no data
  for (const Run &run : command.to_host) {
    give(run.address, run.bytes);
    if (number != 0) counters_.read_bytes += run.bytes;
  }
  if (command.identified != 0 && !command.to_host.empty()) identified(command.identified, command.to_host[0].address);
}

// The namespace's page has the LBA formats (5.15.2.1): the block size is needed for the length of data.
void QemuMirror::identified(uint32_t name_space, uint64_t page) {
  const uint8_t *at = memory(page, kPage);
  if (at != nullptr) block_shift_[name_space] = at[128 + 4 * (at[26] & 0xf) + 2];
}
