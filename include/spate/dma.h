/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that devices reach: an arena to carve it at start-up, and regions with their page table built once.
 *
 * A region is a stretch of memory that a stream is written from or read into, usually the whole ring. Its table holds
 * the device address of each 4 KiB page, which is exactly a list of PRP entries (NVMe base specification 1.4, 4.3):
 * command number N of a stream then needs a pointer into the table, not a list of its own, and submitting 1 MiB costs
 * what 4 KiB costs. One table serves every drive.
 */
#ifndef SPATE_DMA_H
#define SPATE_DMA_H

#include <spate/error.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPATE_PAGE_SHIFT 12u
#define SPATE_PAGE_BYTES 4096u

/* No command crosses a multiple of this offset in its region: one page of the table describes this many bytes, and a
 * PRP list may not run over the end of its page without a chain pointer there. */
#define SPATE_REGION_COMMAND_BYTES (SPATE_PAGE_BYTES / 8u * SPATE_PAGE_BYTES)

/* Memory handed over by the caller once, and never given back. */
struct spate_arena {
  uint8_t *start;
  size_t bytes;
  size_t used_bytes;
};

/* `bytes` of zeroed memory at a multiple of `align` (a power of two), or NULL when the arena has no more. */
void *spate_arena_take(struct spate_arena *arena, size_t bytes, size_t align);

/* Fields are the library's; set by the init functions. */
struct spate_region {
  uint8_t *start;     /* for the CPU; NULL where only devices reach it */
  uint64_t bytes;     /* a multiple of SPATE_PAGE_BYTES */
  uint64_t first_dma; /* device address of page 0, if each page follows the one before it; 0: see `pages` */
  uint64_t pages_dma; /* device address of `pages`, a multiple of SPATE_PAGE_BYTES */
  uint64_t *pages;    /* pages[i]: device address of page i. Mostly uncached: the data path does not read a list */
};

/* Bytes that the table of a region of `region_bytes` takes from the arena. */
#define SPATE_REGION_TABLE_BYTES(region_bytes)                                                                         \
  ((((region_bytes) / SPATE_PAGE_BYTES) * 8u + SPATE_PAGE_BYTES - 1u) / SPATE_PAGE_BYTES * SPATE_PAGE_BYTES)

/*
 * A region over `bytes` of memory contiguous for the CPU and for devices. `start` and `bytes` are multiples of
 * SPATE_PAGE_BYTES. The table comes from `queue_memory`, page aligned. The region must outlive every request that
 * names it. Errors: INVALID (alignment, no bytes), MEMORY (the arena has no room for the table).
 */
SPATE_MUST_CHECK enum spate_error spate_region_init(struct spate_region *region, void *start, uint64_t bytes,
                                                    struct spate_arena *queue_memory);

/*
 * The same where pages lie anywhere, or where the CPU cannot reach them: `address_of(context, i)` names the device
 * address of page i, a multiple of SPATE_PAGE_BYTES. `start` may be NULL.
 */
SPATE_MUST_CHECK enum spate_error spate_region_init_scattered(struct spate_region *region, void *start, uint64_t bytes,
                                                              uint64_t (*address_of)(void *context, uint64_t page),
                                                              void *context, struct spate_arena *queue_memory);

#ifdef __cplusplus
}
#endif
#endif
