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

/* A drive that fails each time a queue is deleted is shut down all the same. */
static void test_a_drive_that_keeps_its_queues(void **state) {
  struct fixture *f = fixture_opened(4);
  fixture_fault(f, SIM_FATAL, true, 0x00, 0, UINT32_MAX, 0);
  assert_int_equal(spate_nvme_shutdown(&f->nvme), SPATE_OK);
  assert_int_equal(sim_drive_counters(f->drive)->shutdowns, 1);
  assert_int_equal(csts(f) & 0xc, 8);
  fixture_free(f);
  (void)state;
}

/* It has restarted since the driver last looked. */
static void restarted(const struct sim_drive_options options) {
  struct fixture *f = fixture_make_with(options, 1);
  assert_int_equal(spate_nvme_open(&f->nvme, &f->config), SPATE_OK);
  sim_drive_reset(f->drive);
  spend_us(f, 10);
  assert_int_equal(spate_nvme_shutdown(&f->nvme), SPATE_OK);
  assert_int_equal(spate_nvme_counters(&f->nvme)->resets, 1);
  assert_int_equal(sim_drive_counters(f->drive)->shutdowns, 1);
  fixture_free(f);
}

static void restart(void *context, uint64_t number) {
  sim_drive_reset(((struct fixture *)context)->drive);
  (void)number;
}

/* It restarts while it shuts down, and knows nothing of that afterwards. */
static void restarts(const struct sim_drive_options options) {
  struct fixture *f = fixture_make_with(options, 1);
  assert_int_equal(spate_nvme_open(&f->nvme, &f->config), SPATE_OK);
  sim_drive_slow_shutdown(f->drive, 10);
  sim_at(f->sim, sim_now_ps(f->sim) + 5 * SIM_PS_PER_MS, restart, f, 0);
  assert_int_equal(spate_nvme_shutdown(&f->nvme), SPATE_OK);
  assert_int_equal(spate_nvme_counters(&f->nvme)->resets, 1);
  assert_int_equal(sim_drive_counters(f->drive)->shutdowns, 2);
  fixture_free(f);
}

static void test_a_drive_that_restarts(void **state) {
  for (unsigned hides = 0; hides < 2; hides++) {
    const struct sim_drive_options options = {.hides_admin_registers = hides != 0};
    restarted(options);
    restarts(options);
  }
  (void)state;
}

/* For sim_trace(): the drive restarts when CC.SHN is on its way to the drive. */
static void restart_before_it(void *context, const struct sim_access *access) {
  struct fixture *f = context;
  const uint32_t control = access->kind == SIM_ACCESS_WRITE ? spate_get32(access->data) : 0;

  if (access->address - SIM_WINDOW >= SIM_WINDOW_BYTES || access->address % 4096u != 0x14) return;
  if ((control & 0xc000u) == 0) return;
  sim_at(f->sim, access->at_ps, restart, f, 0);
  sim_trace(f->sim, NULL, NULL);
}

/* The drive confirms a shutdown at once that came when it had just restarted: it is not the one that was meant. */
static void test_a_restart_just_before_the_notification(void **state) {
  struct fixture *f = fixture_opened(4);
  sim_trace(f->sim, restart_before_it, f);
  assert_int_equal(spate_nvme_shutdown(&f->nvme), SPATE_OK);
  assert_int_equal(spate_nvme_counters(&f->nvme)->resets, 1);
  assert_int_equal(sim_drive_counters(f->drive)->shutdowns, 2);
  fixture_free(f);
  (void)state;
}

/* For sim_trace(): the drive loses power just before the notification, and comes back. */
static void cut_before_it(void *context, const struct sim_access *access) {
  struct fixture *f = context;
  const uint32_t control = access->kind == SIM_ACCESS_WRITE ? spate_get32(access->data) : 0;

  if (access->address - f->config.registers != 0x14 || (control & 0xc000u) == 0) return;
  sim_drive_power_cut(f->drive);
  sim_trace(f->sim, NULL, NULL);
}

/* Such a drive confirms the shutdown, but what it had completed before may be gone. */
static void test_a_power_loss_just_before_the_notification(void **state) {
  for (unsigned counts = 0; counts < 2; counts++) {
    struct fixture *f = fixture_make_with((struct sim_drive_options){.counts_no_power_cut = counts == 0}, 1);
    fixture_open(f, 4);
    assert_int_equal(fixture_do(f, write_of(f, 0, 8), NULL), SPATE_OK);
    sim_trace(f->sim, cut_before_it, f);
    assert_int_equal(spate_nvme_shutdown(&f->nvme), counts == 0 ? SPATE_OK : SPATE_E_POWER_LOST);
    assert_int_equal(spate_nvme_counters(&f->nvme)->power_losses, counts);
    assert_int_equal(spate_nvme_counters(&f->nvme)->power_unknown, 1 - counts);
    fixture_free(f);
  }
  (void)state;
}

/* What has no volatile cache has lost nothing. */
static void test_a_power_loss_without_a_cache(void **state) {
  struct fixture *f = fixture_make_with((struct sim_drive_options){.no_volatile_cache = true}, 1);
  fixture_open(f, 4);
  sim_trace(f->sim, cut_before_it, f);
  assert_int_equal(spate_nvme_shutdown(&f->nvme), SPATE_OK);
  assert_int_equal(spate_nvme_counters(&f->nvme)->power_losses, 1);
  fixture_free(f);
  (void)state;
}

/* For sim_trace(): the drive fails when the completion of Delete I/O Submission Queue is acknowledged, and the driver
 * is due to look at its status. */
static void fail_between(void *context, const struct sim_access *access) {
  struct fixture *f = context;

  if (access->kind != SIM_ACCESS_WRITE || access->address - f->config.registers != 0x1004) return;
  f->nvme.serviced_ticks -= f->nvme.interval_ticks + 1u;
  sim_drive_fail(f->drive);
  sim_trace(f->sim, NULL, NULL);
}

static void test_a_reset_between_the_two_halves_of_a_queue(void **state) {
  struct fixture *f = fixture_make(9);
  fixture_open_two(f, 4);
  sim_trace(f->sim, fail_between, f);
  assert_int_equal(spate_nvme_shutdown(&f->nvme), SPATE_OK);
  assert_int_equal(spate_nvme_counters(&f->nvme)->resets, 1);
  assert_int_equal(sim_drive_counters(f->drive)->hot_shutdowns, 0);
  fixture_free(f);
  (void)state;
}

/* For sim_trace(): AQA, ASQ and ACQ read 0 from the notification on, until the next enable. */
static void clear_when_stopped(void *context, const struct sim_access *access) {
  struct fixture *f = context;
  const uint32_t control = access->kind == SIM_ACCESS_WRITE ? spate_get32(access->data) : 0;

  if (access->address - f->config.registers != 0x14 || (control & 1u) == 0) return;
  sim_drive_hide_admin_registers(f->drive, (control & 0xc000u) != 0);
}

static void test_a_drive_that_clears_its_registers_when_it_stops(void **state) {
  struct fixture *f = fixture_opened(4);
  sim_trace(f->sim, clear_when_stopped, f);
  assert_int_equal(spate_nvme_shutdown(&f->nvme), SPATE_OK);
  assert_int_equal(sim_drive_counters(f->drive)->shutdowns, 2);
  fixture_free(f);
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_nothing_is_accepted_after_it),
      cmocka_unit_test(test_it_waits_for_a_recovery),
      cmocka_unit_test(test_it_waits_for_an_admin_request_without_queues),
      cmocka_unit_test(test_a_drive_that_keeps_its_queues),
      cmocka_unit_test(test_a_drive_that_restarts),
      cmocka_unit_test(test_a_restart_just_before_the_notification),
      cmocka_unit_test(test_a_power_loss_just_before_the_notification),
      cmocka_unit_test(test_a_power_loss_without_a_cache),
      cmocka_unit_test(test_a_reset_between_the_two_halves_of_a_queue),
      cmocka_unit_test(test_a_drive_that_clears_its_registers_when_it_stops),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
