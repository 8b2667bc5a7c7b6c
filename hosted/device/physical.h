/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory without an IOMMU: huge pages, whose physical addresses the kernel tells. Each is contiguous in itself and lies
 * anywhere. What the library reaches by one offset (queues, tables, metadata) is inside one of them; rings have an
 * address for each page. A ring may also be memory that a driver has in one piece (bus_memory.h).
 */
#ifndef SPATE_HOSTED_PHYSICAL_H
#define SPATE_HOSTED_PHYSICAL_H

/* Begin: memory comes from it from now on. Ends the program, with a sentence, when there are no huge pages, or the
 * kernel does not tell. Begun already: one more drive. The file that all of the memory is of: as long as it is open
 * anywhere, the memory goes to nobody else. */
int physical_join(void);
/* The function is disabled in the kernel's eyes; with the last drive the memory goes. */
void physical_leave(const char *address);

#endif
