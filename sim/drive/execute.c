/* SPDX-License-Identifier: Apache-2.0 */
/* Carries a command out, unless its queue was deleted or a fault happens instead. */
#include "drive_internal.h"

void drive_execute(struct sim_drive *drive, struct drive_command *command) {
  if (command->queue == DRIVE_DROPPED) {
    drive_free(drive, command);
    return;
  }
  if (drive_fault_before(drive, command)) return;
  const uint16_t status = command->queue == 0 ? drive_admin(drive, command) : drive_io(drive, command);
  if (status != STATUS_PENDING) drive_complete(drive, command, status);
}
