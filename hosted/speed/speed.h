/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast a block device is: requests of one size, so many in flight, for a time or a number of bytes. Time is the
 * port's, so that a virtual drive is measured in virtual time.
 */
#ifndef SPATE_HOSTED_SPEED_H
#define SPATE_HOSTED_SPEED_H

#include <spate/block.h>
#include <stdbool.h>
#include <stdint.h>

#define SPEED_DEPTH_MAX 256u

struct speed_job {
  enum spate_op op;   /* READ or WRITE */
  uint32_t io_bytes;  /* of a request: a multiple of the logical block, at most 4 MiB */
  uint32_t depth;     /* requests in flight: 1 … SPEED_DEPTH_MAX; the device may take fewer */
  bool sleep;         /* between looks, as spate_port_relax() does; otherwise look again at once */
  bool random;        /* otherwise one after the other, and from the beginning again */
  uint8_t flags;      /* of each request: SPATE_IO_FUA */
  uint64_t first_lba; /* the range that is used */
  uint64_t blocks;    /* at least one request's */
  uint64_t bytes;     /* stop after so many; 0: by time alone */
  double seconds;     /* stop after so long; 0: by bytes alone */
  /* May be NULL: called in each turn of the loop with what is done so far. It must not use the device. */
  void (*turn)(void *context, uint64_t bytes, uint64_t elapsed_ns);
  void *context;
};

/* Latencies in buckets an eighth of their size wide, from 1 ns on. */
#define SPEED_BUCKETS 512u

struct speed_result {
  uint64_t ios, bytes;
  double seconds;
  uint64_t latency_min_ns, latency_max_ns;
  double latency_mean_ns;
  uint64_t latencies[SPEED_BUCKETS];
};

/* `data` is a ring of depth × io_bytes (memory.h), as a region. The first error of a request. */
SPATE_MUST_CHECK enum spate_error speed_run(struct spate_block *block, const struct speed_job *job,
                                            const struct spate_region *data, struct speed_result *result);

/* The latency that this share of the requests did not exceed: 0.5, 0.99. Good to an eighth. */
uint64_t speed_percentile_ns(const struct speed_result *result, double share);

#endif
