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

/* The steps, a file each. */
void calibrate_latency(struct load *load, const struct calibrate_drive *drive, struct calibrate_results *results);
void calibrate_cache(struct load *load, struct calibrate_results *results);
void calibrate_full(struct load *load, struct calibrate_results *results);
void calibrate_heat(struct load *load, struct calibrate_results *results);

/* Derives the cache from the segments. One segment: there is no SLC cache. Two: one edge. Three: after the edge the
 * drive first folds the cache. Further segments are counted as folding, at their mean rate. No cache explains a stream
 * that becomes faster: then all results are CALIBRATE_NONE. */
void calibrate_stretches(const struct fit_segments *found, double bytes, struct calibrate_results *results);

#endif
