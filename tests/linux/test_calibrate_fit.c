/* SPDX-License-Identifier: Apache-2.0 */
/* Fits curves whose parameters are known. */
#include "../../linux/command/calibrate/fit.c"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define POINTS 2000u

static struct fit_point points[POINTS];
static struct fit_gap gaps[64];
static size_t gap_count;

static void assert_near(double found, double expected, double relative) {
  if (fabs(found - expected) > relative * fabs(expected)) fail_msg("%g is not %g", found, expected);
}

/*
 * Media with these rates, each from `from` bytes on. A faster link fills a buffer in front of it. The media pauses
 * after each `every` bytes. `jitter_s` is added to one point and subtracted from the next.
 */
struct medium {
  double rate[3], from[3];
  unsigned count;
  double link, buffer, every, pause_s, jitter_s;
};

static double medium_seconds(const struct medium *medium, double bytes) {
  double seconds = 0;

  for (unsigned i = 0; i < medium->count; i++) {
    const double end = i + 1 < medium->count && medium->from[i + 1] < bytes ? medium->from[i + 1] : bytes;
    if (end > medium->from[i]) seconds += (end - medium->from[i]) / medium->rate[i];
  }
  return seconds;
}

static void draw(const struct medium *medium, double bytes) {
  gap_count = 0;
  for (unsigned i = 0; i < POINTS; i++) {
    const double at = bytes * (i + 1) / POINTS;
    const double drained = fmax(0, at - medium->buffer);
    const double seconds = fmax(at / medium->link, medium_seconds(medium, drained));
    points[i] = (struct fit_point){.bytes = at, .seconds = seconds + (i % 2 == 0 ? 1 : -1) * medium->jitter_s};
  }
  if (medium->every == 0) return;
  for (unsigned number = 1; number * medium->every + medium->buffer < bytes; number++) {
    const double at = number * medium->every + medium->buffer;
    gaps[gap_count++] = (struct fit_gap){.at_bytes = at, .seconds = medium->pause_s * 1.1};
    for (unsigned i = 0; i < POINTS; i++)
      if (points[i].bytes > at) points[i].seconds += medium->pause_s;
  }
}

static const struct medium with_cache = {.rate = {5e9, 1.4e9, 2.8e9},
                                         .from = {0, 10e9, 12e9},
                                         .count = 3,
                                         .link = 7e9,
                                         .buffer = 16e6,
                                         .every = 4e9,
                                         .pause_s = 0.01,
                                         .jitter_s = 0.0003};

static void test_three_segments_and_their_pauses(void **state) {
  (void)state;
  struct fit_segments found;
  double every = 0;

  draw(&with_cache, 40e9);
  gaps[gap_count++] = (struct fit_gap){.at_bytes = 39.5e9, .seconds = 0.0025}; /* jitter, not a pause */
  assert_true(fit_pauses(gaps, &gap_count, &every));
  assert_near(every, 4e9, 0.001);
  assert_int_equal(gap_count, 9);
  assert_true(fit_segments(points, POINTS, gaps, gap_count, 0, 1e8, FIT_SEGMENTS_MAX, &found));
  assert_int_equal(found.count, 3);
  assert_near(found.pause_s, 0.01, 0.02);
  for (unsigned i = 0; i < 3; i++)
    assert_near(found.segment[i].rate, with_cache.rate[i], 0.002);
  assert_near(fit_edge(&found.segment[1], found.segment[0].rate, with_cache.buffer), 10e9, 0.003);
  assert_near(found.segment[2].first_bytes - found.segment[1].first_bytes, 2e9, 0.01);
  assert_int_equal(fit_medium(&found, with_cache.buffer), 0);
}

static void test_pauses_are_removed_before_the_edge_is_found(void **state) {
  (void)state;
  struct medium medium = with_cache;
  struct fit_segments found;

  medium.every = 1.9e9;
  medium.from[1] = 2e9;
  medium.count = 2;
  draw(&medium, 3.5e9);
  assert_int_equal(gap_count, 1);
  fit_known_pauses(gaps, &gap_count, 0.01);
  assert_int_equal(gap_count, 1);
  assert_true(fit_segments(points, POINTS, gaps, gap_count, 0.01, 5e7, 3, &found));
  assert_int_equal(found.count, 2);
  assert_near(fit_edge(&found.segment[1], 5e9, medium.buffer), 2e9, 0.005);
  fit_known_pauses(gaps, &gap_count, 0.1); /* a length that no gap has */
  assert_int_equal(gap_count, 0);
}

/* A link that is hardly faster than the cache takes long to fill the buffer. That gives a segment at the link's rate.
 */
static void test_a_buffer_that_fills_is_not_a_cache(void **state) {
  (void)state;
  const struct medium medium = {
      .rate = {3.3e9, 1.7e9}, .from = {0, 2e9}, .count = 2, .link = 3.58e9, .buffer = 16e6, .jitter_s = 1e-5};
  struct fit_segments found;

  draw(&medium, 6e9);
  assert_true(fit_segments(points, POINTS, NULL, 0, 0, 0, FIT_SEGMENTS_MAX, &found));
  assert_int_equal(found.count, 3);
  assert_int_equal(fit_medium(&found, medium.buffer), 1);
  assert_near(found.segment[1].rate, 3.3e9, 0.005);
  assert_near(fit_edge(&found.segment[2], found.segment[1].rate, medium.buffer), 2e9, 0.01);
}

static void test_one_rate_is_one_segment(void **state) {
  (void)state;
  const struct medium medium = {.rate = {2e9}, .count = 1, .link = 2e9, .jitter_s = 0.002};
  struct fit_segments found;

  draw(&medium, 20e9);
  assert_true(fit_segments(points, POINTS, NULL, 0, 0, 0, FIT_SEGMENTS_MAX, &found));
  assert_int_equal(found.count, 1);
  assert_near(found.segment[0].rate, 2e9, 0.005);
  assert_false(fit_segments(points, 5, NULL, 0, 0, 0, FIT_SEGMENTS_MAX, &found));
  assert_false(fit_segments(points, POINTS, NULL, 0, 0, 21e9, FIT_SEGMENTS_MAX, &found));
}

static void test_random_gaps_are_not_pauses(void **state) {
  (void)state;
  static const double at[] = {1, 1.1, 5, 5.2, 9, 17, 17.5, 30};
  double every = 0;

  for (gap_count = 0; gap_count < 8; gap_count++)
    gaps[gap_count] = (struct fit_gap){.at_bytes = at[gap_count] * 1e9, .seconds = 0.01};
  assert_false(fit_pauses(gaps, &gap_count, &every));
  assert_int_equal(gap_count, 0);
  gap_count = 2; /* too few */
  assert_false(fit_pauses(gaps, &gap_count, &every));
  gap_count = 0;
  assert_false(fit_pauses(gaps, &gap_count, &every));
}

static void test_medians_and_lines(void **state) {
  (void)state;
  double odd[] = {3, 100, 1}, even[] = {4, 1, 3, 2};
  const double x[] = {1, 2, 4}, y[] = {5, 7, 11}, same[] = {2, 2, 2};
  double slope = 0, offset = 0;

  assert_true(fit_median(odd, 3) == 3 && fit_median(even, 4) == 2.5 && fit_median(odd, 0) == 0);
  assert_true(fit_line(x, y, 3, &slope, &offset));
  assert_near(slope, 2, 1e-9);
  assert_near(offset, 3, 1e-9);
  assert_false(fit_line(x, y, 1, &slope, &offset));
  assert_false(fit_line(same, y, 3, &slope, &offset));
}

/* ---- heat ---- */

#define SENSED 600u

/* The readings of a sensor of whole degrees, half a second apart. */
static size_t sense(struct fit_heat_point *out, double from_c, double to_c, double constant_s) {
  for (unsigned i = 0; i < SENSED; i++) {
    const double seconds = 100 + 0.5 * i;
    out[i] = (struct fit_heat_point){
        .seconds = seconds, .celsius = floor(to_c + (from_c - to_c) * exp(-(seconds - 100) / constant_s) + 0.5)};
  }
  return fit_crossings(out, SENSED);
}

static void test_whole_degrees_give_fractions(void **state) {
  (void)state;
  static struct fit_heat_point warming[SENSED], cooling[SENSED];
  double constant_s = 0, load_c = 0, idle_c = 0;
  const size_t warm = sense(warming, 32.2, 72.6, 78), cool = sense(cooling, 70, 32.2, 78);

  assert_in_range(warm, 38, 40);
  assert_true(warming[0].celsius == 32.5 && warming[1].celsius == 33.5);
  assert_true(fit_heat(warming, warm, cooling, cool, &constant_s, &load_c, &idle_c));
  assert_near(constant_s, 78, 0.02);
  assert_near(load_c, 72.6, 0.005);
  assert_near(idle_c, 32.2, 0.01);
}

static void test_a_drive_that_stays_cold_gives_no_result(void **state) {
  (void)state;
  static struct fit_heat_point warming[SENSED], cooling[SENSED];
  double constant_s = 0, load_c = 0, idle_c = 0;
  const size_t warm = sense(warming, 30, 31, 50), cool = sense(cooling, 31, 30, 50);

  assert_true(warm < 4);
  assert_false(fit_heat(warming, warm, cooling, cool, &constant_s, &load_c, &idle_c));
  assert_int_equal(fit_crossings(warming, 0), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_three_segments_and_their_pauses),
      cmocka_unit_test(test_pauses_are_removed_before_the_edge_is_found),
      cmocka_unit_test(test_a_buffer_that_fills_is_not_a_cache),
      cmocka_unit_test(test_one_rate_is_one_segment),
      cmocka_unit_test(test_random_gaps_are_not_pauses),
      cmocka_unit_test(test_medians_and_lines),
      cmocka_unit_test(test_whole_degrees_give_fractions),
      cmocka_unit_test(test_a_drive_that_stays_cold_gives_no_result),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
