/* SPDX-License-Identifier: Apache-2.0 */
/* Shutdown in any state of the controller, and the errors of later requests and calls. */
#include "nvme_fixture.h"

#define GET_FEATURES 0x0a

static void expect_closed(struct fixture *f) {
  struct outcome outcome;
  const struct spate_io plain = {.op = SPATE_WRITE, .blocks = 8, .region = &f->ring};
  const unsigned commands = io_count(f);
  assert_int_equal(sim_drive_counters(f->drive)->shutdowns, 1);
  assert_int_equal(csts(f) & 0xc, 8);
  assert_int_equal(sim_drive_counters(f->drive)->hot_shutdowns, 0);
  assert_int_equal(fixture_submit(f, &outcome, plain), SPATE_E_INVALID);
  assert_int_equal(fixture_submit(f, &outcome, (struct spate_io){.op = SPATE_FLUSH}), SPATE_E_INVALID);
  assert_int_equal(spate_nvme_health_read(&f->nvme), SPATE_E_INVALID);
  assert_int_equal(spate_nvme_shutdown(&f->nvme), SPATE_E_INVALID);
  fixture_poll_ms(f, 200);
  assert_int_equal(io_count(f), commands);
  assert_int_equal(sim_drive_counters(f->drive)->shutdowns, 1);
}

static void test_nothing_is_accepted_after_it(void **state) {
  struct fixture *f = fixture_opened(4);
  assert_int_equal(spate_nvme_shutdown(&f->nvme), SPATE_OK);
  assert_int_equal(last_admin(f, 0x00)->dwords[10], 1); /* Delete I/O Submission Queue 1, ... */
  assert_int_equal(last_admin(f, 0x00)->dwords[11], 0);
  assert_int_equal(last_admin(f, 0x04)->dwords[10], 1); /* ... and its completion queue */
  assert_int_equal(last_admin(f, 0x04)->dwords[11], 0);
  expect_closed(f);
  fixture_free(f);
  (void)state;
}

/* Nothing is in flight, and the controller is being reset: it is brought up first, and then shut down normally. */
static void test_it_waits_for_a_recovery(void **state) {
  struct fixture *f = fixture_opened(4);
  sim_drive_fail(f->drive);
  while (f->nvme.state == SPATE_NVME_RUNNING)
    fixture_poll(f);
  assert_int_equal(spate_nvme_shutdown(&f->nvme), SPATE_OK);
  assert_int_equal(sim_drive_counters(f->drive)->enables, 2);
  expect_closed(f);
  fixture_free(f);
  (void)state;
}

static void ended(struct spate_nvme_admin_request *request) { ++*(unsigned *)request->context; }

/* Without a queue only the controller can be polled. */
static void test_it_waits_for_an_admin_request_without_queues(void **state) {
  struct fixture *f = fixture_make(9);
  unsigned calls = 0;
  struct spate_nvme_admin_request request = {
      .opcode = GET_FEATURES, .dwords_10_15 = {2}, .timeout_ms = 5000, .done = ended, .context = &calls};
  assert_int_equal(spate_nvme_open(&f->nvme, &f->config), SPATE_OK);
  fixture_fault(f, SIM_LATE, true, GET_FEATURES, 0, 1, 300);
  assert_int_equal(spate_nvme_admin_submit(&f->nvme, &request), SPATE_OK);
  const uint64_t start = now_us(f);
  assert_int_equal(spate_nvme_shutdown(&f->nvme), SPATE_OK);
  assert_in_range((now_us(f) - start) / 1000, 300, 1000);
  assert_int_equal(calls, 1);
  assert_int_equal(request.error, SPATE_OK);
  fixture_free(f);
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_nothing_is_accepted_after_it),
      cmocka_unit_test(test_it_waits_for_a_recovery),
      cmocka_unit_test(test_it_waits_for_an_admin_request_without_queues),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
