/* SPDX-License-Identifier: Apache-2.0 */
/* Measurements: times as a histogram, and curves as rows of numbers. */
#ifndef SPATE_LAB_MEASURE_H
#define SPATE_LAB_MEASURE_H

#include "json.h"
#include <stdint.h>

/* A histogram with 16 buckets per octave: quantiles are within 5 %. */
#define LAB_BUCKETS 640u

struct lab_times {
  uint64_t count[LAB_BUCKETS];
  uint64_t total, sum_ns, min_ns, max_ns;
};

void lab_times_add(struct lab_times *times, uint64_t ps);
uint64_t lab_times_quantile_ns(const struct lab_times *times, double share);
void lab_times_write(const struct lab_times *times, const char *name, struct json *json);

/* A curve: named columns, and the rows that were added. */
#define LAB_COLUMNS_MAX 12u

struct lab_series {
  const char *names[LAB_COLUMNS_MAX];
  unsigned columns;
  double *values;
  size_t rows, room;
};

/* `names` ends with NULL. */
void lab_series_init(struct lab_series *series, const char *const *names);
void lab_series_add(struct lab_series *series, const double *row);
void lab_series_write(const struct lab_series *series, const char *name, struct json *json); /* one list per column */
void lab_series_free(struct lab_series *series);

#endif
