/* SPDX-License-Identifier: Apache-2.0 */
/* The model of the media: rates, the SLC cache, flushes and reads. */
#include "media_fixture.h"

/* ---- rates ---- */

static void a_buffer_takes_at_once_what_it_has_room_for(void **state) {
  (void)state;
  const struct sim_profile profile = round_drive();
  struct sim_media media = start(&profile, 0);

  assert_int_equal(sim_media_write(&media, 5 * US, 100 * MB, 100 * MB), 5 * US);
  /* 40 MB more wait until the media has accepted as much. */
  assert_near((double)sim_media_write(&media, 5 * US, 40 * MB, 40 * MB), (double)(10 * MS + 5 * US), 1e-9);
  /* A second later it is empty. */
  assert_int_equal(sim_media_write(&media, S, 100 * MB, 100 * MB), S);
}

static void each_state_lasts_as_long_as_its_bytes(void **state) {
  (void)state;
  const struct sim_profile profile = round_drive();
  struct sim_media media = start(&profile, 0);
  uint64_t now_ps = write_all(&media, 0, 30 * GB + 100 * MB, true);

  assert_near((double)now_ps, 7.5 * S, 1e-6);
  assert_int_equal(media.state, SIM_MEDIA_SLC);
  assert_near(sim_media_write_rate(&media), 4e9, 1e-9);
  now_ps = write_all(&media, now_ps, 1 * GB, true);
  assert_int_equal(media.state, SIM_MEDIA_FOLDING);
  assert_near((double)now_ps, 8.5 * S, 1e-6);
  now_ps = write_all(&media, now_ps, 9 * GB, true);
  assert_near((double)now_ps, 17.5 * S, 1e-6);
  now_ps = write_all(&media, now_ps, 20 * GB, true);
  assert_int_equal(media.state, SIM_MEDIA_DIRECT);
  assert_near((double)now_ps, 27.5 * S, 1e-6);
}

static void a_change_of_state_in_one_write_is_exact_to_the_byte(void **state) {
  (void)state;
  struct sim_profile profile = round_drive();
  profile.slc_bytes = 30 * GB + 123 * MB;
  profile.fold_bytes = 10 * GB + 17 * MB;
  struct sim_media media = start(&profile, 0);

  /* 30.123 GB at 4, 10.017 GB at 1, and 1.76 GB at 2 GB/s; 100 MB stay in the buffer. */
  assert_near((double)sim_media_write(&media, 0, 42 * GB, 42 * GB), (7.53075 + 10.017 + 0.88) * S, 1e-9);
}

static void the_slc_cache_takes_free_blocks(void **state) {
  (void)state;
  const struct sim_profile profile = round_drive();
  struct sim_media media = start(&profile, 0.94);
  uint64_t now_ps = 0, written = 0;

  /* 60 GB are free: 6 GB plus a third of the free space at that time: x = 6 + (60 - x) / 3, x = 19.5 GB. */
  while (media.state == SIM_MEDIA_SLC) {
    now_ps = sim_media_write(&media, now_ps, PIECE, PIECE);
    written += PIECE;
  }
  assert_near((double)written, 19.5e9 + 100e6, 0.003);
  media = start(&profile, 0.5);
  now_ps = write_all(&media, 0, 30 * GB, true);
  assert_near((double)now_ps, (30e9 - 100e6) / 4e9 * S, 1e-6);
}

static void overwriting_a_full_drive_is_steady(void **state) {
  (void)state;
  const struct sim_profile profile = round_drive();
  struct sim_media media = start(&profile, 1);
  uint64_t before_ps = write_all(&media, 0, 100 * MB, false);

  for (unsigned i = 0; i < 20; i++) {
    const uint64_t now_ps = write_all(&media, before_ps, 5 * GB, false);

    assert_int_equal(media.state, SIM_MEDIA_COLLECTING);
    assert_near((double)(now_ps - before_ps), 5e9 / 1.5e9 * S, 1e-6);
    before_ps = now_ps;
  }
  /* An idle period does not help either. */
  (void)write_all(&media, before_ps + 100 * S, 1 * GB, false);
  assert_int_equal(media.state, SIM_MEDIA_COLLECTING);
}

static void a_full_drive_does_not_get_its_cache_back(void **state) {
  (void)state;
  const struct sim_profile profile = round_drive();
  struct sim_media media = start(&profile, 0.96);
  uint64_t now_ps = write_all(&media, 0, 1 * GB, true);

  sim_media_advance(&media, now_ps + 100 * S);
  assert_near(media.slc_used_bytes, 1e9, 1e-6);
}

static void filling_the_last_part_is_not_overwriting(void **state) {
  (void)state;
  const struct sim_profile profile = round_drive();
  struct sim_media media = start(&profile, 0.96);

  (void)write_all(&media, 0, 1 * GB, true);
  assert_int_equal(media.state, SIM_MEDIA_SLC);
}

static void a_drive_is_never_more_than_full(void **state) {
  (void)state;
  const struct sim_profile profile = round_drive();
  struct sim_media media = start(&profile, 0.9999);

  (void)write_all(&media, 0, 1 * GB, true);
  assert_int_equal(media.mapped_bytes, profile.capacity_bytes);
  sim_media_trim(&media, 0, 2000 * GB);
  assert_int_equal(media.mapped_bytes, 0);
  sim_media_trim(&media, 0, GB);
  assert_int_equal(media.mapped_bytes, 0);
}

/* Which blocks a preconditioned drive held at first is unknown to the caller. */
static void without_room_nothing_is_fresh(void **state) {
  (void)state;
  const struct sim_profile profile = round_drive();
  struct sim_media media = start(&profile, 0.99);
  uint64_t now_ps = write_all(&media, 0, 10 * GB, true);

  assert_int_not_equal(media.state, SIM_MEDIA_COLLECTING);
  (void)write_all(&media, now_ps, 1 * GB, true);
  assert_int_equal(media.state, SIM_MEDIA_COLLECTING);
}

/* ---- idle time, trim, pauses ---- */

static void idle_time_gives_slc_cache_back(void **state) {
  (void)state;
  const struct sim_profile profile = round_drive();
  struct sim_media media = start(&profile, 0);
  uint64_t now_ps = write_all(&media, 0, 20 * GB, true);

  sim_media_advance(&media, now_ps + 25 * MS + 500 * MS); /* the buffer drains; half a second of idle time */
  assert_near(media.slc_used_bytes, 20e9, 1e-6);
  sim_media_advance(&media, now_ps + 25 * MS + 3500 * MS);
  assert_near(media.slc_used_bytes, 17e9, 1e-3);
  sim_media_advance(&media, now_ps + 60 * S);
  assert_true(media.slc_used_bytes == 0);
}

static void short_gaps_do_not(void **state) {
  (void)state;
  const struct sim_profile profile = round_drive();
  struct sim_media media = start(&profile, 0);
  uint64_t now_ps = 0;

  for (uint64_t written = 0; written < 20 * GB; written += PIECE, now_ps += MS)
    (void)sim_media_write(&media, now_ps, PIECE, PIECE);
  sim_media_advance(&media, now_ps);
  assert_near(media.slc_used_bytes, 20e9, 1e-6);
}

static void what_was_folded_in_idle_time_shortens_the_folding(void **state) {
  (void)state;
  const struct sim_profile profile = round_drive();
  struct sim_media media = start(&profile, 0);
  uint64_t now_ps = write_all(&media, 0, 38 * GB, true); /* 7.9 of the 10 GB of folding are done */

  assert_near(media.folded_bytes, 7.9e9, 1e-3);
  sim_media_advance(&media, now_ps + 100 * MS + 500 * MS + 15 * S); /* the last 100 MB, idle time, half of the cache */
  assert_near(media.slc_used_bytes, 15e9, 1e-2);
  assert_near(media.folded_bytes, 4e9, 1e-2);
  assert_int_equal(media.state, SIM_MEDIA_SLC);
  sim_media_advance(&media, now_ps + 100 * S);
  assert_true(media.folded_bytes == 0);
}

static void trimming_gives_slc_cache_back_too(void **state) {
  (void)state;
  const struct sim_profile profile = round_drive();
  struct sim_media media = start(&profile, 0);
  uint64_t now_ps = write_all(&media, 0, 200 * GB, true);

  assert_int_equal(media.state, SIM_MEDIA_DIRECT);
  sim_media_trim(&media, now_ps, 100 * GB);
  assert_near(media.slc_used_bytes, 15e9, 1e-6);
  sim_media_trim(&media, now_ps, 100 * GB);
  assert_true(media.slc_used_bytes == 0 && media.folded_bytes == 0);
  assert_int_equal(media.state, SIM_MEDIA_SLC);
}

static void the_medium_pauses(void **state) {
  (void)state;
  struct sim_profile profile = round_drive();
  profile.pause_bytes = 1 * GB;
  profile.pause_ms = 100;
  struct sim_media media = start(&profile, 0);
  uint64_t now_ps = 0, longest_ps = 0;

  for (uint64_t written = 0; written < 10 * GB + 100 * MB; written += PIECE) {
    const uint64_t next_ps = sim_media_write(&media, now_ps, PIECE, PIECE);

    if (next_ps - now_ps > longest_ps) longest_ps = next_ps - now_ps;
    now_ps = next_ps;
  }
  assert_near((double)now_ps, 2.5 * S + 9 * 0.1 * S, 1e-4);
  assert_near((double)longest_ps, 0.1 * S, 0.01);
}

/* ---- flush ---- */

static void a_flush_waits_for_what_is_in_the_buffer(void **state) {
  (void)state;
  const struct sim_profile profile = round_drive();
  struct sim_media media = start(&profile, 0);

  assert_int_equal(sim_media_flush(&media, S), S + 2 * MS);
  (void)sim_media_write(&media, 2 * S, 40 * MB, 40 * MB);
  assert_near((double)sim_media_flush(&media, 2 * S), (double)(2 * S + 12 * MS), 1e-9);
  /* Data also wait for the flush's tables. */
  media = start(&profile, 0);
  (void)sim_media_write(&media, 0, 100 * MB, 100 * MB);
  (void)sim_media_flush(&media, 0);
  assert_near((double)sim_media_write(&media, 0, 4 * MB, 4 * MB), (double)(3 * MS), 1e-9);
}

static void a_flush_does_not_wait_for_what_waits_itself(void **state) {
  (void)state;
  const struct sim_profile profile = round_drive();
  struct sim_media media = start(&profile, 0);

  (void)sim_media_write(&media, 0, 300 * MB, 300 * MB); /* 100 in the buffer, 200 waiting for it */
  assert_near((double)sim_media_flush(&media, 0), (double)(27 * MS), 1e-9);
}

static void without_a_volatile_cache_a_flush_is_nothing(void **state) {
  (void)state;
  struct sim_profile profile = round_drive();
  profile.volatile_cache = false;
  struct sim_media media = start(&profile, 0);

  (void)sim_media_write(&media, 0, 100 * MB, 100 * MB);
  assert_int_equal(sim_media_flush(&media, 0), 2 * MS);
  assert_int_equal(sim_media_write(&media, 10 * MS, 30 * MB, 30 * MB), 10 * MS);
}

/* ---- reads ---- */

static void reads_come_at_their_rate_after_their_latency(void **state) {
  (void)state;
  const struct sim_profile profile = round_drive();
  struct sim_media media = start(&profile, 0);
  uint64_t end_ps = 0;

  assert_near((double)sim_media_read(&media, 0, 5 * MB), (double)(MS + 50 * US), 1e-9);
  for (unsigned i = 0; i < 100; i++)
    end_ps = sim_media_read(&media, 0, 5 * MB);
  assert_near((double)end_ps, (double)(101 * MS + 50 * US), 1e-9);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_buffer_takes_at_once_what_it_has_room_for),
      cmocka_unit_test(each_state_lasts_as_long_as_its_bytes),
      cmocka_unit_test(a_change_of_state_in_one_write_is_exact_to_the_byte),
      cmocka_unit_test(the_slc_cache_takes_free_blocks),
      cmocka_unit_test(overwriting_a_full_drive_is_steady),
      cmocka_unit_test(a_full_drive_does_not_get_its_cache_back),
      cmocka_unit_test(filling_the_last_part_is_not_overwriting),
      cmocka_unit_test(a_drive_is_never_more_than_full),
      cmocka_unit_test(without_room_nothing_is_fresh),
      cmocka_unit_test(idle_time_gives_slc_cache_back),
      cmocka_unit_test(short_gaps_do_not),
      cmocka_unit_test(what_was_folded_in_idle_time_shortens_the_folding),
      cmocka_unit_test(trimming_gives_slc_cache_back_too),
      cmocka_unit_test(the_medium_pauses),
      cmocka_unit_test(a_flush_waits_for_what_is_in_the_buffer),
      cmocka_unit_test(a_flush_does_not_wait_for_what_waits_itself),
      cmocka_unit_test(without_a_volatile_cache_a_flush_is_nothing),
      cmocka_unit_test(reads_come_at_their_rate_after_their_latency),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
