/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that devices access: an arena for allocation at start-up, and regions with a page table that is built once.
 *
 * A region is a range of memory that a stream is written from or read into, usually the whole ring. Its table has the
 * bus address of each 4 KiB page, and is therefore a list of PRP entries (NVMe base specification 1.4, 4.3). A command
 * needs only a pointer into the table, and no list of its own. So to submit 1 MiB costs the same as to submit 4 KiB.
 * All drives can use the same table.
 *
 * A command names its first page itself, so its list begins with the second. The table is shifted by this one entry:
 * the entry at the end of a table page is that of the first page of the next 2 MiB, where a list begins or has ended.
 * So no list has an address of data there, which some drives would follow as a pointer to more of the list.
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

/* No command crosses a multiple of this offset in its region, unless its first block does. One page of the table
 * describes this many bytes, and a PRP list may continue in another page only by a pointer in its last entry. */
#define SPATE_REGION_COMMAND_BYTES (SPATE_PAGE_BYTES / 8u * SPATE_PAGE_BYTES)

/* Memory that the caller supplies once, and that is never freed. */
struct spate_arena {
  uint8_t *start;
  size_t bytes;
  size_t used_bytes;
};

/* Allocate `bytes` of zeroed memory at a multiple of `align` (a power of two). NULL: the arena is full. */
void *spate_arena_take(struct spate_arena *arena, size_t bytes, size_t align);

/* A range of memory and its table of bus addresses. Set by the init functions. Do not change the fields. */
struct spate_region {
  uint8_t *start;     /* the CPU's address; NULL if only devices access it */
  uint64_t bytes;     /* a multiple of SPATE_PAGE_BYTES */
  uint64_t first_dma; /* bus address of page 0, if the pages are contiguous on the bus; 0: they are not */
  uint64_t list_dma;  /* bus address of `list`, a multiple of SPATE_PAGE_BYTES */
  uint64_t *list; /* list[i]: bus address of page i + 1; the last entry: of page 0. Usually uncached; the NVMe driver
                     does not read it if first_dma is set */
};

/* The bus address of page `page` of a region. */
static inline uint64_t spate_region_page_dma(const struct spate_region *region, uint64_t page) {
  return region->list[page == 0 ? (region->bytes >> SPATE_PAGE_SHIFT) - 1u : page - 1u];
}

/* The bytes of the arena that the table of a region of `region_bytes` needs. */
#define SPATE_REGION_TABLE_BYTES(region_bytes)                                                                         \
  ((((region_bytes) / SPATE_PAGE_BYTES) * 8u + SPATE_PAGE_BYTES - 1u) / SPATE_PAGE_BYTES * SPATE_PAGE_BYTES)

/*
 * Make a region of `bytes` of memory that is contiguous for the CPU and for devices. `start` and `bytes` are multiples
 * of SPATE_PAGE_BYTES. The table comes from `queue_memory`, page aligned. The region must exist as long as a request
 * uses it. Errors: INVALID (alignment, no bytes), MEMORY (the arena has no room for the table).
 */
SPATE_MUST_CHECK enum spate_error spate_region_init(struct spate_region *region, void *start, uint64_t bytes,
                                                    struct spate_arena *queue_memory);

/*
 * The same for pages at any bus addresses, or for memory that the CPU cannot access: `address_of(context, i)` returns
 * the bus address of page i, a multiple of SPATE_PAGE_BYTES. `start` may be NULL.
 */
SPATE_MUST_CHECK enum spate_error spate_region_init_scattered(struct spate_region *region, void *start, uint64_t bytes,
                                                              uint64_t (*address_of)(void *context, uint64_t page),
                                                              void *context, struct spate_arena *queue_memory);

#ifdef __cplusplus
}
#endif
#endif
