// SPDX-License-Identifier: Apache-2.0
//
// The mirror (qemu_mirror.h) with a substitute for the core: raw commands from a plain array, at an address of QEMU's
// memory that contains only what the mirror copies there. What QEMU stored is read back. A list with one wrong page
// must store something else, which shows that QEMU reads what the core's windows contain.

#include "qemu_mirror.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

extern "C" {
#include "raw_nvme.h"
}

namespace {

constexpr uint64_t kImageBytes = UINT64_C(64) << 20;
constexpr uint64_t kWindow = QTEST_MEMORY_BASE + (UINT64_C(64) << 20);
constexpr unsigned kPages = 1024;
constexpr unsigned kList = RAW_PAGES_USED, kData = kList + 1, kTransferPages = 32;

void check(bool good, const char *what) {
  if (good) return;
  std::fprintf(stderr, "FAILED: %s\n", what);
  std::exit(1);
}

// The substitute for the core: memory of its own, which QEMU cannot see.
struct StandIn {
  struct qtest qtest {};
  std::vector<uint8_t> own = std::vector<uint8_t>(kPages * RAW_PAGE);
  QemuMirror mirror{qtest, QTEST_BAR_BASE, windows()};
  struct raw_nvme raw {};

  Windows windows() {
    return {
        [this](uint64_t address, uint8_t *data, size_t bytes) { std::memcpy(data, at(address, bytes), bytes); },
        [this](uint64_t address, const uint8_t *data, size_t bytes) { std::memcpy(at(address, bytes), data, bytes); }};
  }
  uint8_t *at(uint64_t address, size_t bytes) {
    check(address >= kWindow && address + bytes <= kWindow + own.size(), "accesses are within the windows");
    return own.data() + (address - kWindow);
  }

  explicit StandIn(const char *block_bytes) {
    char path[96];
    qtest_prepare(&qtest);
    qtest_image(&qtest, "image", kImageBytes, path, sizeof path);
    const std::string drive = std::string("if=none,id=d0,format=raw,cache=unsafe,file=") + path;
    const std::string device = std::string("nvme,serial=MIRROR,addr=01.0,drive=d0,mdts=7,logical_block_size=") +
                               block_bytes + ",physical_block_size=" + block_bytes;
    const char *const arguments[] = {"-drive", drive.c_str(), "-device", device.c_str(), nullptr};
    qtest_start(&qtest, arguments);
    struct raw_target target {};
    target.context = this;
    target.read32 = [](void *self, uint32_t offset) {
      return static_cast<StandIn *>(self)->mirror.register_read(offset);
    };
    target.write32 = [](void *self, uint32_t offset, uint32_t value) {
      static_cast<StandIn *>(self)->mirror.register_write(offset, value);
    };
    target.wait = [](void *self) {
      if (!static_cast<StandIn *>(self)->mirror.poll()) (void)static_cast<StandIn *>(self)->mirror.register_read(0x1c);
    };
    target.memory = own.data();
    target.bus = kWindow;
    target.patience = 200000;
    raw_init(&raw, &target);
  }
  ~StandIn() { qtest_stop(&qtest); }

  struct raw_completion identify(uint32_t what, uint32_t name_space) {
    struct raw_command command {};
    command.opcode = 6;
    command.nsid = name_space;
    command.prp1 = raw_bus(&raw, kData);
    command.dword10 = what;
    return raw_do(&raw, 0, &command);
  }

  void list(unsigned entry, unsigned page) {
    const uint64_t address = raw_bus(&raw, page);
    std::memcpy(raw_at(&raw, kList) + entry * 8, &address, 8);
  }

  // kTransferPages pages of the core's memory, by a list.
  uint16_t transfer(uint8_t opcode, uint64_t lba, uint32_t blocks, unsigned first_page) {
    struct raw_command command {};
    for (unsigned i = 0; i + 1 < kTransferPages; i++)
      list(i, first_page + 1 + i);
    command.opcode = opcode;
    command.nsid = 1;
    command.prp1 = raw_bus(&raw, first_page);
    command.prp2 = raw_bus(&raw, kList);
    command.dword10 = static_cast<uint32_t>(lba);
    command.dword12 = blocks - 1;
    return raw_do(&raw, 1, &command).status;
  }
};

void fill(uint8_t *at, size_t bytes, uint32_t state) {
  for (size_t i = 0; i < bytes; i++) {
    state = state * 1664525u + 1013904223u;
    at[i] = static_cast<uint8_t>(state >> 24);
  }
}

void round_trip(const char *block_text, uint32_t block_bytes) {
  StandIn stand_in(block_text);
  struct raw_nvme *raw = &stand_in.raw;
  const size_t bytes = kTransferPages * RAW_PAGE;
  const auto blocks = static_cast<uint32_t>(bytes / block_bytes);

  (void)stand_in.mirror.register_read(4);
  check(raw_enable(raw), "the controller becomes ready");
  check(stand_in.identify(1, 0).status == 0, "Identify Controller");
  check(std::memcmp(raw_at(raw, kData) + 4, "MIRROR ", 7) == 0, "the serial number has arrived in the core's page");
  check(stand_in.identify(0, 1).status == 0, "Identify Namespace");
  check(raw_queue(raw, 1) == 0, "the I/O queues are made");

  fill(raw_at(raw, kData), bytes, block_bytes);
  const std::vector<uint8_t> sent(raw_at(raw, kData), raw_at(raw, kData) + bytes);
  check(stand_in.transfer(1, 40, blocks, kData) == 0, "write");
  std::memset(raw_at(raw, kData), 0, bytes);
  check(stand_in.transfer(2, 40, blocks, kData + kTransferPages) == 0, "read");
  check(std::memcmp(sent.data(), raw_at(raw, kData + kTransferPages), bytes) == 0, "what was written is read");
  for (unsigned i = 0; i < 300; i++) // past the queues' ends
    check(stand_in.transfer(i % 2 == 0 ? 1 : 2, 40 + i, blocks, kData + kTransferPages) == 0, "many commands");

  // A list that skips a page writes other data, which shows that QEMU reads the list.
  for (unsigned i = 0; i < kTransferPages; i++)
    std::memset(raw_at(raw, kData + i), static_cast<int>(i + 1), RAW_PAGE);
  struct raw_command command {};
  for (unsigned i = 0; i + 2 < kTransferPages; i++) {
    stand_in.list(i, kData + 2 + i);
  }
  command.opcode = 1;
  command.nsid = 1;
  command.prp1 = raw_bus(raw, kData);
  command.prp2 = raw_bus(raw, kList);
  command.dword12 = (kTransferPages - 1) * (RAW_PAGE / block_bytes) - 1;
  check(raw_do(raw, 1, &command).status == 0, "write by a list that leaves out a page");
  check(stand_in.transfer(2, 0, blocks, kData + kTransferPages) == 0, "read it");
  check(*raw_at(raw, kData + kTransferPages) == 1 && *raw_at(raw, kData + kTransferPages + 1) == 3,
        "the list that QEMU followed left out a page");

  check(stand_in.transfer(2, kImageBytes / block_bytes, blocks, kData) == 0x4080, "beyond the end is refused");
  command = {};
  command.nsid = 1;
  check(raw_do(raw, 1, &command).status == 0, "flush");
  check(raw_disable(raw), "the controller stops");
  check(raw_enable(raw) && raw_queue(raw, 1) == 0, "and starts again");
  check(stand_in.mirror.refused() == 0, "nothing was refused");
  std::printf("blocks of %u: %llu commands, %llu lists, %llu MB written\n", block_bytes,
              (unsigned long long)stand_in.mirror.counters().io_commands,
              (unsigned long long)stand_in.mirror.counters().lists,
              (unsigned long long)stand_in.mirror.counters().written_bytes / 1000000);
}

} // namespace

int main() {
  round_trip("512", 512);
  round_trip("4096", 4096);
  return 0;
}
