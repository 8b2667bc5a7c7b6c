/* SPDX-License-Identifier: Apache-2.0 */
/* A board's clock that does not do what the library needs is detected before anything relies on it. */
#include "recorder_fixture.h"

#include <spate/clock.h>

static void a_clock_is_proved_when_a_recorder_opens(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct spate_recorder_config config = {.checkpoint_ms = 100};

  OK(spate_recorder_close(&fixture->recorder));
  clock_hz = 0;
  GIVES(SPATE_E_CLOCK, spate_recorder_open(&fixture->recorder, &fixture->volume, &config));
  clock_hz = 1000000000;
  clock_step_ns = 0;
  GIVES(SPATE_E_CLOCK, spate_clock_check());
  GIVES(SPATE_E_CLOCK, spate_recorder_open(&fixture->recorder, &fixture->volume, &config));
  clock_step_ns = -100;
  GIVES(SPATE_E_CLOCK, spate_clock_check());
  clock_step_ns = 100;
  OK(spate_clock_check());
  OK(spate_recorder_open(&fixture->recorder, &fixture->volume, &config));
  close_fixture(fixture);
}

/* One tick in half a million reads is slow, and moves. */
static void a_slow_clock_is_a_clock(void **state) {
  (void)state;
  clock_step_ns = 0;
  clock_reads_a_tick = 1u << 19;
  OK(spate_clock_check());
  clock_reads_a_tick = 1u << 21;
  GIVES(SPATE_E_CLOCK, spate_clock_check());
  clock_reads_a_tick = 0;
  clock_step_ns = 100;
}

/* At fewer than 1000 ticks a second the checkpoint period is still not zero. */
static void a_coarse_clock_has_periods(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct spate_recorder_config config = {.checkpoint_ms = 500};

  OK(spate_recorder_close(&fixture->recorder));
  clock_hz = 100;
  OK(spate_recorder_open(&fixture->recorder, &fixture->volume, &config));
  assert_int_equal(fixture->recorder.period_ticks, 50);
  clock_hz = 1000000000;
  close_fixture(fixture);
}

/* A 32-bit counter that wraps, or one that somebody sets, is reported once each time, and the clip continues. */
static void a_clock_that_goes_back_is_reported(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  open_source(fixture, source, 3, false, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 8 * MIB));
  stream_pieces(fixture, source, 20);
  clock_ns -= 50000;
  GIVES(SPATE_E_CLOCK, spate_recorder_work(&fixture->recorder));
  OK(spate_recorder_work(&fixture->recorder));
  stream_pieces(fixture, source, 20);
  drain(fixture, source);
  uint64_t durable_bytes = source->stream.counters.durable_bytes;
  clock_ns += 600 * UINT64_C(1000000); /* the period counts from the new time */
  for (int i = 0; i < 100; i++)
    work(fixture);
  assert_true(source->stream.counters.durable_bytes > durable_bytes || durable_bytes == source->sent_bytes);
  clock_ns -= 400 * UINT64_C(1000000); /* noticed only while the clip is being closed */
  GIVES(SPATE_E_CLOCK, spate_recorder_finish(&fixture->recorder));
  file_holds(fixture, "A.RAW", source->sent, source->sent_bytes);
  close_fixture(fixture);
}

/* Intervals that began at a time that is now in the future begin at the new time: no delay of centuries is counted. */
static void intervals_restart_at_the_new_time(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];
  const struct spate_stream *stream = &source->stream;

  open_source(fixture, source, 3, false, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 8 * MIB));
  fixture->ram.delay_polls = 50;
  stream_pieces(fixture, source, 8);
  assert_true(fixture->recorder.in_flight > 0);
  drain(fixture, source);
  fixture->ram.held_ops = RAM_OP(SPATE_FLUSH);
  clock_ns += 600 * UINT64_C(1000000);
  stream_pieces(fixture, source, 8);
  assert_int_equal(fixture->recorder.counters.flushes, 1); /* a checkpoint is under way */
  assert_true(fixture->recorder.in_flight > 0);
  clock_ns -= 500 * UINT64_C(1000000);
  GIVES(SPATE_E_CLOCK, spate_recorder_work(&fixture->recorder));
  fixture->ram.held_ops = 0;
  drain(fixture, source);
  for (unsigned i = 0; i < 200 && fixture->recorder.checkpoint != 0; i++)
    work(fixture);
  assert_int_equal(source->stream.counters.checkpoints, 1);
  assert_in_range(fixture->recorder.counters.checkpoint_ticks_max, 0, UINT64_C(1000000000));
  assert_in_range(stream->counters.gap_ticks_max, 0, UINT64_C(1000000000));
  assert_in_range(stream->pressure.latency_ticks_max, 0, UINT64_C(1000000000));
  OK(spate_recorder_finish(&fixture->recorder));
  close_fixture(fixture);
}

/* The stream reacts to a level that lasts some seconds without waiting until the clock is back where it was. */
static void heat_is_watched_from_the_new_time(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);

  open_source(fixture, &fixture->sources[0], 3, false, 0); /* receives the levels */
  clock_ns += 3600 * UINT64_C(1000000000);
  OK(spate_recorder_work(&fixture->recorder));
  spate_recorder_temperature(&fixture->recorder, 90, 70, 80);
  assert_int_equal(fixture->recorder.heat.level, SPATE_LEVEL_CRITICAL);
  OK(spate_recorder_work(&fixture->recorder));
  clock_ns -= 3600 * UINT64_C(1000000000);
  GIVES(SPATE_E_CLOCK, spate_recorder_work(&fixture->recorder));
  for (unsigned second = 0; second < 60; second++) {
    clock_ns += UINT64_C(1000000000);
    OK(spate_recorder_work(&fixture->recorder));
    spate_recorder_temperature(&fixture->recorder, 30, 70, 80);
  }
  OK(spate_recorder_work(&fixture->recorder));
  assert_int_equal(fixture->recorder.heat.level, SPATE_LEVEL_CALM);
  assert_int_equal(fixture->events[SPATE_EVENT_HEAT], 2); /* critical, calm */
  close_fixture(fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_clock_is_proved_when_a_recorder_opens),
      cmocka_unit_test(a_slow_clock_is_a_clock),
      cmocka_unit_test(a_coarse_clock_has_periods),
      cmocka_unit_test(a_clock_that_goes_back_is_reported),
      cmocka_unit_test(intervals_restart_at_the_new_time),
      cmocka_unit_test(heat_is_watched_from_the_new_time),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
