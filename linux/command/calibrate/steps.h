/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of a calibration. Each step first brings the drive into the state that it needs, so a step that was
 * interrupted can be repeated from its beginning. docs/use/calibrate.md says what each step does, and why.
 */
#ifndef SPATE_COMMAND_CALIBRATE_STEPS_H
#define SPATE_COMMAND_CALIBRATE_STEPS_H

#include "load.h"
#include "results.h"

/* Roughly how much a step will write and how long it will take: the drive's rates are not known yet. */
struct calibrate_estimate {
  double written_bytes, seconds;
};
struct calibrate_estimate calibrate_estimate(enum calibrate_step step, uint64_t capacity_bytes);

/* Runs the step and marks it as done. */
void calibrate_run(struct load *load, enum calibrate_step step, const struct calibrate_drive *drive,
                   struct calibrate_results *results);

/* The most that the drive's link carries in each direction, in bytes per second. */
double calibrate_link_down(uint8_t generation, uint8_t lanes);
double calibrate_link_up(uint8_t generation, uint8_t lanes);

/* The steps, a file each. */
void calibrate_latency(struct load *load, const struct calibrate_drive *drive, struct calibrate_results *results);
void calibrate_cache(struct load *load, struct calibrate_results *results);
void calibrate_full(struct load *load, struct calibrate_results *results);
void calibrate_heat(struct load *load, struct calibrate_results *results);

/* Shared by the steps: `share` of the drive, rounded down to whole requests, and a long stream of writes. */
#define CALIBRATE_IO_BYTES (UINT32_C(128) << 10)
#define CALIBRATE_DEPTH    16u
#define CALIBRATE_PAGE     4096u
uint64_t calibrate_share(const struct load *load, double share);
struct load_stream calibrate_write(uint64_t at, uint64_t bytes);
/* The curve's segments, without the pauses that the step cache has found. */
bool calibrate_segments(struct load_curve *curve, const struct calibrate_results *results, unsigned most,
                        double skip_bytes, struct fit_segments *segments);

/* Derives the cache from the segments. One segment: there is no SLC cache. Two: one edge. Three: after the edge the
 * drive first folds the cache. Further segments are counted as folding, at their mean rate. No cache explains a stream
 * that becomes faster: then all results are CALIBRATE_NONE. */
void calibrate_stretches(const struct fit_segments *found, double bytes, struct calibrate_results *results);

#endif
