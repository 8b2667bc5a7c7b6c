/* SPDX-License-Identifier: Apache-2.0 */
/* What a board without an operating system supplies to ports/common, which implements the rest of board.h with it. */
#ifndef SPATE_PORTS_BARE_H
#define SPATE_PORTS_BARE_H

#include "board.h"

struct board_range {
  void *start;
  size_t bytes;
};

/* The board's memory map. */
struct board_layout {
  struct board_range queue;  /* uncached, or coherent: board_queue_memory() */
  struct board_range memory; /* ordinary, cached: board_memory() */
  struct board_range ring;   /* the DMA ring, page aligned, contiguous for devices: board_ring_open() */
};
extern const struct board_layout board_layout;

/* The words that the host started the board with, separated by blanks or NULs, for board_argument(). The start-up code
 * writes them here. They may fill all but the last byte. A board without words leaves it unchanged. */
#define BOARD_WORDS_BYTES 1024u
extern char board_words[BOARD_WORDS_BYTES];

/* Opens the console, before anything else runs and with the MMU still off. A board whose console a loader or an
 * emulator has opened need not define it. May be called again. */
void board_console_open(void);

/* Releases PERST#, and opens the board's PCIe host bridge. `perst_released_ticks`, for spate_pcie_enumerate(): when
 * PERST# was released, or 0 if that was long before the board started. Errors: those of spate_pcie_*_open(). */
SPATE_MUST_CHECK enum spate_error board_pcie_open(struct spate_pcie_host *host, uint64_t *perst_released_ticks);

/* A reset of the slot by PERST#, as spate_nvme_pcie.perst. A board that does not define it has none: UNSUPPORTED. */
enum spate_error board_perst(void *context);

#endif
