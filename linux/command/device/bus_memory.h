/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the bus address of contiguous memory that belongs to a kernel driver, so that a drive without an IOMMU can read
 * it. The kernel reports the address for
 *
 *   /dev/udmabuf0                               memory of u-dma-buf, which logic fills (phys_addr in sysfs)
 *   /sys/bus/pci/devices/ADDRESS/resource2_wc   memory on another PCI function
 */
#ifndef SPATE_COMMAND_BUS_MEMORY_H
#define SPATE_COMMAND_BUS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Finds the address of `bytes` at `offset_bytes` of the open file. False: the address is not known, or the memory is
 * too small; `why` says which. */
bool bus_memory_find(int fd, uint64_t offset_bytes, size_t bytes, uint64_t *address, const char **why);

#endif
