/* SPDX-License-Identifier: Apache-2.0 */
/* What a board maps, apart from its image: each address at itself. mmu.c of the processor makes the page tables from
 * it. */
#ifndef SPATE_PORTS_MAP_H
#define SPATE_PORTS_MAP_H

#include <stdint.h>

enum map_memory {
  MAP_REGISTERS,  /* Device-nGnRnE; Strongly-ordered on ARMv7 */
  MAP_CACHED,     /* Normal, write-back */
  MAP_NOT_CACHED, /* Normal Non-cacheable */
};

/* Start and size are multiples of 4 KiB; multiples of 2 MiB need fewer tables. */
struct map_range {
  uint64_t address, bytes;
  enum map_memory memory;
};

/* The board's, in board.c. A range with bytes 0 ends the list. Ranges do not overlap. */
extern const struct map_range map_ranges[];

#endif
