/* SPDX-License-Identifier: Apache-2.0 */
/* The model of the media: heat, and the rules that hold for any calls. */
#include "media_fixture.h"

/* ---- heat ---- */

static void a_drive_warms_up_to_the_temperature_of_its_power(void **state) {
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

static void results_do_not_depend_on_the_time_steps(void **state) {
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

static void time_never_decreases_and_a_long_idle_time_is_cheap(void **state) {
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_drive_warms_up_to_the_temperature_of_its_power),
      cmocka_unit_test(a_hot_drive_is_slow_until_it_has_cooled),
      cmocka_unit_test(results_do_not_depend_on_the_time_steps),
      cmocka_unit_test(time_never_decreases_and_a_long_idle_time_is_cheap),
      cmocka_unit_test(random_calls_keep_the_rules),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
