/* SPDX-License-Identifier: Apache-2.0 */
/* A block device that forwards everything and measures: the time between two requests of the stream, and the other
 * requests meanwhile. It shows any file system from the drive's point of view. */
#ifndef SPATE_LAB_TAP_H
#define SPATE_LAB_TAP_H

#include <machine/sim.h>
#include <spate/block.h>

struct lab_tap_counters {
  uint64_t data_requests, data_bytes;
  uint64_t gap_ps_max; /* longest time between two requests of the stream */
  uint64_t metadata_reads, metadata_writes, flushes, trims;
};

struct lab_tap {
  struct spate_block block; /* first: a tap is a block device */
  struct spate_block *inner;
  struct sim *sim;
  const struct spate_region *stream; /* requests with this memory belong to the stream */
  struct lab_tap_counters counters;
  uint64_t last_ps;
};

void lab_tap_init(struct lab_tap *tap, struct spate_block *inner, struct sim *sim, const struct spate_region *stream);

/* The stream begins, or continues after a pause of the caller: the next gap counts from here. */
void lab_tap_start(struct lab_tap *tap);

#endif
