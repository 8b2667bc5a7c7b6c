/* SPDX-License-Identifier: Apache-2.0 */
/* Media with round numbers, so that times can be computed by hand. Included by one test program each. */
#ifndef MEDIA_FIXTURE_H
#define MEDIA_FIXTURE_H

#include "nand/media.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define US    UINT64_C(1000000)
#define MS    UINT64_C(1000000000)
#define S     UINT64_C(1000000000000)
#define MB    UINT64_C(1000000)
#define GB    UINT64_C(1000000000)
#define PIECE (UINT64_C(1) * MB)

/* 1 TB; an SLC cache of 30 GB at 4 GB/s, folding of 10 GB at 1 GB/s, then 2 GB/s; no pauses, no heating. */
static inline struct sim_profile round_drive(void) {
  return (struct sim_profile){
      .name = "round",
      .capacity_bytes = 1000 * GB,
      .read_latency_ns = 50000,
      .read_rate = 5e9,
      .slc_rate = 4e9,
      .direct_rate = 2e9,
      .fold_rate = 1e9,
      .full_rate = 1.5e9,
      .slc_bytes = 30 * GB,
      .slc_full_bytes = 6 * GB,
      .slc_refill_rate = 1e9,
      .slc_rest_ms = 500,
      .fold_bytes = 10 * GB,
      .volatile_cache = true,
      .buffer_bytes = 100 * MB,
      .flush_ns = 2000000,
      .heat_capacity = 10,
      .heat_resistance = 10,
      .ambient_c = 25,
      .warning_c = 70,
      .throttle_c = 80,
      .recover_c = 70,
      .throttle_factor = 0.5,
      .critical_c = 90,
  };
}

static inline struct sim_media start(const struct sim_profile *profile, double filled) {
  struct sim_media media;

  sim_media_init(&media, profile, filled);
  return media;
}

/* Writes at queue depth one, at full speed; returns when the last byte is in the buffer. */
static inline uint64_t write_all(struct sim_media *media, uint64_t at_ps, uint64_t bytes, bool fresh) {
  for (uint64_t done = 0; done < bytes; done += PIECE)
    at_ps = sim_media_write(media, at_ps, PIECE, fresh ? PIECE : 0);
  return at_ps;
}

static inline void assert_near(double is, double should_be, double share) {
  if (fabs(is - should_be) > share * fabs(should_be)) fail_msg("%.9g is not %.9g", is, should_be);
}

#endif
