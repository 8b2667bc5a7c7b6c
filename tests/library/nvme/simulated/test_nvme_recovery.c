/* SPDX-License-Identifier: Apache-2.0 */
/* A command that does not complete, or a controller that failed: abort, reset, replay. */
#include "nvme_fixture.h"

#define DNR  0x4000u
#define CC   0x14u
#define CSTS 0x1cu

static void test_stalled_command_is_aborted_and_retried(void **state) {
  struct fixture *f = fixture_opened(4);
  struct outcome stalled, other;
  fill_pattern(f->ring_memory, 512, 3);
  io_fault(f, SIM_STALL, 0, 1, 0);
  assert_int_equal(fixture_submit(f, &stalled, write_of(f, 9, 1)), SPATE_OK);
  assert_int_equal(fixture_submit(f, &other, write_of(f, 50, 1)), SPATE_OK);
  assert_true(fixture_wait(f, &other, 10));
  fixture_poll_ms(f, 9900);
  assert_int_equal(spate_nvme_counters(&f->nvme)->aborts, 0);
  assert_true(fixture_wait(f, &stalled, 500));
  assert_int_equal(stalled.io.error, SPATE_OK);
  expect_media(f, 9 * 512, f->ring_memory, 512);
  assert_int_equal(spate_nvme_counters(&f->nvme)->timeouts, 1);
  assert_int_equal(spate_nvme_counters(&f->nvme)->aborts, 1);
  fixture_poll_ms(f, 2000); /* past the abort's deadline: it ended when the command completed */
  assert_int_equal(f->nvme.state, SPATE_NVME_RUNNING);
  assert_int_equal(spate_nvme_counters(&f->nvme)->resets, 0);
  fixture_free(f);
  (void)state;
}

static void test_io_goes_on_while_aborting(void **state) {
  struct fixture *f = fixture_opened(4);
  struct outcome lost;
  io_fault(f, SIM_LOSE, 0, 1, 0);
  assert_int_equal(fixture_submit(f, &lost, write_of(f, 9, 1)), SPATE_OK);
  while (spate_nvme_counters(&f->nvme)->aborts == 0)
    fixture_poll_ms(f, 1);
  assert_int_equal(f->nvme.state, SPATE_NVME_ABORTING);
  assert_int_equal(fixture_do(f, write_of(f, 20, 8), NULL), SPATE_OK);
  assert_int_equal(f->nvme.state, SPATE_NVME_ABORTING);
  assert_true(fixture_wait(f, &lost, 20000));
  fixture_free(f);
  (void)state;
}

/* A completion that waits in the ring while nobody polls does not count as a timeout. */
static void test_unpolled_completion_is_no_timeout(void **state) {
  struct fixture *f = fixture_opened(4);
  struct outcome outcome;
  assert_int_equal(fixture_submit(f, &outcome, write_of(f, 0, 1)), SPATE_OK);
  spate_block_kick(&f->queue.block);
  for (unsigned i = 0; i < 300; i++) { /* half a minute of other work on the controller */
    spend_us(f, 100000);
    assert_int_equal(spate_nvme_health_read(&f->nvme), SPATE_OK);
  }
  assert_int_equal(outcome.calls, 1);
  assert_int_equal(outcome.io.error, SPATE_OK);
  assert_int_equal(spate_nvme_counters(&f->nvme)->timeouts, 0);
  fixture_free(f);
  (void)state;
}

/* The host was stopped for a minute: the drive's commands do not count as expired. */
static void test_stopped_host_is_no_timeout(void **state) {
  struct fixture *f = fixture_opened(4);
  struct outcome outcome;
  io_fault(f, SIM_LATE, 0, 1, 70000);
  assert_int_equal(fixture_submit(f, &outcome, write_of(f, 0, 1)), SPATE_OK);
  fixture_poll_ms(f, 100);
  spend_us(f, 69000000);
  fixture_poll_ms(f, 2000);
  assert_int_equal(outcome.calls, 1);
  assert_int_equal(spate_nvme_counters(&f->nvme)->timeouts, 0);
  fixture_free(f);
  (void)state;
}

static void test_lost_command_leads_to_reset_and_replay(void **state) {
  struct fixture *f = fixture_opened(16);
  struct outcome outcomes[16];
  io_fault(f, SIM_LOSE, 0, 16, 0);
  fill_pattern(f->ring_memory, 16 * 8192, 11);
  for (unsigned i = 0; i < 16; i++) {
    struct spate_io io = write_of(f, 16 * i, 16);
    io.offset_bytes = 8192u * i;
    assert_int_equal(fixture_submit(f, &outcomes[i], io), SPATE_OK);
  }
  fixture_poll_ms(f, 5000);
  assert_true(sim_store_discard(sim_drive_store(f->drive), 0, 16 * 8192) > 0); /* only the replay's data is there */
  assert_true(fixture_wait(f, &outcomes[15], 20000));
  fixture_poll_ms(f, 10);
  for (unsigned i = 0; i < 16; i++) {
    assert_int_equal(outcomes[i].calls, 1);
    assert_int_equal(outcomes[i].io.error, SPATE_OK);
    assert_int_equal(io_command(f, 16 + i)->dwords[10], 16 * i); /* in their order */
  }
  expect_media(f, 0, f->ring_memory, 16 * 8192);
  assert_int_equal(spate_nvme_counters(&f->nvme)->resets, 1);
  assert_int_equal(spate_nvme_counters(&f->nvme)->replays, 16);
  assert_int_equal(spate_nvme_counters(&f->nvme)->power_losses, 0);
  assert_int_equal(f->queue.block.power_losses, 0);
  fixture_free(f);
  (void)state;
}

/* A command that completed before the reset, but was not polled yet, counts as complete and is not sent again. */
static void test_completed_before_the_reset_is_not_replayed(void **state) {
  struct fixture *f = fixture_opened(4);
  struct outcome completed, caught;
  io_fault(f, SIM_FATAL, 1, 1, 0);
  assert_int_equal(fixture_submit(f, &completed, write_of(f, 0, 1)), SPATE_OK);
  spate_block_kick(&f->queue.block);
  spend_us(f, 1000);
  assert_int_equal(fixture_submit(f, &caught, write_of(f, 8, 1)), SPATE_OK);
  spate_block_kick(&f->queue.block);
  while (spate_nvme_counters(&f->nvme)->replays == 0)
    (void)spate_block_poll(&f->queue.block, 0);
  assert_int_equal(completed.calls, 1);
  assert_int_equal(completed.io.error, SPATE_OK);
  assert_int_equal(spate_nvme_counters(&f->nvme)->replays, 1);
  assert_true(fixture_wait(f, &caught, 100));
  fixture_free(f);
  (void)state;
}

static void test_submit_answers_full_while_recovering(void **state) {
  struct fixture *f = fixture_opened(4);
  struct outcome lost, refused;
  io_fault(f, SIM_FATAL, 0, 1, 0);
  assert_int_equal(fixture_submit(f, &lost, write_of(f, 0, 1)), SPATE_OK);
  while (spate_nvme_counters(&f->nvme)->resets == 0)
    fixture_poll_ms(f, 1);
  unsigned refusals = 0;
  while (lost.calls == 0) {
    if (f->nvme.state != SPATE_NVME_RUNNING) {
      assert_int_equal(fixture_submit(f, &refused, write_of(f, 0, 1)), SPATE_E_FULL);
      refusals++;
    }
    (void)spate_block_poll(&f->queue.block, 8);
  }
  assert_true(refusals > 5);
  assert_int_equal(lost.io.error, SPATE_OK);
  fixture_free(f);
  (void)state;
}

/* A request was submitted but its doorbell not rung when the reset began: it is rung only when the controller runs
 * again. */
static void test_reset_controller_is_not_rung(void **state) {
  struct fixture *f = fixture_opened(4);
  struct outcome outcome;
  sim_drive_fail(f->drive);
  assert_int_equal(fixture_submit(f, &outcome, write_of(f, 7, 1)), SPATE_OK);
  spend_us(f, US_PER_S);
  while (outcome.calls == 0) {
    (void)spate_block_poll(&f->queue.block, 8);
    spate_block_kick(&f->queue.block);
    if (f->nvme.state != SPATE_NVME_RUNNING) assert_int_equal(io_count(f), 0);
  }
  assert_int_equal(outcome.io.error, SPATE_OK);
  assert_int_equal(io_count(f), 1);
  assert_int_equal(io_command(f, 0)->dwords[10], 7);
  assert_int_equal(spate_nvme_counters(&f->nvme)->resets, 1);
  assert_int_equal(spate_nvme_counters(&f->nvme)->replays, 1);
  fixture_free(f);
  (void)state;
}

static void test_fatal_status_is_noticed_within_a_moment(void **state) {
  struct fixture *f = fixture_opened(4);
  struct outcome outcome;
  io_fault(f, SIM_FATAL, 0, 1, 0);
  assert_int_equal(fixture_submit(f, &outcome, write_of(f, 0, 1)), SPATE_OK);
  assert_true(fixture_wait(f, &outcome, 200));
  assert_int_equal(spate_nvme_counters(&f->nvme)->resets, 1);
  assert_int_equal(spate_nvme_counters(&f->nvme)->aborts, 0);
  fixture_free(f);
  (void)state;
}

static void test_recovery_restores_what_was_set_up(void **state) {
  struct fixture *f = fixture_make(9);
  struct spate_nvme_queue *second = calloc(1, sizeof *second);
  struct outcome outcome;
  spate_put32(controller_page(f) + 272, 16);
  f->config.host_buffer = f->ring_memory;
  f->config.host_buffer_bytes = 65536;
  fixture_open(f, 4);
  assert_int_equal(fixture_queue_open(f, second, 0, 4), SPATE_OK);
  assert_int_equal(spate_nvme_write_cache_set(&f->nvme, false), SPATE_OK);
  io_fault(f, SIM_FATAL, 0, 1, 0);
  assert_int_equal(fixture_submit(f, &outcome, write_of(f, 0, 1)), SPATE_OK);
  assert_true(fixture_wait(f, &outcome, 1000)); /* the reset brought all defaults back */
  assert_true(sim_drive_host_buffer(f->drive).enabled && sim_drive_host_buffer(f->drive).returned);
  assert_int_equal(sim_drive_feature(f->drive, 0x0b), 0x1f);
  assert_int_equal(admin_count(f, 0x0c), 2); /* events are asked for again */
  assert_int_equal(sim_drive_feature(f->drive, 0x06) & 1, 0);
  assert_false(f->queue.block.volatile_cache);
  struct spate_io flush = {.op = SPATE_FLUSH};
  assert_int_equal(spate_block_do(&second->block, &flush), SPATE_OK);
  free(second);
  fixture_free(f);
  (void)state;
}

/* CSTS.CFS of the failure before is still there for a moment after CC.EN was set. One that stays is a failure. */
static void test_a_fatal_status_of_before_is_waited_for(void **state) {
  for (unsigned stale_ms = 1; stale_ms <= 100; stale_ms *= 4) {
    struct fixture *f = fixture_make_with((struct sim_drive_options){.stale_fatal_ms = (uint8_t)stale_ms}, 1);
    if (stale_ms <= 4) {
      fixture_open(f, 4);
      sim_drive_fail(f->drive);
      fixture_poll_ms(f, 300);
      assert_int_equal(spate_nvme_counters(&f->nvme)->resets, 1);
      assert_int_equal(fixture_do(f, write_of(f, 0, 8), NULL), SPATE_OK);
    } else {
      assert_int_equal(spate_nvme_open(&f->nvme, &f->config), SPATE_E_FATAL);
    }
    fixture_free(f);
  }
  (void)state;
}

/* The cache was turned off, but its contents could not be flushed: no reset may make them count as durable, whether the
 * cache is on or off after it. */
static void test_cache_that_could_not_be_flushed_stays_volatile(void **state) {
  for (unsigned keeps = 0; keeps < 2; keeps++) {
    struct fixture *f = fixture_make_with((struct sim_drive_options){.keeps_write_cache = keeps == 1}, 1);
    struct outcome outcome;
    fixture_open(f, 4);
    io_fault(f, SIM_STATUS, 0, 1, DNR | 0x006);
    assert_int_equal(spate_nvme_write_cache_set(&f->nvme, false), SPATE_E_COMMAND);
    assert_true(f->queue.block.volatile_cache);
    io_fault(f, SIM_FATAL, 0, 1, 0);
    assert_int_equal(fixture_submit(f, &outcome, write_of(f, 0, 1)), SPATE_OK);
    assert_true(fixture_wait(f, &outcome, 1000));
    assert_int_equal(spate_nvme_counters(&f->nvme)->resets, 1);
    assert_true(f->queue.block.volatile_cache);
    fixture_free(f);
  }
  (void)state;
}

static void test_lost_admin_command_leads_to_reset(void **state) {
  struct fixture *f = fixture_opened(8);
  fixture_fault(f, SIM_LOSE, true, 0x02, 0, 1, 0);
  assert_int_equal(spate_nvme_health_read(&f->nvme), SPATE_E_TIMEOUT);
  assert_int_equal(spate_nvme_health_read(&f->nvme), SPATE_OK);
  assert_int_equal(spate_nvme_counters(&f->nvme)->resets, 1);
  assert_int_equal(fixture_do(f, write_of(f, 0, 1), NULL), SPATE_OK);
  fixture_free(f);
  (void)state;
}

/* All faults at once, from a seed: each request ends once, and data that was reported as written is on the media. */
static void test_storm(void **state) {
  for (uint32_t seed = 1; seed <= 12; seed++) {
    struct fixture *f = fixture_make_with((struct sim_drive_options){.shuffle = true}, seed);
    static struct outcome outcomes[600];
    unsigned submitted = 0;
    fixture_open(f, 16);
    io_fault(f, SIM_STATUS, 20 + seed, 5, 0x006);
    io_fault(f, SIM_LOSE, 60 + 3 * seed, 2, 0);
    io_fault(f, SIM_DOUBLE, 90, 6, 0);
    io_fault(f, SIM_FATAL, 130 + 5 * seed, 1, 0);
    io_fault(f, SIM_STALL, 180 + seed, 3, 0);
    io_fault(f, SIM_POWER_CUT, 260 + seed, 1, 0);
    io_fault(f, SIM_WRONG_ID, 300, 4, 0x1ff);
    fill_pattern(f->ring_memory, 600 * 16384, seed);
    while (submitted < 600) {
      struct spate_io io = write_of(f, 24 * submitted, 24);
      io.offset_bytes = 16384u * submitted;
      if (submitted % 3 == 0) {
        io.region = NULL;
        io.buffer = f->ring_memory + io.offset_bytes;
      }
      if (fixture_submit(f, &outcomes[submitted], io) == SPATE_OK)
        submitted++;
      else
        (void)spate_block_poll(&f->queue.block, 4);
    }
    for (unsigned i = 0; i < 600; i++)
      assert_true(outcomes[i].calls == 1 || fixture_wait(f, &outcomes[i], 60000));
    for (unsigned i = 0; i < 600; i++) {
      assert_int_equal(outcomes[i].calls, 1);
      assert_int_equal(outcomes[i].io.error, SPATE_OK);
      expect_media(f, 24 * 512 * i, f->ring_memory + 16384 * i, 24 * 512);
    }
    assert_true(f->queue.block.power_losses >= 1);
    fixture_free(f);
  }
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_stalled_command_is_aborted_and_retried),
      cmocka_unit_test(test_io_goes_on_while_aborting),
      cmocka_unit_test(test_unpolled_completion_is_no_timeout),
      cmocka_unit_test(test_stopped_host_is_no_timeout),
      cmocka_unit_test(test_lost_command_leads_to_reset_and_replay),
      cmocka_unit_test(test_completed_before_the_reset_is_not_replayed),
      cmocka_unit_test(test_submit_answers_full_while_recovering),
      cmocka_unit_test(test_reset_controller_is_not_rung),
      cmocka_unit_test(test_fatal_status_is_noticed_within_a_moment),
      cmocka_unit_test(test_recovery_restores_what_was_set_up),
      cmocka_unit_test(test_cache_that_could_not_be_flushed_stays_volatile),
      cmocka_unit_test(test_a_fatal_status_of_before_is_waited_for),
      cmocka_unit_test(test_lost_admin_command_leads_to_reset),
      cmocka_unit_test(test_storm),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
