/* SPDX-License-Identifier: Apache-2.0 */
/* Does the recorder warn that a ring will not last, and only then? For its promises in numbers: test_watch_bounds.c;
 * for the drive's temperature: test_heat.c. */
#include "paced_run.h"
#include "recorder/internal.h"

static void rates_are_those_of_source_and_drive(void **state) {
  (void)state;
  struct run *run = start(256, 0, false);
  const struct spate_pressure *pressure = &run->stream.pressure;

  run->in_per_ms = 2;
  paced.out_per_ms = 1.5;
  run_for(run, 300);
  assert_in_range(pressure->in_bytes_per_s, 2000 * PIECE_BYTES * 96 / 100, 2000 * PIECE_BYTES * 104 / 100);
  assert_in_range(pressure->out_bytes_per_s, 1500 * PIECE_BYTES * 96 / 100, 1500 * PIECE_BYTES * 104 / 100);
  assert_in_range(pressure->room_pieces, spate_stream_room(&run->stream), spate_stream_room(&run->stream) + 10);
  /* 28 requests in flight at 1.5 requests per millisecond. */
  assert_in_range(pressure->latency_ticks, 17 * MS, 20 * MS);
  assert_in_range(pressure->latency_ticks_max, pressure->latency_ticks, 21 * MS);
  end(run);
}

static void a_level_comes_down_when_the_drive_recovers(void **state) {
  (void)state;
  struct run *run = start(256, 0, false);

  run->in_per_ms = 1;
  paced.out_per_ms = 4;
  run_for(run, 200);
  assert_int_equal(run->stream.pressure.level, SPATE_LEVEL_CALM);
  paced.out_per_ms = 0.2;
  run_for(run, 250);
  assert_int_equal(run->worst, SPATE_LEVEL_SLOW);
  paced.out_per_ms = 4;
  run_for(run, 800);
  assert_int_equal(run->stream.pressure.level, SPATE_LEVEL_SLOW); /* not yet */
  run_for(run, 400);
  assert_int_equal(run->stream.pressure.level, SPATE_LEVEL_CALM);
  assert_true(run->events <= 3);
  end(run);
}

static void levels_do_not_flutter(void **state) {
  (void)state;

  for (uint64_t seed = 1; seed <= 20; seed++) {
    uint64_t random = seed;
    struct run *run = start(128, 100, false);
    run->in_per_ms = 0.8;
    paced.out_per_ms = 0.8;
    for (unsigned i = 0; i < 100; i++) { /* for ten seconds alternately slower and faster than the source */
      paced.out_per_ms = between(&random, 0.4, 1.3);
      run_for(run, 100);
    }
    /* Up by at most three steps, and down after at least a second. */
    if (run->events > 4 * 10) fail_msg("seed %lu: %u events", (unsigned long)seed, run->events);
    assert_true(run->events > 1);
    end(run);
  }
}

static void a_source_that_stopped_is_calm(void **state) {
  (void)state;
  struct run *run = start(64, 0, false);

  run->in_per_ms = 2;
  paced.out_per_ms = 0.5;
  run_for(run, 200);
  assert_true(run->overruns > 0);
  assert_int_equal(run->stream.pressure.level, SPATE_LEVEL_CRITICAL);
  run->in_per_ms = 0;
  run_for(run, 1500);
  assert_int_equal(run->stream.pressure.level, SPATE_LEVEL_CALM);
  assert_int_equal(run->stream.pressure.left_ms, SPATE_NEVER_MS);
  run->in_per_ms = 2; /* it continues, and then the drive hangs with the ring nearly full: nothing will be lost */
  run_for(run, 200);
  run->in_per_ms = 0;
  run_for(run, 10);
  assert_in_range(spate_stream_room(&run->stream), 1, 15);
  paced.out_per_ms = 1e-9;
  run_for(run, 1500);
  assert_int_equal(run->stream.pressure.level, SPATE_LEVEL_CALM);
  end(run);
}

static void a_full_ring_that_drains_is_no_pressure(void **state) {
  (void)state;
  struct run *run = start(512, 0, false);

  run->in_per_ms = 2;
  paced.out_per_ms = 0.2;
  while (run->overruns == 0)
    step(run);
  run->in_per_ms = 0.5;
  paced.out_per_ms = 0.85;
  run_for(run, 300);
  assert_int_equal(run->stream.pressure.level, SPATE_LEVEL_CRITICAL);
  assert_true(spate_stream_room(&run->stream) < 128);
  run_for(run, 900);
  assert_true(run->stream.pressure.level < SPATE_LEVEL_SLOW);
  end(run);
}

/* The source waits at each FULL, as one does that has all its data already. */
static void a_ring_kept_full_is_critical_once(void **state) {
  (void)state;
  struct run *run = start(64, 0, false);

  paced.out_per_ms = 3;
  paced.flush_ns = 20 * MS;
  for (unsigned i = 0; i < 8000; i++) {
    while (push_one(run)) {
    }
    step(run);
  }
  assert_int_equal(run->stream.pressure.level, SPATE_LEVEL_CRITICAL);
  assert_in_range(run->events, 1, 3); /* while the level rises */
  end(run);
}

static void a_drive_that_hangs_is_critical_while_it_does(void **state) {
  (void)state;
  struct run *run = start(64, 0, false);

  run->in_per_ms = 0.5;
  paced.out_per_ms = 1;
  run_for(run, 500);
  assert_int_equal(run->worst, SPATE_LEVEL_CALM);
  paced.out_per_ms = 1e-9;
  run_for(run, 100);
  assert_int_equal(run->stream.pressure.level, SPATE_LEVEL_SLOW);
  while (push_one(run)) {
  }
  run->in_per_ms = 0; /* it waits for room */
  run_for(run, 3000);
  assert_int_equal(run->stream.pressure.level, SPATE_LEVEL_CRITICAL);
  end(run);
}

static void a_reported_overrun_is_critical(void **state) {
  (void)state;
  struct run *run = start(64, 0, false);

  run->in_per_ms = 0.5;
  paced.out_per_ms = 2;
  run_for(run, 100);
  spate_stream_overrun(&run->stream, 100);
  run_for(run, 20);
  assert_int_equal(run->stream.pressure.level, SPATE_LEVEL_CRITICAL);
  assert_int_equal(run->stream.pressure.left_ms, 0);
  run_for(run, 1200);
  assert_int_equal(run->stream.pressure.level, SPATE_LEVEL_CALM);
  end(run);
}

/* Like a camera: half a ring at once, ten times a second. The drive has written it long before the next burst. */
static void bursts_are_no_pressure(void **state) {
  (void)state;
  struct run *run = start(128, 0, false);

  run->burst = 64;
  run->in_per_ms = 0.64;
  paced.out_per_ms = 1.1;
  run_for(run, 3000);
  assert_int_equal(run->worst, SPATE_LEVEL_CALM);
  end(run);
}

/* The memory that waits for a flush rises and falls with the checkpoints: this is no reason to slow down. */
static void retained_memory_is_no_pressure_but_takes_room(void **state) {
  (void)state;
  struct run *run = start(512, 50, true);

  run->in_per_ms = 0.6; /* 300 pieces and more between checkpoints */
  paced.out_per_ms = 2;
  paced.flush_ns = 10 * MS;
  run_for(run, 4000);
  assert_true(run->worst < SPATE_LEVEL_SLOW);
  assert_int_equal(run->overruns, 0);
  assert_in_range(run->stream.pressure.room_pieces, 190, 215);
  paced.out_per_ms = 0.3;
  while (run->overruns == 0)
    step(run);
  assert_true(run->slow_at_ns > 0);
  assert_in_range(run->overrun_ns - run->slow_at_ns, 50 * MS, 400 * MS);
  end(run);
}

static void a_flush_that_takes_too_long_is_a_slow_drive(void **state) {
  (void)state;
  struct run *run = start(256, 250, false);

  run->in_per_ms = 1; /* the ring lasts 256 ms */
  paced.out_per_ms = 3;
  run_for(run, 400);
  assert_int_equal(run->worst, SPATE_LEVEL_CALM);
  paced.flush_ns = 10000 * MS;
  run_for(run, 100 + 125 + 80); /* the checkpoint comes at 500 ms */
  assert_true(run->worst >= SPATE_LEVEL_SLOW);
  assert_int_equal(run->overruns, 0);
  end(run);
}

/* The application did not call work() for a second: nothing is known about that time, and no level is reported. */
static void no_call_for_a_second(void **state) {
  (void)state;
  struct run *run = start(256, 0, false);

  run->in_per_ms = 2;
  paced.out_per_ms = 4;
  run->fixture->ram.block.volatile_cache = false; /* no flush could explain it */
  run_for(run, 300);
  clock_ns += 5000 * MS;
  step(run);
  run_for(run, 40);
  assert_in_range(run->stream.pressure.in_bytes_per_s, 1850 * PIECE_BYTES, 2150 * PIECE_BYTES);
  assert_int_equal(run->worst, SPATE_LEVEL_CALM);
  end(run);
}

/* Clocks of several boards: 24 MHz, 62.5 MHz, 100 MHz, 500 MHz, 1 GHz, 5 GHz, 1 MHz, 32768 Hz. */
static void any_clock_will_do(void **state) {
  (void)state;
  static const uint64_t rates[] = {24000000, 62500000, 100000000, 500000000, 1000000000, 5000000000, 1000000, 32768};

  for (unsigned i = 0; i < sizeof rates / sizeof rates[0]; i++) {
    struct spate_recorder recorder = {0};
    clock_hz = rates[i];
    spate_watch_open(&recorder);
    assert_in_range(spate_watch_ms(&recorder, rates[i]), 997, 1000);
    assert_in_range(spate_watch_ms(&recorder, rates[i] * 3600), 3599000, 3601000);
    assert_in_range(spate_watch_ms(&recorder, recorder.watch.step_ticks), 15, 16);
    assert_true(spate_watch_ms(&recorder, UINT64_MAX) > 3600000u);
  }
  clock_hz = 1000000000;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rates_are_those_of_source_and_drive),
      cmocka_unit_test(a_level_comes_down_when_the_drive_recovers),
      cmocka_unit_test(levels_do_not_flutter),
      cmocka_unit_test(a_source_that_stopped_is_calm),
      cmocka_unit_test(a_full_ring_that_drains_is_no_pressure),
      cmocka_unit_test(a_ring_kept_full_is_critical_once),
      cmocka_unit_test(a_drive_that_hangs_is_critical_while_it_does),
      cmocka_unit_test(a_reported_overrun_is_critical),
      cmocka_unit_test(bursts_are_no_pressure),
      cmocka_unit_test(retained_memory_is_no_pressure_but_takes_room),
      cmocka_unit_test(a_flush_that_takes_too_long_is_a_slow_drive),
      cmocka_unit_test(no_call_for_a_second),
      cmocka_unit_test(any_clock_will_do),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
