/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocates memory that the target's device can reach. A block device of the kernel reaches all memory; a drive under
 * the library's own driver reaches only memory that was mapped for it. So an open target has the supply, and whoever
 * allocates gets it as an argument.
 */
#ifndef SPATE_COMMAND_MEMORY_H
#define SPATE_COMMAND_MEMORY_H

#include <spate/dma.h>
#include <stddef.h>

/* An allocator of a device. Memory begins at a multiple of 4096; NULL: there is none. The device frees it when it is
 * closed. */
struct memory_kind {
  void *(*take)(size_t bytes); /* zeroed; contiguous for the device, at spate_port_dma_address() */
  void *(*take_ring)(size_t bytes);
  uint64_t (*page_address)(void *ring,
                           uint64_t page); /* the device's address of a ring's page. NULL: rings are contiguous */
  void *(*map)(int fd, uint64_t offset_bytes, size_t bytes, const char **why); /* as memory_map() */
};

struct memory_supply {
  const struct memory_kind *kind;  /* NULL: the device reaches all memory */
  struct memory_watcher *watchers; /* memory_watch() */
};

/* Allocates zeroed memory at a multiple of 4096. Ends the program if there is none. */
void *memory_take(const struct memory_supply *supply, size_t bytes);
/* Allocates large memory for data. Its pages need not be contiguous for the device. */
void *memory_take_ring(const struct memory_supply *supply, size_t bytes);
/* Maps memory of a file or a device as a ring that is only read, at a multiple of 4096. NULL: the target's device does
 * not reach it, and *why is the reason. */
void *memory_map(const struct memory_supply *supply, int fd, uint64_t offset_bytes, size_t bytes, const char **why);
void memory_unmap(const struct memory_supply *supply, void *memory, size_t bytes);
/* Frees memory, unless it is NULL. Does nothing if the device frees it when it is closed. */
void memory_give(const struct memory_supply *supply, void *memory);

/* Is called after each ring was allocated, and before any memory is freed. So a target can register the rings with the
 * kernel. */
struct memory_watcher {
  void (*taken)(void *context, void *ring, size_t bytes);
  void (*given)(void *context, const void *ring);
  void *context;
  struct memory_watcher *next; /* memory.c's */
};
void memory_watch(struct memory_supply *supply, struct memory_watcher *watcher);
void memory_watch_no_more(struct memory_supply *supply, struct memory_watcher *watcher);

/* Makes a region of a ring. `table` has SPATE_REGION_TABLE_BYTES(bytes), from memory_take(). */
void memory_region(const struct memory_supply *supply, struct spate_region *region, void *ring, uint64_t bytes,
                   void *table);

#endif
