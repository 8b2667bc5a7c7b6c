/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for DMA without an IOMMU: huge pages, whose physical addresses the kernel reports. Each page is contiguous,
 * and may lie anywhere. Queues, tables and metadata, which the library reaches by one offset, are inside one of them; a
 * ring has an address for each page. A ring may also be contiguous memory of a kernel driver (bus_memory.h).
 */
#ifndef SPATE_COMMAND_PHYSICAL_H
#define SPATE_COMMAND_PHYSICAL_H

#include "../memory.h"

/* Allocates for the drives that have joined. */
extern const struct memory_kind physical_memory;

/* Adds a drive. Ends the program with a message if there are no huge pages, or the kernel does not report addresses.
 * Returns the file that holds all of the memory: as long as any process has it open, the memory is not freed. */
int physical_join(void);
/* Disables the function in sysfs. With the last drive the memory is freed. */
void physical_leave(const char *address);

#endif
