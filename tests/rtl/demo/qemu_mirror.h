// SPDX-License-Identifier: Apache-2.0
//
// Connects QEMU's NVMe drive to a host core whose queues and data are windows, not memory. The windows have addresses
// of QEMU's memory. Before a doorbell is passed on, everything that the drive will read because of it is read from the
// windows and copied, unchanged, to the same addresses of that memory: the entries between the old tail and the new
// one, the PRP lists that they point to, write data, ranges. What the drive then wrote there is copied, unchanged, to
// the windows at the same addresses: first a command's data, then its completion.
//
// So QEMU tests entries, lists, tails and heads, and its phase bits test the reader of its completions. It does not
// test the size of the drive's reads, their order, or their timing: these are the mirror's.
#ifndef SPATE_DEMO_QEMU_MIRROR_H
#define SPATE_DEMO_QEMU_MIRROR_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

extern "C" {
#include "qtest.h"
}

struct Windows {
  std::function<void(uint64_t address, uint8_t *data, size_t bytes)> read;
  std::function<void(uint64_t address, const uint8_t *data, size_t bytes)> write;
};

class QemuMirror {
public:
  // `bar` is the address of BAR 0 in QEMU's address space. The core configures the device itself.
  QemuMirror(struct qtest &qtest, uint64_t bar, Windows windows);

  uint32_t register_read(uint32_t offset);
  void register_write(uint32_t offset, uint32_t value);
  // Passes on completions that the drive has written. Returns true if there was one.
  bool poll();

  struct Counters {
    uint64_t admin_commands, io_commands, lists, written_bytes, read_bytes, completions, doorbells;
  };
  const Counters &counters() const { return counters_; }
  // Accesses of the core outside QEMU's memory, or not understood. A test checks that this is 0.
  uint64_t refused() const { return refused_; }

private:
  struct Run {
    uint64_t address;
    size_t bytes;
  };
  struct SubmissionQueue {
    uint64_t address;
    uint32_t entries, tail;
    uint16_t completion_queue;
  };
  struct CompletionQueue {
    uint64_t address;
    uint32_t entries, next;
    bool phase;
  };
  // A command that the drive has and has not completed: the ranges of its data.
  struct Command {
    std::vector<Run> to_host;
    uint32_t identified = 0; // the namespace that it identifies
  };

  uint8_t *memory(uint64_t address, size_t bytes);
  void fetch(uint64_t address, size_t bytes);
  void give(uint64_t address, size_t bytes);
  void enable();
  void doorbell(uint32_t number, uint32_t value);
  void submit(uint16_t queue, const uint8_t *entry);
  size_t data_bytes(uint16_t queue, const uint8_t *entry) const;
  std::vector<Run> data_runs(const uint8_t *entry, size_t bytes);
  void create(const uint8_t *entry);
  void clear(const CompletionQueue &queue);
  bool poll_queue(uint16_t number);
  void completed(uint16_t number, const uint8_t *entry);
  void identified(uint32_t name_space, uint64_t page);

  struct qtest &qtest_;
  const uint64_t bar_;
  const Windows windows_;
  uint32_t aqa_ = 0, cc_ = 0, stride_ = 0;
  uint64_t asq_ = 0, acq_ = 0;
  std::map<uint16_t, SubmissionQueue> submission_;
  std::map<uint16_t, CompletionQueue> completion_;
  std::map<uint32_t, Command> commands_;     // by queue and identifier
  std::map<uint32_t, unsigned> block_shift_; // by namespace: from the Identify pages
  Counters counters_{};
  uint64_t refused_ = 0;
};

#endif
