/* SPDX-License-Identifier: Apache-2.0 */
#include <spate/dma.h>
#include <spate/port.h>

void *spate_arena_take(struct spate_arena *arena, size_t bytes, size_t align) {
  uintptr_t start = (uintptr_t)arena->start + arena->used_bytes;
  size_t skipped_bytes = (size_t)(-start & (align - 1u));
  size_t free_bytes = arena->bytes - arena->used_bytes;

  if (skipped_bytes > free_bytes || bytes > free_bytes - skipped_bytes) {
    spate_port_log("dma: the arena is too small for this many bytes", bytes);
    return NULL;
  }
  uint8_t *taken = arena->start + arena->used_bytes + skipped_bytes;
  arena->used_bytes += skipped_bytes + bytes;
  /* Not memset: some implementations use instructions that fault on uncached (device) memory. */
  for (size_t i = 0; i < bytes; i++)
    ((volatile uint8_t *)taken)[i] = 0;
  return taken;
}

static uint64_t contiguous_page(void *context, uint64_t page) {
  return spate_port_dma_address(context) + page * SPATE_PAGE_BYTES;
}

enum spate_error spate_region_init_scattered(struct spate_region *region, void *start, uint64_t bytes,
                                             uint64_t (*address_of)(void *context, uint64_t page), void *context,
                                             struct spate_arena *queue_memory) {
  if (bytes == 0 || (bytes & (SPATE_PAGE_BYTES - 1u)) != 0 || ((uintptr_t)start & (SPATE_PAGE_BYTES - 1u)) != 0)
    return SPATE_E_INVALID;
  if (bytes > SIZE_MAX / 2u) {
    spate_port_log("dma: the region is larger than the address space; bytes", bytes);
    return SPATE_E_MEMORY;
  }
  uint64_t *list = spate_arena_take(queue_memory, (size_t)SPATE_REGION_TABLE_BYTES(bytes), SPATE_PAGE_BYTES);
  if (list == NULL) return SPATE_E_MEMORY;
  const uint64_t count = bytes >> SPATE_PAGE_SHIFT;
  const uint64_t first_dma = address_of(context, 0);
  bool is_contiguous = true;
  for (uint64_t i = 0; i < count; i++) {
    const uint64_t page_dma = address_of(context, i);
    if ((page_dma & (SPATE_PAGE_BYTES - 1u)) != 0) return SPATE_E_INVALID;
    is_contiguous &= page_dma == first_dma + i * SPATE_PAGE_BYTES;
    list[i == 0 ? count - 1u : i - 1u] = page_dma;
  }
  /* No barrier here: every doorbell is preceded by one. */
  *region = (struct spate_region){.start = start,
                                  .bytes = bytes,
                                  .first_dma = is_contiguous ? first_dma : 0,
                                  .list_dma = spate_port_dma_address(list),
                                  .list = list};
  return SPATE_OK;
}

enum spate_error spate_region_init(struct spate_region *region, void *start, uint64_t bytes,
                                   struct spate_arena *queue_memory) {
  if (start == NULL) return SPATE_E_INVALID;
  return spate_region_init_scattered(region, start, bytes, contiguous_page, start, queue_memory);
}
