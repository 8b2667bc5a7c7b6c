/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PCI function of a drive that this program drives itself: its registers are mapped, bus mastering is on, and
 * `memory` allocates memory that it reaches. The kernel has set bus numbers, BARs and payload sizes; nothing here
 * changes them.
 *
 *   vfio.c   with an IOMMU: the drive reaches only memory that is mapped for it
 *   pci.c    without an IOMMU
 */
#ifndef SPATE_COMMAND_DEVICE_H
#define SPATE_COMMAND_DEVICE_H

#include "../memory.h"
#include "guardian.h"
#include "sysfs.h"

#include <spate/error.h>
#include <spate/pcie.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if the function is behind an IOMMU that translates addresses. */
bool device_is_translated(const char *address);

struct device {
  char address[SYSFS_ADDRESS_BYTES]; /* 0000:01:00.0 */
  uintptr_t registers;
  size_t registers_bytes;
  const struct memory_kind *memory; /* of what the drive reaches */
  int removal_fd;                   /* readable when the kernel asks for the drive back; −1: it cannot ask */
  /* private */
  int registers_fd, config_fd, group_fd;
  uint64_t registers_offset_bytes, config_offset_bytes; /* in these files */
  bool give_back;
  bool enabled;             /* with pci.c: this program has enabled the function in sysfs */
  struct guardian guardian; /* with pci.c */
};

/* Both end the program with a message if the drive cannot be opened. `bind`: take it from the kernel's driver, and give
 * it back when the program ends in any way but SIGKILL. */
void device_open_vfio(struct device *device, const char *address, bool bind);
void device_open_pci(struct device *device, const char *address, bool bind);
/* Stops the drive's DMA and unmaps its memory. False: the drive did not go back to the kernel's driver. */
bool device_close(struct device *device);

/* Fills in a host with this one function, as the kernel has configured it. It is valid as long as the device is open,
 * and only for spate_pcie_find() and spate_pcie_link_check(): it ignores writes to configuration space. */
void device_list(struct device *device, struct spate_pcie_host *host);

/* spate_nvme_bus.restore, with the device as context: called when the registers read all ones. */
enum spate_error device_reattach(void *opaque);
/* spate_nvme_bus.isolate: called when the controller does not stop. NO_DEVICE: bus mastering may still be on. */
enum spate_error device_isolate(void *opaque);

#endif
