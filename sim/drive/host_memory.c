/* SPDX-License-Identifier: Apache-2.0 */
/* When the drive may access the host's memory, and what it must find there. */
#include "drive_internal.h"

bool drive_may_master(struct sim_drive *drive) {
  return !drive->link_down && sim_bus_of(drive->sim)->may_master(drive->sim, drive->index);
}

void drive_check_shown(struct sim_drive *drive, const char *what, uint64_t address, uint64_t bytes, uint64_t sequence) {
  if (!sim_memory_was_shown(drive->sim, address, bytes, sequence))
    sim_violate(drive->sim, "%s at %llx became visible only after the register write that announces it had left", what,
                (unsigned long long)address);
}
