/* SPDX-License-Identifier: Apache-2.0 */
/* The model of the medium, on a drive with round numbers, so that times can be computed by hand. */
#include "media.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define US    UINT64_C(1000000)
#define MS    UINT64_C(1000000000)
#define S     UINT64_C(1000000000000)
#define MB    UINT64_C(1000000)
#define GB    UINT64_C(1000000000)
#define PIECE (UINT64_C(1) * MB)

/* 1 TB; an SLC cache of 30 GB at 4 GB/s, folding of 10 GB at 1 GB/s, then 2 GB/s; no pauses, no heating. */
static struct sim_profile round_drive(void) {
  return (struct sim_profile){
      .name = "round",
      .capacity_bytes = 1000 * GB,
      .read_latency_ns = 50000,
      .read_rate = 5e9,
      .slc_rate = 4e9,
      .direct_rate = 2e9,
      .fold_rate = 1e9,
      .full_rate = 1.5e9,
      .slc_bytes = 30 * GB,
      .slc_full_bytes = 6 * GB,
      .slc_refill_rate = 1e9,
      .slc_rest_ms = 500,
      .fold_bytes = 10 * GB,
      .volatile_cache = true,
      .buffer_bytes = 100 * MB,
      .flush_ns = 2000000,
      .heat_capacity = 10,
      .heat_resistance = 10,
      .ambient_c = 25,
      .warning_c = 70,
      .throttle_c = 80,
      .recover_c = 70,
      .throttle_factor = 0.5,
      .critical_c = 90,
  };
}

static struct sim_media start(const struct sim_profile *profile, double filled) {
  struct sim_media media;

  sim_media_init(&media, profile, filled);
  return media;
}

/* Writes at queue depth one, at full speed; returns when the last byte is in the buffer. */
static uint64_t write_all(struct sim_media *media, uint64_t at_ps, uint64_t bytes, bool fresh) {
  for (uint64_t done = 0; done < bytes; done += PIECE)
    at_ps = sim_media_write(media, at_ps, PIECE, fresh ? PIECE : 0);
  return at_ps;
}

static void assert_near(double is, double should_be, double share) {
  if (fabs(is - should_be) > share * fabs(should_be)) fail_msg("%.9g is not %.9g", is, should_be);
}

/* ---- rates ---- */

static void a_buffer_takes_at_once_what_it_has_room_for(void **state) {
  (void)state;
  const struct sim_profile profile = round_drive();
  struct sim_media media = start(&profile, 0);

  assert_int_equal(sim_media_write(&media, 5 * US, 100 * MB, 100 * MB), 5 * US);
  /* 40 MB more wait until the medium has accepted as much. */
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

/* ---- heat ---- */

static void it_warms_up_to_what_its_power_makes(void **state) {
  (void)state;
  struct sim_profile profile = round_drive();
  profile.idle_watts = 1;
  profile.joules_per_byte = 1e-9;
  struct sim_media media = start(&profile, 0);
  uint64_t now_ps = 0;

  assert_near(media.temperature_c, 35, 1e-9);
  sim_media_advance(&media, 1000 * S);
  assert_near(media.temperature_c, 35, 1e-6);
  /* 1 GB/s: 2 W, so 45 degrees in the end, and 1 - 1/e of the way after 100 s. */
  media = start(&profile, 0);
  for (; now_ps < 100 * S; now_ps += MS)
    (void)sim_media_write(&media, now_ps, PIECE, 0);
  assert_near(media.temperature_c, 45 - 10 / M_E, 0.002);
  for (; now_ps < 1500 * S; now_ps += MS)
    (void)sim_media_write(&media, now_ps, PIECE, 0);
  assert_near(media.temperature_c, 45, 0.001);
  assert_false(media.throttled);
}

static void a_hot_drive_is_slow_until_it_has_cooled(void **state) {
  (void)state;
  const struct sim_profile profile = round_drive();
  struct sim_media media = start(&profile, 0);

  media.temperature_c = 81;
  sim_media_advance(&media, 1 * MS);
  assert_true(media.throttled);
  assert_near(sim_media_write_rate(&media), 2e9, 1e-9);
  assert_near((double)(sim_media_read(&media, MS, 5 * MB) - MS), (double)(2 * MS + 50 * US), 1e-9);
  /* From 81 to 70 degrees at an ambient temperature of 25: 100 s x ln(56 / 45) = 21.9 s. */
  sim_media_advance(&media, 21 * S);
  assert_true(media.throttled);
  sim_media_advance(&media, 23 * S);
  assert_false(media.throttled);
  assert_near((double)media.throttled_ps, 21.87 * S, 0.01);
  assert_near(sim_media_write_rate(&media), 4e9, 1e-9);
}

/* ---- the model itself ---- */

static void the_steps_do_not_matter(void **state) {
  (void)state;
  struct sim_profile profile = round_drive();
  profile.idle_watts = 1;
  profile.joules_per_byte = 2e-9;
  profile.pause_bytes = 2 * GB;
  profile.pause_ms = 20;
  struct sim_media one = start(&profile, 0), other = start(&profile, 0);

  (void)sim_media_write(&one, 0, 80 * GB, 80 * GB);
  (void)sim_media_write(&other, 0, 80 * GB, 80 * GB);
  sim_media_advance(&one, 40 * S);
  for (uint64_t now_ps = 0; now_ps <= 40 * S; now_ps += 170 * US)
    sim_media_advance(&other, now_ps);
  sim_media_advance(&other, 40 * S);
  assert_near(other.buffered_bytes, one.buffered_bytes, 1e-5);
  assert_near(other.temperature_c, one.temperature_c, 1e-3);
  assert_int_equal(other.state, one.state);
}

static void time_never_goes_back_and_a_long_rest_is_cheap(void **state) {
  (void)state;
  struct sim_profile profile = round_drive();
  profile.idle_watts = 2;
  struct sim_media media = start(&profile, 0);

  (void)write_all(&media, 0, 30 * GB, true);
  sim_media_advance(&media, 100 * S);
  const struct sim_media before = media;
  sim_media_advance(&media, 50 * S);
  assert_memory_equal(&media, &before, sizeof media);
  for (uint64_t day = 1; day < 100; day++)
    sim_media_advance(&media, day * 86400 * S);
  assert_true(media.slc_used_bytes == 0);
  assert_near(media.temperature_c, 45, 1e-6);
}

static uint64_t random_state;

static uint64_t below(uint64_t most) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state % most;
}

/* Any calls in any order: no answer is earlier than its call, the answers of writes never decrease, and no rate exceeds
 * the fastest one. */
static void random_calls(uint64_t seed) {
  struct sim_profile profile = round_drive();
  profile.pause_bytes = GB / 2;
  profile.pause_ms = 5;
  profile.joules_per_byte = 5e-9;
  struct sim_media media = start(&profile, 0.9);
  uint64_t now_ps = 0, last_ps = 0, written = 0;

  random_state = seed;
  for (unsigned i = 0; i < 20000; i++) {
    const uint64_t bytes = (1 + below(64)) * 65536;
    uint64_t answer_ps;

    now_ps += below(20) == 0 ? below(3 * S) : below(200 * US);
    switch (below(12)) {
    case 0: answer_ps = sim_media_flush(&media, now_ps); break;
    case 1: sim_media_trim(&media, now_ps, below(20) * GB); continue;
    case 2: answer_ps = sim_media_read(&media, now_ps, bytes); break;
    default:
      answer_ps = sim_media_write(&media, now_ps, bytes, below(2) * bytes);
      written += bytes;
      assert_true(answer_ps >= last_ps || answer_ps == now_ps);
      last_ps = answer_ps;
      if (written > profile.buffer_bytes)
        assert_true((double)answer_ps + 1000 >= (double)(written - profile.buffer_bytes) / 4e9 * S);
      break;
    }
    assert_true(answer_ps >= now_ps);
    assert_true(media.now_ps == now_ps);
    assert_true(media.slc_used_bytes >= 0 && media.buffered_bytes >= 0);
    assert_true(media.temperature_c >= 24.9 && media.temperature_c < 200);
  }
}

static void random_calls_keep_the_rules(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 10; seed++) {
    print_message("seed %u\n", (unsigned)seed);
    random_calls(seed * UINT64_C(0x9e3779b97f4a7c15));
  }
}

/* ---- outlook ---- */

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
      cmocka_unit_test(it_warms_up_to_what_its_power_makes),
      cmocka_unit_test(a_hot_drive_is_slow_until_it_has_cooled),
      cmocka_unit_test(the_steps_do_not_matter),
      cmocka_unit_test(time_never_goes_back_and_a_long_rest_is_cheap),
      cmocka_unit_test(random_calls_keep_the_rules),
      cmocka_unit_test(a_ring_carries_a_stream_over_the_folding),
      cmocka_unit_test(a_fast_drive_needs_two_pieces),
      cmocka_unit_test(a_drive_that_is_slower_for_good_falls_behind),
      cmocka_unit_test(the_ring_carries_a_stream_over_pauses_and_flushes),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
