// SPDX-License-Identifier: Apache-2.0
// Entries in, completions out.
#include "ideal_drive.h"

#include <algorithm>
#include <cstring>

namespace testbench {

// Reads as many entries at once as there are, up to the queue's end. Several reads are in flight.
void IdealDrive::fetch(bool admin) {
  Queue &queue = sq_[!admin];
  while (queue.taken != queue.tail && in_flight_ + fetching_ < config_.commands_max) {
    const uint32_t end = queue.tail > queue.taken ? queue.tail : queue.entries;
    const uint32_t room = config_.commands_max - in_flight_ - fetching_;
    const uint32_t count = std::min({end - queue.taken, config_.fetch_entries, room});
    const uint32_t slot = queue.taken;
    queue.taken = (queue.taken + count) % queue.entries;
    fetching_ += count;
    counters.fetches++;
    host_.read(queue.base + slot * 64, count * 64, true, [this, admin, slot, count, life = life_](const uint8_t *data) {
      if (life == life_) fetched(admin, slot, data, count);
    });
  }
}

void IdealDrive::fetched(bool admin, uint32_t slot, const uint8_t *data, uint32_t entries) {
  Queue &queue = sq_[!admin];
  const uint64_t life = life_;
  fetching_ -= entries;
  // A fault can end the controller's life at any of the entries.
  for (uint32_t index = 0; index < entries && life == life_; index++) {
    if (queue.head != slot + index) board_.fail("entries arrive in the wrong order");
    queue.head = (queue.head + 1) % queue.entries;
    const auto command = std::make_shared<Command>();
    std::memcpy(command->dwords.data(), data + index * 64, 64);
    command->admin = admin;
    command->life = life_;
    command->slot = slot + index;
    command->cq_base = cq_[!admin].base;
    in_flight_++;
    counters.in_flight_max = std::max(counters.in_flight_max, in_flight_);
    if (admin)
      at(config_.admin_ns, [this, command] {
        if (current(*command)) begin_admin(command);
      });
    else
      begin(command);
  }
}

void IdealDrive::complete(const CommandPointer &command, uint16_t status, uint32_t result) {
  if (!current(*command)) {
    post_stale(*command);
    return;
  }
  in_flight_--;
  const bool ends = (status == 0 || (status & kDoNotRetry)) && !command->wrong_id && !command->wrong_phase;
  if (command == oldest_ && ends && !oldest_ended_) {
    oldest_ended_ = true;
    oldest_ended_ps_ = now_ps_;
  }
  const uint16_t id = static_cast<uint16_t>(command->dwords[0] >> 16);
  Completion completion{command->admin, result, id, status, command->wrong_phase};
  if (command->wrong_id) completion.id ^= 0x80; // of no command: the other lane
  completions_.push_back(completion);
  if (command->twice) completions_.push_back(completion);
  post();
  fetch(command->admin);
}

void IdealDrive::post() {
  while (!completions_.empty()) {
    const Completion completion = completions_.front();
    Queue &queue = cq_[!completion.admin];
    if ((queue.tail + 1) % queue.entries == queue.head) return; // full: the host has not rung for the oldest one yet
    completions_.pop_front();
    post_one(completion);
  }
}

void IdealDrive::post_one(const Completion &completion) {
  Queue &queue = cq_[!completion.admin];
  const uint32_t queue_id = !completion.admin;
  const bool phase = completion.wrong_phase ? !queue.phase : queue.phase;
  const uint32_t entry[4] = {completion.result, 0, sq_[queue_id].head | queue_id << 16,
                             completion.id | static_cast<uint32_t>(phase) << 16 |
                                 static_cast<uint32_t>(completion.status) << 17};
  uint8_t bytes[16];
  std::memcpy(bytes, entry, sizeof bytes);
  host_.write(queue.base + queue.tail * 16, bytes, sizeof bytes, nullptr);
  known_head_[queue_id] = sq_[queue_id].head;
  queue.tail = (queue.tail + 1) % queue.entries;
  if (queue.tail == 0) queue.phase = !queue.phase;
}

// A command from before the reset still completes, at the place in the old queue.
void IdealDrive::post_stale(const Command &command) {
  if (!faults.stale || !link_up_ || command.cq_base == 0) return;
  counters.stale_completions++;
  const uint32_t entry[4] = {0, 0, 0, (command.dwords[0] >> 16) | static_cast<uint32_t>(random_.below(2)) << 16};
  uint8_t bytes[16];
  std::memcpy(bytes, entry, sizeof bytes);
  host_.write(command.cq_base + random_.below(4) * 16, bytes, sizeof bytes, nullptr);
}

} // namespace testbench
