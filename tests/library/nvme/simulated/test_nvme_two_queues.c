/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recovery of a driver that has run for a long time: two queues, command counters about to exceed 32 bits, slots and
 * generations that are not the first ones, and requests with several parts in flight.
 */
#include "nvme_fixture.h"

#define DEPTH      15u
#define OPCODE(dw) ((dw)&0xffu)
#define FUA_BIT    (UINT32_C(1) << 30)

static struct fixture *opened(void) {
  struct fixture *f = fixture_make(9);
  fixture_open_two(f, DEPTH);
  return f;
}

static struct spate_nvme_queue *queue_number(struct fixture *f, unsigned i) { return i == 0 ? &f->queue : &f->second; }

static void submit_writes(struct fixture *f, struct spate_nvme_queue *queue, struct outcome *outcomes, unsigned count,
                          uint64_t first_lba) {
  for (unsigned i = 0; i < count; i++)
    assert_int_equal(fixture_submit_to(queue, &outcomes[i], write_of(f, first_lba + i, 1)), SPATE_OK);
}

static void expect_all(const struct outcome *outcomes, unsigned count, enum spate_error error) {
  for (unsigned i = 0; i < count; i++) {
    assert_int_equal(outcomes[i].calls, 1);
    assert_int_equal(outcomes[i].io.error, error);
  }
}

/* Some commands on each queue, all of them done. */
static void traffic(struct fixture *f, unsigned count) {
  struct outcome outcomes[2][DEPTH];
  for (unsigned i = 0; i < 2; i++)
    submit_writes(f, queue_number(f, i), outcomes[i], count, 0);
  fixture_poll_ms(f, 10);
  for (unsigned i = 0; i < 2; i++)
    expect_all(outcomes[i], count, SPATE_OK);
}

/* Otherwise the list of queues would become a loop, and shutdown would never end. */
static void test_queue_is_opened_once(void **state) {
  (void)state;
  struct fixture *f = opened();
  for (unsigned i = 0; i < 2; i++)
    assert_int_equal(fixture_queue_open(f, queue_number(f, i), 0, DEPTH), SPATE_E_OPEN);
  traffic(f, 5);
  assert_int_equal(spate_nvme_shutdown(&f->nvme), SPATE_OK);
  fixture_free(f);
}

/* ---- timeouts ---- */

/* In either queue, with any slot and generation of the command, the abort finds it, and no reset is needed. */
static void test_stall_in_either_queue_is_aborted(void **state) {
  for (unsigned i = 0; i < 2; i++) {
    struct fixture *f = opened();
    struct outcome outcomes[4], beside[4];
    traffic(f, 5);
    submit_writes(f, queue_number(f, 1 - i), beside, 4, 100);
    fixture_poll_ms(f, 1);
    io_fault(f, SIM_STALL, 2, 1, 0);
    submit_writes(f, queue_number(f, i), outcomes, 4, 200);
    assert_true(fixture_wait(f, &outcomes[2], 12000));
    expect_all(outcomes, 4, SPATE_OK);
    expect_all(beside, 4, SPATE_OK);
    const struct sim_command *stalled = io_command(f, io_count(f) - 1);
    assert_int_equal(stalled->dwords[10], 202); /* sent again */
    assert_int_not_equal(stalled->dwords[0] >> 16 & 0xff, 0);
    assert_int_not_equal(stalled->dwords[0] >> 24, 0);
    assert_int_equal(spate_nvme_counters(&f->nvme)->timeouts, 1);
    assert_int_equal(spate_nvme_counters(&f->nvme)->aborts, 1);
    assert_int_equal(spate_nvme_counters(&f->nvme)->resets, 0);
    fixture_free(f);
  }
  (void)state;
}

/* ---- reset and replay ---- */

/* With 32-bit counters, the first commands in flight come before the wrap and the others after it. */
static void test_replay_keeps_the_order_across_the_wrap(void **state) {
  for (unsigned before = 1; before < DEPTH; before += 3) {
    struct fixture *f = opened();
    struct outcome outcomes[2][DEPTH];
    traffic(f, f->queue.entries - before > DEPTH ? DEPTH : f->queue.entries - before);
    const unsigned start = io_count(f);
    io_fault(f, SIM_LOSE, 0, 2 * DEPTH, 0);
    for (unsigned i = 0; i < 2; i++)
      submit_writes(f, queue_number(f, i), outcomes[i], DEPTH, 100 * (i + 1));
    fixture_poll_ms(f, 20000);
    for (unsigned i = 0; i < 2; i++)
      expect_all(outcomes[i], DEPTH, SPATE_OK);
    assert_int_equal(io_count(f), start + 4 * DEPTH);
    uint32_t next_lba[2] = {100, 200};
    for (unsigned i = start + 2 * DEPTH; i < io_count(f); i++) {
      const struct sim_command *command = io_command(f, i);
      assert_int_equal(command->dwords[10], next_lba[command->queue - 1]++);
    }
    assert_int_equal(spate_nvme_counters(&f->nvme)->resets, 1);
    assert_int_equal(spate_nvme_counters(&f->nvme)->replays, 2 * DEPTH);
    assert_int_equal(spate_nvme_counters(&f->nvme)->commands, io_count(f));
    fixture_free(f);
  }
  (void)state;
}

/* A command on any queue that completed before the reset, but was not polled yet, is not sent again. */
static void test_completed_on_either_queue_is_not_replayed(void **state) {
  struct fixture *f = opened();
  struct outcome completed[2][3];
  traffic(f, 4);
  const unsigned start = io_count(f);
  for (unsigned i = 0; i < 2; i++) {
    submit_writes(f, queue_number(f, i), completed[i], 3, 10 * i);
    spate_block_kick(&queue_number(f, i)->block);
  }
  spend_us(f, 1000);
  sim_drive_fail(f->drive);
  while (sim_drive_counters(f->drive)->enables < 2)
    (void)spate_block_poll(&f->queue.block, 0);
  fixture_poll_ms(f, 100);
  for (unsigned i = 0; i < 2; i++)
    expect_all(completed[i], 3, SPATE_OK);
  assert_int_equal(io_count(f), start + 6);
  assert_int_equal(spate_nvme_counters(&f->nvme)->replays, 0);
  fixture_free(f);
  (void)state;
}

/* No queue accepts or rings a request until the controller runs again. */
/* The controller takes its time to stop. A command of the other queue was not rung before the reset, and must not be
 * rung now. */
static void test_a_controller_that_stops_is_not_rung(void **state) {
  struct fixture *f = opened();
  struct outcome lost, other;
  io_fault(f, SIM_LOSE, 0, 1, 0);
  submit_writes(f, &f->queue, &lost, 1, 40);
  spate_block_kick(&f->queue.block);
  submit_writes(f, &f->second, &other, 1, 50);
  sim_drive_stick(f->drive, false, true, false);
  while (spate_nvme_counters(&f->nvme)->resets == 0)
    (void)spate_block_poll(&f->queue.block, 8);
  const uint64_t doorbells = spate_nvme_counters(&f->nvme)->doorbells;
  for (unsigned i = 0; i < 50; i++) {
    assert_int_not_equal(f->nvme.state, SPATE_NVME_RUNNING);
    spate_block_kick(&f->second.block);
    (void)spate_block_poll(&f->queue.block, 8);
  }
  assert_int_equal(spate_nvme_counters(&f->nvme)->doorbells, doorbells);
  sim_drive_stick(f->drive, false, false, false);
  for (unsigned ms = 0; ms < 60000 && lost.calls + other.calls < 2; ms++) {
    (void)spate_block_poll(&f->queue.block, 8);
    (void)spate_block_poll(&f->second.block, 8);
    spend_us(f, US_PER_MS);
  }
  assert_int_equal(lost.calls, 1);
  assert_int_equal(other.calls, 1);
  fixture_free(f);
  (void)state;
}

static void test_every_queue_waits_for_the_recovery(void **state) {
  struct fixture *f = opened();
  struct outcome caught[2], refused;
  traffic(f, 4);
  fixture_poll_ms(f, 1);
  sim_drive_fail(f->drive);
  for (unsigned i = 0; i < 2; i++)
    submit_writes(f, queue_number(f, i), &caught[i], 1, 40 + i); /* doorbell not rung yet */
  const unsigned start = io_count(f);
  spend_us(f, US_PER_S);
  (void)spate_block_poll(&f->queue.block, 8);
  unsigned refusals = 0;
  while (f->nvme.state != SPATE_NVME_RUNNING) {
    for (unsigned i = 0; i < 2; i++) {
      assert_int_equal(fixture_submit_to(queue_number(f, i), &refused, write_of(f, 0, 1)), SPATE_E_FULL);
      spate_block_kick(&queue_number(f, i)->block);
    }
    assert_int_equal(io_count(f), start);
    refusals++;
    (void)spate_block_poll(&f->queue.block, 8);
  }
  assert_true(refusals > 5);
  fixture_poll_ms(f, 10);
  expect_all(caught, 2, SPATE_OK);
  assert_int_equal(io_count(f), start + 2);
  assert_int_equal(spate_nvme_counters(&f->nvme)->replays, 2);
  fixture_free(f);
  (void)state;
}

static void test_every_queue_reports_a_power_cut(void **state) {
  struct fixture *f = opened();
  struct outcome outcomes[2][4];
  traffic(f, 4);
  io_fault(f, SIM_POWER_CUT, 2, 1, 0);
  for (unsigned i = 0; i < 2; i++)
    submit_writes(f, queue_number(f, i), outcomes[i], 4, 10 * i);
  fixture_poll_ms(f, 3000);
  for (unsigned i = 0; i < 2; i++) {
    expect_all(outcomes[i], 4, SPATE_OK);
    assert_int_equal(queue_number(f, i)->block.power_losses, 1);
  }
  fixture_free(f);
  (void)state;
}

/* The drive forgets the setting at a reset, and would no longer state delays. */
static void test_retry_delays_are_enabled_again(void **state) {
  struct fixture *f = fixture_make(9);
  struct outcome outcome;
  spate_put16(controller_page(f) + 128, 5);
  fixture_open_two(f, DEPTH);
  assert_true(sim_drive_retry_delays(f->drive));
  io_fault(f, SIM_FATAL, 0, 1, 0);
  assert_int_equal(fixture_submit(f, &outcome, write_of(f, 0, 1)), SPATE_OK);
  assert_true(fixture_wait(f, &outcome, 1000));
  assert_int_equal(sim_drive_counters(f->drive)->enables, 2);
  assert_true(sim_drive_retry_delays(f->drive));
  fixture_free(f);
  (void)state;
}

/* ---- the contents of a command, each time it is sent ---- */

/* A poll of either queue may find that a delay has passed: delays pass for both queues. */
static void test_delayed_retry_on_either_queue_is_sent(void **state) {
  for (unsigned i = 0; i < 2; i++) {
    struct fixture *f = fixture_make(9);
    struct outcome outcome;
    spate_put16(controller_page(f) + 128, 3);
    fixture_open_two(f, DEPTH);
    io_fault(f, SIM_STATUS, 0, 1, 1u << 11 | 0x006);
    submit_writes(f, queue_number(f, i), &outcome, 1, 0);
    assert_true(fixture_wait(f, &outcome, 600));
    assert_int_equal(outcome.io.error, SPATE_OK);
    fixture_free(f);
  }
  (void)state;
}

static void expect_fua(const struct fixture *f, unsigned first, unsigned count) {
  assert_int_equal(io_count(f), first + count);
  for (unsigned i = first; i < first + count; i++) {
    assert_int_equal(OPCODE(io_command(f, i)->dwords[0]), 1);
    assert_int_equal(io_command(f, i)->dwords[12] & FUA_BIT, FUA_BIT);
  }
}

static void test_each_part_and_each_retry_has_fua(void **state) {
  const struct {
    enum sim_action action;
    uint32_t value;
    unsigned times; /* how often each of the three parts is sent */
  } troubles[] = {{SIM_LATE, 0, 1}, {SIM_STATUS, 0x006, 2}, {SIM_STALL, 0, 2}, {SIM_LOSE, 0, 2}};

  for (unsigned i = 0; i < sizeof troubles / sizeof troubles[0]; i++) {
    struct fixture *f = opened();
    struct outcome outcome;
    struct spate_io io = write_of(f, 0, 768);
    io.flags = SPATE_IO_FUA;
    traffic(f, 4);
    const unsigned start = io_count(f);
    io_fault(f, troubles[i].action, 0, 3, troubles[i].value);
    assert_int_equal(fixture_submit_to(&f->second, &outcome, io), SPATE_OK);
    assert_true(fixture_wait(f, &outcome, 60000));
    assert_int_equal(outcome.io.error, SPATE_OK);
    expect_fua(f, start, 3 * troubles[i].times);
    assert_int_equal(spate_nvme_counters(&f->nvme)->commands, io_count(f));
    fixture_free(f);
  }
  (void)state;
}

/* ---- the end ---- */

static void test_shutdown_waits_for_both_queues(void **state) {
  for (unsigned slow = 0; slow < 2; slow++) {
    struct fixture *f = opened();
    struct outcome outcomes[3], beside[3];
    traffic(f, 4);
    io_fault(f, SIM_LATE, 0, 3, 200);
    submit_writes(f, queue_number(f, slow), outcomes, 3, 10);
    spate_block_kick(&queue_number(f, slow)->block);
    submit_writes(f, queue_number(f, 1 - slow), beside, 3, 20);
    assert_int_equal(spate_nvme_shutdown(&f->nvme), SPATE_OK);
    expect_all(outcomes, 3, SPATE_OK);
    expect_all(beside, 3, SPATE_OK);
    assert_int_equal(sim_drive_counters(f->drive)->hot_shutdowns, 0);
    assert_int_equal(admin_count(f, 0x00), 2);
    assert_int_equal(admin_count(f, 0x04), 2);
    fixture_free(f);
  }
  (void)state;
}

/* The identifier of a closed queue is used again, while the other queue keeps running. */
static void test_one_queue_is_closed_while_the_other_runs(void **state) {
  struct fixture *f = fixture_make(9);
  fixture_open_two(f, 8);
  const size_t used_bytes = f->arena.used_bytes;
  for (unsigned i = 0; i < 3; i++) {
    struct outcome outcome;
    assert_int_equal(fixture_submit_to(&f->second, &outcome,
                                       (struct spate_io){.op = SPATE_READ, .blocks = 1, .buffer = f->ring_memory}),
                     SPATE_OK);
    assert_int_equal(spate_nvme_queue_close(&f->nvme, &f->queue), SPATE_OK);
    assert_true(fixture_wait(f, &outcome, 1000));
    assert_int_equal(outcome.io.error, SPATE_OK);
    assert_int_equal(fixture_queue_open(f, &f->queue, 0, 8 - i), SPATE_OK);
    assert_int_equal(f->queue.id, 1);
    assert_int_equal(fixture_do(f, (struct spate_io){.op = SPATE_READ, .blocks = 1, .buffer = f->ring_memory}, NULL),
                     SPATE_OK);
  }
  assert_int_equal(f->arena.used_bytes, used_bytes);
  fixture_free(f);
  (void)state;
}

/* Among the free identifiers the driver chooses the one whose memory fits. Otherwise deep and shallow queues in turn
 * would make the memory grow. */
static void test_memory_that_fits_is_chosen(void **state) {
  struct fixture *f = fixture_make(9);
  fixture_open(f, 4);
  assert_int_equal(fixture_queue_open(f, &f->second, 0, 30), SPATE_OK);
  const size_t used_bytes = f->arena.used_bytes;
  for (unsigned i = 0; i < 4; i++) {
    assert_int_equal(spate_nvme_queue_close(&f->nvme, &f->queue), SPATE_OK);
    assert_int_equal(spate_nvme_queue_close(&f->nvme, &f->second), SPATE_OK);
    const bool deep_first = i % 2 == 0;
    assert_int_equal(fixture_queue_open(f, deep_first ? &f->second : &f->queue, 0, deep_first ? 30 : 4), SPATE_OK);
    assert_int_equal(fixture_queue_open(f, deep_first ? &f->queue : &f->second, 0, deep_first ? 4 : 30), SPATE_OK);
  }
  assert_int_equal(f->queue.id, 1);
  assert_int_equal(f->second.id, 2);
  assert_int_equal(f->arena.used_bytes, used_bytes);
  fixture_free(f);
  (void)state;
}

/* The drive does not delete the completion queue: the library's queue is closed, and the identifier is not used
 * again. */
static void test_a_queue_pair_that_is_half_deleted_is_not_reused(void **state) {
  struct fixture *f = fixture_make(9);
  fixture_open_two(f, 8);
  fixture_fault(f, SIM_STATUS, true, 0x04, 0, 1, 0x4006);
  assert_int_equal(spate_nvme_queue_close(&f->nvme, &f->queue), SPATE_E_COMMAND);
  assert_int_equal(spate_nvme_queue_close(&f->nvme, &f->queue), SPATE_E_INVALID);
  assert_int_equal(fixture_queue_open(f, &f->queue, 0, 8), SPATE_OK);
  assert_int_equal(f->queue.id, 3);
  fixture_free(f);
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_queue_is_opened_once),
      cmocka_unit_test(test_stall_in_either_queue_is_aborted),
      cmocka_unit_test(test_replay_keeps_the_order_across_the_wrap),
      cmocka_unit_test(test_completed_on_either_queue_is_not_replayed),
      cmocka_unit_test(test_a_controller_that_stops_is_not_rung),
      cmocka_unit_test(test_every_queue_waits_for_the_recovery),
      cmocka_unit_test(test_every_queue_reports_a_power_cut),
      cmocka_unit_test(test_retry_delays_are_enabled_again),
      cmocka_unit_test(test_delayed_retry_on_either_queue_is_sent),
      cmocka_unit_test(test_each_part_and_each_retry_has_fua),
      cmocka_unit_test(test_shutdown_waits_for_both_queues),
      cmocka_unit_test(test_one_queue_is_closed_while_the_other_runs),
      cmocka_unit_test(test_memory_that_fits_is_chosen),
      cmocka_unit_test(test_a_queue_pair_that_is_half_deleted_is_not_reused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
