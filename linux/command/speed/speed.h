/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the speed of a block device: requests of one size, at a queue depth, for a time or a number of bytes. Times
 * come from the port's clock, so a virtual drive is measured in virtual time.
 */
#ifndef SPATE_COMMAND_SPEED_H
#define SPATE_COMMAND_SPEED_H

#include <spate/block.h>
#include <stdbool.h>
#include <stdint.h>

#define SPEED_DEPTH_MAX 256u

struct speed_job {
  enum spate_op op;   /* READ or WRITE */
  uint32_t io_bytes;  /* of a request: a multiple of the logical block, at most 4 MiB */
  uint32_t depth;     /* requests in flight: 1 … SPEED_DEPTH_MAX; the device may accept fewer */
  bool sleep;         /* call spate_port_relax() when a poll finds nothing; otherwise poll again at once */
  bool random;        /* otherwise sequential; at the end of the range it starts over */
  uint8_t flags;      /* of each request: SPATE_IO_FUA */
  uint64_t first_lba; /* the range that is used */
  uint64_t blocks;    /* of the range: at least those of one request */
  uint64_t bytes;     /* stop after this many; 0: only `seconds` is the limit */
  double seconds;     /* stop after this time; 0: only `bytes` is the limit */
  /* Called in each turn of the loop with the bytes done so far. It must not use the device. May be NULL. */
  void (*turn)(void *context, uint64_t bytes, uint64_t elapsed_ns);
  void *context;
};

/* Buckets of latencies from 1 ns on. Each is an eighth of a power of two wide. */
#define SPEED_BUCKETS 512u

struct speed_result {
  uint64_t ios, bytes;
  double seconds;
  uint64_t latency_min_ns, latency_max_ns;
  double latency_mean_ns;
  uint64_t latencies[SPEED_BUCKETS];
};

/* `data` is a region over a ring of depth × io_bytes (memory.h). Returns the first error of a request. */
SPATE_MUST_CHECK enum spate_error speed_run(struct spate_block *block, const struct speed_job *job,
                                            const struct spate_region *data, struct speed_result *result);

/* The latency that this share of the requests (0.5, 0.99) did not exceed. It is at most an eighth too high. */
uint64_t speed_percentile_ns(const struct speed_result *result, double share);

#endif
