/* SPDX-License-Identifier: Apache-2.0 */
#include "fit.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* ---- lines and medians ---- */

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

double fit_median(double *values, size_t count) {
  if (count == 0) return 0;
  qsort(values, count, sizeof *values, by_size);
  return count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* Sums over points, from which the line of least squares follows. */
struct sums {
  double n, x, y, xx, xy, yy;
};

static void add(struct sums *sums, double x, double y) {
  sums->n++;
  sums->x += x;
  sums->y += y;
  sums->xx += x * x;
  sums->xy += x * y;
  sums->yy += y * y;
}

static bool line_of(const struct sums *sums, double *slope, double *offset) {
  const double spread = sums->xx - sums->x * sums->x / sums->n;

  if (sums->n < 2 || spread <= 1e-12 * sums->xx) return false;
  *slope = (sums->xy - sums->x * sums->y / sums->n) / spread;
  *offset = (sums->y - *slope * sums->x) / sums->n;
  return true;
}

/* The sum of the squared distances of the points from their line. */
static double error_of(const struct sums *sums) {
  double slope, offset;

  if (!line_of(sums, &slope, &offset)) return 0;
  const double y = sums->yy - sums->y * sums->y / sums->n;
  return fmax(0, y - slope * (sums->xy - sums->x * sums->y / sums->n));
}

bool fit_line(const double *x, const double *y, size_t count, double *slope, double *offset) {
  struct sums sums = {.n = 0};

  for (size_t i = 0; i < count; i++)
    add(&sums, x[i], y[i]);
  return line_of(&sums, slope, offset);
}

/* ---- pauses ---- */

#define PAUSES_MIN 3u
#define IRREGULAR  0.25 /* of the distance between two pauses: a larger deviation means that they are not regular */

bool fit_pauses(struct fit_gap *gaps, size_t *count, double *every_bytes) {
  double *values = calloc(*count + 1u, sizeof *values);
  size_t kept = 0;

  if (values == NULL) abort();
  /* A gap shorter than half of the upper quartile is the drive's ordinary jitter. */
  for (size_t i = 0; i < *count; i++)
    values[i] = gaps[i].seconds;
  qsort(values, *count, sizeof *values, by_size);
  const double least_s = *count == 0 ? 0 : values[*count - 1u - *count / 4u] / 2;
  for (size_t i = 0; i < *count; i++)
    if (gaps[i].seconds >= least_s) gaps[kept++] = gaps[i];
  *count = kept;
  for (size_t i = 0; i + 1 < kept; i++)
    values[i] = gaps[i + 1].at_bytes - gaps[i].at_bytes;
  *every_bytes = kept < PAUSES_MIN ? 0 : fit_median(values, kept - 1u);
  for (size_t i = 0; i + 1 < kept; i++)
    values[i] = fabs(gaps[i + 1].at_bytes - gaps[i].at_bytes - *every_bytes);
  const double deviation = kept < PAUSES_MIN ? 0 : fit_median(values, kept - 1u);
  free(values);
  if (*every_bytes > 0 && deviation < IRREGULAR * *every_bytes) return true;
  *count = 0;
  return false;
}

void fit_known_pauses(struct fit_gap *gaps, size_t *count, double pause_s) {
  size_t kept = 0;

  for (size_t i = 0; i < *count; i++)
    if (pause_s > 0 && gaps[i].seconds >= pause_s / 2 && gaps[i].seconds <= pause_s * 2) gaps[kept++] = gaps[i];
  *count = kept;
}

/* ---- segments ---- */

#define DIFFERENCE 0.05 /* two segments have different rates if they differ by this share or more */
#define POINTS_MIN 6u   /* in a segment */
#define LEFT_MOST  0.6  /* two lines must leave at most this share of one line's error: on jitter they leave more */
#define EDGE_SHARE 0.02 /* of a segment, at both ends, is left out of the fit: the edge is not sharp */

/* The curve without the pauses' time: x bytes, y seconds. */
struct curve {
  double *x, *y;
  size_t count;
  const struct fit_gap *gaps;
  size_t gap_count;
};

static size_t gaps_before(const struct curve *curve, double bytes) {
  size_t count = 0;

  while (count < curve->gap_count && curve->gaps[count].at_bytes < bytes)
    count++;
  return count;
}

static bool line_between(const struct curve *curve, size_t first, size_t end, double *slope, double *offset) {
  const size_t margin = (size_t)((double)(end - first) * EDGE_SHARE);
  struct sums sums = {.n = 0};

  for (size_t i = first + margin; i + margin < end; i++)
    add(&sums, curve->x[i] - curve->x[first], curve->y[i] - curve->y[first]);
  if (!line_of(&sums, slope, offset)) return false;
  *offset += curve->y[first] - *slope * curve->x[first];
  return *slope > 0;
}

/* The index at which two lines describe the points best; `end`: there is none. Sums from the left and from the right
 * make it one pass each. `left_share`: the error of the two lines as a share of one line's error. */
static size_t best_split(const struct curve *curve, size_t first, size_t end, double *left_share) {
  const size_t count = end - first;
  double *left = calloc(count + 1u, sizeof *left), best = HUGE_VAL;
  struct sums sums = {.n = 0};
  size_t at = end;

  if (left == NULL) abort();
  for (size_t i = 0; i < count; i++) {
    add(&sums, curve->x[first + i] - curve->x[first], curve->y[first + i] - curve->y[first]);
    left[i + 1] = error_of(&sums);
  }
  sums = (struct sums){.n = 0};
  for (size_t i = count; i-- > 0;) {
    add(&sums, curve->x[first + i] - curve->x[end - 1], curve->y[first + i] - curve->y[end - 1]);
    if (i < POINTS_MIN || count - i < POINTS_MIN) continue;
    const double error = left[i] + error_of(&sums);
    if (error < best) {
      best = error;
      at = first + i;
    }
  }
  *left_share = left[count] > 0 ? best / left[count] : 1;
  free(left);
  return at;
}

static bool differs(const struct curve *curve, size_t first, size_t at, size_t end) {
  double a, b, offset;

  return line_between(curve, first, at, &a, &offset) && line_between(curve, at, end, &b, &offset) &&
         fabs(a - b) >= DIFFERENCE * fmin(a, b);
}

/* Divides the longest segment whose two parts differ, until there is none. `cuts` holds the ends of the segments. */
static unsigned divide(const struct curve *curve, size_t first, unsigned most, size_t *cuts) {
  unsigned count = 1;

  cuts[0] = curve->count;
  while (count < most) {
    unsigned widest = count;
    size_t at = 0, begin = first, gained = 0;
    for (unsigned i = 0; i < count; begin = cuts[i++]) {
      if (cuts[i] - begin < 2u * POINTS_MIN) continue;
      double left_share;
      const size_t split = best_split(curve, begin, cuts[i], &left_share);
      if (split >= cuts[i] || left_share > LEFT_MOST || !differs(curve, begin, split, cuts[i])) continue;
      if (cuts[i] - begin <= gained) continue;
      gained = cuts[i] - begin;
      widest = i;
      at = split;
    }
    if (widest == count) break;
    for (unsigned i = count; i > widest; i--)
      cuts[i] = cuts[i - 1u];
    cuts[widest] = at;
    count++;
  }
  return count;
}

/* With three segments, each edge was found while the other edge disturbed the fit. So each edge is searched again,
 * between its neighbours only. */
static void refine(const struct curve *curve, size_t first, unsigned count, size_t *cuts) {
  double unused;

  for (unsigned turn = 0; turn < 4; turn++)
    for (unsigned i = 0; i + 1 < count; i++)
      cuts[i] = best_split(curve, i == 0 ? first : cuts[i - 1u], cuts[i + 1u], &unused);
}

/* Joins segments that no longer differ after refine() has moved the edges. */
static unsigned merge(const struct curve *curve, size_t first, unsigned count, size_t *cuts) {
  for (unsigned i = 0; i + 1 < count;) {
    if (differs(curve, i == 0 ? first : cuts[i - 1u], cuts[i], cuts[i + 1u])) {
      i++;
      continue;
    }
    for (unsigned k = i; k + 1 < count; k++)
      cuts[k] = cuts[k + 1u];
    refine(curve, first, --count, cuts);
    i = 0;
  }
  return count;
}

/* By how much each gap delays the curve: the median over all gaps. */
static double pause_of(const struct fit_point *points, size_t count, const struct fit_gap *gaps, size_t gap_count) {
  enum { SIDE = 24 };
  double *values = calloc(gap_count + 1u, sizeof *values);
  size_t found = 0, at = 0;

  if (values == NULL) abort();
  for (size_t g = 0; g < gap_count; g++) {
    double x[2 * SIDE], y[2 * SIDE], slope, slope_behind, before, behind;
    while (at < count && points[at].bytes <= gaps[g].at_bytes)
      at++;
    if (at < SIDE || at + SIDE > count) continue;
    /* Only gaps with no other gap among the points on both sides. */
    if (g > 0 && gaps[g - 1].at_bytes >= points[at - SIDE].bytes) continue;
    if (g + 1 < gap_count && gaps[g + 1].at_bytes <= points[at + SIDE - 1].bytes) continue;
    for (size_t i = 0; i < 2 * SIDE; i++) {
      x[i] = points[at - SIDE + i].bytes - gaps[g].at_bytes;
      y[i] = points[at - SIDE + i].seconds - points[at].seconds;
    }
    if (fit_line(x, y, SIDE, &slope, &before) && fit_line(x + SIDE, y + SIDE, SIDE, &slope_behind, &behind))
      values[found++] = behind - before;
  }
  const double pause_s = fit_median(values, found);
  free(values);
  if (found > 0) return pause_s;
  double sum = 0;
  for (size_t g = 0; g < gap_count; g++)
    sum += gaps[g].seconds;
  return gap_count == 0 ? 0 : sum / (double)gap_count;
}

/* Two lines meet at the edge, more exactly than any point shows it. Lines that hardly differ may meet elsewhere; then
 * the point at the cut is the edge. */
static double meet_of(const struct curve *curve, size_t begin, size_t cut, size_t end, double meet) {
  return meet >= curve->x[begin] && meet <= curve->x[end - 1u] ? meet : curve->x[cut];
}

static void describe(const struct curve *curve, size_t first, unsigned count, const size_t *cuts,
                     struct fit_segments *out) {
  double slope_before = 0, offset_before = 0;

  for (unsigned i = 0; i < count; i++) {
    double slope = 0, offset = 0;
    (void)line_between(curve, i == 0 ? first : cuts[i - 1u], cuts[i], &slope, &offset);
    const double meet = i == 0 ? 0
                               : meet_of(curve, i < 2 ? first : cuts[i - 2u], cuts[i - 1u], cuts[i],
                                         (offset_before - offset) / (slope - slope_before));
    out->segment[i] = (struct fit_segment){.first_bytes = meet, .rate = slope > 0 ? 1 / slope : 0, .offset_s = offset};
    slope_before = slope;
    offset_before = offset;
  }
  out->count = count;
}

bool fit_segments(const struct fit_point *points, size_t count, const struct fit_gap *gaps, size_t gap_count,
                  double pause_s, double skip_bytes, unsigned most, struct fit_segments *out) {
  struct curve curve = {.x = calloc(count + 1u, sizeof(double)),
                        .y = calloc(count + 1u, sizeof(double)),
                        .gaps = gaps,
                        .gap_count = gap_count};
  size_t cuts[FIT_SEGMENTS_MAX + 1u];

  if (curve.x == NULL || curve.y == NULL) abort();
  *out = (struct fit_segments){.pause_s = pause_s > 0 ? pause_s : pause_of(points, count, gaps, gap_count)};
  for (size_t i = 0; i < count; i++) {
    if (points[i].bytes < skip_bytes) continue;
    curve.x[curve.count] = points[i].bytes;
    curve.y[curve.count++] = points[i].seconds - out->pause_s * (double)gaps_before(&curve, points[i].bytes);
  }
  const bool enough = curve.count >= 2u * POINTS_MIN;
  if (enough) {
    unsigned parts = divide(&curve, 0, most, cuts);
    refine(&curve, 0, parts, cuts);
    parts = merge(&curve, 0, parts, cuts);
    describe(&curve, 0, parts, cuts, out);
  }
  free(curve.x);
  free(curve.y);
  return enough;
}

double fit_edge(const struct fit_segment *after, double before, double buffer_bytes) {
  return (after->offset_s + buffer_bytes / after->rate) / (1 / before - 1 / after->rate);
}

unsigned fit_medium(const struct fit_segments *segments, double buffer_bytes) {
  if (segments->count < 2) return 0;
  const struct fit_segment *first = &segments->segment[0], *second = &segments->segment[1];
  const double filled_bytes = second->first_bytes * (1 - second->rate / first->rate);
  return filled_bytes > 0 && filled_bytes < 2 * buffer_bytes ? 1 : 0;
}

/* ---- heat ---- */

#define HEAT_POINTS_MIN 4u
#define CONSTANT_MIN_S  2.0
#define CONSTANT_STEP   1.002
#define CONSTANTS       3900u
#define CONSTANT_MAX_S  4800.0 /* a constant at the end of the range is not a result */

size_t fit_crossings(struct fit_heat_point *points, size_t count) {
  size_t found = 0; /* always below i, so a point is overwritten only after it was read */

  for (size_t i = 1; i < count; i++) {
    const double before = points[i - 1].celsius, now = points[i].celsius;
    if (before == now) continue;
    points[found++] = (struct fit_heat_point){.seconds = (points[i - 1].seconds + points[i].seconds) / 2,
                                              .celsius = (before + now) / 2};
  }
  return found;
}

/* For a given time constant, the curve is a line over exp(-t / constant). */
static double approach(const struct fit_heat_point *points, size_t count, double constant_s, double *end_c) {
  struct sums sums = {.n = 0};
  double slope;

  for (size_t i = 0; i < count; i++)
    add(&sums, exp(-(points[i].seconds - points[0].seconds) / constant_s), points[i].celsius - points[0].celsius);
  if (!line_of(&sums, &slope, end_c)) return HUGE_VAL;
  *end_c += points[0].celsius;
  return error_of(&sums);
}

bool fit_heat(const struct fit_heat_point *warming, size_t warming_count, const struct fit_heat_point *cooling,
              size_t cooling_count, double *constant_s, double *load_c, double *idle_c) {
  double best = HUGE_VAL;

  if (warming_count < HEAT_POINTS_MIN || cooling_count < HEAT_POINTS_MIN) return false;
  *constant_s = *load_c = *idle_c = 0;
  for (unsigned i = 0; i < CONSTANTS; i++) {
    const double constant = CONSTANT_MIN_S * pow(CONSTANT_STEP, i);
    double load = 0, idle = 0;
    const double error =
        approach(warming, warming_count, constant, &load) + approach(cooling, cooling_count, constant, &idle);
    if (!(error < best)) continue;
    best = error;
    *constant_s = constant;
    *load_c = load;
    *idle_c = idle;
  }
  return isfinite(best) && *load_c > *idle_c && *constant_s < CONSTANT_MAX_S;
}
