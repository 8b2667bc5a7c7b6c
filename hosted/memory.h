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
  void *(*map)(int fd, uint64_t offset_bytes, size_t bytes, const char **why); /* as memory_map() */
};

/* NULL, as at the start: any memory will do. */
void memory_from(const struct memory_supply *from);

/* Memory at a multiple of 4096, zeroed. Ends the program if there is none. */
void *memory_take(size_t bytes);
/* For data, in large amounts; devices may see its pages anywhere. */
void *memory_take_ring(size_t bytes);
/* Memory of somebody else's, of a file or a device, as a ring that is only read: at a multiple of 4096, or NULL where
 * the target's device does not reach it, and *why is the reason. */
void *memory_map(int fd, uint64_t offset_bytes, size_t bytes, const char **why);
void memory_unmap(void *memory, size_t bytes);
/* Nothing, when it is the target's. */
void memory_give(void *memory);

/* Whoever wants to know of rings: told of each after it was taken, and before it is given back (of other memory that is
 * given back, too). So a target of the kernel's can have their pages held. */
struct memory_watcher {
  void (*taken)(void *context, void *ring, size_t bytes);
  void (*given)(void *context, const void *ring);
  void *context;
  struct memory_watcher *next; /* memory.c's */
};
void memory_watch(struct memory_watcher *watcher);
void memory_watch_no_more(struct memory_watcher *watcher);

/* A region over a ring. Its table is `table`, of SPATE_REGION_TABLE_BYTES(bytes), from memory_take(). */
void memory_region(struct spate_region *region, void *ring, uint64_t bytes, void *table);

#endif
