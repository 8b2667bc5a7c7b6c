/* SPDX-License-Identifier: Apache-2.0 */
/* Page tables with 512 entries of 64 bits, for pages of 4 KiB: AArch64's, and RISC-V's Sv39. */
#ifndef SPATE_PORTS_TABLES_H
#define SPATE_PORTS_TABLES_H

#include "map.h"

/* What an entry looks like: the processor's, in mmu.c of its folder. */
struct tables_format {
  unsigned levels;        /* from the root to the pages */
  unsigned block_level;   /* the first level, counted from the root, whose entries may map memory */
  unsigned address_shift; /* an entry holds its address shifted right by so many bits */
  uint64_t link;          /* the bits of an entry that leads to the next table */
  uint64_t block, page;   /* the bits of an entry that maps memory: above the last level, and there */
  uint64_t attributes[MAP_KINDS];
};

/* Maps the image by page, and map_ranges by the largest blocks that fit, in the memory that the link script reserves
 * and the start-up code has cleared. Returns the root. What is not listed is not mapped: address 0, the guard below the
 * stack, all other RAM. */
uint64_t *tables_build(const struct tables_format *format);

#endif
