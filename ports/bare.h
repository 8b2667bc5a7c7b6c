/* SPDX-License-Identifier: Apache-2.0 */
/* What a board without an operating system supplies beside board.h, for ports/common/bring_up.c. */
#ifndef SPATE_PORTS_BARE_H
#define SPATE_PORTS_BARE_H

#include "board.h"

/* The DMA ring: page aligned, contiguous for devices. */
void *board_ring(uint64_t *bytes);

/*
 * Release PERST#, and open the board's PCIe host bridge. `perst_released_ticks`, for spate_pcie_enumerate(): when that
 * was, or 0 if long before the board started us. Errors as of spate_pcie_*_open().
 */
SPATE_MUST_CHECK enum spate_error board_pcie_open(struct spate_pcie_host *host, uint64_t *perst_released_ticks);

#endif
