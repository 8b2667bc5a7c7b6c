/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder's side of a ring in shared memory (spate/ring.h). The other side may be broken or hostile: its numbers
 * are read once, kept here, and checked before they are used. Nothing here maps memory or calls the system.
 */
#ifndef SPATE_HOSTED_RING_TAKER_H
#define SPATE_HOSTED_RING_TAKER_H

#include <spate/ring.h>

struct ring_taker {
  struct spate_ring_header geometry; /* as it was when it was checked */
  uint64_t taken;                    /* slots, counted on and on */
  uint64_t released;
  uint64_t lost_base_bytes; /* that an earlier recorder has reported */
  uint64_t lost_bytes;      /* since then */
  bool last;                /* the slot taken last was not a multiple of 4096: nothing can follow */
};

/* Does the header say that there is a ring? It may be one that ring_taker_begin() refuses. */
bool ring_taker_is_ring(const struct spate_ring_header *header);

/* Checks the header, and begins at the slots that are not released. NULL, or a sentence: why this is no good ring.
 * `file_bytes`: how much there is, UINT64_MAX: mapping it will tell. */
const char *ring_taker_begin(struct ring_taker *taker, const struct spate_ring_header *header, uint64_t file_bytes);

uint64_t ring_taker_filled(const struct spate_ring_header *header);
/* The next slot: its bytes, within its slot_bytes; 0: there is none yet, or *why is a sentence: the ring is broken. */
uint32_t ring_taker_next(struct ring_taker *taker, const struct spate_ring_header *header, const uint32_t *table,
                         const char **why);
/* Brings lost_bytes up to date. */
void ring_taker_look_at_losses(struct ring_taker *taker, const struct spate_ring_header *header);

#endif
