/* SPDX-License-Identifier: Apache-2.0 */
#include "drive.h"

#include "../device/device.h"
#include "../device/interrupt.h"
#include "../device/sysfs.h"
#include "../text/fail.h"
#include "place.h"
#include "shared.h"
#include "target_internal.h"

#include <linux_port.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH          64u
#define NAMESPACES_MAX 64u /* the most that are listed */

/* ---- the controller ---- */

__attribute__((noreturn)) static void refuse_namespace(struct drive *drive, const struct target *target) {
  uint32_t nsids[NAMESPACES_MAX];
  char list[NAMESPACES_MAX * 11u + 1u] = "";
  unsigned count = 0;
  size_t used = 0;

  expect(spate_nvme_namespaces(&drive->controller, nsids, NAMESPACES_MAX, &count), target->name);
  for (unsigned i = 0; i < count && i < NAMESPACES_MAX; i++)
    used += (size_t)snprintf(list + used, sizeof list - used, " %u", nsids[i]);
  fail(EXIT_FAILED, "%s: the drive has no active namespace %u. It has these:%s", target->name, target->nsid, list);
}

void nvme_drive_open(struct drive *drive, struct target *target, enum target_access access,
                     struct spate_nvme_config config) {
  const unsigned depth = target_depth == 0 ? DEPTH : target_depth;
  const size_t bytes = SPATE_NVME_CONTROLLER_MEMORY_BYTES + SPATE_NVME_QUEUE_MEMORY_BYTES(depth, 1u);

  target->kind = TARGET_DRIVE;
  target->bus = config.bus;
  if (access == TARGET_FUNCTION) return;
  drive->memory = (struct spate_arena){.start = memory_take(target->memory, bytes), .bytes = bytes};
  config.queue_memory = &drive->memory;
  expect(spate_nvme_open(&drive->controller, &config), target->name);
  drive->started = true;
  target->nvme = &drive->controller;
  if (access == TARGET_CONTROLLER) return;
  const struct spate_nvme_queue_config queue_config = {.nsid = target->nsid,
                                                       .depth = depth,
                                                       .slots = drive->slots,
                                                       .slot_count = sizeof drive->slots / sizeof drive->slots[0]};
  const enum spate_error error = spate_nvme_queue_open(&drive->controller, &drive->queue, &queue_config);
  if (error == SPATE_E_NO_NAMESPACE && target->nsid != 0) refuse_namespace(drive, target);
  expect(error, target->name);
  target->block = &drive->queue.block;
  place_narrow(target);
}

void nvme_drive_close(struct drive *drive, const char *name) {
  const enum spate_error error = drive->started ? spate_nvme_shutdown(&drive->controller) : SPATE_OK;

  drive->started = false;
  if (error != SPATE_OK && error != SPATE_E_GONE)
    (void)fprintf(stderr, "spate: %s: shutting down the drive failed: %s. %s\n", name, spate_error_name(error),
                  spate_error_help(error));
}

/* ---- vfio: and pci: ---- */

struct own_drive {
  struct device device;
  struct drive drive;
  struct shared_claims claims;
};

/* Claims what will be written, in case the kernel also reaches the namespace. TARGET_CONTROLLER claims every namespace,
 * because Format NVM may erase them all. */
static void claim(struct own_drive *own, const struct target *target, enum target_access access) {
  const bool part = target->partition.number != 0;
  const struct shared_place place = {.address = own->device.address,
                                     .identity = spate_nvme_identity(&own->drive.controller),
                                     .nsid = access == TARGET_CONTROLLER ? 0 : own->drive.queue.nsid,
                                     .first_byte = target->partition.offset_bytes,
                                     .bytes = part ? target->block->blocks << target->block->block_shift : 0};
  char why[SHARED_WHY_BYTES];

  if (access != TARGET_READ && !shared_claim(&own->claims, &place, why, sizeof why))
    fail(EXIT_REFUSED, "%s %s: nothing was written. First unmount it, or end its use", target->name, why);
}

static void close_own(struct target *target) {
  struct own_drive *own = target->backend;

  nvme_drive_close(&own->drive, target->name);
  shared_release(&own->claims);
  linux_port_wait(NULL, NULL);
  const bool back = device_close(&own->device);
  free(own);
  if (!back) fail(EXIT_FAILED, "%s did not go back to a driver of the kernel", target->name);
}

static void list_own(const struct target *target, struct spate_pcie_host *host) {
  struct own_drive *own = target->backend;

  device_list(&own->device, host);
}

/* For TARGET_FUNCTION: the caller starts the controller later, and may write to any namespace. Starts the controller
 * once for the claim, because only a started controller identifies itself. */
static void claim_all(struct own_drive *own, struct target *target, const struct spate_nvme_config *config) {
  nvme_drive_open(&own->drive, target, TARGET_CONTROLLER, *config);
  claim(own, target, TARGET_CONTROLLER);
  nvme_drive_close(&own->drive, target->name);
  target->nvme = NULL;
}

/* 0: not known. */
static uint16_t number_of(const char *address, const char *name) {
  uint64_t number;

  return sysfs_number(address, name, &number) ? (uint16_t)number : 0;
}

static void open_own(struct target *target, const char *words, enum target_access access,
                     void (*open)(struct device *device, const char *address, bool bind)) {
  struct own_drive *own = calloc(1, sizeof *own);
  char address[64];

  if (own == NULL) fail(EXIT_FAILED, "no memory");
  const size_t length = place_parse(target, words, strlen(words));
  place_check(target, access);
  (void)snprintf(address, sizeof address, "%.*s", (int)(length < sizeof address ? length : sizeof address - 1u), words);
  open(&own->device, address, target_bind);
  target->memory->kind = own->device.memory;
  linux_port_wait(interrupt_nap, NULL);
  target->removal_fd = own->device.removal_fd;
  target->backend = own;
  target->close = close_own;
  target->list = list_own;
  const struct spate_nvme_config config = {.registers = own->device.registers,
                                           .registers_bytes = own->device.registers_bytes,
                                           .bus = {.restore = device_reattach,
                                                   .isolate = device_isolate,
                                                   .context = &own->device,
                                                   .vendor_id = number_of(own->device.address, "vendor"),
                                                   .device_id = number_of(own->device.address, "device")}};
  if (access == TARGET_FUNCTION) claim_all(own, target, &config);
  nvme_drive_open(&own->drive, target, access, config);
  if (access != TARGET_FUNCTION) claim(own, target, access);
}

void target_open_vfio(struct target *target, const char *words, enum target_access access) {
  open_own(target, words, access, device_open_vfio);
}

void target_open_pci(struct target *target, const char *words, enum target_access access) {
  open_own(target, words, access, device_open_pci);
}
