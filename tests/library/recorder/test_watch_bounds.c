/* SPDX-License-Identifier: Apache-2.0 */
/* The promises of spate/recorder.h about a ring's levels, in numbers, with random drives, rings and sources. */
#include "paced_run.h"

#define CHECKPOINT_MS 500 /* the recorder's default */

struct trial {
  uint32_t ring_pieces, slow_ms;
  double in, fast, slow; /* pieces per millisecond: the source, and the drive before and after it becomes slow */
  double flush_ms;
  uint64_t slow_after_ms;
  uint32_t burst;
};

static struct trial make_trial(uint64_t *random) {
  struct trial trial = {.ring_pieces = 64u << ram_random(random) % 4,
                        .slow_ms = (uint32_t)between(random, 20, 300),
                        .slow_after_ms = (uint64_t)between(random, 50, 1800)};
  trial.in = trial.ring_pieces / between(random, 100, 1500);
  trial.fast = trial.in * between(random, 1.3, 3);
  trial.slow = trial.in * between(random, 0.05, 0.97);
  trial.flush_ms = ram_random(random) % 3 == 0 ? 0 : between(random, 1, 60);
  trial.burst = 1u + (uint32_t)(ram_random(random) % (trial.ring_pieces / 32));
  return trial;
}

/* The slow drive's rate, including its flushes. */
static double slow_mean(const struct trial *trial) { return trial->slow * (1 - trial->flush_ms / CHECKPOINT_MS); }

/* The ring that spate/recorder.h requires, compared with the room when the drive becomes slow. */
static bool ring_suffices(const struct trial *trial, uint32_t room_pieces) {
  const double fills = trial->in - slow_mean(trial);
  const double fills_apart = trial->in - trial->slow; /* without flushes */
  const double flush = trial->in * trial->flush_ms + trial->burst;
  double needed = fills * (trial->slow_ms + 100) * 9 / 8 + flush;

  /* Growth this slow cannot be detected before a quarter of the ring is left: the quarter has to suffice. */
  if (trial->ring_pieces / fills_apart > 1000 && needed < 4 * (fills_apart * (trial->slow_ms + 32) + flush))
    needed = 4 * (fills_apart * (trial->slow_ms + 32) + flush);
  return needed <= room_pieces && needed * 2 > room_pieces; /* but not by a large margin */
}

static bool follow_the_levels_for_two_seconds(struct run *run, const struct trial *trial) {
  run->in_per_ms = trial->in;
  run->burst = trial->burst;
  paced.out_per_ms = trial->fast;
  paced.flush_ns = (uint64_t)(trial->flush_ms * 1e6);
  run_for(run, trial->slow_after_ms);
  if (!ring_suffices(trial, spate_stream_room(&run->stream))) return false;
  const uint64_t until_ns = clock_ns + 2000 * MS;
  paced.out_per_ms = trial->slow;
  while (clock_ns < until_ns) {
    step(run);
    if (run->stream.pressure.level >= SPATE_LEVEL_SLOW && clock_ns - run->slow_at_ns >= trial->slow_ms * MS)
      run->in_per_ms = slow_mean(trial) * 0.9;
  }
  return true;
}

static void a_source_that_follows_the_levels_loses_nothing(void **state) {
  (void)state;
  unsigned tried = 0, slowed = 0;

  for (uint64_t seed = 1; tried < 400; seed++) {
    uint64_t random = seed;
    const struct trial trial = make_trial(&random);
    struct run *run = start(trial.ring_pieces, trial.slow_ms, false);
    if (follow_the_levels_for_two_seconds(run, &trial)) {
      if (run->overruns > 0)
        fail_msg("seed %lu: ring %u, slow_ms %u, in %.3f, out %.3f to %.3f, flush %.1f ms: lost %lu",
                 (unsigned long)seed, trial.ring_pieces, trial.slow_ms, trial.in, trial.fast, trial.slow,
                 trial.flush_ms, (unsigned long)run->overruns);
      tried++;
      slowed += run->slow_at_ns > 0;
    }
    end(run);
  }
  assert_in_range(slowed, tried / 2, tried); /* the other trials end before the ring is full */
}

/* A level is not reported too often either: WATCH at most once per checkpoint. */
static void a_steady_drive_never_asks_for_a_lower_rate(void **state) {
  (void)state;
  unsigned tried = 0;

  for (uint64_t seed = 1; tried < 60; seed++) {
    uint64_t random = seed;
    struct trial trial = make_trial(&random);
    const double flushed_share = trial.in * trial.flush_ms / trial.ring_pieces;
    /* The flush fits into the ring, and the drive catches up before the next one. */
    if (flushed_share > 0.65 || (trial.fast - trial.in) * (CHECKPOINT_MS - 60) < trial.in * trial.flush_ms) continue;
    struct run *run = start(trial.ring_pieces, trial.slow_ms, false);
    run->in_per_ms = trial.in;
    run->burst = trial.burst;
    paced.out_per_ms = trial.fast;
    paced.flush_ns = (uint64_t)(trial.flush_ms * 1e6);
    run_for(run, 4000);
    if (run->worst >= SPATE_LEVEL_SLOW || run->events > 4 || run->overruns > 0)
      fail_msg("seed %lu: ring %u, in %.3f, out %.3f, flush %.1f ms: level %d, %u events", (unsigned long)seed,
               trial.ring_pieces, trial.in, trial.fast, trial.flush_ms, run->worst, run->events);
    end(run);
    tried++;
  }
}

/* Without flushes the estimate is right within about a quarter. It includes one future flush, so that with flushes it
 * is never later than the overrun. */
static void the_predicted_time_is_the_time_left(void **state) {
  (void)state;
  unsigned looks = 0;

  for (uint64_t seed = 1; seed <= 60; seed++) {
    uint64_t random = seed;
    struct trial trial = make_trial(&random);
    struct {
      uint64_t at_ns;
      uint32_t left_ms;
    } said[200];
    unsigned count = 0;
    trial.slow = trial.in * between(&random, 0.2, 0.8);
    if (trial.in * trial.flush_ms > trial.ring_pieces * 0.65) continue;
    struct run *run = start(trial.ring_pieces, trial.slow_ms, false);
    run->in_per_ms = trial.in;
    paced.out_per_ms = trial.fast;
    paced.flush_ns = (uint64_t)(trial.flush_ms * 1e6);
    run_for(run, trial.slow_after_ms);
    paced.out_per_ms = trial.slow;
    run_for(run, 80); /* long enough to fill the window of the estimate */
    const uint64_t until_ns = clock_ns + 3000 * MS;
    while (run->overrun_ns == 0 && clock_ns < until_ns) {
      if (run->stream.pressure.left_ms != SPATE_NEVER_MS) {
        said[count].at_ns = clock_ns;
        said[count++].left_ms = run->stream.pressure.left_ms;
      }
      run_for(run, 16);
    }
    const double fills = trial.in - trial.slow;
    const double flush_ms = trial.flush_ms * trial.slow / fills; /* the time that one flush costs */
    for (unsigned i = 0; i < count && run->overrun_ns > 0; i++) {
      const double left_ms = (double)(run->overrun_ns - said[i].at_ns) / 1e6;
      /* The slack: a jitter of two pieces in the growth of 64 ms, two steps, and a flush for each later checkpoint. */
      const double slack_ms = left_ms * (0.05 + 2 / (fills * 62)) + 2 * 16;
      /* The duration of flushes is known from the first one on. */
      const bool first = said[i].at_ns < (uint64_t)((CHECKPOINT_MS + trial.flush_ms) * 1e6);
      const double late_ms = slack_ms + flush_ms * (left_ms / CHECKPOINT_MS + (first ? 1 : 0));
      const double early_ms = slack_ms + flush_ms;
      if (said[i].left_ms > left_ms + late_ms || said[i].left_ms < left_ms - early_ms)
        fail_msg("seed %lu: %u ms instead of %.0f (-%.0f +%.0f); ring %u, in %.3f, out %.3f, flush %.1f ms",
                 (unsigned long)seed, said[i].left_ms, left_ms, early_ms, late_ms, trial.ring_pieces, trial.in,
                 trial.slow, trial.flush_ms);
      looks++;
    }
    end(run);
  }
  assert_true(looks > 500);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_source_that_follows_the_levels_loses_nothing),
      cmocka_unit_test(a_steady_drive_never_asks_for_a_lower_rate),
      cmocka_unit_test(the_predicted_time_is_the_time_left),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
