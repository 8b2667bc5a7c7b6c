/* SPDX-License-Identifier: Apache-2.0 */
/* What a board maps, apart from its image: each address at itself. tables.c makes the page tables from it. */
#ifndef SPATE_PORTS_MAP_H
#define SPATE_PORTS_MAP_H

#include <stdint.h>

enum map_memory {
  MAP_REGISTERS,  /* AArch64: Device-nGnRnE */
  MAP_CACHED,     /* Normal, write-back */
  MAP_NOT_CACHED, /* Normal Non-cacheable */
  /* The image's, by its link script: */
  MAP_TEXT,
  MAP_CONSTANTS,
  MAP_KINDS
};

/* Start and size are multiples of 4 KiB; multiples of 2 MiB need fewer tables. */
struct map_range {
  uint64_t address, bytes;
  enum map_memory memory;
};

/* The board's, in board.c. A range with bytes 0 ends the list. Ranges do not overlap. On RISC-V the address alone
 * decides what is cached (the processor's physical memory attributes), so that MAP_CACHED and MAP_NOT_CACHED are the
 * same there: give addresses that are what they are called. */
extern const struct map_range map_ranges[];

#endif
