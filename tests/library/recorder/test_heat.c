/* SPDX-License-Identifier: Apache-2.0 */
/* Does the recorder warn in time that a drive will be too hot? It gets a temperature once a second, in whole degrees,
 * as drives report it. */
#include "recorder_fixture.h"

#define WARNING  80
#define CRITICAL 85
#define S_NS     UINT64_C(1000000000)

static double between(uint64_t *random, double low, double high) {
  return low + (high - low) * (double)(ram_random(random) >> 11) * 0x1p-53;
}

static enum spate_level report(struct fixture *fixture, double celsius) {
  spate_recorder_temperature(&fixture->recorder, (int16_t)celsius, WARNING, CRITICAL);
  work(fixture);
  assert_int_equal(fixture->recorder.heat.celsius, (int16_t)celsius);
  return fixture->recorder.heat.level;
}

/* The next report, about a second later. */
static enum spate_level report_next(struct fixture *fixture, uint64_t *random, double celsius) {
  clock_ns += (uint64_t)(between(random, 0.9, 1.2) * 1e9);
  return report(fixture, celsius);
}

/* One stream, which receives the events. */
static struct fixture *open_heated(void) {
  clock_ns = 0;
  struct fixture *fixture = open_fixture(4096, 16);

  open_source(fixture, &fixture->sources[0], 1, false, 0);
  return fixture;
}

struct heating {
  double celsius;                          /* when the load begins */
  double per_s;                            /* the rise at first, in kelvin per second */
  double settles_at;                       /* the final temperature of an unlimited load */
  uint64_t watch_ns, slow_ns, critical_ns; /* when each level was first reached */
  uint64_t warning_ns, reached_critical_ns;
};

/* Some minutes at rest, give or take a degree, and then the load. Ends when the drive is critical, or after half an
 * hour. */
static void heat_up(struct fixture *fixture, struct heating *heating, uint64_t *random, bool check_left) {
  double celsius = heating->celsius;
  uint64_t at_ns;

  for (unsigned i = 0; i < 300; i++)
    assert_int_equal(report_next(fixture, random, celsius + between(random, 0, 1)), SPATE_LEVEL_CALM);
  while (clock_ns < 2100 * S_NS && heating->reached_critical_ns == 0) {
    at_ns = clock_ns;
    const enum spate_level level = report_next(fixture, random, celsius);
    const struct spate_heat *heat = &fixture->recorder.heat;
    if (level >= SPATE_LEVEL_WATCH && heating->watch_ns == 0) heating->watch_ns = clock_ns;
    if (level >= SPATE_LEVEL_SLOW && heating->slow_ns == 0) heating->slow_ns = clock_ns;
    if (level >= SPATE_LEVEL_CRITICAL && heating->critical_ns == 0) heating->critical_ns = clock_ns;
    if (celsius >= WARNING && heating->warning_ns == 0) heating->warning_ns = clock_ns;
    if (celsius >= CRITICAL) heating->reached_critical_ns = clock_ns;
    /* The time of the present degree, and of each end of the four before, is known to one sample: 1.2 s. A degree that
     * is just overdue counts as still to come. */
    if (check_left && celsius > heating->celsius + 6 && celsius < WARNING) {
      const double left_ms = (WARNING - celsius) / heating->per_s * 1000;
      const double slack_ms = left_ms * 0.35 * heating->per_s + 2500 + 1000 / heating->per_s;
      if (heat->left_ms > left_ms + slack_ms || heat->left_ms + slack_ms < left_ms)
        fail_msg("%.3f K/s at %.1f C: %u ms instead of %.0f", heating->per_s, celsius, heat->left_ms, left_ms);
    }
    const double slower =
        heating->settles_at > 0 ? (heating->settles_at - celsius) / (heating->settles_at - heating->celsius) : 1;
    celsius += heating->per_s * slower * (double)(clock_ns - at_ns) / 1e9;
  }
}

static void levels_come_before_the_heat(void **state) {
  (void)state;

  for (uint64_t seed = 1; seed <= 100; seed++) {
    uint64_t random = seed;
    struct heating heating = {.celsius = (int)between(&random, 30, 55), .per_s = between(&random, 0.02, 0.6)};
    struct fixture *fixture = open_heated();
    heat_up(fixture, &heating, &random, true);
    if (heating.warning_ns == 0) { /* too slow to reach it in this half hour */
      close_fixture(fixture);
      continue;
    }
    const double slow_s = (double)(heating.warning_ns - heating.slow_ns) / 1e9;
    const double watch_s = (double)(heating.warning_ns - heating.watch_ns) / 1e9;
    const double possible_s =
        (WARNING - heating.celsius - 4) / heating.per_s; /* the rise is noticed from the second degree on */
    if (heating.slow_ns == 0 || slow_s < 18 || slow_s > 45 || watch_s < (possible_s < 120 ? possible_s : 120))
      fail_msg("seed %lu: %.3f K/s from %.0f C: WATCH %.1f s, SLOW %.1f s ahead", (unsigned long)seed, heating.per_s,
               heating.celsius, watch_s, slow_s);
    if (heating.reached_critical_ns > 0) {
      assert_int_equal(heating.critical_ns, heating.reached_critical_ns);
      assert_int_equal(fixture->events[SPATE_EVENT_HEAT], 3);
      assert_int_equal(fixture->values[SPATE_EVENT_HEAT], SPATE_LEVEL_CRITICAL);
    }
    close_fixture(fixture);
  }
}

/* With a heat sink: it warms up as fast at first, but stops well below the limit. */
static void a_drive_that_levels_off_is_left_alone(void **state) {
  (void)state;

  for (uint64_t seed = 1; seed <= 40; seed++) {
    uint64_t random = seed;
    struct heating heating = {
        .celsius = 35, .per_s = between(&random, 0.05, 0.35), .settles_at = between(&random, 60, 72)};
    struct fixture *fixture = open_heated();
    heat_up(fixture, &heating, &random, false);
    if (heating.slow_ns != 0 || fixture->recorder.heat.level != SPATE_LEVEL_CALM ||
        fixture->events[SPATE_EVENT_HEAT] > 4)
      fail_msg("seed %lu: %.3f K/s to %.1f C: level %d, %lu events", (unsigned long)seed, heating.per_s,
               heating.settles_at, fixture->recorder.heat.level, (unsigned long)fixture->events[SPATE_EVENT_HEAT]);
    close_fixture(fixture);
  }
}

static void a_second_rise_is_noticed_like_the_first(void **state) {
  (void)state;
  struct fixture *fixture = open_heated();
  struct heating heating = {.celsius = 40, .per_s = 0.2};
  uint64_t random = 3;

  for (int celsius = 40; celsius < 72; celsius++)
    (void)report_next(fixture, &random, celsius);
  for (int celsius = 72; celsius > 40; celsius--)
    (void)report_next(fixture, &random, celsius);
  for (unsigned i = 0; i < 10; i++)
    (void)report_next(fixture, &random, 40);
  heat_up(fixture, &heating, &random, true);
  assert_in_range(heating.warning_ns - heating.watch_ns, 140 * S_NS, 200 * S_NS);
  assert_in_range(heating.warning_ns - heating.slow_ns, 25 * S_NS, 35 * S_NS);
  close_fixture(fixture);
}

static void the_level_does_not_flutter_near_the_limit(void **state) {
  (void)state;
  struct fixture *fixture = open_heated();
  uint64_t random = 7;

  for (unsigned i = 0; i < 600; i++)
    (void)report_next(fixture, &random, WARNING - i / 12 % 2);
  assert_int_equal(fixture->events[SPATE_EVENT_HEAT], 1);
  assert_int_equal(fixture->recorder.heat.level, SPATE_LEVEL_SLOW);
  for (unsigned i = 0; i < 600; i++)
    (void)report_next(fixture, &random, CRITICAL - i / 12 % 2);
  assert_int_equal(fixture->events[SPATE_EVENT_HEAT], 2);
  assert_int_equal(fixture->recorder.heat.level, SPATE_LEVEL_CRITICAL);
  for (unsigned i = 0; i < 12; i++) /* it cools */
    (void)report_next(fixture, &random, CRITICAL - i);
  assert_int_equal(fixture->recorder.heat.level, SPATE_LEVEL_SLOW);
  for (unsigned i = 0; i < 20; i++)
    (void)report_next(fixture, &random, WARNING - 15);
  assert_int_equal(fixture->recorder.heat.level, SPATE_LEVEL_CALM);
  assert_int_equal(fixture->recorder.heat.left_ms, SPATE_NEVER_MS);
  assert_int_equal(fixture->events[SPATE_EVENT_HEAT], 4);
  close_fixture(fixture);
}

static void a_jump_is_noticed_at_once(void **state) {
  (void)state;
  struct fixture *fixture = open_heated();
  uint64_t random = 7;

  assert_int_equal(report_next(fixture, &random, 50), SPATE_LEVEL_CALM);
  assert_int_equal(report_next(fixture, &random, 60), SPATE_LEVEL_SLOW);
  assert_in_range(fixture->recorder.heat.left_ms, 1500, 4000);
  close_fixture(fixture);
}

/* Reports without a limit; reports that are far too frequent; reports after hours. */
static void odd_reports(void **state) {
  (void)state;
  struct fixture *fixture = open_heated();
  struct spate_recorder *recorder = &fixture->recorder;

  for (int16_t celsius = 20; celsius < 120; celsius++) {
    clock_ns += S_NS;
    spate_recorder_temperature(recorder, celsius, 0, 0);
    assert_int_equal(recorder->heat.level, SPATE_LEVEL_CALM);
    assert_int_equal(recorder->heat.left_ms, SPATE_NEVER_MS);
  }
  clock_ns += 36000 * S_NS;
  for (unsigned i = 0; i < 100; i++) {
    clock_ns += S_NS / 1000;
    spate_recorder_temperature(recorder, (int16_t)(40 + i % 10), WARNING, 0);
    assert_int_equal(recorder->heat.level, SPATE_LEVEL_CALM);
  }
  clock_ns += 10 * S_NS;
  spate_recorder_temperature(recorder, CRITICAL, 0, CRITICAL); /* this drive states no warning temperature */
  assert_int_equal(recorder->heat.level, SPATE_LEVEL_CRITICAL);
  assert_int_equal(recorder->heat.left_ms, 0);
  clock_ns += 10 * S_NS;
  spate_recorder_temperature(recorder, -40, WARNING, CRITICAL);
  clock_ns += 10 * S_NS;
  spate_recorder_temperature(recorder, INT16_MIN, INT16_MAX, INT16_MAX);
  assert_int_equal(recorder->heat.level, SPATE_LEVEL_CALM);
  clock_ns += 10 * S_NS;
  spate_recorder_temperature(recorder, INT16_MAX - 1, INT16_MAX, INT16_MAX);
  assert_int_equal(recorder->heat.level, SPATE_LEVEL_SLOW);
  close_fixture(fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(levels_come_before_the_heat),
      cmocka_unit_test(a_drive_that_levels_off_is_left_alone),
      cmocka_unit_test(a_second_rise_is_noticed_like_the_first),
      cmocka_unit_test(the_level_does_not_flutter_near_the_limit),
      cmocka_unit_test(a_jump_is_noticed_at_once),
      cmocka_unit_test(odd_reports),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
