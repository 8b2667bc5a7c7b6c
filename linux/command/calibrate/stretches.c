/* SPDX-License-Identifier: Apache-2.0 */
/* Derives the SLC cache from the segments of a stream on a trimmed drive. */
#include "steps.h"

#include <math.h>

/* The time at which the stream reached this segment. */
static double begin_s(const struct fit_segment *segment) {
  return segment->offset_s + segment->first_bytes / segment->rate;
}

void calibrate_stretches(const struct fit_segments *found, double bytes, struct calibrate_results *results) {
  const double buffer = isfinite(results->buffer_bytes) ? results->buffer_bytes : 0;
  const struct fit_segment *first = &found->segment[fit_medium(found, buffer)], *next = first + 1;
  const struct fit_segment *last = &found->segment[found->count - 1u];

  results->slc_rate = first->rate;
  results->direct_rate = results->fold_rate = last->rate;
  results->slc_bytes = results->fold_bytes = 0;
  results->stretches = (double)(last - first) + 1;
  if (first == last) return;
  if (next->rate > first->rate) {
    results->slc_bytes = results->fold_bytes = results->slc_rate = results->fold_rate = CALIBRATE_NONE;
    return;
  }
  results->slc_bytes = fmin(fmax(0, fit_edge(next, first->rate, buffer)), bytes);
  if (next == last) return;
  results->fold_bytes = fmax(0, last->first_bytes - next->first_bytes);
  results->fold_rate = last == next + 1 ? next->rate : results->fold_bytes / (begin_s(last) - begin_s(next));
}
