/* SPDX-License-Identifier: Apache-2.0 */
#include "steps.h"

#include "../../../sim/bus/link.h"

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

/* The lab and spate plan assume the same link when the bridge is not known. */
static struct sim_link_config link_of(uint8_t generation, uint8_t lanes) {
  return (struct sim_link_config){.generation = generation == 0 ? 4 : generation,
                                  .lanes = lanes == 0 ? 4 : lanes,
                                  .payload_bytes = 256,
                                  .read_request_bytes = 512,
                                  .latency_ns = 250,
                                  .dllp_percent = 2};
}

double calibrate_link_down(uint8_t generation, uint8_t lanes) {
  const struct sim_link_config link = link_of(generation, lanes);

  return sim_link_down_max(&link);
}

double calibrate_link_up(uint8_t generation, uint8_t lanes) {
  const struct sim_link_config link = link_of(generation, lanes);

  return sim_link_up_max(&link);
}

uint64_t calibrate_share(const struct load *load, double share) {
  return (uint64_t)((double)load->bytes * share) / CALIBRATE_IO_BYTES * CALIBRATE_IO_BYTES;
}

struct load_stream calibrate_write(uint64_t at, uint64_t bytes) {
  return (struct load_stream){
      .op = SPATE_WRITE, .at = at, .bytes = bytes, .io_bytes = CALIBRATE_IO_BYTES, .depth = CALIBRATE_DEPTH};
}

bool calibrate_segments(struct load_curve *curve, const struct calibrate_results *results, unsigned most,
                        double skip_bytes, struct fit_segments *segments) {
  const double pause_s = results->pause_ms > 0 ? results->pause_ms / 1000 : 0;

  fit_known_pauses(curve->gaps, &curve->gap_count, pause_s);
  return fit_segments(curve->points, curve->count, curve->gaps, curve->gap_count, pause_s, skip_bytes, most, segments);
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
