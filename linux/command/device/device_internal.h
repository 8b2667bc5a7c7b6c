/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by vfio.c and pci.c. */
#ifndef SPATE_COMMAND_DEVICE_INTERNAL_H
#define SPATE_COMMAND_DEVICE_INTERNAL_H

#include "device.h"

/* Sets the address in the kernel's notation. Ends the program if it is not the address of a PCI function. */
void device_named(struct device *device, const char *address);
/* Maps BAR 0 through registers_fd. */
void device_map(struct device *device);
/* Turns memory space and bus mastering on. Without bus mastering a drive does not start (CSTS.CFS). */
void device_on(struct device *device);
/* Registers an exit handler that closes the device, so that a program that ends by fail() gives it back as well. */
void device_give_back_at_exit(struct device *device);

#endif
