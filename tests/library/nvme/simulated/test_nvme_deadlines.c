/* SPDX-License-Identifier: Apache-2.0 */
/* A command has its whole timeout, whichever queue is polled. Requests of a dead controller end when their queue is
 * polled. */
#include "nvme_fixture.h"

#define ABORT 0x08
#define FLUSH 0x00

static void fault(struct fixture *f, enum sim_action action, int opcode, unsigned count, uint32_t value) {
  fixture_fault(f, action, false, opcode, 0, count, value);
}

/* Whenever it is submitted, and however often the caller polls, a command is aborted after its timeout and at most
 * three checks later. */
static void test_a_command_has_all_of_its_time(void **state) {
  static const uint32_t timeouts_ms[] = {100, 200, 1000, 3000}, turns_ms[] = {0, 33, 99};
  for (unsigned i = 0; i < 4 * 3; i++) {
    const uint32_t timeout_ms = timeouts_ms[i / 3], turn_ms = turns_ms[i % 3];
    for (unsigned phase = 0; phase < 12; phase++) {
      struct fixture *f = fixture_make(9);
      struct outcome outcome;
      f->config.command_timeout_ms = timeout_ms;
      fixture_open(f, 4);
      fixture_poll_ms(f, 10 * phase);
      for (unsigned j = 0; turn_ms > 0 && j < phase; j++) { /* the checks are late, by up to a turn */
        spend_us(f, turn_ms * US_PER_MS);
        fixture_poll(f);
      }
      fault(f, SIM_STALL, -1, 1, 0);
      const uint64_t start = now_us(f);
      assert_int_equal(fixture_submit(f, &outcome, write_of(f, 0, 8)), SPATE_OK);
      while (admin_count(f, ABORT) == 0) {
        fixture_poll(f);
        spend_us(f, turn_ms * US_PER_MS);
      }
      assert_in_range((now_us(f) - start) / 1000, timeout_ms, timeout_ms * 102 / 100 + 310 + 2 * turn_ms);
      assert_true(fixture_wait(f, &outcome, 1000));
      fixture_free(f);
    }
  }
  (void)state;
}

/* Only one of two queues is polled. The other queue's commands are aborted and reaped from there. */
static void test_an_abort_on_a_queue_that_is_not_polled(void **state) {
  struct fixture *f = fixture_make(9);
  struct outcome outcome;
  f->config.command_timeout_ms = 1000;
  fixture_open_two(f, 4);
  fault(f, SIM_STALL, -1, 1, 0);
  assert_int_equal(fixture_submit_to(&f->second, &outcome, write_of(f, 0, 8)), SPATE_OK);
  spate_block_kick(&f->second.block);
  const uint64_t end = now_us(f) + 5 * US_PER_S;
  while (now_us(f) < end) {
    (void)spate_block_poll(&f->queue.block, 4);
    spate_port_relax();
  }
  assert_int_equal(outcome.calls, 1);
  assert_int_equal(spate_nvme_counters(&f->nvme)->aborts, 1);
  assert_int_equal(spate_nvme_counters(&f->nvme)->resets, 0);
  fixture_free(f);
  (void)state;
}

/* The retry of a command on a queue that is not polled goes to the drive after its delay. */
static void test_a_retry_on_a_queue_that_is_not_polled(void **state) {
  struct fixture *f = fixture_make(9);
  struct outcome outcome;
  controller_page(f)[128] = 5; /* CRDT1: 500 ms */
  fixture_open_two(f, 4);
  fault(f, SIM_STATUS, -1, 1, 1u << 11 | 0x006);
  assert_int_equal(fixture_submit_to(&f->second, &outcome, write_of(f, 0, 8)), SPATE_OK);
  fixture_poll_ms(f, 1);
  const uint64_t end = now_us(f) + US_PER_S;
  while (now_us(f) < end) {
    (void)spate_block_poll(&f->queue.block, 4);
    spate_port_relax();
  }
  assert_int_equal(io_count(f), 2);
  assert_true(fixture_wait(f, &outcome, 10));
  fixture_free(f);
  (void)state;
}

/* A poll ends at most the number of requests asked for, and returns how many. */
static void expect_ends_in_pieces(struct fixture *f, const struct outcome *outcomes, enum spate_error error) {
  static const unsigned max[] = {0, 1, 2, 8, 8}, ended[] = {0, 1, 2, 1, 0};
  unsigned sum = 0;
  for (unsigned i = 0; i < sizeof max / sizeof max[0]; i++) {
    unsigned calls = 0;
    assert_int_equal(spate_block_poll(&f->queue.block, max[i]), ended[i]);
    sum += ended[i];
    for (unsigned j = 0; j < 4; j++)
      calls += outcomes[j].calls;
    assert_int_equal(calls, sum);
  }
  for (unsigned j = 0; j < 4; j++) {
    assert_int_equal(outcomes[j].io.error, error);
    assert_int_equal(outcomes[j].io.detail, 0);
  }
}

static void test_requests_of_a_dead_controller_end_as_they_are_polled(void **state) {
  struct fixture *f = fixture_make(9);
  struct outcome outcomes[4];
  fixture_open(f, 4);
  sim_drive_silence(f->drive, true);
  for (unsigned i = 0; i < 4; i++)
    assert_int_equal(fixture_submit(f, &outcomes[i], write_of(f, 0, 8)), SPATE_OK);
  while (f->nvme.state != SPATE_NVME_DEAD) {
    spate_nvme_poll(&f->nvme);
    spate_port_relax();
  }
  expect_ends_in_pieces(f, outcomes, SPATE_E_GONE);
  fixture_free(f);
  (void)state;
}

/* Requests that the drive did not complete within the 32 s of a shutdown. */
static void test_requests_of_a_closed_controller_end_as_they_are_polled(void **state) {
  struct fixture *f = fixture_make(9);
  struct outcome outcomes[4];
  f->config.command_timeout_ms = 600000;
  fixture_open(f, 4);
  fault(f, SIM_LOSE, -1, 4, 0);
  for (unsigned i = 0; i < 4; i++)
    assert_int_equal(fixture_submit(f, &outcomes[i], write_of(f, 0, 8)), SPATE_OK);
  const uint64_t start = now_us(f);
  assert_int_equal(spate_nvme_shutdown(&f->nvme), SPATE_OK);
  assert_in_range((now_us(f) - start) / 1000, 32000, 33000);
  expect_ends_in_pieces(f, outcomes, SPATE_E_INVALID);
  fixture_free(f);
  (void)state;
}

/* The timeout is time, however seldom the caller polls. */
static void test_a_time_out_is_time_although_nobody_polls(void **state) {
  static const unsigned gaps_ms[] = {150, 1000, 4000};
  for (unsigned i = 0; i < sizeof gaps_ms / sizeof gaps_ms[0]; i++) {
    struct fixture *f = fixture_opened(4);
    struct outcome outcome;
    fault(f, SIM_STALL, -1, 1, 0);
    const uint64_t start = now_us(f);
    assert_int_equal(fixture_submit(f, &outcome, write_of(f, 0, 8)), SPATE_OK);
    while (admin_count(f, ABORT) == 0) {
      fixture_poll(f);
      spend_us(f, gaps_ms[i] * US_PER_MS);
    }
    assert_in_range((now_us(f) - start) / 1000, 10000, 10500 + 3 * gaps_ms[i]);
    fixture_free(f);
  }
  (void)state;
}

/* The caller does something else for longer than the timeout. What the drive has completed meanwhile, and what it has
 * not even seen, is not aborted. */
static void test_no_command_is_aborted_unseen(void **state) {
  enum { NOT_KICKED, COMPLETED, NOT_KICKED_AND_OTHERS_POLLED, KINDS };
  for (unsigned kind = 0; kind < KINDS; kind++) {
    struct fixture *f = fixture_make(9);
    struct outcome outcome;
    fixture_open_two(f, 4);
    if (kind == COMPLETED) fault(f, SIM_LATE, -1, 1, 20000);
    fixture_poll_ms(f, 300);
    assert_int_equal(fixture_submit(f, &outcome, write_of(f, 0, 8)), SPATE_OK);
    if (kind == COMPLETED) fixture_poll_ms(f, 300); /* it has an age when the pause begins */
    for (unsigned i = 0; kind == NOT_KICKED_AND_OTHERS_POLLED && i < 3; i++) {
      spend_us(f, 200 * US_PER_MS);
      (void)spate_block_poll(&f->second.block, 4);
    }
    spend_us(f, 25 * US_PER_S);
    assert_true(fixture_wait(f, &outcome, 1000));
    assert_int_equal(outcome.io.error, SPATE_OK);
    assert_int_equal(spate_nvme_counters(&f->nvme)->timeouts, 0);
    assert_int_equal(admin_count(f, ABORT), 0);
    fixture_free(f);
  }
  (void)state;
}

/* A flush may take longer than any other command, and the others continue. */
static void test_a_flush_has_a_time_of_its_own(void **state) {
  struct fixture *f = fixture_make(9);
  struct outcome outcome;
  f->config.command_timeout_ms = 1000;
  fixture_open(f, 4);
  fault(f, SIM_LATE, FLUSH, 1, 28000);
  assert_int_equal(fixture_submit(f, &outcome, (struct spate_io){.op = SPATE_FLUSH}), SPATE_OK);
  for (unsigned i = 0; i < 25; i++) {
    assert_int_equal(fixture_do(f, write_of(f, 0, 8), NULL), SPATE_OK);
    fixture_poll_ms(f, 1000);
  }
  assert_int_equal(outcome.calls, 0);
  assert_true(fixture_wait(f, &outcome, 5000));
  assert_int_equal(outcome.io.error, SPATE_OK);
  assert_int_equal(spate_nvme_counters(&f->nvme)->timeouts, 0);
  fixture_free(f);
  (void)state;
}

/* One that never ends is sent again once, whether an abort ends it or only a reset. */
static void test_a_flush_that_never_ends(void **state) {
  for (unsigned abortable = 0; abortable < 2; abortable++) {
    struct fixture *f = fixture_opened(4);
    struct outcome outcome;
    fault(f, abortable ? SIM_STALL : SIM_LOSE, FLUSH, UINT32_MAX, 0);
    assert_int_equal(fixture_submit(f, &outcome, (struct spate_io){.op = SPATE_FLUSH}), SPATE_OK);
    assert_true(fixture_wait(f, &outcome, 65000));
    assert_int_equal(outcome.io.error, abortable ? SPATE_E_COMMAND : SPATE_E_TIMEOUT);
    assert_int_equal(sim_drive_counters(f->drive)->io[FLUSH], 2);
    assert_int_equal(spate_nvme_counters(&f->nvme)->timeouts, 2);
    assert_int_equal(spate_nvme_counters(&f->nvme)->resets, abortable ? 0 : 2);
    assert_int_equal(fixture_do(f, write_of(f, 0, 8), NULL), SPATE_OK);
    fixture_free(f);
  }
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_command_has_all_of_its_time),
      cmocka_unit_test(test_a_time_out_is_time_although_nobody_polls),
      cmocka_unit_test(test_no_command_is_aborted_unseen),
      cmocka_unit_test(test_a_flush_has_a_time_of_its_own),
      cmocka_unit_test(test_a_flush_that_never_ends),
      cmocka_unit_test(test_an_abort_on_a_queue_that_is_not_polled),
      cmocka_unit_test(test_a_retry_on_a_queue_that_is_not_polled),
      cmocka_unit_test(test_requests_of_a_dead_controller_end_as_they_are_polled),
      cmocka_unit_test(test_requests_of_a_closed_controller_end_as_they_are_polled),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
