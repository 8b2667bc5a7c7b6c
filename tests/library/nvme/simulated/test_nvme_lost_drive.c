/* SPDX-License-Identifier: Apache-2.0 */
/* Drives that lose power, that are gone or replaced by another one, and the end of repeated recoveries. */
#include "nvme_fixture.h"

static void test_power_cut_of_the_drive_is_counted(void **state) {
  struct fixture *f = fixture_opened(8);
  struct outcome outcomes[8];
  io_fault(f, SIM_POWER_CUT, 4, 1, 0);
  fill_pattern(f->ring_memory, 8 * 4096, 5);
  for (unsigned i = 0; i < 8; i++) {
    struct spate_io io = write_of(f, 8 * i, 8);
    io.offset_bytes = 4096u * i;
    assert_int_equal(fixture_submit(f, &outcomes[i], io), SPATE_OK);
  }
  assert_true(fixture_wait(f, &outcomes[7], 3000));
  fixture_poll_ms(f, 10);
  for (unsigned i = 0; i < 8; i++)
    assert_int_equal(outcomes[i].io.error, SPATE_OK);
  expect_media(f, 0, f->ring_memory, 8 * 4096);
  assert_int_equal(f->queue.block.power_losses, 1);
  assert_int_equal(spate_nvme_counters(&f->nvme)->power_losses, 1);
  fixture_free(f);
  (void)state;
}

static void test_a_replaced_drive_is_not_written(void **state) {
  struct fixture *f = fixture_opened(8);
  struct outcome outcome;
  io_fault(f, SIM_POWER_CUT, 0, 1, 0);
  assert_int_equal(fixture_submit(f, &outcome, write_of(f, 0, 1)), SPATE_OK);
  spate_block_kick(&f->queue.block);
  memcpy(controller_page(f) + 4, "SPATE0002", 9);
  assert_true(fixture_wait(f, &outcome, 20000));
  assert_int_equal(outcome.io.error, SPATE_E_GONE);
  assert_int_equal(io_count(f), 1);
  fixture_free(f);
  (void)state;
}

static void test_drive_that_is_gone_ends_every_request(void **state) {
  struct fixture *f = fixture_opened(8);
  struct outcome outcomes[8], late;
  io_fault(f, SIM_SILENCE, 3, 1, 0);
  for (unsigned i = 0; i < 8; i++)
    assert_int_equal(fixture_submit(f, &outcomes[i], write_of(f, i, 1)), SPATE_OK);
  assert_true(fixture_wait(f, &outcomes[7], 20000));
  fixture_poll_ms(f, 10);
  for (unsigned i = 0; i < 8; i++) {
    assert_int_equal(outcomes[i].calls, 1);
    assert_int_equal(outcomes[i].io.error, SPATE_E_GONE);
  }
  assert_int_equal(f->nvme.state, SPATE_NVME_DEAD);
  assert_int_equal(fixture_submit(f, &late, write_of(f, 0, 1)), SPATE_E_GONE);
  assert_int_equal(spate_nvme_health_read(&f->nvme), SPATE_E_GONE);
  assert_int_equal(spate_nvme_shutdown(&f->nvme), SPATE_E_GONE);
  fixture_free(f);
  (void)state;
}

/* Nothing can bring it back, so its CAP.TO of a minute is no reason to wait: registers that do not answer are noticed
 * within a second. */
static void test_drive_that_is_gone_is_reported_within_a_second(void **state) {
  for (unsigned ms = 0; ms < 200; ms += 13) { /* at any time between two checks */
    struct fixture *f = fixture_make(9);
    struct outcome outcome;
    *sim_drive_cap(f->drive) = (*sim_drive_cap(f->drive) & ~(UINT64_C(0xff) << 24)) | UINT64_C(120) << 24;
    fixture_open(f, 8);
    fixture_poll_ms(f, ms);
    sim_drive_silence(f->drive, true);
    assert_int_equal(fixture_submit(f, &outcome, write_of(f, 0, 1)), SPATE_OK);
    const uint64_t start = now_us(f);
    assert_true(fixture_wait(f, &outcome, 1000));
    assert_int_equal(outcome.io.error, SPATE_E_GONE);
    assert_in_range((now_us(f) - start) / 1000, 400, 900);
    fixture_free(f);
  }
  (void)state;
}

static void test_recovery_is_tried_again(void **state) {
  struct fixture *f = fixture_opened(8);
  struct outcome outcome;
  io_fault(f, SIM_FATAL, 0, 1, 0);
  fixture_fault(f, SIM_LOSE, true, 0x06, 0, 1, 0);
  fixture_fault(f, SIM_STATUS, true, 0x05, 0, 1, 0x4006);
  assert_int_equal(fixture_submit(f, &outcome, write_of(f, 0, 1)), SPATE_OK);
  assert_true(fixture_wait(f, &outcome, 20000));
  assert_int_equal(outcome.io.error, SPATE_OK);
  assert_int_equal(sim_drive_counters(f->drive)->enables, 4);
  fixture_free(f);
  (void)state;
}

static void test_recoveries_end(void **state) {
  struct fixture *f = fixture_opened(8);
  struct outcome outcome;
  io_fault(f, SIM_FATAL, 0, 1, 0);
  fixture_fault(f, SIM_LOSE, true, 0x06, 0, 100, 0);
  assert_int_equal(fixture_submit(f, &outcome, write_of(f, 0, 1)), SPATE_OK);
  assert_true(fixture_wait(f, &outcome, 60000));
  assert_int_equal(outcome.io.error, SPATE_E_TIMEOUT);
  assert_int_equal(sim_drive_counters(f->drive)->enables, 1 + SPATE_NVME_RECOVERIES_MAX);
  fixture_free(f);
  (void)state;
}

/* The drive recovers each time, and fails again on the same command: that command ends with an error, the others are
 * done. */
static void test_command_that_kills_the_drive_ends(void **state) {
  struct fixture *f = fixture_opened(8);
  struct outcome poison, good;
  fixture_fault(f, SIM_FATAL, false, 9, 0, 100, 0);
  assert_int_equal(fixture_submit(f, &poison, (struct spate_io){.op = SPATE_TRIM, .blocks = 1}), SPATE_OK);
  assert_true(fixture_wait(f, &poison, 60000));
  assert_int_equal(poison.io.error, SPATE_E_FATAL);
  assert_int_equal(spate_nvme_counters(&f->nvme)->resets, SPATE_NVME_ATTEMPTS_MAX);
  assert_int_equal(fixture_submit(f, &good, write_of(f, 0, 1)), SPATE_OK);
  assert_true(fixture_wait(f, &good, 10));
  assert_int_equal(good.io.error, SPATE_OK);
  fixture_free(f);
  (void)state;
}

static void test_shutdown_gives_up_on_a_hung_drive(void **state) {
  struct fixture *f = fixture_opened(8);
  struct outcome outcome;
  fixture_fault(f, SIM_LOSE, false, -1, 0, 10000, 0);
  assert_int_equal(fixture_submit(f, &outcome, write_of(f, 0, 1)), SPATE_OK);
  const uint64_t before = now_us(f);
  assert_int_equal(spate_nvme_shutdown(&f->nvme), SPATE_OK);
  assert_in_range(now_us(f) - before, 20000000, 60000000);
  fixture_poll_ms(f, 1);
  assert_int_equal(outcome.calls, 1);
  assert_int_not_equal(outcome.io.error, SPATE_OK);
  fixture_free(f);
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_power_cut_of_the_drive_is_counted),
      cmocka_unit_test(test_a_replaced_drive_is_not_written),
      cmocka_unit_test(test_drive_that_is_gone_ends_every_request),
      cmocka_unit_test(test_drive_that_is_gone_is_reported_within_a_second),
      cmocka_unit_test(test_recovery_is_tried_again),
      cmocka_unit_test(test_recoveries_end),
      cmocka_unit_test(test_command_that_kills_the_drive_ends),
      cmocka_unit_test(test_shutdown_gives_up_on_a_hung_drive),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
