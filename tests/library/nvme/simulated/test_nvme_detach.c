/* SPDX-License-Identifier: Apache-2.0 */
/* thorough: make test-all runs it, make test does not */
/* A drive that drops off the bus, and a helper that brings it back. For a bus that reports its link:
 * test_nvme_link_watch.c. */
#include "nvme_link_drop.h"

#define CC 0x14

static void test_stream_goes_on_when_the_drive_is_back(void **state) {
  for (unsigned position = 0; position < REQUESTS; position += 3) {
    struct helper helper = {.delay_us = 300000};
    struct fixture *f = prepared(&helper);
    fixture_open(f, 16);
    go_at(f, false, -1, position);
    expect_all_written(f);
    assert_int_equal(spate_nvme_counters(&f->nvme)->reattachments, 1);
    assert_int_equal(spate_nvme_counters(&f->nvme)->power_losses, 0);
    assert_int_equal(f->queue.block.power_losses, 0);
    assert_int_equal(f->nvme.state, SPATE_NVME_RUNNING);
    assert_int_equal(spate_nvme_shutdown(&f->nvme), SPATE_OK);
    fixture_free(f);
  }
  (void)state;
}

static void test_requests_are_kept_while_it_is_away(void **state) {
  struct helper helper = {.delay_us = 5000000};
  struct fixture *f = prepared(&helper);
  struct outcome kept, refused;
  fixture_open(f, 4);
  go_at(f, false, -1, 0);
  assert_int_equal(fixture_submit(f, &kept, write_number(f, 0)), SPATE_OK);
  fixture_poll_ms(f, 4000);
  assert_int_equal(f->nvme.state, SPATE_NVME_DETACHED);
  assert_int_equal(kept.calls, 0);
  assert_int_equal(fixture_submit(f, &refused, write_number(f, 1)), SPATE_E_FULL);
  assert_true(fixture_wait(f, &kept, 2000));
  assert_int_equal(kept.io.error, SPATE_OK);
  fixture_free(f);
  (void)state;
}

static void test_power_loss_during_a_link_drop_is_counted(void **state) {
  struct helper helper = {.delay_us = 1000};
  struct fixture *f = prepared(&helper);
  fixture_open(f, 4);
  spate_put64(health_page(f) + 112, 18);
  go_at(f, false, -1, 0);
  expect_all_written(f);
  assert_int_equal(f->queue.block.power_losses, 1);
  fixture_free(f);
  (void)state;
}

static void test_a_link_drop_ends_with_its_time_out(void **state) {
  const uint32_t stated_ms[] = {0, 1, 700, 20000};
  for (unsigned i = 0; i < sizeof stated_ms / sizeof stated_ms[0]; i++) {
    const uint32_t ms = stated_ms[i] == 0 ? 10000 : stated_ms[i];
    struct helper helper = {.error = SPATE_E_BUSY};
    struct fixture *f = prepared(&helper);
    f->config.reattach_timeout_ms = stated_ms[i];
    fixture_open(f, 8);
    go_at(f, false, -1, 20);
    expect_gone(f, ms, ms + ms / 10 + 150);
    fixture_free(f);
  }
  (void)state;
}

static void test_helper_that_gives_up_is_not_asked_again(void **state) {
  struct helper helper = {.error = SPATE_E_NO_DEVICE};
  struct fixture *f = prepared(&helper);
  fixture_open(f, 8);
  go_at(f, false, -1, 20);
  expect_gone(f, 0, 200);
  assert_int_equal(helper.calls, 1);
  fixture_free(f);
  (void)state;
}

/* After the first link drop it drops again during its bring-up: at each admin command, and in between. */
static void test_gone_again_at_each_step_of_recovery(void **state) {
  static const struct {
    int opcode;
    unsigned skip;
  } steps[] = {{0x06, 0}, {0x06, 1}, {0x09, 0}, {0x09, 1}, {0x0a, 0}, {0x02, 0}, {0x05, 0}, {0x01, 0}, {0x0c, 0}};
  static const unsigned times[] = {1, SPATE_NVME_RECOVERIES_MAX, 20};
  for (unsigned i = 0; i < sizeof steps / sizeof steps[0]; i++) {
    for (unsigned j = 0; j < sizeof times / sizeof times[0]; j++) {
      struct helper helper = {.delay_us = 1000};
      struct fixture *f = prepared(&helper);
      /* the last command is sent when recovery is over: each time is a link drop of its own */
      const bool is_over = steps[i].opcode == 0x0c;
      if (is_over && times[j] >= SPATE_NVME_LINK_DROPS_MAX) {
        fixture_free(f);
        continue;
      }
      fixture_open(f, 8);
      go_at(f, false, -1, 10);
      fixture_fault(f, SIM_SILENCE, true, steps[i].opcode, steps[i].skip, times[j], 0);
      expect_all_written(f);
      assert_int_equal(spate_nvme_counters(&f->nvme)->reattachments, is_over ? times[j] + 1 : 1);
      fixture_free(f);
    }
  }
  (void)state;
}

/* A link that bounces has, in all, the timeout of one link drop; the next link drop has all of it again. */
static void test_bouncing_ends(void **state) {
  struct helper helper = {.delay_us = 1000};
  struct fixture *f = prepared(&helper);
  f->config.reattach_timeout_ms = 3000;
  fixture_open(f, 8);
  for (unsigned i = 0; i < 3; i++) {
    go_at(f, false, -1, 10);
    fixture_fault(f, SIM_SILENCE, true, 0x06, 0, 15, 0);
    expect_all_written(f);
  }
  go_at(f, false, -1, 10);
  fixture_fault(f, SIM_SILENCE, true, 0x06, 0, 1000, 0);
  expect_gone(f, 3000, 3500);
  fixture_free(f);
  (void)state;
}

/* Link and configuration are restored, but the drive's registers answer later: some drives load their firmware
 * first. */
static void test_registers_come_later_than_the_link(void **state) {
  const uint64_t late_ms[] = {5, 250, 9000};
  for (unsigned i = 0; i < sizeof late_ms / sizeof late_ms[0]; i++) {
    struct helper helper = {.hasty = true, .delay_us = late_ms[i] * 1000};
    struct fixture *f = prepared(&helper);
    fixture_open(f, 8);
    go_at(f, false, -1, 10);
    expect_all_written(f);
    assert_int_equal(spate_nvme_counters(&f->nvme)->reattachments, 1);
    fixture_free(f);
  }
  struct helper helper = {.hasty = true, .delay_us = 60000000};
  struct fixture *f = prepared(&helper);
  f->config.reattach_timeout_ms = 700;
  fixture_open(f, 8);
  go_at(f, false, -1, 10);
  expect_gone(f, 700, 900);
  fixture_free(f);
  (void)state;
}

/* Other drives need processor time, too. */
static void test_helper_is_asked_once_in_a_millisecond(void **state) {
  struct helper helper = {.error = SPATE_E_BUSY};
  struct fixture *f = prepared(&helper);
  f->config.reattach_timeout_ms = 1000;
  fixture_open(f, 8);
  fixture_tick(f, 0);
  go_at(f, false, -1, 10);
  expect_gone(f, 1000, 1200);
  assert_in_range(helper.calls, 900, 1001);
  fixture_free(f);
  (void)state;
}

/* A request survives several link drops, but not any number: it may be the cause of the drops. */
static void test_request_survives_link_drops(void **state) {
  for (unsigned times = SPATE_NVME_LINK_DROPS_MAX - 1; times <= SPATE_NVME_LINK_DROPS_MAX; times++) {
    struct helper helper = {.delay_us = 1000};
    struct fixture *f = prepared(&helper);
    struct outcome outcome;
    fixture_open(f, 8);
    fixture_fault(f, SIM_SILENCE, false, -1, 0, times, 0);
    assert_int_equal(fixture_submit(f, &outcome, write_number(f, 0)), SPATE_OK);
    assert_true(fixture_wait(f, &outcome, 10000));
    assert_int_equal(outcome.io.error, times < SPATE_NVME_LINK_DROPS_MAX ? SPATE_OK : SPATE_E_GONE);
    assert_int_equal(f->nvme.state, SPATE_NVME_RUNNING);
    assert_int_equal(spate_nvme_counters(&f->nvme)->reattachments, times);
    expect_all_written(f);
    fixture_free(f);
  }
  (void)state;
}

/* The drive is back, and drops again before it is ready, or before CC.EN could be set. */
static void test_gone_while_it_gets_ready(void **state) {
  struct helper helper = {.delay_us = 1000};
  struct fixture *f = prepared(&helper);
  struct outcome outcome;
  fixture_open(f, 8);
  go_at(f, false, -1, 0);
  assert_int_equal(fixture_submit(f, &outcome, write_number(f, 0)), SPATE_OK);
  while (sim_drive_counters(f->drive)->enables < 2)
    fixture_poll(f);
  assert_int_equal(f->nvme.state, SPATE_NVME_ENABLING);
  sim_drive_silence(f->drive, true);
  assert_true(fixture_wait(f, &outcome, 1000));
  assert_int_equal(outcome.io.error, SPATE_OK);
  assert_int_equal(spate_nvme_counters(&f->nvme)->reattachments, 1);
  fixture_fault(f, SIM_FATAL, false, -1, 0, 1, 0);
  assert_int_equal(fixture_submit(f, &outcome, write_number(f, 1)), SPATE_OK);
  while (f->nvme.state != SPATE_NVME_DISABLING)
    fixture_poll(f);
  sim_drive_silence(f->drive, true);
  assert_true(fixture_wait(f, &outcome, 1000));
  assert_int_equal(outcome.io.error, SPATE_OK);
  assert_int_equal(spate_nvme_counters(&f->nvme)->reattachments, 2);
  fixture_free(f);
  (void)state;
}

/* Nothing brings it back, but it returns by itself, each time within half a second. */
static void test_short_link_drops_do_not_add_up(void **state) {
  struct helper helper = {0};
  struct fixture *f = prepared(&helper);
  f->config.bus = (struct spate_nvme_bus){0};
  fixture_open(f, 8);
  for (unsigned i = 0; i < 3; i++) {
    sim_drive_silence(f->drive, true);
    fixture_poll_ms(f, 400);
    assert_int_equal(f->nvme.state, SPATE_NVME_DISABLING);
    sim_drive_silence(f->drive, false);
    fixture_poll_ms(f, 300);
    assert_int_equal(f->nvme.state, SPATE_NVME_RUNNING);
  }
  fixture_free(f);
  (void)state;
}

static void other_serial(struct fixture *f) { memcpy(controller_page(f) + 4, "SPATE0002", 9); }
static void other_size(struct fixture *f) { spate_put64(namespace_page(f), sim_drive_blocks(f->drive) / 2); }
static void other_format(struct fixture *f) { namespace_page(f)[26] = 1; }
static void other_nguid_start(struct fixture *f) { namespace_page(f)[104] = 1; }
static void other_nguid_end(struct fixture *f) { namespace_page(f)[119] = 1; }
static void other_eui64(struct fixture *f) { namespace_page(f)[127] ^= 1; }
static void no_namespace(struct fixture *f) { sim_drive_namespaces(f->drive)[0] = 2; }

/* The driver waits for the right drive until the timeout. */
static void test_another_drive_is_not_written(void **state) {
  static void (*const others[])(struct fixture *) = {other_serial,    other_size,  other_format, other_nguid_start,
                                                     other_nguid_end, other_eui64, no_namespace};
  for (unsigned i = 0; i < sizeof others / sizeof others[0]; i++) {
    struct helper helper = {.delay_us = 1000};
    struct fixture *f = prepared(&helper);
    spate_put64(namespace_page(f) + 120, UINT64_C(0x123456789abcdef0));
    fixture_open(f, 8);
    go_at(f, false, -1, 10);
    struct outcome outcomes[REQUESTS];
    for (unsigned j = 0; j < 8; j++)
      assert_int_equal(fixture_submit(f, &outcomes[j], write_number(f, j)), SPATE_OK);
    fixture_poll_ms(f, 1);
    others[i](f);
    const unsigned fetched = io_count(f);
    sim_drive_silence(f->drive, true);
    expect_gone(f, 10000, 10500);
    assert_int_equal(io_count(f), fetched);
    fixture_free(f);
  }
  (void)state;
}

static void leave(void *context, uint64_t number) {
  sim_drive_silence(((struct fixture *)context)->drive, true);
  (void)number;
}

/* For sim_trace(): the drive stops answering half-way between CC.EN and CSTS.RDY. */
static void leave_when_enabled(void *context, const struct sim_access *access) {
  const uint32_t control = access->kind == SIM_ACCESS_WRITE ? spate_get32(access->data) : 0;

  if (access->address - SIM_WINDOW >= SIM_WINDOW_BYTES || access->address % 4096u != CC || (control & 1u) == 0) return;
  sim_at(((struct fixture *)context)->sim, access->at_ps + SIM_PS_PER_MS, leave, context, 0);
}

static void test_open_does_not_wait_for_it(void **state) {
  static const int opcodes[] = {-2, 0x06, 0x09, 0x0a, 0x02};
  for (unsigned i = 0; i < sizeof opcodes / sizeof opcodes[0]; i++) {
    struct helper helper = {.delay_us = 1000};
    struct fixture *f = prepared(&helper);
    if (opcodes[i] == -2)
      sim_trace(f->sim, leave_when_enabled, f);
    else
      go_at(f, true, opcodes[i], 0);
    const uint64_t start = now_us(f);
    assert_int_equal(spate_nvme_open(&f->nvme, &f->config), SPATE_E_GONE);
    assert_int_equal(helper.calls, 0);
    assert_in_range(now_us(f) - start, 0, 250000);
    fixture_free(f);
  }
  (void)state;
}

/* A call that waits for the drive's answer ends with GONE; the next call waits for the drive. */
static void test_waiting_call_ends(void **state) {
  struct helper helper = {.delay_us = 1000};
  struct fixture *f = prepared(&helper);
  fixture_open(f, 8);
  go_at(f, true, 0x02, 0);
  assert_int_equal(spate_nvme_health_read(&f->nvme), SPATE_E_GONE);
  assert_int_equal(spate_nvme_health_read(&f->nvme), SPATE_OK);
  assert_int_equal(spate_nvme_counters(&f->nvme)->reattachments, 1);
  fixture_free(f);
  (void)state;
}

static void test_shutdown_waits_for_it(void **state) {
  struct helper helper = {.delay_us = 700000};
  struct fixture *f = prepared(&helper);
  struct outcome outcome;
  fixture_open(f, 8);
  go_at(f, false, -1, 0);
  assert_int_equal(fixture_submit(f, &outcome, write_number(f, 0)), SPATE_OK);
  assert_int_equal(spate_nvme_shutdown(&f->nvme), SPATE_OK);
  assert_int_equal(outcome.calls, 1);
  assert_int_equal(outcome.io.error, SPATE_OK);
  assert_int_equal(sim_drive_counters(f->drive)->shutdowns, 1);
  assert_int_equal(sim_drive_counters(f->drive)->hot_shutdowns, 0);
  fixture_free(f);
  (void)state;
}

/* Longer than shutdown waits for requests that the drive has. */
static void test_shutdown_waits_for_requests_after_a_long_link_drop(void **state) {
  struct helper helper = {.delay_us = 45000000};
  struct fixture *f = prepared(&helper);
  struct outcome outcomes[8];
  f->config.reattach_timeout_ms = 60000;
  fixture_open(f, 8);
  go_at(f, false, -1, 0);
  fixture_fault(f, SIM_LATE, false, -1, 0, UINT32_MAX, 50);
  for (unsigned i = 0; i < 8; i++)
    assert_int_equal(fixture_submit(f, &outcomes[i], write_number(f, i)), SPATE_OK);
  assert_int_equal(spate_nvme_shutdown(&f->nvme), SPATE_OK);
  for (unsigned i = 0; i < 8; i++) {
    assert_int_equal(outcomes[i].calls, 1);
    assert_int_equal(outcomes[i].io.error, SPATE_OK);
  }
  expect_media(f, 0, f->ring_memory, 8 * BLOCKS * 512);
  assert_int_equal(sim_drive_counters(f->drive)->shutdowns, 1);
  assert_int_equal(sim_drive_counters(f->drive)->hot_shutdowns, 0);
  fixture_free(f);
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_stream_goes_on_when_the_drive_is_back),
      cmocka_unit_test(test_requests_are_kept_while_it_is_away),
      cmocka_unit_test(test_power_loss_during_a_link_drop_is_counted),
      cmocka_unit_test(test_a_link_drop_ends_with_its_time_out),
      cmocka_unit_test(test_helper_that_gives_up_is_not_asked_again),
      cmocka_unit_test(test_gone_again_at_each_step_of_recovery),
      cmocka_unit_test(test_bouncing_ends),
      cmocka_unit_test(test_registers_come_later_than_the_link),
      cmocka_unit_test(test_helper_is_asked_once_in_a_millisecond),
      cmocka_unit_test(test_request_survives_link_drops),
      cmocka_unit_test(test_gone_while_it_gets_ready),
      cmocka_unit_test(test_short_link_drops_do_not_add_up),
      cmocka_unit_test(test_another_drive_is_not_written),
      cmocka_unit_test(test_open_does_not_wait_for_it),
      cmocka_unit_test(test_waiting_call_ends),
      cmocka_unit_test(test_shutdown_waits_for_it),
      cmocka_unit_test(test_shutdown_waits_for_requests_after_a_long_link_drop),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
