/* SPDX-License-Identifier: Apache-2.0 */
/* What an injected fault does to the completion of its command. */
#include "drive_internal.h"

/* A surplus completion, in addition to the right one. */
static void post_extra(struct sim_drive *drive, const struct drive_command *command, uint16_t queue, uint32_t id) {
  const uint32_t entry[4] = {command->result, 0, (uint32_t)queue << 16,
                             (uint32_t)command->status << 17 | (id & 0xffffu)};

  drive_post_entry(drive, command->queue, entry, false);
}

static uint16_t other_queue(const struct drive_command *command) { return command->queue == 1 ? 2 : 1; }

/* The second completion of a command whose slot may belong to another command by now. `number` has the epoch, the queue
 * and the identifier. */
static void post_again(void *context, uint64_t number) {
  struct sim_drive *drive = context;
  const struct drive_command command = {.queue = (uint16_t)(number >> 16), .id = (uint16_t)number};

  if (drive->epoch == number >> 32) post_extra(drive, &command, command.queue, command.id);
}

static void post_twice(struct sim_drive *drive, const struct drive_command *command) {
  const uint64_t number = (uint64_t)drive->epoch << 32 | (uint32_t)command->queue << 16 | command->id;

  if (command->fault_value == 0)
    post_extra(drive, command, command->queue, command->id);
  else
    sim_at(drive->sim, sim_now_ps(drive->sim) + command->fault_value * SIM_PS_PER_MS, post_again, drive, number);
}

bool drive_fault_after(struct sim_drive *drive, struct drive_command *command) {
  switch (command->fault_action) {
  case SIM_MISDIRECT: post_extra(drive, command, other_queue(command), command->id); __attribute__((fallthrough));
  case SIM_LOSE:
    drive_change_lost(drive, command);
    drive_free(drive, command);
    return false;
  case SIM_HOLD: command->holding = command->held > 0; return !command->holding;
  case SIM_DOUBLE: post_twice(drive, command); return true;
  case SIM_WRONG_ID: post_extra(drive, command, command->queue, command->id ^ command->fault_value); return true;
  case SIM_WRONG_QUEUE: post_extra(drive, command, other_queue(command), command->id); return true;
  default: return true;
  }
}
