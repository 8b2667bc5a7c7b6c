/* SPDX-License-Identifier: Apache-2.0 */
/* Measures how fast the drive warms while it reads, which causes no wear, and how fast it cools when it is idle. */
#include "steps.h"
#include "streams.h"

#include <math.h>

#define FIRST_BYTES   (UINT64_C(8) << 30)
#define SLICE_S       0.5 /* between two readings of the temperature */
#define SETTLED_S     60.0
#define SETTLE_MOST_S 900.0
#define WARM_S        120.0
#define COOL_S        180.0
#define POINTS_MAX    1024u

static struct load_curve curve;

/* Waits until the temperature has stayed the same for a minute. False: the drive reports none. */
static bool settle(struct load *load) {
  const double end_s = load_now_s(load) + SETTLE_MOST_S;
  double last = CALIBRATE_NONE, since_s = load_now_s(load), celsius;
  bool known = false;

  while (load_now_s(load) < end_s && load_now_s(load) < since_s + SETTLED_S) {
    load_idle(load, SLICE_S);
    if (!load_celsius(load, &celsius)) continue;
    known = true;
    if (celsius == last) continue;
    last = celsius;
    since_s = load_now_s(load);
  }
  return known;
}

static size_t record(struct load *load, const struct load_stream *stream, double seconds, struct fit_heat_point *points,
                     double *bytes, double *took_s) {
  const double begun_s = load_now_s(load);
  size_t count = 0;

  *bytes = 0;
  while (load_now_s(load) < begun_s + seconds && count < POINTS_MAX) {
    double celsius;
    if (stream != NULL) {
      load_run(load, stream, &curve);
      *bytes += curve.bytes;
    } else {
      load_idle(load, SLICE_S);
    }
    if (load_celsius(load, &celsius))
      points[count++] = (struct fit_heat_point){.seconds = load_now_s(load), .celsius = celsius};
  }
  *took_s = load_now_s(load) - begun_s;
  return count;
}

void calibrate_heat(struct load *load, struct calibrate_results *results) {
  static struct fit_heat_point warming[POINTS_MAX], cooling[POINTS_MAX];
  const uint64_t quarter = calibrate_share(load, 0.25), range = quarter < FIRST_BYTES ? quarter : FIRST_BYTES;
  const struct load_stream first = calibrate_write(0, range);
  const struct load_stream stream = {
      .op = SPATE_READ, .bytes = range, .seconds = SLICE_S, .io_bytes = CALIBRATE_IO_BYTES, .depth = 32};
  double bytes, took_s, unused, load_c;

  load_run(load, &first, &curve);
  load_flush(load);
  if (!settle(load)) return;
  size_t warm = record(load, &stream, WARM_S, warming, &bytes, &took_s);
  size_t cool = record(load, NULL, COOL_S, cooling, &unused, &unused);
  warm = fit_crossings(warming, warm);
  cool = fit_crossings(cooling, cool);
  if (!fit_heat(warming, warm, cooling, cool, &results->heat_constant_s, &load_c, &results->idle_c)) {
    results->heat_constant_s = results->idle_c = CALIBRATE_NONE;
    return;
  }
  results->rise_per_rate = (load_c - results->idle_c) / (bytes / took_s);
}
