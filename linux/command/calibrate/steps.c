/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the steps. What they share is in streams.c, so that they need not call this file. */
#include "steps.h"

#define USUAL_RATE  1.5e9 /* a typical rate past the SLC cache; for estimates only */
#define HEAT_BYTES  8e9
#define HEAT_S      600
#define LATENCY_S   30
#define CACHE_SHARE 0.55 /* of the drive, at most, with the refills */
#define FULL_SHARE  1.4

struct calibrate_estimate calibrate_estimate(enum calibrate_step step, uint64_t capacity_bytes) {
  const double capacity = (double)capacity_bytes;

  switch (step) {
  case CALIBRATE_LATENCY: return (struct calibrate_estimate){6e9, LATENCY_S};
  case CALIBRATE_CACHE: return (struct calibrate_estimate){CACHE_SHARE * capacity, CACHE_SHARE * capacity / USUAL_RATE};
  case CALIBRATE_FULL: return (struct calibrate_estimate){FULL_SHARE * capacity, FULL_SHARE * capacity / USUAL_RATE};
  case CALIBRATE_HEAT: return (struct calibrate_estimate){HEAT_BYTES, HEAT_S};
  case CALIBRATE_STEPS: break;
  }
  return (struct calibrate_estimate){0, 0};
}

void calibrate_run(struct load *load, enum calibrate_step step, const struct calibrate_drive *drive,
                   struct calibrate_results *results) {
  load_begin(load, calibrate_step_name(step), (uint64_t)calibrate_estimate(step, load->bytes).written_bytes);
  switch (step) {
  case CALIBRATE_LATENCY: calibrate_latency(load, drive, results); break;
  case CALIBRATE_CACHE: calibrate_cache(load, results); break;
  case CALIBRATE_FULL: calibrate_full(load, results); break;
  case CALIBRATE_HEAT: calibrate_heat(load, results); break;
  case CALIBRATE_STEPS: break;
  }
  load_end(load);
  results->done[step] = true;
}
