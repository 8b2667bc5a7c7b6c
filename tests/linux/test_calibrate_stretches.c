/* SPDX-License-Identifier: Apache-2.0 */
/* Segments that an SLC cache explains, and segments that it cannot explain. */
#include "../../linux/command/calibrate/fit.c"
#include "../../linux/command/calibrate/stretches.c"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define GB 1e9

/* Segments at these rates, each from `from` bytes on, in the form of fit_segments(). */
static struct fit_segments segments(unsigned count, const double *from, const double *rate) {
  struct fit_segments found = {.count = count};
  double seconds = 0;

  for (unsigned i = 0; i < count; i++) {
    if (i > 0) seconds += (from[i] - from[i - 1]) / rate[i - 1];
    found.segment[i] =
        (struct fit_segment){.first_bytes = from[i], .rate = rate[i], .offset_s = seconds - from[i] / rate[i]};
  }
  return found;
}

static struct calibrate_results results_of(unsigned count, const double *from, const double *rate) {
  const struct fit_segments found = segments(count, from, rate);
  struct calibrate_results results = {.buffer_bytes = CALIBRATE_NONE};

  calibrate_stretches(&found, 100 * GB, &results);
  return results;
}

static void assert_near(double found, double expected) {
  if (!(fabs(found - expected) <= 1e-6 * expected)) fail_msg("%g is not %g", found, expected);
}

static void test_one_segment_means_no_cache(void **state) {
  (void)state;
  const struct calibrate_results results = results_of(1, (double[]){0}, (double[]){2 * GB});

  assert_true(results.slc_bytes == 0 && results.fold_bytes == 0);
  assert_near(results.slc_rate, 2 * GB);
  assert_near(results.direct_rate, 2 * GB);
}

static void test_three_segments_are_a_cache_and_folding(void **state) {
  (void)state;
  const struct calibrate_results results =
      results_of(3, (double[]){0, 10 * GB, 12 * GB}, (double[]){5 * GB, 1 * GB, 2 * GB});

  assert_near(results.slc_bytes, 10 * GB);
  assert_near(results.fold_bytes, 2 * GB);
  assert_near(results.fold_rate, 1 * GB);
  assert_near(results.direct_rate, 2 * GB);
}

static void test_further_segments_are_folding_at_their_mean_rate(void **state) {
  (void)state;
  const struct calibrate_results results =
      results_of(4, (double[]){0, 10 * GB, 12 * GB, 16 * GB}, (double[]){5 * GB, 1 * GB, 4 * GB, 2 * GB});

  assert_true(results.stretches == 4);
  assert_near(results.fold_bytes, 6 * GB);
  assert_near(results.fold_rate, 2 * GB); /* 2 GB in 2 s and 4 GB in 1 s */
  assert_near(results.direct_rate, 2 * GB);
}

/* The drive may have been busy with garbage collection, or hot. This does not prove that it has no cache. */
static void test_a_stream_that_becomes_faster_says_nothing_about_a_cache(void **state) {
  (void)state;
  const struct calibrate_results results =
      results_of(3, (double[]){0, 5 * GB, 20 * GB}, (double[]){1 * GB, 5 * GB, 2 * GB});

  assert_true(isnan(results.slc_bytes) && isnan(results.slc_rate) && isnan(results.fold_bytes));
  assert_near(results.direct_rate, 2 * GB);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_one_segment_means_no_cache),
      cmocka_unit_test(test_three_segments_are_a_cache_and_folding),
      cmocka_unit_test(test_further_segments_are_folding_at_their_mean_rate),
      cmocka_unit_test(test_a_stream_that_becomes_faster_says_nothing_about_a_cache),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
