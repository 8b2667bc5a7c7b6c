/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where memory lies that a driver of the kernel's keeps in one piece, so that a drive without an IOMMU can read it: the
 * kernel tells for
 *
 *   /dev/udmabuf0                               memory of u-dma-buf, which logic fills (phys_addr in sysfs)
 *   /sys/bus/pci/devices/ADDRESS/resource2_wc   memory on another PCI function
 */
#ifndef SPATE_HOSTED_BUS_MEMORY_H
#define SPATE_HOSTED_BUS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The address of `bytes` at `offset_bytes` of the open file. False: nobody tells, or there are not so many; `why` says
 * which. */
bool bus_memory_find(int fd, uint64_t offset_bytes, size_t bytes, uint64_t *address, const char **why);

#endif
