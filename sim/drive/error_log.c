/* SPDX-License-Identifier: Apache-2.0 */
/* The error log (5.14.1.1): an entry for each command that fails. */
#include "drive_internal.h"
#include <string.h>

/* Figure 195. */
void drive_error_taken(struct sim_drive *drive, const struct drive_command *command) {
  uint8_t *entry = drive->errors[0];

  drive->error_entries++;
  if ((command->status >> 8 & 7u) == 2u && command->status != STATUS_COMPARE) drive->media_errors++; /* 5.14.1.2 */
  memmove(drive->errors[1], drive->errors[0], sizeof drive->errors - sizeof drive->errors[0]);
  memset(entry, 0, sizeof drive->errors[0]);
  spate_put64(entry, drive->error_entries);
  spate_put16(entry + 8, command->queue);
  spate_put16(entry + 10, command->id);
  spate_put16(entry + 12, (uint16_t)(command->status << 1));
  spate_put16(entry + 14, 0xffff); /* the error names no location in the command */
  if (command->queue == 0) return;
  spate_put64(entry + 16, drive_qword(command, 10));
  spate_put32(entry + 24, command->dwords[1]);
}
