/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A drive's PCI function in the hands of this program: its registers mapped, bus mastering on, memory that it reaches
 * to be had from memory.h. The kernel has set bus numbers, BARs and payload sizes, and keeps them: nothing here
 * enumerates.
 *
 *   vfio.c   with an IOMMU: the drive reaches what is mapped for it, and nothing else
 *   pci.c    without one, on machines whose root port has none
 */
#ifndef SPATE_HOSTED_DEVICE_H
#define SPATE_HOSTED_DEVICE_H

#include "guardian.h"
#include "sysfs.h"

#include <spate/error.h>
#include <spate/pcie.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Is the function behind an IOMMU that translates? */
bool device_is_translated(const char *address);

struct device {
  char address[SYSFS_ADDRESS_BYTES]; /* 0000:01:00.0 */
  uintptr_t registers;
  size_t registers_bytes;
  int removal_fd; /* readable when the kernel asks for the drive back; −1: it cannot ask */
  /* private */
  int registers_fd, config_fd, group_fd;
  uint64_t registers_offset_bytes, config_offset_bytes; /* in these files */
  bool give_back;
  bool enabled;             /* pci: in sysfs, by us */
  struct guardian guardian; /* pci: */
};

/* Each ends the program, with a sentence, if the drive cannot be had. `bind`: take it from the kernel's driver, and
 * give it back at the end, however the program ends but for SIGKILL. */
void device_open_vfio(struct device *device, const char *address, bool bind);
void device_open_pci(struct device *device, const char *address, bool bind);
/* The drive does nothing any more, and no memory is mapped for it. False: it did not go back to the kernel's driver. */
bool device_close(struct device *device);

/* A host with this one function, as the kernel has set it up. It is good as long as the device is open, and for
 * spate_pcie_find() and spate_pcie_link_check(): nothing is ever written to configuration space. */
void device_list(struct device *device, struct spate_pcie_host *host);

/* For spate_nvme_bus, whose context is the device. restore: the registers read all ones. */
enum spate_error device_reattach(void *opaque);
/* isolate: the controller does not stop. Errors: NO_DEVICE (bus mastering is still on). */
enum spate_error device_isolate(void *opaque);

#endif
