/* SPDX-License-Identifier: Apache-2.0 */
/* What vfio.c and pci.c share. */
#ifndef SPATE_HOSTED_DEVICE_INTERNAL_H
#define SPATE_HOSTED_DEVICE_INTERNAL_H

#include "device.h"

/* The name as the kernel writes it. Ends the program when it is not a PCI function's. */
void device_named(struct device *device, const char *address);
/* Map BAR 0, of registers_fd. */
void device_map(struct device *device);
/* Memory space and bus mastering on: a drive without the latter does not start (CSTS.CFS). */
void device_on(struct device *device);
/* A program that ends by fail() gives it back as well. */
void device_give_back_at_exit(struct device *device);

#endif
