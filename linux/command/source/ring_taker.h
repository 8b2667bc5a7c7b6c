/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder's side of a ring in shared memory (spate/ring.h). The other side may be broken or hostile: each of its
 * numbers is read once, kept here, and checked before use. Nothing here maps memory or makes a system call.
 */
#ifndef SPATE_COMMAND_RING_TAKER_H
#define SPATE_COMMAND_RING_TAKER_H

#include <spate/ring.h>

struct ring_taker {
  struct spate_ring_header geometry; /* a copy of the header that was checked */
  uint64_t taken;                    /* slots since the ring was made; never wraps */
  uint64_t released;
  uint64_t lost_base_bytes; /* reported by earlier recorders */
  uint64_t lost_bytes;      /* since then */
  bool last;                /* the last taken slot was not a multiple of 4096: no slot may follow */
};

/* True if the header has a ring's magic. ring_taker_begin() may still refuse it. */
bool ring_taker_is_ring(const struct spate_ring_header *header);

/* Checks the header, and begins at the first slot that is not released. Returns NULL, or the reason why the ring is not
 * valid. `file_bytes`: the size of the file; UINT64_MAX: not known, and a mapping that is too long fails. */
const char *ring_taker_begin(struct ring_taker *taker, const struct spate_ring_header *header, uint64_t file_bytes);

uint64_t ring_taker_filled(const struct spate_ring_header *header);
/* Takes the next slot and returns its bytes, 1 to slot_bytes. 0: there is none yet, or the ring is broken and *why is
 * the reason. */
uint32_t ring_taker_next(struct ring_taker *taker, const struct spate_ring_header *header, const uint32_t *table,
                         const char **why);
/* Updates lost_bytes. */
void ring_taker_look_at_losses(struct ring_taker *taker, const struct spate_ring_header *header);

#endif
