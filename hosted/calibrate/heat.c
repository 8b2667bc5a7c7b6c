/* SPDX-License-Identifier: Apache-2.0 */
/* How fast the drive warms while it reads, which wears nothing, and cools when it is idle. */
#include "steps.h"

#include <math.h>

#define FIRST_BYTES   (UINT64_C(8) << 30)
#define SLICE_S       0.5 /* between two looks at the temperature */
#define SETTLED_S     60.0
#define SETTLE_MOST_S 900.0
#define WARM_S        120.0
#define COOL_S        180.0
#define POINTS_MAX    1024u

static struct bench_curve curve;

/* Waits until the temperature has stayed the same for a minute. False: the drive does not tell it. */
static bool settle(struct bench *bench) {
  const double end_s = bench_now_s(bench) + SETTLE_MOST_S;
  double last = CALIBRATE_NONE, since_s = bench_now_s(bench), celsius;
  bool known = false;

  while (bench_now_s(bench) < end_s && bench_now_s(bench) < since_s + SETTLED_S) {
    bench_idle(bench, SLICE_S);
    if (!bench_celsius(bench, &celsius)) continue;
    known = true;
    if (celsius == last) continue;
    last = celsius;
    since_s = bench_now_s(bench);
  }
  return known;
}

static size_t record(struct bench *bench, const struct bench_stream *load, double seconds,
                     struct fit_heat_point *points, double *bytes, double *took_s) {
  const double begun_s = bench_now_s(bench);
  size_t count = 0;

  *bytes = 0;
  while (bench_now_s(bench) < begun_s + seconds && count < POINTS_MAX) {
    double celsius;
    if (load != NULL) {
      bench_run(bench, load, &curve);
      *bytes += curve.bytes;
    } else {
      bench_idle(bench, SLICE_S);
    }
    if (bench_celsius(bench, &celsius))
      points[count++] = (struct fit_heat_point){.seconds = bench_now_s(bench), .celsius = celsius};
  }
  *took_s = bench_now_s(bench) - begun_s;
  return count;
}

void calibrate_heat(struct bench *bench, struct calibrate_results *results) {
  static struct fit_heat_point warming[POINTS_MAX], cooling[POINTS_MAX];
  const uint64_t quarter = calibrate_share(bench, 0.25), range = quarter < FIRST_BYTES ? quarter : FIRST_BYTES;
  const struct bench_stream first = calibrate_write(0, range);
  const struct bench_stream load = {
      .op = SPATE_READ, .bytes = range, .seconds = SLICE_S, .io_bytes = CALIBRATE_IO_BYTES, .depth = 32};
  double bytes, took_s, unused, load_c;

  bench_run(bench, &first, &curve);
  bench_flush(bench);
  if (!settle(bench)) return;
  size_t warm = record(bench, &load, WARM_S, warming, &bytes, &took_s);
  size_t cool = record(bench, NULL, COOL_S, cooling, &unused, &unused);
  warm = fit_crossings(warming, warm);
  cool = fit_crossings(cooling, cool);
  if (!fit_heat(warming, warm, cooling, cool, &results->heat_constant_s, &load_c, &results->idle_c)) {
    results->heat_constant_s = results->idle_c = CALIBRATE_NONE;
    return;
  }
  results->rise_per_rate = (load_c - results->idle_c) / (bytes / took_s);
}
