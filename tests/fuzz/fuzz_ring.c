/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder's side of a ring, with arbitrary writes of a producer. The first bytes are the memory's size, the header
 * and the table; the rest changes the header and the table between looks. A slot that is taken lies in the memory, and
 * no more slots are held than exist.
 */
#include "../../linux/command/source/ring_taker.c"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TABLE_SLOTS 16u
#define LOOKS_MAX   64u

struct input {
  const uint8_t *data;
  size_t bytes;
};

static bool take(struct input *input, void *to, size_t bytes) {
  if (input->bytes < bytes) return false;
  memcpy(to, input->data, bytes);
  input->data += bytes;
  input->bytes -= bytes;
  return true;
}

static void require(bool what) {
  if (!what) abort();
}

/* Change eight bytes in the lines that producer and recorder write, or four in the table. */
static bool change(struct input *input, struct spate_ring_header *header, uint32_t *table) {
  uint8_t where;
  uint64_t what;

  if (!take(input, &where, sizeof where) || !take(input, &what, sizeof what)) return false;
  if ((where & 0x80u) != 0)
    table[where % TABLE_SLOTS] = (uint32_t)what;
  else
    memcpy((uint8_t *)header + 64u + (where & 0x78u), &what, sizeof what);
  return true;
}

/* Like source/ring.c: slots are released some time after they were taken. */
static void look(struct ring_taker *taker, const struct spate_ring_header *header, const uint32_t *table,
                 uint64_t file_bytes) {
  const struct spate_ring_header *ring = &taker->geometry;
  const char *why;

  for (unsigned i = 0; i < LOOKS_MAX; i++) {
    const uint64_t slot = taker->taken & (ring->slots - 1u);
    const uint32_t bytes = ring_taker_next(taker, header, table, &why);
    if (bytes == 0) return;
    require(why == NULL && taker->taken - taker->released <= ring->slots);
    require(ring->slots_offset_bytes + slot * ring->slot_bytes + bytes <= file_bytes);
    if (i % 3u == 2u) taker->released = taker->taken - 1u;
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct input input = {.data = data, .bytes = size};
  struct spate_ring_header header;
  uint32_t *table = calloc(TABLE_SLOTS, sizeof *table); /* on the heap, so that reads beyond it are detected */
  struct ring_taker taker;
  uint64_t file_bytes;

  if (table == NULL || !take(&input, &file_bytes, sizeof file_bytes) || !take(&input, &header, sizeof header) ||
      !take(&input, table, TABLE_SLOTS * sizeof *table) || !ring_taker_is_ring(&header) ||
      ring_taker_begin(&taker, &header, file_bytes) != NULL) {
    free(table);
    return 0;
  }
  const struct spate_ring_header *ring = &taker.geometry;
  require(ring->table_offset_bytes + ring->slots * sizeof *table <= ring->slots_offset_bytes);
  require(ring->slots_offset_bytes + (uint64_t)ring->slots * ring->slot_bytes <= file_bytes);
  if (ring->slots <= TABLE_SLOTS) {
    do {
      look(&taker, &header, table, file_bytes);
      ring_taker_look_at_losses(&taker, &header);
      require(taker.lost_bytes < UINT64_C(1) << 62);
    } while (change(&input, &header, table));
  }
  free(table);
  return 0;
}
