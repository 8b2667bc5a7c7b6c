/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for DMA behind an IOMMU. The pool is one range of the program's addresses and a range of DMA addresses of the
 * same length. So one offset converts between them, as spate_port_dma_address() requires. Memory is added from the
 * bottom up, is mapped for all devices of the container, and is freed as a whole.
 */
#ifndef SPATE_COMMAND_POOL_H
#define SPATE_COMMAND_POOL_H

#include "../memory.h"

/* Allocates from the open pool. */
extern const struct memory_kind pool_memory;

/* Opens the pool, once the container has an IOMMU. Ends the program if the IOMMU leaves no range of addresses free.
 * Does nothing if the pool is open. */
void pool_open(int container);
/* Unmaps everything, and gives the memory back. */
void pool_close(void);

#endif
