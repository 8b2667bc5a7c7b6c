/* SPDX-License-Identifier: Apache-2.0 */
/* The compiled-in profiles: each reproduces the rates that it was fitted to. */
#include "nand/media.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define GB    UINT64_C(1000000000)
#define PIECE (UINT64_C(4) << 20)

static const struct sim_profile *find(const char *name) {
  const struct sim_profile *profile = sim_profile_find(name);

  if (!profile) fail_msg("no profile %s", name);
  return profile;
}

static void every_drive_is_there(void **state) {
  (void)state;
  static const char *const names[] = {"960pro", "970evoplus", "980pro", "990pro", "exascend", "ideal", "starblaze"};
  unsigned count = 0;

  for (; count < sizeof names / sizeof *names; count++) {
    assert_string_equal(sim_profile_at(count)->name, names[count]);
    assert_ptr_equal(sim_profile_find(names[count]), sim_profile_at(count));
  }
  assert_null(sim_profile_at(count));
  assert_null(sim_profile_find("980"));
  assert_null(sim_profile_find(""));
  assert_int_equal(find("980pro")->capacity_bytes, UINT64_C(2000398934016));
  assert_string_equal(find("980pro")->model, "Samsung SSD 980 PRO 2TB");
  assert_int_equal(find("980pro")->slc_bytes, 226 * GB);
  assert_true(find("980pro")->volatile_cache);
  assert_int_equal(find("exascend")->atomic_bytes, 4096);
}

/* The mean rate in GB/s over these bytes, from a host with this maximum rate. */
static double mean(struct sim_media *media, uint64_t *now_ps, double host_rate, uint64_t bytes, bool fresh) {
  const uint64_t start_ps = *now_ps, piece_ps = (uint64_t)(PIECE / host_rate * 1e12);

  for (uint64_t done = 0; done < bytes; done += PIECE) {
    const uint64_t taken_ps = sim_media_write(media, *now_ps, PIECE, fresh ? PIECE : 0);

    *now_ps = taken_ps > *now_ps + piece_ps ? taken_ps : *now_ps + piece_ps;
  }
  return (double)bytes / ((double)(*now_ps - start_ps) / 1e12) / 1e9;
}

static void assert_rate(const char *name, double filled, double host_rate, uint64_t skip, uint64_t bytes,
                        double should_be) {
  struct sim_media media;
  uint64_t now_ps = 0;
  double rate;

  sim_media_init(&media, find(name), filled);
  if (skip > 0) (void)mean(&media, &now_ps, host_rate, skip, filled < 1);
  rate = mean(&media, &now_ps, host_rate, bytes, filled < 1);
  print_message("%-10s %4u GB after %3u GB, host %.2f: %.3f GB/s (%.2f)\n", name, (unsigned)(bytes / GB),
                (unsigned)(skip / GB), host_rate / 1e9, rate, should_be);
  if (fabs(rate / should_be - 1) > 0.015) fail_msg("%s: %g GB/s, not %g", name, rate, should_be);
  assert_false(media.throttled_ps > 0);
}

static void each_gives_the_rates_it_was_fitted_to(void **state) {
  (void)state;
  assert_rate("980pro", 0, 2.96e9, 0, 1000 * GB, 2.8);
  assert_rate("980pro", 1, 2.96e9, 0, 2000 * GB, 2.0);
  assert_rate("980pro", 0, 2.96e9, 227 * GB, 18 * GB, 1.4);
  assert_rate("970evoplus", 0, 2.5e9, 0, 40 * GB, 2.5);
  assert_rate("970evoplus", 0, 2.5e9, 45 * GB, 200 * GB, 1.7);
  assert_rate("960pro", 0, 2.96e9, 0, 500 * GB, 2.0);
  assert_rate("960pro", 1, 2.96e9, 0, 1000 * GB, 2.0);
  assert_rate("starblaze", 0, 2.96e9, 0, 1000 * GB, 2.3);
  assert_rate("exascend", 0, 2.96e9, 0, 1000 * GB, 2.65);
  assert_rate("990pro", 0, 5.6e9, 0, 100 * GB, 5.6);
}

static void the_ideal_drive_does_not_limit(void **state) {
  (void)state;
  const struct sim_profile *profile = find("ideal");
  struct sim_media media;
  uint64_t now_ps = 0;

  sim_media_init(&media, profile, 0);
  for (unsigned i = 0; i < 10000; i++, now_ps += 100000)
    assert_int_equal(sim_media_write(&media, now_ps, 65536, 65536), now_ps);
  assert_in_range(sim_media_flush(&media, now_ps) - now_ps, 0, 1000000);
  assert_in_range(sim_media_read(&media, now_ps, 65536) - now_ps, 80000000, 80100000);
  assert_int_equal(profile->write_latency_ns, 10000);
  assert_int_equal(media.throttled_ps, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_drive_is_there),
      cmocka_unit_test(each_gives_the_rates_it_was_fitted_to),
      cmocka_unit_test(the_ideal_drive_does_not_limit),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
