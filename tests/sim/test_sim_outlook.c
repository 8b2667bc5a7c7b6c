/* SPDX-License-Identifier: Apache-2.0 */
/* The outlook for a stream: the ring that it needs, and how long the drive sustains it. */
#include "media_fixture.h"

static struct sim_media_outlook look(const struct sim_profile *profile, double rate, uint64_t bytes, uint64_t ring) {
  struct sim_media_outlook out;
  const struct sim_media_stream stream = {
      .rate = rate, .link_rate = 3.6e9, .bytes = bytes, .ring_bytes = ring, .piece_bytes = PIECE};

  sim_media_outlook(&out, profile, &stream);
  return out;
}

static void a_ring_carries_a_stream_over_the_folding(void **state) {
  (void)state;
  struct sim_profile profile = round_drive();
  profile.fold_bytes = 1 * GB;
  /* At 1.5 GB/s the folding lasts a second and leaves a backlog of 500 MB, less the buffer; then the drive catches
   * up. */
  struct sim_media_outlook out = look(&profile, 1.5e9, 60 * GB, 1 * GB);

  assert_near((double)out.ring_needed_bytes, 400e6, 0.02);
  assert_true(isinf(out.sustained_s));
  assert_near(out.edge_s, 20, 0.001);
  assert_near(out.worst_s, 21, 0.002);
  assert_int_equal(out.worst, SIM_MEDIA_FOLDING);
  assert_false(out.falls_behind);
  /* A ring of 200 MB is full 600 ms after the edge of the SLC cache. */
  out = look(&profile, 1.5e9, 60 * GB, 200 * MB);
  assert_near(out.sustained_s, 20.6, 0.001);
}

/* One piece is being filled while the one before is in flight. */
static void a_fast_drive_needs_two_pieces(void **state) {
  (void)state;
  const struct sim_profile profile = round_drive();
  const struct sim_media_outlook out = look(&profile, 1e9, 10 * GB, 2 * PIECE);

  assert_int_equal(out.ring_needed_bytes, 2 * PIECE);
  assert_true(isinf(out.sustained_s) && isinf(out.edge_s));
  assert_true(look(&profile, 1e9, 10 * GB, PIECE).sustained_s < 0.01);
}

static void a_drive_that_is_slower_for_good_falls_behind(void **state) {
  (void)state;
  const struct sim_profile profile = round_drive();
  struct sim_media_outlook out = look(&profile, 2.5e9, 100 * GB, 1 * GB);

  assert_true(out.falls_behind);
  /* 30 GB in 12 s; folding: 10 s, 15 GB of backlog; then 45 GB (less the buffer) at 2 GB/s, the last 24 s without the
   * source. */
  assert_near((double)out.ring_needed_bytes, 100e9 - 30e9 - 10e9 - 100e6 - 18 * 2e9, 0.01);
  assert_near(out.sustained_s, 12 + (1e9 + 100e6) / 1.5e9, 0.002);
  out = look(&profile, 1.9e9, 300 * GB, 20 * GB);
  assert_false(out.falls_behind);
}

static void the_ring_carries_a_stream_over_pauses_and_flushes(void **state) {
  (void)state;
  struct sim_profile profile = round_drive();
  profile.pause_bytes = 4 * GB;
  profile.pause_ms = 200;
  struct sim_media_outlook out;
  struct sim_media_stream stream = {.rate = 1e9,
                                    .link_rate = 3.6e9,
                                    .bytes = 20 * GB,
                                    .ring_bytes = 1 * GB,
                                    .piece_bytes = PIECE,
                                    .checkpoint_ms = 500};

  sim_media_outlook(&out, &profile, &stream);
  /* 200 MB arrive during a pause, and the buffer takes 100 of them. */
  assert_near((double)out.ring_needed_bytes, 101e6, 0.03);
  assert_true(out.worst_paused);
  /* A flush during the pause waits for the pause, for its own tables and for the buffer. */
  assert_in_range(out.flush_ps_max, 2 * MS, 230 * MS);
  assert_true(isinf(out.sustained_s));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_ring_carries_a_stream_over_the_folding),
      cmocka_unit_test(a_fast_drive_needs_two_pieces),
      cmocka_unit_test(a_drive_that_is_slower_for_good_falls_behind),
      cmocka_unit_test(the_ring_carries_a_stream_over_pauses_and_flushes),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
