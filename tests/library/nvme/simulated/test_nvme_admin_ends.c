/* SPDX-License-Identifier: Apache-2.0 */
/* How an admin request of the caller ends: by its completion, by an abort, by a reset, or with the controller; and it
 * ends only once. */
#include "nvme_fixture.h"

#define ABORT        0x08
#define GET_FEATURES 0x0a
#define FEATURE      2u /* power state */
#define POWER_STATE  3u
#define TIMEOUT_MS   500u
#define LOOK_MS      110u /* the admin queue is polled every 100 ms */

struct answer {
  struct fixture *f;
  unsigned calls, submit_again; /* from done() */
  uint64_t us;                  /* when it ended */
  bool stopped;                 /* the controller had stopped by then */
};

static void ended(struct spate_nvme_admin_request *request) {
  struct answer *answer = request->context;

  answer->calls++;
  answer->us = now_us(answer->f);
  answer->stopped = (csts(answer->f) & 1u) == 0;
  if (answer->submit_again == 0) return;
  answer->submit_again--;
  assert_int_equal(spate_nvme_admin_submit(&answer->f->nvme, request), SPATE_OK);
}

static struct fixture *opened(void) {
  struct fixture *f = fixture_make(9);
  fixture_open(f, 4);
  assert_int_equal(spate_nvme_power_state_set(&f->nvme, POWER_STATE), SPATE_OK);
  return f;
}

/* The fields that the driver fills in hold remains of an earlier use. */
static struct spate_nvme_admin_request request_of(struct answer *answer) {
  return (struct spate_nvme_admin_request){.opcode = GET_FEATURES,
                                           .dwords_10_15 = {FEATURE},
                                           .timeout_ms = TIMEOUT_MS,
                                           .done = ended,
                                           .context = answer,
                                           .error = SPATE_E_MEDIA,
                                           .detail = 0x1234,
                                           .result = 0x12345678};
}

static void fault(struct fixture *f, enum sim_action action, int opcode, uint32_t value) {
  fixture_fault(f, action, true, opcode, 0, 1, value);
}

static void expect_counts(const struct fixture *f, uint32_t timeouts, uint32_t aborts, uint32_t resets) {
  const struct spate_nvme_counters *counters = spate_nvme_counters(&f->nvme);
  assert_int_equal(counters->timeouts, timeouts);
  assert_int_equal(counters->aborts, aborts);
  assert_int_equal(counters->resets, resets);
  assert_int_equal(counters->spurious_completions, 0);
}

static void test_a_completion_has_its_result(void **state) {
  (void)state;
  struct fixture *f = opened();
  struct answer answer = {.f = f};
  struct spate_nvme_admin_request request = request_of(&answer);
  assert_int_equal(spate_nvme_admin_submit(&f->nvme, &request), SPATE_OK);
  assert_int_equal(answer.calls, 0);
  fixture_poll_ms(f, LOOK_MS);
  assert_int_equal(answer.calls, 1);
  assert_int_equal(request.error, SPATE_OK);
  assert_int_equal(request.detail, 0);
  assert_int_equal(request.result, POWER_STATE);
  fixture_poll_ms(f, 3000);
  assert_int_equal(answer.calls, 1);
  expect_counts(f, 0, 0, 0);
  fixture_free(f);
}

/* The drive refuses it, also with the status of an abort that nobody requested. */
static void test_a_refusal_has_its_status(void **state) {
  static const uint16_t statuses[] = {0x0007, 0x4007, 0x4109, 0x0001};
  (void)state;
  struct fixture *f = opened();
  for (unsigned i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
    struct answer answer = {.f = f};
    struct spate_nvme_admin_request request = request_of(&answer);
    fault(f, SIM_STATUS, GET_FEATURES, statuses[i]);
    assert_int_equal(spate_nvme_admin_submit(&f->nvme, &request), SPATE_OK);
    fixture_poll_ms(f, LOOK_MS);
    assert_int_equal(answer.calls, 1);
    assert_int_equal(request.error, SPATE_E_COMMAND);
    assert_int_equal(request.detail, statuses[i]);
  }
  fixture_free(f);
}

static void test_the_next_one_is_submitted_when_one_ends(void **state) {
  (void)state;
  struct fixture *f = opened();
  struct answer answer = {.f = f, .submit_again = 4};
  struct spate_nvme_admin_request request = request_of(&answer);
  assert_int_equal(spate_nvme_admin_submit(&f->nvme, &request), SPATE_OK);
  fixture_poll_ms(f, 6 * LOOK_MS);
  assert_int_equal(answer.calls, 5);
  fixture_free(f);
}

/* It is aborted by its own identifier, and not before its timeout. The next request has its whole timeout. */
static void test_an_expired_one_is_aborted(void **state) {
  (void)state;
  struct fixture *f = opened();
  for (unsigned turn = 0; turn < 3; turn++) {
    struct answer answer = {.f = f};
    struct spate_nvme_admin_request request = request_of(&answer);
    const uint64_t start = now_us(f);
    fault(f, SIM_STALL, GET_FEATURES, 0);
    assert_int_equal(spate_nvme_admin_submit(&f->nvme, &request), SPATE_OK);
    fixture_poll_ms(f, TIMEOUT_MS - 1);
    expect_counts(f, turn, turn, 0);
    fixture_poll_ms(f, 2 * LOOK_MS);
    expect_counts(f, turn + 1, turn + 1, 0);
    const uint32_t id = last_admin(f, GET_FEATURES)->dwords[0] >> 16;
    assert_int_equal(last_admin(f, ABORT)->dwords[10], id << 16);
    assert_int_equal(answer.calls, 1);
    assert_in_range((answer.us - start) / 1000, TIMEOUT_MS, TIMEOUT_MS + 2 * LOOK_MS);
    assert_int_equal(request.error, SPATE_E_TIMEOUT);
  }
  fixture_poll_ms(f, 3000); /* nothing of it is left that could expire */
  expect_counts(f, 3, 3, 0);
  fixture_free(f);
}

/* The abort came too late: the command's own completion counts, whatever its status. */
static void test_a_completion_after_the_abort_counts(void **state) {
  static const struct {
    uint16_t status;
    enum spate_error error;
  } cases[] = {{0, SPATE_OK}, {0x4006, SPATE_E_COMMAND}, {0x0007, SPATE_E_TIMEOUT}};
  (void)state;
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct fixture *f = opened();
    struct answer answer = {.f = f};
    struct spate_nvme_admin_request request = request_of(&answer);
    if (cases[i].status == 0)
      fault(f, SIM_LATE, GET_FEATURES, 700);
    else
      fault(f, SIM_STATUS, GET_FEATURES, UINT32_C(700) << 16 | cases[i].status);
    assert_int_equal(spate_nvme_admin_submit(&f->nvme, &request), SPATE_OK);
    fixture_poll_ms(f, 1000);
    expect_counts(f, 1, 1, 0);
    assert_int_equal(answer.calls, 1);
    assert_int_equal(request.error, cases[i].error);
    fixture_free(f);
  }
}

/* The drive does not find the command. A second after the abort the controller is reset, and only then the buffer is
 * free. */
static void test_one_that_is_not_found_costs_a_reset(void **state) {
  (void)state;
  struct fixture *f = opened();
  struct answer answer = {.f = f};
  struct spate_nvme_admin_request request = request_of(&answer);
  const uint64_t start = now_us(f);
  fault(f, SIM_LOSE, GET_FEATURES, 0);
  assert_int_equal(spate_nvme_admin_submit(&f->nvme, &request), SPATE_OK);
  fixture_poll_ms(f, TIMEOUT_MS + 990);
  assert_int_equal(answer.calls, 0);
  expect_counts(f, 1, 1, 0);
  fixture_poll_ms(f, 400);
  assert_int_equal(answer.calls, 1);
  assert_in_range((answer.us - start) / 1000, TIMEOUT_MS + 1000, TIMEOUT_MS + 1000 + 3 * LOOK_MS);
  assert_int_equal(request.error, SPATE_E_TIMEOUT);
  assert_int_equal(request.detail, 0);
  assert_int_equal(request.result, 0);
  assert_int_equal(spate_nvme_counters(&f->nvme)->resets, 1);
  /* two of them belong to bring-ups: the request is not sent again */
  assert_int_equal(admin_count(f, GET_FEATURES), 3);
  fixture_poll_ms(f, 3000);
  assert_int_equal(answer.calls, 1);
  fixture_free(f);
}

/* A reset for another reason ends the request once the controller has stopped, and not before. */
static void test_a_reset_ends_it(void **state) {
  (void)state;
  struct fixture *f = opened();
  struct answer answer = {.f = f}, second_answer = {.f = f};
  struct spate_nvme_admin_request request = request_of(&answer), second = request_of(&second_answer);
  fault(f, SIM_LOSE, GET_FEATURES, 0);
  assert_int_equal(spate_nvme_admin_submit(&f->nvme, &request), SPATE_OK);
  assert_int_equal(spate_nvme_admin_submit(&f->nvme, &second), SPATE_E_FULL);
  spend_us(f, US_PER_MS); /* the drive has it */
  sim_drive_fail(f->drive);
  while (f->nvme.state == SPATE_NVME_RUNNING)
    fixture_poll(f);
  assert_int_equal(answer.calls, 0);
  assert_int_equal(spate_nvme_admin_submit(&f->nvme, &second), SPATE_E_FULL);
  while (f->nvme.state == SPATE_NVME_DISABLING) {
    assert_int_equal(answer.calls, 0);
    fixture_poll(f);
  }
  assert_int_equal(answer.calls, 1);
  assert_true(answer.stopped);
  assert_int_equal(request.error, SPATE_E_FATAL);
  assert_int_equal(request.detail, 0);
  assert_int_equal(request.result, 0);
  assert_int_equal(spate_nvme_admin_submit(&f->nvme, &second), SPATE_E_FULL);
  fixture_poll_ms(f, 300);
  assert_int_equal(spate_nvme_admin_submit(&f->nvme, &second), SPATE_OK);
  fixture_poll_ms(f, LOOK_MS);
  assert_int_equal(second_answer.calls, 1);
  assert_int_equal(second.error, SPATE_OK);
  fixture_free(f);
}

/* Shutdown waits 30 s for the request. Then it ends with the controller. */
static void test_shutdown_ends_it(void **state) {
  (void)state;
  struct fixture *f = opened();
  struct answer answer = {.f = f};
  struct spate_nvme_admin_request request = request_of(&answer);
  const uint64_t start = now_us(f);
  request.timeout_ms = 600000;
  fault(f, SIM_LOSE, GET_FEATURES, 0);
  assert_int_equal(spate_nvme_admin_submit(&f->nvme, &request), SPATE_OK);
  assert_int_equal(spate_nvme_shutdown(&f->nvme), SPATE_OK);
  assert_in_range((now_us(f) - start) / 1000, 32000, 33000);
  assert_int_equal(answer.calls, 1);
  assert_int_equal(request.error, SPATE_E_TIMEOUT);
  assert_int_equal(spate_nvme_admin_submit(&f->nvme, &request), SPATE_E_INVALID);
  fixture_free(f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_completion_has_its_result),
      cmocka_unit_test(test_a_refusal_has_its_status),
      cmocka_unit_test(test_the_next_one_is_submitted_when_one_ends),
      cmocka_unit_test(test_an_expired_one_is_aborted),
      cmocka_unit_test(test_a_completion_after_the_abort_counts),
      cmocka_unit_test(test_one_that_is_not_found_costs_a_reset),
      cmocka_unit_test(test_a_reset_ends_it),
      cmocka_unit_test(test_shutdown_ends_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
