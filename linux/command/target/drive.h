/* SPDX-License-Identifier: Apache-2.0 */
/* An NVMe drive under the library's own driver, once its registers are mapped: shared by vfio:, pci: and sim:. */
#ifndef SPATE_COMMAND_DRIVE_H
#define SPATE_COMMAND_DRIVE_H

#include "target.h"

struct drive {
  struct spate_arena memory; /* of the two below */
  struct spate_nvme controller;
  struct spate_nvme_queue queue;
  struct spate_nvme_slot slots[SPATE_NVME_SLOTS(SPATE_NVME_QUEUE_DEPTH_MAX)];
  bool started; /* the controller is started: the access was not TARGET_FUNCTION */
};

/* `config` needs no queue_memory, which is allocated here (target->memory). Ends the program if the drive cannot be
 * used. Fills in all of the target but `close` and `backend`. */
void nvme_drive_open(struct drive *drive, struct target *target, enum target_access access,
                     struct spate_nvme_config config);
/* Shuts the controller down, if it was started. Reports a failure on standard error. */
void nvme_drive_close(struct drive *drive, const char *name);

#endif
