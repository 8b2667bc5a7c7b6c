/* SPDX-License-Identifier: Apache-2.0 */
/* The state that a reset by the driver discards, and the state that it keeps. */
#include "nvme_fixture.h"

#define GET_LOG 0x02
#define EVENT   0x0c
#define LOOK_MS 150 /* the admin queue is polled every 100 ms */

static void poll_until_running_again(struct fixture *f, uint32_t resets) {
  const uint64_t end = now_us(f) + 60 * US_PER_S;
  while (spate_nvme_counters(&f->nvme)->resets < resets || f->nvme.state != SPATE_NVME_RUNNING) {
    fixture_poll(f);
    assert_true(now_us(f) < end);
  }
}

/* A controller that failed, noticed at the next check. */
static void fail_once(struct fixture *f) {
  sim_drive_fail(f->drive);
  poll_until_running_again(f, spate_nvme_counters(&f->nvme)->resets + 1u);
}

/* A log read that never ends, and a controller reset because of it. */
static struct fixture *with_a_lost_log(void) {
  struct fixture *f = fixture_make(9);
  fixture_open(f, 4);
  fixture_fault(f, SIM_LOSE, true, GET_LOG, 0, 1, 0);
  assert_int_equal(spate_nvme_health_start(&f->nvme), SPATE_OK);
  return f;
}

static void test_a_log_that_it_took_away_can_be_read_again(void **state) {
  struct fixture *f = with_a_lost_log();
  assert_int_equal(spate_nvme_health_start(&f->nvme), SPATE_E_BUSY);
  poll_until_running_again(f, 1);
  assert_int_equal(spate_nvme_counters(&f->nvme)->timeouts, 1);
  assert_int_equal(spate_nvme_counters(&f->nvme)->resets, 1);
  const uint32_t sequence = spate_nvme_health(&f->nvme)->sequence;
  assert_int_equal(spate_nvme_health_start(&f->nvme), SPATE_OK);
  fixture_poll_ms(f, LOOK_MS);
  assert_int_equal(spate_nvme_health(&f->nvme)->sequence, sequence + 1);
  fixture_free(f);
  (void)state;
}

/* The controller reports a failure at about the time when a command expires, an I/O or an admin command: only one reset
 * follows. */
static void test_two_signs_of_one_failure_cause_one_reset(void **state) {
  for (unsigned ms = 0; ms < 300; ms += 10) {
    for (unsigned admin = 0; admin < 2; admin++) {
      struct fixture *f = fixture_make(9);
      struct outcome outcome;
      f->config.command_timeout_ms = 1000;
      fixture_open(f, 4);
      fixture_fault(f, SIM_LOSE, admin == 1, admin == 1 ? GET_LOG : -1, 0, 1, 0);
      if (admin == 1)
        assert_int_equal(spate_nvme_health_start(&f->nvme), SPATE_OK);
      else
        assert_int_equal(fixture_submit(f, &outcome, write_of(f, 1, 1)), SPATE_OK);
      fixture_poll_ms(f, (admin == 1 ? 4900 : 2000) + ms);
      if (sim_drive_counters(f->drive)->enables == 1) sim_drive_fail(f->drive);
      poll_until_running_again(f, 1);
      fixture_poll_ms(f, LOOK_MS);
      assert_int_equal(spate_nvme_counters(&f->nvme)->resets, 1);
      fixture_free(f);
    }
  }
  (void)state;
}

/* The reset made the controller forget its events, so their pages need not be read. */
static void test_pages_of_events_before_it_are_not_read(void **state) {
  static const struct { uint8_t type, page; } events[] = {{0, 0x01}, {1, 0x20}, {6, 0x81}, {7, 0xff}};
  struct fixture *f = with_a_lost_log();
  for (unsigned i = 0; i < sizeof events / sizeof events[0]; i++) {
    fixture_poll_ms(f, LOOK_MS);
    assert_true(sim_drive_event(f->drive, events[i].type, 0, events[i].page));
  }
  fixture_poll_ms(f, LOOK_MS);
  poll_until_running_again(f, 1);
  const unsigned logs = admin_count(f, GET_LOG);
  assert_int_equal(spate_nvme_health_start(&f->nvme), SPATE_OK);
  fixture_poll_ms(f, 1000);
  assert_int_equal(admin_count(f, GET_LOG), logs + 1);
  fixture_free(f);
  (void)state;
}

/* Bring-up asks for events. A request for events that was due before the reset is dropped. */
static void test_events_are_asked_for_once(void **state) {
  struct fixture *f = fixture_make(9);
  fixture_open(f, 4);
  while (sim_drive_event(f->drive, 1, 0, 2)) /* until there have been many: the next request for an event is delayed */
    fixture_poll_ms(f, LOOK_MS);
  const unsigned asked = admin_count(f, EVENT);
  fail_once(f);
  fixture_poll_ms(f, 5000);
  assert_int_equal(admin_count(f, EVENT), asked + 1);
  assert_true(sim_drive_event(f->drive, 1, 0, 2));
  fixture_free(f);
  (void)state;
}

/* A command that waits for its retry delay is not in the drive: it keeps waiting, and is not replayed. */
static void test_a_retry_waits_on(void **state) {
  struct fixture *f = fixture_make(9);
  struct outcome waiting, caught;
  spate_put16(controller_page(f) + 128, 50); /* CRDT1: 5 s */
  fixture_open(f, 4);
  fixture_fault(f, SIM_STATUS, false, -1, 0, 1, 1u << 11 | 0x006);
  assert_int_equal(fixture_submit(f, &waiting, write_of(f, 1, 1)), SPATE_OK);
  fixture_poll_ms(f, 1000);
  fixture_fault(f, SIM_LATE, false, -1, 0, 1, 1000);
  assert_int_equal(fixture_submit(f, &caught, write_of(f, 2, 1)), SPATE_OK);
  fixture_poll_ms(f, 10);
  fail_once(f);
  assert_int_equal(spate_nvme_counters(&f->nvme)->replays, 1);
  assert_true(fixture_wait(f, &caught, 10));
  assert_true(fixture_wait(f, &waiting, 10000));
  assert_int_equal(io_count(f), 4);
  assert_true(io_us(f, 3) - io_us(f, 0) >= 5000000);
  fixture_free(f);
  (void)state;
}

/* Requests take the fast path again: one command on a region, without a use of parts_left. */
static void test_requests_are_plain_again(void **state) {
  struct fixture *f = fixture_make(9);
  fixture_open_two(f, 4);
  fail_once(f);
  struct spate_nvme_queue *queues[] = {&f->queue, &f->second};
  for (unsigned i = 0; i < 2; i++) {
    struct outcome outcome;
    assert_int_equal(fixture_submit_to(queues[i], &outcome, write_of(f, i, 1)), SPATE_OK);
    assert_int_equal(outcome.io.parts_left, 0);
    assert_true(fixture_wait(f, &outcome, 10));
  }
  fixture_free(f);
  (void)state;
}

/* A request that is ended because of resets has their cause as its error, and no status of the drive. */
static void test_a_request_that_it_ends_has_no_status(void **state) {
  static const struct {
    enum sim_action action;
    enum spate_error error;
    unsigned aborts;
  } causes[] = {{SIM_FATAL, SPATE_E_FATAL, 0}, {SIM_LOSE, SPATE_E_TIMEOUT, SPATE_NVME_ATTEMPTS_MAX}};
  for (unsigned i = 0; i < sizeof causes / sizeof causes[0]; i++) {
    struct fixture *f = fixture_make(9);
    struct outcome outcome;
    fixture_open(f, 4);
    fixture_fault(f, causes[i].action, false, -1, 0, 100, 0);
    assert_int_equal(fixture_submit(f, &outcome, write_of(f, 1, 1)), SPATE_OK);
    assert_true(fixture_wait(f, &outcome, 60000));
    assert_int_equal(outcome.io.error, causes[i].error);
    assert_int_equal(outcome.io.detail, 0);
    assert_int_equal(spate_nvme_counters(&f->nvme)->aborts, causes[i].aborts);
    assert_int_equal(spate_nvme_counters(&f->nvme)->resets, SPATE_NVME_ATTEMPTS_MAX); /* one for each failed attempt */
    fixture_free(f);
  }
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_log_that_it_took_away_can_be_read_again),
      cmocka_unit_test(test_two_signs_of_one_failure_cause_one_reset),
      cmocka_unit_test(test_pages_of_events_before_it_are_not_read),
      cmocka_unit_test(test_events_are_asked_for_once),
      cmocka_unit_test(test_a_retry_waits_on),
      cmocka_unit_test(test_requests_are_plain_again),
      cmocka_unit_test(test_a_request_that_it_ends_has_no_status),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
