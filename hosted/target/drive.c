/* SPDX-License-Identifier: Apache-2.0 */
#include "drive.h"

#include "../device/device.h"
#include "../device/interrupt.h"
#include "../memory.h"
#include "../text/fail.h"
#include "target_internal.h"

#include <linux_port.h>
#include <stdio.h>
#include <stdlib.h>

#define DEPTH 64u

/* ---- the controller ---- */

void nvme_drive_open(struct drive *drive, struct target *target, enum target_access access,
                     struct spate_nvme_config config) {
  const size_t bytes = SPATE_NVME_CONTROLLER_MEMORY_BYTES + SPATE_NVME_QUEUE_MEMORY_BYTES(DEPTH);

  target->kind = TARGET_DRIVE;
  target->reattach = config.reattach;
  target->reattach_context = config.reattach_context;
  if (access == TARGET_FUNCTION) return;
  drive->memory = (struct spate_arena){.start = memory_take(bytes), .bytes = bytes};
  config.queue_memory = &drive->memory;
  expect(spate_nvme_open(&drive->controller, &config), target->name);
  drive->started = true;
  target->nvme = &drive->controller;
  if (access == TARGET_CONTROLLER) return;
  expect(spate_nvme_queue_open(&drive->controller, &drive->queue, 0, DEPTH), target->name);
  target->block = &drive->queue.block;
}

void nvme_drive_close(struct drive *drive, const char *name) {
  const enum spate_error error = drive->started ? spate_nvme_shutdown(&drive->controller) : SPATE_OK;

  if (error != SPATE_OK && error != SPATE_E_GONE)
    (void)fprintf(stderr, "spate: %s: shutting the drive down: %s. %s\n", name, spate_error_name(error),
                  spate_error_help(error));
}

/* ---- vfio: and pci: ---- */

struct own_drive {
  struct device device;
  struct drive drive;
};

static void close_own(struct target *target) {
  struct own_drive *own = target->backend;

  nvme_drive_close(&own->drive, target->name);
  linux_port_wait(NULL, NULL);
  const bool back = device_close(&own->device);
  free(own);
  if (!back) fail(EXIT_FAILED, "%s stays without a driver of the kernel's", target->name);
}

static void list_own(const struct target *target, struct spate_pcie_host *host) {
  struct own_drive *own = target->backend;

  device_list(&own->device, host);
}

static void open_own(struct target *target, const char *address, enum target_access access,
                     void (*open)(struct device *device, const char *address, bool bind)) {
  struct own_drive *own = calloc(1, sizeof *own);

  if (own == NULL) fail(EXIT_FAILED, "no memory");
  open(&own->device, address, target_bind);
  linux_port_wait(interrupt_nap, NULL);
  target->removal_fd = own->device.removal_fd;
  target->backend = own;
  target->close = close_own;
  target->list = list_own;
  nvme_drive_open(&own->drive, target, access,
                  (struct spate_nvme_config){.registers = own->device.registers,
                                             .registers_bytes = own->device.registers_bytes,
                                             .reattach = device_reattach,
                                             .reattach_context = &own->device});
}

void target_open_vfio(struct target *target, const char *address, enum target_access access) {
  open_own(target, address, access, device_open_vfio);
}

void target_open_pci(struct target *target, const char *address, enum target_access access) {
  open_own(target, address, access, device_open_pci);
}
