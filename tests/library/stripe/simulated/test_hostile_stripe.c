/* SPDX-License-Identifier: Apache-2.0 */
/* thorough: make test-all runs it, make test does not */
/* A clip on two drives, one of which misbehaves: nothing that the ring can hold is lost, just as with one drive. */
#include "hostile_clip.h"

#define RING        256u
#define PIECE_US    2000u
#define WANTED      300u
#define CHUNK_BYTES 65536u

static const uint32_t moments[] = {3, 50, 131, 256};
#define MOMENTS (sizeof moments / sizeof moments[0])

static void begin(const char *name, unsigned moment, bool retain) {
  struct sim_stack_config config = hostile_config(moment);
  config.drives = 2;
  config.chunk_bytes = CHUNK_BYTES;
  config.options.journal = true;
  config.command_timeout_ms = 2000;
  recording_begin(name, &config, RING, PIECE_US, retain);
  assert_int_equal(recording_arm(), SPATE_OK);
  assert_int_equal(recording_stream(moments[moment]), SPATE_OK);
}

static struct sim_stack_drive *member(unsigned number) { return &recording.stack->drives[number]; }

static void go_on_and_expect_nothing_lost(unsigned number) {
  assert_int_equal(recording_stream(WANTED), SPATE_OK);
  assert_int_equal(recording_finish(), SPATE_OK);
  assert_in_range(spate_nvme_counters(&member(number)->nvme)->resets, 1, 3);
  assert_int_equal(spate_nvme_counters(&member(1 - number)->nvme)->resets, 0);
  expect_nothing_lost(WANTED);
  recording_end();
}

static void test_reset_of_one_loses_nothing(void **state) {
  (void)state;
  for (unsigned i = 0; i < MOMENTS; i++) {
    begin("reset of one", i, i % 2 == 0);
    sim_drive_reset(member(i % 2)->drive);
    go_on_and_expect_nothing_lost(i % 2);
  }
}

static void test_link_drop_of_one_loses_nothing(void **state) {
  (void)state;
  for (unsigned i = 0; i < MOMENTS; i++) {
    begin("link drop of one", i, i % 2 == 0);
    sim_drive_link_drop(member(i / 2)->drive, 50);
    go_on_and_expect_nothing_lost(i / 2);
  }
}

static void test_power_cut_of_one_with_retained_pieces_loses_nothing(void **state) {
  (void)state;
  for (unsigned i = 0; i < MOMENTS; i++) {
    begin("power cut of one, retained", i, true);
    sim_drive_power_cut(member(i % 2)->drive);
    go_on_and_expect_nothing_lost(i % 2);
  }
}

static void test_power_cut_of_one_caps_the_clip(void **state) {
  (void)state;
  struct recording *r = &recording;
  for (unsigned i = 1; i < MOMENTS; i++) {
    begin("power cut of one", i, false);
    sim_drive_power_cut(member(i % 2)->drive);
    assert_int_equal(recording_stream(WANTED), SPATE_OK);
    assert_int_equal(r->ended, SPATE_E_POWER_LOST);
    assert_int_equal(recording_finish(), SPATE_E_POWER_LOST);
    assert_int_equal(r->closed, 1);
    assert_true(r->lost_bytes > 0);
    assert_int_equal(r->closed_bytes + r->lost_bytes, r->pushed_bytes);
    assert_int_equal(recording_read_back(), r->closed_bytes);
    recording_end();
  }
}

/* One drive is off the bus for good: its requests end, the clip is capped and reported as capped, and the other drive
 * is not given up. */
static void test_one_is_gone(void **state) {
  (void)state;
  struct recording *r = &recording;
  for (unsigned i = 0; i < MOMENTS; i++) {
    begin("one gone", i, false);
    const uint64_t durable = r->stream.counters.durable_bytes;
    sim_drive_link_drop(member(i % 2)->drive, UINT32_MAX);
    (void)!recording_stream(WANTED);
    assert_int_not_equal(recording_finish(), SPATE_OK);
    assert_int_equal(r->stream.error, SPATE_E_GONE);
    assert_true(r->lost_bytes > 0);
    assert_int_equal(member(1 - i % 2)->nvme.state, SPATE_NVME_RUNNING);
    assert_in_range(recording_read_back(), durable, r->pushed_bytes);
    recording_end();
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reset_of_one_loses_nothing),
      cmocka_unit_test(test_link_drop_of_one_loses_nothing),
      cmocka_unit_test(test_power_cut_of_one_with_retained_pieces_loses_nothing),
      cmocka_unit_test(test_power_cut_of_one_caps_the_clip),
      cmocka_unit_test(test_one_is_gone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
