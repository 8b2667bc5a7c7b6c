/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a command: when its completion reaches the host, and the faults that change it on the way. */
#include "drive_internal.h"

#define SHUFFLE_PS (100u * SIM_PS_PER_US) /* options.shuffle: the longest delay of a completion */

static void posted(void *context, uint64_t number) {
  struct sim_drive *drive = context;
  struct drive_command *command = drive_command_of(drive, number);

  if (command == NULL) return;
  if (command->fault && !drive_fault_after(drive, command)) return;
  drive_post(drive, command);
}

static void finished(void *context, uint64_t number) {
  struct sim_drive *drive = context;
  struct drive_command *command = drive_command_of(drive, number);

  if (command == NULL) return;
  sim_at(drive->sim, sim_link_drive_write(&drive->link, sim_now_ps(drive->sim), DRIVE_CQ_BYTES), posted, drive, number);
}

void drive_complete_at(struct sim_drive *drive, struct drive_command *command, uint64_t at_ps) {
  const uint64_t number = drive_number(drive, command);

  if (command->post_ps != 0) { /* the completion is already on the link, behind the data */
    sim_at(drive->sim, command->post_ps, posted, drive, number);
    return;
  }
  if (drive->options.shuffle && command->queue != 0) at_ps += sim_random(drive->sim) % SHUFFLE_PS;
  if (command->fault && command->fault_action == SIM_LATE) at_ps += command->fault_value * SIM_PS_PER_MS;
  if (at_ps <= sim_now_ps(drive->sim))
    finished(drive, number);
  else
    sim_at(drive->sim, at_ps, finished, drive, number);
}

void drive_complete(struct sim_drive *drive, struct drive_command *command, uint16_t status) {
  if (command->status == 0) command->status = status;
  drive_complete_at(drive, command, sim_now_ps(drive->sim));
}
