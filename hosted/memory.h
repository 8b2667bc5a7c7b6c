/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that the target's device reaches. A kernel's block device reaches all memory; a drive under the library's own
 * driver reaches what was mapped for it. So the target, once open, says where memory comes from, and whoever needs some
 * opens the target first.
 */
#ifndef SPATE_HOSTED_MEMORY_H
#define SPATE_HOSTED_MEMORY_H

#include <spate/dma.h>
#include <stddef.h>

/* Both give memory at a multiple of 4096, or NULL. What was given is the target's, and goes when it closes. */
struct memory_supply {
  void *(*take)(size_t bytes); /* zeroed; at spate_port_dma_address() for the device, in one piece */
  void *(*take_ring)(size_t bytes);
  uint64_t (*page_address)(void *ring,
                           uint64_t page); /* of a ring, for the device. NULL: rings are in one piece, too */
};

/* NULL, as at the start: any memory will do. */
void memory_from(const struct memory_supply *from);

/* Memory at a multiple of 4096, zeroed. Ends the program if there is none. */
void *memory_take(size_t bytes);
/* For data, in large amounts; devices may see its pages anywhere. */
void *memory_take_ring(size_t bytes);
/* Nothing, when it is the target's. */
void memory_give(void *memory);

/* A region over a ring. Its table is `table`, of SPATE_REGION_TABLE_BYTES(bytes), from memory_take(). */
void memory_region(struct spate_region *region, void *ring, uint64_t bytes, void *table);

#endif
