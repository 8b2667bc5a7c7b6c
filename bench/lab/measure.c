/* SPDX-License-Identifier: Apache-2.0 */
#include "measure.h"
#include "options.h"

#include <stdlib.h>
#include <string.h>

#define SUB_SHIFT 4u
#define SUB_COUNT (1u << SUB_SHIFT)

/* Values below 16 have a bucket each. Above, the four bits after the leading one select it. */
static unsigned bucket_of(uint64_t ns) {
  if (ns < SUB_COUNT) return (unsigned)ns;
  unsigned log2 = 63u - (unsigned)__builtin_clzll(ns);
  unsigned sub = (unsigned)(ns >> (log2 - SUB_SHIFT)) & (SUB_COUNT - 1u);
  unsigned bucket = ((log2 - SUB_SHIFT + 1u) << SUB_SHIFT) + sub;
  return bucket < LAB_BUCKETS ? bucket : LAB_BUCKETS - 1u;
}

static uint64_t bucket_start(unsigned bucket) {
  if (bucket < SUB_COUNT) return bucket;
  unsigned log2 = (bucket >> SUB_SHIFT) + SUB_SHIFT - 1u;
  return (uint64_t)(SUB_COUNT + (bucket & (SUB_COUNT - 1u))) << (log2 - SUB_SHIFT);
}

void lab_times_add(struct lab_times *times, uint64_t ps) {
  uint64_t ns = ps / SIM_PS_PER_NS;

  if (times->total == 0 || ns < times->min_ns) times->min_ns = ns;
  if (ns > times->max_ns) times->max_ns = ns;
  times->count[bucket_of(ns)]++;
  times->sum_ns += ns;
  times->total++;
}

uint64_t lab_times_quantile_ns(const struct lab_times *times, double share) {
  uint64_t before = 0;
  uint64_t wanted = (uint64_t)(share * (double)times->total);

  for (unsigned i = 0; i < LAB_BUCKETS; i++) {
    before += times->count[i];
    if (before > wanted) {
      uint64_t start = bucket_start(i);
      return start > times->min_ns ? start : times->min_ns;
    }
  }
  return times->max_ns;
}

void lab_times_write(const struct lab_times *times, const char *name, struct json *json) {
  json_open(json, name, '{');
  json_integer(json, "count", times->total);
  json_real(json, "mean_ns", times->total > 0 ? (double)times->sum_ns / (double)times->total : 0);
  json_integer(json, "min_ns", times->min_ns);
  json_integer(json, "p50_ns", lab_times_quantile_ns(times, 0.5));
  json_integer(json, "p99_ns", lab_times_quantile_ns(times, 0.99));
  json_integer(json, "p999_ns", lab_times_quantile_ns(times, 0.999));
  json_integer(json, "max_ns", times->max_ns);
  json_close(json, '}');
}

void lab_series_init(struct lab_series *series, const char *const *names) {
  *series = (struct lab_series){.columns = 0};
  while (names[series->columns] != NULL) {
    if (series->columns == LAB_COLUMNS_MAX) lab_fail("a curve with too many columns");
    series->names[series->columns] = names[series->columns];
    series->columns++;
  }
}

void lab_series_add(struct lab_series *series, const double *row) {
  if (series->rows == series->room) {
    series->room = series->room > 0 ? 2 * series->room : 256;
    double *larger = realloc(series->values, series->room * series->columns * sizeof *larger);
    if (larger == NULL) lab_fail("no memory for a curve");
    series->values = larger;
  }
  memcpy(series->values + series->rows * series->columns, row, series->columns * sizeof *row);
  series->rows++;
}

void lab_series_write(const struct lab_series *series, const char *name, struct json *json) {
  json_open(json, name, '{');
  for (unsigned column = 0; column < series->columns; column++) {
    json_open(json, series->names[column], '[');
    for (size_t row = 0; row < series->rows; row++)
      json_real(json, NULL, series->values[row * series->columns + column]);
    json_close(json, ']');
  }
  json_close(json, '}');
}

void lab_series_free(struct lab_series *series) { free(series->values); }
