/* SPDX-License-Identifier: Apache-2.0 */
#include "ring_taker.h"

#include <string.h>

#define HEAD_BYTES_MAX  (UINT64_C(1) << 30)
#define SLOTS_BYTES_MAX (UINT64_C(1) << (sizeof(size_t) > 4 ? 36 : 30))

static uint64_t load(const uint64_t *counter) { return __atomic_load_n(counter, __ATOMIC_SEQ_CST); }

static bool is_power_of_two(uint32_t number) { return (number & (number - 1u)) == 0; }

bool ring_taker_is_ring(const struct spate_ring_header *header) {
  return memcmp(header->magic, SPATE_RING_MAGIC, sizeof header->magic) == 0;
}

static const char *check(const struct spate_ring_header *ring, uint64_t file_bytes) {
  if (memcmp(ring->magic, SPATE_RING_MAGIC, sizeof ring->magic) != 0) return "it does not begin with a ring's magic";
  if (ring->layout != SPATE_RING_LAYOUT) return "this spate does not know the version of its layout";
  if (ring->slot_bytes < SPATE_RING_SLOT_BYTES_MIN || ring->slot_bytes > SPATE_RING_SLOT_BYTES_MAX ||
      !is_power_of_two(ring->slot_bytes))
    return "its slots are not a power of two from 64 KiB to 4 MiB";
  if (ring->slots < 2 || ring->slots > SPATE_RING_SLOTS_MAX || !is_power_of_two(ring->slots))
    return "its number of slots is not a power of two from 2 to 65536";
  const uint64_t slots_bytes = (uint64_t)ring->slots * ring->slot_bytes;
  if (slots_bytes > SLOTS_BYTES_MAX) return "it is larger than spate can map";
  if (ring->table_offset_bytes < sizeof *ring || ring->table_offset_bytes % sizeof(uint32_t) != 0 ||
      ring->slots_offset_bytes > HEAD_BYTES_MAX || ring->slots_offset_bytes % SPATE_RING_PAGE != 0 ||
      ring->table_offset_bytes > ring->slots_offset_bytes ||
      ring->slots * sizeof(uint32_t) > ring->slots_offset_bytes - ring->table_offset_bytes)
    return "its header, table and slots overlap or are out of order";
  if (ring->total_bytes < ring->slots_offset_bytes + slots_bytes || ring->total_bytes > file_bytes)
    return "its slots do not fit in the file or device";
  if (ring->filled - ring->released > ring->slots) return "its counters are further apart than it has slots";
  return NULL;
}

const char *ring_taker_begin(struct ring_taker *taker, const struct spate_ring_header *header, uint64_t file_bytes) {
  *taker = (struct ring_taker){.geometry = *header};
  const struct spate_ring_header *ring = &taker->geometry;
  const char *wrong = check(ring, file_bytes);

  taker->taken = taker->released = ring->released;
  taker->lost_base_bytes = ring->reported_lost_bytes <= ring->lost_bytes ? ring->reported_lost_bytes : ring->lost_bytes;
  return wrong;
}

uint64_t ring_taker_filled(const struct spate_ring_header *header) { return load(&header->filled); }

uint32_t ring_taker_next(struct ring_taker *taker, const struct spate_ring_header *header, const uint32_t *table,
                         const char **why) {
  const struct spate_ring_header *ring = &taker->geometry;
  const uint64_t filled = ring_taker_filled(header);

  *why = NULL;
  if (filled - taker->released > ring->slots || filled - taker->taken > ring->slots)
    *why = "its producer's counter went backwards, or further than the ring has slots";
  if (*why != NULL || filled == taker->taken) return 0;
  const uint32_t bytes = __atomic_load_n(&table[taker->taken & (ring->slots - 1u)], __ATOMIC_RELAXED);
  if (bytes == 0 || bytes > ring->slot_bytes) *why = "a slot has no bytes in it, or more than fit";
  if (taker->last) *why = "something follows a slot that was not a multiple of 4096 bytes";
  if (*why != NULL) return 0;
  taker->last = bytes % SPATE_RING_PAGE != 0;
  taker->taken++;
  return bytes;
}

void ring_taker_look_at_losses(struct ring_taker *taker, const struct spate_ring_header *header) {
  const uint64_t lost_bytes = load(&header->lost_bytes) - taker->lost_base_bytes;

  /* Ignores a counter that goes back, or that is impossibly high. */
  if (lost_bytes > taker->lost_bytes && lost_bytes < UINT64_C(1) << 62) taker->lost_bytes = lost_bytes;
}
