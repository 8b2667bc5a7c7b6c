/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a stream needs on a drive: the smallest ring that does not overrun and the reason for its size, the queue depth,
 * how long the drive sustains the rate, its temperature. Computed from the drive's profile without simulating commands.
 * tests/bench/simulated/test_plan_recorder.c runs the recorder on the simulated drive and compares.
 */
#ifndef SPATE_COMMAND_PLAN_H
#define SPATE_COMMAND_PLAN_H

#include <bus/link.h>
#include <nand/media.h>
#include <stdbool.h>
#include <stdint.h>

#define PLAN_RATE_STEP 1e7 /* resolution of a proposed rate */

struct plan {
  /* The question. */
  const struct sim_profile *profile;
  struct sim_link_config link;
  struct sim_media_stream stream;
  bool ring_given, retain;
  uint64_t keep_bytes; /* of a recording that goes round; 0: it does not */

  /* The answer. */
  struct sim_media_outlook outlook;
  uint32_t depth;
  uint64_t ring_bytes;   /* needed by the stream */
  double loss_bytes;     /* the most that a power cut can take */
  double rate_that_fits; /* if the requested rate does not fit: the highest that does; 0: none */
};

void plan_compute(struct plan *plan);
bool plan_fits(const struct plan *plan);
const char *plan_reason(const struct plan *plan); /* for the size of the ring */

void plan_print(const struct plan *plan);
void plan_print_json(const struct plan *plan);

#endif
