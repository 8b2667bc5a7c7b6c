/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Physical Region Page entries and lists (4.3): the addresses of a command's data, page by page. PRP1 may start inside
 * its page. With one more page, PRP2 is the address of that page. With more pages, PRP2 is the address of a list.
 *
 * The last entry of a list page is a pointer to the next one if there are more entries (4.3). Some drives follow it in
 * any case: O2 Micro's, by Linux's quirk NVME_QUIRK_DMAPOOL_ALIGN_512 (ebefac564796), and Micron's 4100AT. So no list
 * has an address of data there.
 */
#include "internal.h"

#define ENTRIES   (SPATE_PAGE_BYTES / 8u) /* in a page of a list */
#define ADDRESSES (ENTRIES - 1u)          /* of data, of these */

_Static_assert(SPATE_NVME_BUFFER_PAGES - 1u == 2u * ADDRESSES, "two chained pages describe the longest command");
_Static_assert(SPATE_NVME_BUFFER_PAGES_ONE_LIST - 1u == ADDRESSES,
               "one page describes the longest command without a second");

/* The number of pages after the first. */
static uint32_t more_pages(uint64_t address, uint64_t bytes) {
  return (uint32_t)(((address & (SPATE_PAGE_BYTES - 1u)) + bytes - 1u) >> SPATE_PAGE_SHIFT);
}

void spate_nvme_prps_region(const struct spate_region *region, uint64_t offset_bytes, uint64_t bytes,
                            struct nvme_prps *prps) {
  const uint64_t page = offset_bytes >> SPATE_PAGE_SHIFT;
  const uint32_t more = more_pages(offset_bytes, bytes);

  prps->first = spate_region_page_dma(region, page) | (offset_bytes & (SPATE_PAGE_BYTES - 1u));
  prps->second = 0;
  if (more == 1) prps->second = region->list[page];
  if (more > 1) prps->second = region->list_dma + page * 8u;
}

/* A page of the pool for this slot, or NULL. */
static uint64_t *take_page(struct spate_nvme_queue *queue, struct spate_nvme_slot *slot) {
  for (unsigned i = 0; i < queue->list_pages; i++) {
    if (queue->list_owner[i] == NULL) {
      queue->list_owner[i] = slot;
      return queue->lists + (size_t)i * ENTRIES;
    }
  }
  return NULL;
}

void spate_nvme_lists_free(struct spate_nvme_queue *queue, const struct spate_nvme_slot *slot) {
  for (unsigned i = 0; i < queue->list_pages; i++)
    if (queue->list_owner[i] == slot) queue->list_owner[i] = NULL;
}

unsigned spate_nvme_prps_lists(uint64_t address, uint64_t bytes) {
  const uint32_t more = bytes == 0 ? 0 : more_pages(address, bytes);

  if (more <= 1) return 0;
  return more <= ADDRESSES ? 1 : 2;
}

/* 512 addresses fill a page, so that its last entry would be one of data. Such a list begins with the page's second
 * entry: 511 are left, and the last one is a pointer to the next page. */
void spate_nvme_prps_chained(uint64_t *const lists[], uint64_t address, uint64_t bytes, struct nvme_prps *prps) {
  uint32_t more = bytes == 0 ? 0 : more_pages(address, bytes);
  uint64_t next_page = (address & ~(uint64_t)(SPATE_PAGE_BYTES - 1u)) + SPATE_PAGE_BYTES;
  uint64_t *link = &prps->second;

  prps->first = address;
  prps->second = more == 0 ? 0 : next_page;
  if (more <= 1) return;
  uint32_t begin = more == ENTRIES ? 1 : 0;
  for (unsigned page = 0; more > 0; page++, begin = 0) {
    uint64_t *list = lists[page];
    *link = spate_port_dma_address(list) + begin * sizeof list[0];
    for (uint32_t i = begin; i < ADDRESSES && more > 0; i++, more--, next_page += SPATE_PAGE_BYTES)
      list[i] = next_page;
    link = &list[ADDRESSES];
  }
}

/* A command that needs pages does not overtake one that waits for them. Otherwise a caller that submits the next
 * command from `done` would take the page each time, and a command of two pages would never find two. */
static bool take_pages(struct spate_nvme_queue *queue, struct spate_nvme_slot *slot, unsigned needed,
                       uint64_t *lists[]) {
  spate_nvme_lists_free(queue, slot); /* pages of an earlier attempt */
  if (queue->pages_wanted) return false;
  for (unsigned i = 0; i < needed; i++) {
    lists[i] = take_page(queue, slot);
    if (lists[i] != NULL) continue;
    spate_nvme_lists_free(queue, slot);
    queue->pages_wanted = true;
    queue->next_for_pages = (uint8_t)(slot - queue->slots);
    return false;
  }
  return true;
}

bool spate_nvme_prps_buffer(struct spate_nvme_queue *queue, struct spate_nvme_slot *slot, uint64_t address,
                            uint64_t bytes, struct nvme_prps *prps) {
  const unsigned needed = spate_nvme_prps_lists(address, bytes);
  uint64_t *lists[2];

  if (needed > 0 && !take_pages(queue, slot, needed, lists)) return false;
  spate_nvme_prps_chained(lists, address, bytes, prps);
  return true;
}
