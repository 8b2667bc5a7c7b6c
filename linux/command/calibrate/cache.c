/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the SLC cache of a trimmed drive. One stream writes more than any cache can hold; then idle times of
 * different lengths show how fast the cache becomes free again.
 */
#include "steps.h"
#include "streams.h"

#include <math.h>

#define SHARE        0.4 /* a three-bit cell holds one bit in the cache, so the cache is at most a third of the drive */
#define SKIP_SHARE   0.01 /* of the stream: its beginning is skipped, while the volatile cache fills */
#define REST_S       5.0
#define BURST_BYTES  (UINT64_C(160) << 20)
#define BURST_IO     (UINT32_C(32) << 10) /* one command each, and short enough for a fine curve */
#define BURST_DEPTH  64u
#define BURSTS       5u
#define DRAIN_S      0.05 /* a drive whose flush does nothing empties its buffer in this time */
#define PROBE_BYTES  (UINT64_C(96) << 20)
#define IDLE_FIRST_S 0.5
#define IDLE_MOST_S  256.0
#define REFILLS      6u
#define REFILLS_MIN  3u /* two points always lie on a line, and so prove nothing */
#define MS_PER_S     1000.0

static struct load_curve curve;

/* ---- the volatile cache ---- */

/*
 * When the SLC cache is full, a burst first fills the volatile cache at the link's rate, while the media empties it at
 * its own rate. The rate that the host sees falls when (link - media) x time equals the size of the volatile cache.
 */
static double buffer_bytes(struct load *load, const struct calibrate_results *results) {
  struct load_stream burst = {.op = SPATE_WRITE, .bytes = BURST_BYTES, .io_bytes = BURST_IO, .depth = BURST_DEPTH};
  double found[BURSTS];
  struct fit_segments segments;
  unsigned count = 0;

  for (unsigned i = 0; i < BURSTS; i++) {
    load_flush(load);
    load_idle(load, DRAIN_S);
    load_run(load, &burst, &curve);
    if (!calibrate_segments(&curve, results, 2, BURST_IO, &segments) || segments.count != 2) continue;
    const double fast = segments.segment[0].rate, slow = segments.segment[1].rate;
    if (slow < fast) found[count++] = segments.segment[1].first_bytes * (1 - slow / fast);
  }
  return count == 0 ? CALIBRATE_NONE : fit_median(found, count);
}

/* ---- refill ---- */

struct refill {
  struct load *load;
  const struct calibrate_results *results;
  uint64_t room; /* bytes from the beginning of the drive that may be overwritten: the stream wrote them before */
};

/* Writes `bytes`, but never more than `room`: the fit may have given any number. */
static struct load_stream refill_write(const struct refill *refill, double bytes) {
  struct load_stream stream = calibrate_write(0, refill->room);

  if (bytes < (double)refill->room) stream.total_bytes = (uint64_t)bytes / CALIBRATE_IO_BYTES * CALIBRATE_IO_BYTES;
  return stream;
}

/*
 * Bytes of the cache that became free in `seconds`; CALIBRATE_NONE: cannot be seen. After the edge the drive folds the
 * same share of fold_bytes as the share of the cache that became free (sim/nand/media.c). That is too little for a
 * segment of its own. So it is computed from the segment at direct_rate, which begins later by the time that folding
 * took.
 */
static double regained(const struct refill *refill, double seconds) {
  const struct calibrate_results *results = refill->results;
  const double buffer = isfinite(results->buffer_bytes) ? results->buffer_bytes : 0;
  const double folded = results->fold_bytes / results->slc_bytes;
  const double most = fmin(1.3 * results->direct_rate * seconds, 1.2 * results->slc_bytes);
  const struct load_stream stream = refill_write(refill, 2 * most + results->fold_bytes + (double)BURST_BYTES);
  struct fit_segments segments;

  load_flush(refill->load);
  load_idle(refill->load, seconds);
  load_run(refill->load, &stream, &curve);
  if (!calibrate_segments(&curve, results, FIT_SEGMENTS_MAX, 2 * buffer, &segments)) return CALIBRATE_NONE;
  const struct fit_segment *last = &segments.segment[segments.count - 1u];
  if (fabs(last->rate / results->direct_rate - 1) > 0.1) return CALIBRATE_NONE;
  const double bytes = (last->offset_s + buffer / last->rate) /
                       (1 / results->slc_rate + folded / results->fold_rate - (1 + folded) / last->rate);
  /* A cache that is completely free, or hardly at all, says nothing about the rate. */
  return bytes < 4 * buffer || bytes > 0.9 * results->slc_bytes ? CALIBRATE_NONE : bytes;
}

/* True if some of the cache became free in `seconds`. */
static bool came_back(const struct refill *refill, double seconds) {
  const double between = (refill->results->slc_rate + refill->results->direct_rate) / 2;
  const struct load_stream stream = refill_write(refill, (double)PROBE_BYTES);

  load_flush(refill->load);
  load_idle(refill->load, seconds);
  load_run(refill->load, &stream, &curve);
  const size_t half = curve.count / 2u;
  const struct fit_point *end = &curve.points[curve.count - 1u], *middle = &curve.points[half];
  return (end->bytes - middle->bytes) / (end->seconds - middle->seconds) > between;
}

/* The bytes that become free are a line over the idle time. Its slope is the refill rate. It crosses zero at the time
 * that the drive waits before it begins. */
static void refill(struct refill *refill, struct calibrate_results *results) {
  const struct load_stream exhaust = refill_write(refill, 1.2 * results->slc_bytes + (double)BURST_BYTES);
  double idle_s = IDLE_FIRST_S, x[REFILLS], y[REFILLS], slope, offset;
  unsigned count = 0;

  while (idle_s < IDLE_MOST_S && !came_back(refill, idle_s))
    idle_s *= 2;
  if (idle_s >= IDLE_MOST_S) return;
  load_run(refill->load, &exhaust, &curve);
  /* An idle time after which nothing or everything is free gives no point. Idle times in between replace it. */
  for (unsigned i = 0; i < REFILLS || (i < 2 * REFILLS && count < REFILLS_MIN); i++) {
    x[count] = idle_s * (0.6 + 0.15 * (i % REFILLS) + (i < REFILLS ? 0 : 0.075));
    y[count] = regained(refill, x[count]);
    if (isfinite(y[count])) count++;
  }
  if (count < REFILLS_MIN || !fit_line(x, y, count, &slope, &offset) || slope <= 0) return;
  results->slc_refill_rate = slope;
  results->slc_rest_ms = fmax(0, -offset / slope * MS_PER_S);
}

/* ---- the step ---- */

void calibrate_cache(struct load *load, struct calibrate_results *results) {
  const uint64_t bytes = calibrate_share(load, SHARE);
  const struct load_stream stream = calibrate_write(0, bytes);
  struct fit_segments found;
  double every;

  load_trim(load, 0, load->bytes);
  load_idle(load, REST_S);
  load_run(load, &stream, &curve);
  const bool gaps_lost = curve.gaps_lost;
  if (!fit_pauses(curve.gaps, &curve.gap_count, &every)) every = 0;
  if (!fit_segments(curve.points, curve.count, curve.gaps, curve.gap_count, 0, SKIP_SHARE * (double)bytes,
                    FIT_SEGMENTS_MAX, &found))
    return;
  results->pause_bytes = gaps_lost ? CALIBRATE_NONE : every;
  results->pause_ms = gaps_lost ? CALIBRATE_NONE : found.pause_s * MS_PER_S;
  results->buffer_bytes = buffer_bytes(load, results);
  calibrate_stretches(&found, (double)bytes, results);
  if (results->slc_bytes > 0)
    refill(&(struct refill){.load = load, .results = results, .room = bytes}, results);
  else if (results->slc_bytes == 0)
    results->slc_refill_rate = results->slc_rest_ms = 0;
}
