/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory behind an IOMMU: one stretch of addresses of the program, and as long a stretch of the devices', so that one
 * offset leads from each address to the other (spate_port_dma_address() knows no device and no buffer). Memory is added
 * from the bottom up, mapped for all devices of the container, and leaves as a whole.
 */
#ifndef SPATE_HOSTED_POOL_H
#define SPATE_HOSTED_POOL_H

#include <stddef.h>
#include <stdint.h>

/* Begin, where the container has an IOMMU. Memory comes from it from now on. Ends the program if the IOMMU leaves no
 * stretch of addresses free. Begun already: nothing. */
void pool_open(int container);
/* Unmaps everything, and gives the memory back. */
void pool_close(void);

#endif
