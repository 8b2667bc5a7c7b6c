/* SPDX-License-Identifier: Apache-2.0 */
/* Measures a drive that was written full: the rate at which it is overwritten, and how much SLC cache it has left. */
#include "steps.h"
#include "streams.h"

#include <math.h>

#define AGAIN_SHARE 0.25 /* overwritten when the drive is full; the first half of it is not evaluated */
#define KEPT_SHARE  0.94 /* the rest is trimmed: a completely full drive has no cache to measure */
#define CELL_BITS   3    /* a third of the free space can be cache: sim/nand/media.h */
#define REST_S      5.0
#define IDLE_MOST_S 600.0

static struct load_curve curve;

static double full_rate(struct load *load, const struct calibrate_results *results) {
  const struct load_stream stream = calibrate_write(0, calibrate_share(load, AGAIN_SHARE));
  struct fit_segments found;

  load_run(load, &stream, &curve);
  if (!calibrate_segments(&curve, results, 1, curve.bytes / 2, &found)) return CALIBRATE_NONE;
  return found.segment[0].rate;
}

/* The time that the drive needs to fold its whole cache, plus a fifth. */
static double empty_s(const struct calibrate_results *results) {
  if (!(results->slc_refill_rate > 0)) return IDLE_MOST_S;
  return 1.2 * (results->slc_rest_ms / 1000 + results->slc_bytes / results->slc_refill_rate) + REST_S;
}

/* The cache is slc_full_bytes plus a third of the free bytes. */
static double slc_full_bytes(struct load *load, const struct calibrate_results *results) {
  const uint64_t kept = calibrate_share(load, KEPT_SHARE);
  const double from_free = (double)(load->bytes - kept) / CELL_BITS;
  const double buffer = isfinite(results->buffer_bytes) ? results->buffer_bytes : 0;
  struct load_stream stream = calibrate_write(0, kept);
  struct fit_segments found;

  load_trim(load, kept, load->bytes - kept);
  load_idle(load, empty_s(results));
  const double wanted = fmin((double)kept, 1.3 * from_free + 0.5 * results->slc_bytes);
  stream.total_bytes = (uint64_t)wanted / CALIBRATE_IO_BYTES * CALIBRATE_IO_BYTES;
  load_run(load, &stream, &curve);
  if (!calibrate_segments(&curve, results, FIT_SEGMENTS_MAX, 2 * buffer, &found)) return CALIBRATE_NONE;
  const double between = (results->slc_rate + fmax(results->direct_rate, results->fold_rate)) / 2;
  for (unsigned i = 0; i < found.count; i++)
    if (found.segment[i].rate < between)
      return fmin(results->slc_bytes, fmax(0, fit_edge(&found.segment[i], results->slc_rate, buffer) - from_free));
  return CALIBRATE_NONE;
}

void calibrate_full(struct load *load, struct calibrate_results *results) {
  struct load_stream fill = calibrate_write(0, calibrate_share(load, 1));

  load_run(load, &fill, &curve);
  results->full_rate = full_rate(load, results);
  if (results->slc_bytes > 0)
    results->slc_full_bytes = slc_full_bytes(load, results);
  else if (isfinite(results->slc_bytes))
    results->slc_full_bytes = 0;
}
