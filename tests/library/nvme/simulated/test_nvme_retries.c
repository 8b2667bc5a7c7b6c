/* SPDX-License-Identifier: Apache-2.0 */
/* Errors that the drive reports: which commands are retried, when, how often, and what the request reports. */
#include "nvme_fixture.h"

#define DNR  0x4000u
#define MORE 0x2000u

static void test_error_with_dnr_is_not_retried(void **state) {
  struct fixture *f = fixture_opened(4);
  uint16_t detail = 0;
  io_fault(f, SIM_STATUS, 0, 1, DNR | MORE | 0x006);
  assert_int_equal(fixture_do(f, write_of(f, 0, 8), &detail), SPATE_E_COMMAND);
  assert_int_equal(detail, DNR | MORE | 0x006);
  assert_int_equal(io_count(f), 1);
  assert_int_equal(spate_nvme_counters(&f->nvme)->retries, 0);
  fixture_free(f);
  (void)state;
}

static void test_media_error_has_its_own_code(void **state) {
  struct fixture *f = fixture_opened(4);
  uint16_t detail = 0;
  io_fault(f, SIM_STATUS, 0, 1, DNR | 0x281);
  assert_int_equal(fixture_do(f, write_of(f, 0, 8), &detail), SPATE_E_MEDIA);
  assert_int_equal(detail, DNR | 0x281);
  fixture_free(f);
  (void)state;
}

static void test_error_without_dnr_is_retried_and_recovers(void **state) {
  struct fixture *f = fixture_opened(4);
  fill_pattern(f->ring_memory, 4096, 7);
  io_fault(f, SIM_STATUS, 0, 3, 0x022);
  assert_int_equal(fixture_do(f, write_of(f, 40, 8), NULL), SPATE_OK);
  expect_media(f, 40 * 512, f->ring_memory, 4096);
  assert_int_equal(io_count(f), 4);
  assert_int_equal(spate_nvme_counters(&f->nvme)->retries, 3);
  fixture_free(f);
  (void)state;
}

static void test_retries_end(void **state) {
  struct fixture *f = fixture_opened(4);
  uint16_t detail = 0;
  io_fault(f, SIM_STATUS, 0, 100, 0x006);
  assert_int_equal(fixture_do(f, write_of(f, 0, 8), &detail), SPATE_E_COMMAND);
  assert_int_equal(detail, 0x006);
  assert_int_equal(io_count(f), SPATE_NVME_ATTEMPTS_MAX);
  fixture_free(f);
  (void)state;
}

static void test_malformed_is_final_without_dnr(void **state) {
  static const uint16_t final[] = {0x001, 0x002, 0x00b, 0x013, 0x020, 0x080, 0x081};
  for (uint16_t status = 1; status < 0x300; status++) {
    bool is_final = false;
    for (unsigned i = 0; i < sizeof final / sizeof final[0]; i++)
      is_final |= status == final[i];
    struct fixture *f = fixture_opened(4);
    io_fault(f, SIM_STATUS, 0, 100, status);
    assert_int_equal(fixture_do(f, write_of(f, 0, 8), NULL), status >> 8 == 2 ? SPATE_E_MEDIA : SPATE_E_COMMAND);
    assert_int_equal(io_count(f), is_final ? 1 : status == 0x082 ? SPATE_NVME_LINK_DROPS_MAX : SPATE_NVME_ATTEMPTS_MAX);
    fixture_free(f);
  }
  (void)state;
}

static void test_retry_waits_for_the_drives_delay(void **state) {
  const uint16_t delays[] = {0, 3, 7, 50};
  for (unsigned crd = 0; crd < 4; crd++) {
    struct fixture *f = fixture_make(9);
    for (unsigned i = 1; i < 4; i++)
      spate_put16(controller_page(f) + 126 + 2 * i, delays[i]);
    fixture_open(f, 4);
    assert_true(sim_drive_retry_delays(f->drive));
    fixture_poll_ms(f, 60); /* into the middle of an interval */
    io_fault(f, SIM_STATUS, 0, 1, crd << 11 | 0x006);
    assert_int_equal(fixture_do(f, write_of(f, 0, 8), NULL), SPATE_OK);
    const uint64_t waited = io_us(f, 1) - io_us(f, 0);
    assert_in_range(waited, delays[crd] * UINT64_C(100000), delays[crd] * UINT64_C(100000) + 210000);
    fixture_free(f);
  }
  (void)state;
}

/* A drive that asks for hours gets the retry after ten seconds. */
static void test_retry_delay_is_bounded(void **state) {
  const uint16_t stated[] = {99, 100, 101, 1000, 0xfffd, 0xfffe, 0xffff};
  for (unsigned i = 0; i < sizeof stated / sizeof stated[0]; i++) {
    struct fixture *f = fixture_make(9);
    spate_put16(controller_page(f) + 132, stated[i]);
    fixture_open(f, 4);
    io_fault(f, SIM_STATUS, 0, 1, 3u << 11 | 0x006);
    assert_int_equal(fixture_do(f, write_of(f, 0, 8), NULL), SPATE_OK);
    assert_in_range(io_us(f, 1) - io_us(f, 0), 9800000, 10200000);
    fixture_free(f);
  }
  (void)state;
}

/* The controller fails again before the wait is over, each time that it is back. */
static void test_a_retry_that_waits_ends_although_the_controller_fails(void **state) {
  struct fixture *f = fixture_make(9);
  struct outcome outcome;
  spate_put16(controller_page(f) + 128, 20); /* CRDT1: 2 s */
  fixture_open(f, 4);
  io_fault(f, SIM_STATUS, 0, UINT32_MAX, 1u << 11 | 0x006);
  assert_int_equal(fixture_submit(f, &outcome, write_of(f, 0, 8)), SPATE_OK);
  const uint64_t start_us = now_us(f);
  while (outcome.calls == 0 && now_us(f) - start_us < 60 * US_PER_S) {
    fixture_poll(f);
    if (f->nvme.state == SPATE_NVME_RUNNING && spate_nvme_counters(&f->nvme)->retries > 0 && (csts(f) & 2u) == 0)
      sim_drive_fail(f->drive);
  }
  assert_int_equal(outcome.calls, 1);
  assert_int_not_equal(outcome.io.error, SPATE_OK);
  assert_true(now_us(f) - start_us < 10 * US_PER_S); /* three delays, and what a recovery takes */
  fixture_free(f);
  (void)state;
}

/* Namespace Not Ready (082h) without a delay: a drive that wakes up says so for a while. */
static void test_a_namespace_that_is_not_ready_gets_time(void **state) {
  for (uint32_t delay = 0; delay <= 3; delay++) { /* CRD: the drive names a delay that it does not state */
    const uint32_t not_ready = delay << 11 | 0x082;
    struct fixture *f = fixture_opened(4);
    uint16_t detail = 0;
    io_fault(f, SIM_STATUS, 0, SPATE_NVME_LINK_DROPS_MAX - 1u, not_ready);
    assert_int_equal(fixture_do(f, write_of(f, 0, 8), NULL), SPATE_OK);
    assert_in_range(io_us(f, SPATE_NVME_LINK_DROPS_MAX - 1u) - io_us(f, 0), 1400000, 1700000);
    io_fault(f, SIM_STATUS, 0, UINT32_MAX, not_ready);
    assert_int_equal(fixture_do(f, write_of(f, 0, 8), &detail), SPATE_E_COMMAND);
    assert_int_equal(detail, not_ready);
    assert_int_equal(io_count(f), 2 * SPATE_NVME_LINK_DROPS_MAX);
    fixture_free(f);
  }
  (void)state;
}

static void test_acre_only_where_delays_are_stated(void **state) {
  struct fixture *f = fixture_opened(4);
  assert_false(sim_drive_retry_delays(f->drive));
  fixture_free(f);
  (void)state;
}

/* One of several parts fails: the request fails once, with that status, when all parts have ended. */
static void test_failed_part_fails_the_request_once(void **state) {
  struct fixture *f = fixture_opened(8);
  struct outcome outcome;
  io_fault(f, SIM_LATE, 0, 1, 50);
  io_fault(f, SIM_STATUS, 0, 1, DNR | 0x280);
  io_fault(f, SIM_STATUS, 0, 1, DNR | 0x006);
  assert_int_equal(fixture_submit(f, &outcome, write_of(f, 0, 1024)), SPATE_OK);
  fixture_poll_ms(f, 10);
  assert_int_equal(outcome.calls, 0);
  assert_true(fixture_wait(f, &outcome, 100));
  assert_int_equal(outcome.io.error, SPATE_E_MEDIA);
  assert_int_equal(outcome.io.detail, DNR | 0x280);
  assert_int_equal(io_count(f), 4);
  fixture_free(f);
  (void)state;
}

/* No state of a slot's last command remains for the next one. */
static void test_slots_keep_no_state(void **state) {
  struct fixture *f = fixture_opened(4);
  assert_int_equal(fixture_do(f, write_of(f, 0, 768), NULL), SPATE_OK); /* three parts */
  for (unsigned i = 0; i < 8; i++) {
    io_fault(f, SIM_STATUS, 0, 3, 0x006);
    const unsigned before = io_count(f);
    assert_int_equal(fixture_do(f, write_of(f, 5000, 8), NULL), SPATE_OK);
    assert_int_equal(io_count(f), before + 4);
    for (unsigned j = before; j < io_count(f); j++)
      assert_int_equal(io_command(f, j)->dwords[10], 5000);
    sim_drive_clear_faults(f->drive);
  }
  for (unsigned i = 0; i < 3; i++) {
    io_fault(f, SIM_LATE, 0, 1, 6000);
    assert_int_equal(fixture_do(f, write_of(f, 0, 8), NULL), SPATE_OK);
  }
  assert_int_equal(spate_nvme_counters(&f->nvme)->timeouts, 0);
  fixture_free(f);
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_error_with_dnr_is_not_retried),
      cmocka_unit_test(test_media_error_has_its_own_code),
      cmocka_unit_test(test_error_without_dnr_is_retried_and_recovers),
      cmocka_unit_test(test_retries_end),
      cmocka_unit_test(test_malformed_is_final_without_dnr),
      cmocka_unit_test(test_retry_waits_for_the_drives_delay),
      cmocka_unit_test(test_retry_delay_is_bounded),
      cmocka_unit_test(test_a_retry_that_waits_ends_although_the_controller_fails),
      cmocka_unit_test(test_a_namespace_that_is_not_ready_gets_time),
      cmocka_unit_test(test_acre_only_where_delays_are_stated),
      cmocka_unit_test(test_failed_part_fails_the_request_once),
      cmocka_unit_test(test_slots_keep_no_state),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
