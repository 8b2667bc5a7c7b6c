/* SPDX-License-Identifier: Apache-2.0 */
/* Only one Abort command at a time, because a drive need not accept more (ACL). Admin completions that are incomplete,
 * or that belong to no admin command. */
#include "nvme_fixture.h"

#define ABORT        0x08
#define GET_FEATURES 0x0a

static void fault(struct fixture *f, enum sim_action action, bool admin, int opcode, uint32_t value) {
  fixture_fault(f, action, admin, opcode, 0, 1, value);
}

static void expect_no_surprise(struct fixture *f, uint32_t aborts) {
  const struct spate_nvme_counters *counters = spate_nvme_counters(&f->nvme);
  assert_int_equal(counters->aborts, aborts);
  assert_int_equal(admin_count(f, ABORT), aborts);
  assert_int_equal(counters->spurious_completions, 0);
  assert_int_equal(counters->resets, 0);
}

/* The first command completes at once, but its Abort 900 ms later. The second command expires in between. */
static void test_a_second_command_waits_for_the_first_abort(void **state) {
  struct fixture *f = fixture_opened(4);
  struct outcome first, second;
  fault(f, SIM_STALL, false, -1, 0);
  fault(f, SIM_STALL, false, -1, 0);
  fault(f, SIM_LATE, true, ABORT, 900);
  assert_int_equal(fixture_submit(f, &first, write_of(f, 0, 8)), SPATE_OK);
  fixture_poll_ms(f, 300);
  assert_int_equal(fixture_submit(f, &second, write_of(f, 8, 8)), SPATE_OK);
  assert_true(fixture_wait(f, &first, 10500));
  fixture_poll_ms(f, 600);
  expect_no_surprise(f, 1);
  assert_int_equal(second.calls, 0);
  assert_true(fixture_wait(f, &second, 1000));
  fixture_poll_ms(f, 100);
  expect_no_surprise(f, 2);
  assert_int_equal(second.io.error, SPATE_OK);
  fixture_free(f);
  (void)state;
}

static void admin_ended(struct spate_nvme_admin_request *request) { ++*(unsigned *)request->context; }

/* The same for an admin request of the caller that expires in between. */
static void test_an_admin_request_waits_for_the_abort_of_another_command(void **state) {
  struct fixture *f = fixture_opened(4);
  struct outcome first;
  unsigned ended = 0;
  struct spate_nvme_admin_request request = {
      .opcode = GET_FEATURES, .dwords_10_15 = {2}, .timeout_ms = 10500, .done = admin_ended, .context = &ended};
  fault(f, SIM_STALL, false, -1, 0);
  fault(f, SIM_STALL, true, GET_FEATURES, 0);
  fault(f, SIM_LATE, true, ABORT, 900);
  assert_int_equal(fixture_submit(f, &first, write_of(f, 0, 8)), SPATE_OK);
  assert_int_equal(spate_nvme_admin_submit(&f->nvme, &request), SPATE_OK);
  assert_true(fixture_wait(f, &first, 10500));
  fixture_poll_ms(f, 600);
  expect_no_surprise(f, 1);
  assert_int_equal(ended, 0);
  fixture_poll_ms(f, 1000);
  expect_no_surprise(f, 2);
  assert_int_equal(ended, 1);
  assert_int_equal(request.error, SPATE_E_TIMEOUT);
  fixture_free(f);
  (void)state;
}

/* A completion that names another queue belongs to none of the driver's admin commands: the pending command continues
 * to its deadline. */
static void test_admin_completion_for_another_queue_is_ignored(void **state) {
  struct fixture *f = fixture_opened(4);
  uint8_t power_state = 0;
  fault(f, SIM_MISDIRECT, true, GET_FEATURES, 0);
  assert_int_equal(spate_nvme_power_state_get(&f->nvme, &power_state), SPATE_E_TIMEOUT);
  assert_int_equal(spate_nvme_counters(&f->nvme)->spurious_completions, 1);
  assert_int_equal(spate_nvme_power_state_get(&f->nvme, &power_state), SPATE_OK);
  fixture_free(f);
  (void)state;
}

/* The second half of each completion, with the phase bit, becomes visible before the first half. The first half must be
 * read after the barrier. */
static void test_completions_in_two_steps(void **state) {
  struct fixture *f = fixture_make(9);
  fixture_open(f, 4);
  for (unsigned i = 0; i < 200; i++)
    assert_int_equal(fixture_do(f, (struct spate_io){.op = SPATE_FLUSH}, NULL), SPATE_OK);
  assert_int_equal(spate_nvme_queues_max(&f->nvme), 4); /* dword 0 of an admin completion */
  uint8_t power_state = 0;
  assert_int_equal(spate_nvme_power_state_set(&f->nvme, 3), SPATE_OK);
  assert_int_equal(spate_nvme_power_state_get(&f->nvme, &power_state), SPATE_OK);
  assert_int_equal(power_state, 3);
  assert_int_equal(spate_nvme_counters(&f->nvme)->spurious_completions, 0);
  fixture_free(f);
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_second_command_waits_for_the_first_abort),
      cmocka_unit_test(test_an_admin_request_waits_for_the_abort_of_another_command),
      cmocka_unit_test(test_admin_completion_for_another_queue_is_ignored),
      cmocka_unit_test(test_completions_in_two_steps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
