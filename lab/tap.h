/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A block device that hands everything on and watches: how long it is between two commands of the stream, and what else
 * is asked of the drive meanwhile. It is how a file system is seen from the drive, whichever it is.
 */
#ifndef SPATE_LAB_TAP_H
#define SPATE_LAB_TAP_H

#include <sim.h>
#include <spate/block.h>

struct lab_tap_counters {
  uint64_t data_requests, data_bytes;
  uint64_t gap_ps_max; /* between two requests of the stream */
  uint64_t metadata_reads, metadata_writes, flushes, trims;
};

struct lab_tap {
  struct spate_block block; /* first: a tap is a block device */
  struct spate_block *inner;
  struct sim *sim;
  const struct spate_region *stream; /* requests on this memory are the stream's */
  struct lab_tap_counters counters;
  uint64_t last_ps;
};

void lab_tap_init(struct lab_tap *tap, struct spate_block *inner, struct sim *sim, const struct spate_region *stream);

/* The stream begins, or begins again after a pause that is the caller's own: the next gap is counted from here. */
void lab_tap_start(struct lab_tap *tap);

#endif
