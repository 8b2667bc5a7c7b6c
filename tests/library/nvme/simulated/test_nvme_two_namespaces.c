/* SPDX-License-Identifier: Apache-2.0 */
/* Two namespaces of one drive at the same time, a queue on each: no command reaches the other namespace, also after a
 * reset. */
#include "nvme_fixture.h"

#define FIRST           2u
#define SECOND          5u
#define DEPTH           8u
#define NAMESPACE_BYTES (FIXTURE_DRIVE_BYTES / 2u)
#define BLOCK_BYTES     512u
#define NSID(command)   ((command)->dwords[1])

/* The namespaces lie on the media one after the other. */
static struct fixture *opened(void) {
  struct fixture *f = fixture_make(9);
  sim_drive_namespaces(f->drive)[0] = FIRST;
  sim_drive_namespaces(f->drive)[1] = SECOND;
  spate_put64(namespace_page(f), NAMESPACE_BYTES / BLOCK_BYTES);
  assert_int_equal(spate_nvme_open(&f->nvme, &f->config), SPATE_OK);
  assert_int_equal(fixture_queue_open(f, &f->queue, FIRST, DEPTH), SPATE_OK);
  assert_int_equal(fixture_queue_open(f, &f->second, SECOND, DEPTH), SPATE_OK);
  fill_pattern(f->ring_memory, FIXTURE_RING_BYTES / 4u, 1);
  return f;
}

static struct spate_nvme_queue *queue_number(struct fixture *f, unsigned i) { return i == 0 ? &f->queue : &f->second; }

/* Writes the same blocks of both namespaces, each with other data. */
static void submit_writes(struct fixture *f, struct outcome outcomes[2][DEPTH], unsigned count) {
  for (unsigned i = 0; i < 2; i++)
    for (unsigned block = 0; block < count; block++) {
      struct spate_io io = write_of(f, block, 1);
      io.offset_bytes = (uint64_t)(i * DEPTH + block) * BLOCK_BYTES;
      assert_int_equal(fixture_submit_to(queue_number(f, i), &outcomes[i][block], io), SPATE_OK);
    }
}

static void expect_written(const struct fixture *f, struct outcome outcomes[2][DEPTH], unsigned count) {
  for (unsigned i = 0; i < 2; i++) {
    for (unsigned block = 0; block < count; block++) {
      assert_int_equal(outcomes[i][block].calls, 1);
      assert_int_equal(outcomes[i][block].io.error, SPATE_OK);
    }
    expect_media(f, i * NAMESPACE_BYTES, f->ring_memory + (size_t)i * DEPTH * BLOCK_BYTES, (size_t)count * BLOCK_BYTES);
  }
}

static void submit_and_wait(struct fixture *f, unsigned i, struct spate_io io) {
  struct outcome outcome;
  assert_int_equal(fixture_submit_to(queue_number(f, i), &outcome, io), SPATE_OK);
  assert_true(fixture_wait(f, &outcome, 1000));
  assert_int_equal(outcome.io.error, SPATE_OK);
}

/* ---- commands ---- */

static void test_writes_and_reads_stay_in_their_namespace(void **state) {
  (void)state;
  struct fixture *f = opened();
  struct outcome outcomes[2][DEPTH];
  submit_writes(f, outcomes, DEPTH);
  fixture_poll_ms(f, 10);
  expect_written(f, outcomes, DEPTH);
  for (unsigned i = 0; i < 2; i++) {
    uint8_t *back = f->ring_memory + FIXTURE_RING_BYTES / 2u;
    memset(back, 0, (size_t)DEPTH * BLOCK_BYTES);
    submit_and_wait(
        f, i,
        (struct spate_io){
            .op = SPATE_READ, .blocks = DEPTH, .region = &f->ring, .offset_bytes = (uint64_t)(back - f->ring_memory)});
    assert_memory_equal(back, f->ring_memory + (size_t)i * DEPTH * BLOCK_BYTES, (size_t)DEPTH * BLOCK_BYTES);
  }
  fixture_free(f);
}

static void test_trim_and_zero_leave_the_other_namespace(void **state) {
  for (unsigned i = 0; i < 2; i++) {
    struct fixture *f = opened();
    struct outcome outcomes[2][DEPTH];
    submit_writes(f, outcomes, DEPTH);
    fixture_poll_ms(f, 10);
    submit_and_wait(f, i, (struct spate_io){.op = SPATE_TRIM, .lba = 0, .blocks = 2});
    submit_and_wait(f, i, (struct spate_io){.op = SPATE_ZERO, .lba = 2, .blocks = 2});
    memset(f->ring_memory + (size_t)i * DEPTH * BLOCK_BYTES, 0, 4u * (size_t)BLOCK_BYTES);
    expect_written(f, outcomes, DEPTH);
    fixture_free(f);
  }
  (void)state;
}

static void test_each_flush_names_its_namespace(void **state) {
  static const uint32_t nsids[] = {FIRST, SECOND};
  (void)state;
  struct fixture *f = opened();
  for (unsigned i = 0; i < 2; i++) {
    submit_and_wait(f, i, (struct spate_io){.op = SPATE_FLUSH});
    assert_int_equal(NSID(io_command(f, i)), nsids[i]);
  }
  fixture_free(f);
}

/* ---- recovery ---- */

/* The reset drops the commands of both queues. */
static void test_replay_reaches_the_namespace_of_the_queue(void **state) {
  (void)state;
  struct fixture *f = opened();
  struct outcome outcomes[2][DEPTH];
  io_fault(f, SIM_LOSE, 0, 2 * DEPTH, 0);
  submit_writes(f, outcomes, DEPTH);
  fixture_poll_ms(f, 20000);
  expect_written(f, outcomes, DEPTH);
  assert_int_equal(spate_nvme_counters(&f->nvme)->resets, 1);
  assert_int_equal(spate_nvme_counters(&f->nvme)->replays, 2 * DEPTH);
  fixture_free(f);
}

static void test_a_power_cut_is_reported_on_both(void **state) {
  (void)state;
  struct fixture *f = opened();
  struct outcome outcomes[2][DEPTH];
  io_fault(f, SIM_POWER_CUT, 3, 1, 0);
  submit_writes(f, outcomes, DEPTH);
  fixture_poll_ms(f, 3000);
  for (unsigned i = 0; i < 2; i++)
    assert_int_equal(queue_number(f, i)->block.power_losses, 1);
  submit_writes(f, outcomes, DEPTH); /* as a recorder does */
  fixture_poll_ms(f, 10);
  expect_written(f, outcomes, DEPTH);
  fixture_free(f);
}

/* After a reset each queue's own namespace is identified: a drive that has lost one of the two counts as another drive,
 * and nothing is written to it. */
static void test_either_namespace_is_missed_after_a_reset(void **state) {
  for (unsigned lost = 0; lost < 2; lost++) {
    struct fixture *f = opened();
    struct outcome outcome;
    sim_drive_fail(f->drive);
    sim_drive_namespaces(f->drive)[0] = lost == 0 ? SECOND : FIRST;
    sim_drive_namespaces(f->drive)[1] = 0;
    assert_int_equal(fixture_submit_to(&f->queue, &outcome, write_of(f, 0, 1)), SPATE_OK);
    assert_true(fixture_wait(f, &outcome, 60000));
    assert_int_equal(outcome.io.error, SPATE_E_GONE);
    assert_int_equal(f->nvme.state, SPATE_NVME_DEAD);
    assert_int_equal(io_count(f), 0);
    fixture_free(f);
  }
  (void)state;
}

/* ---- the end ---- */

static void test_one_namespace_is_closed_while_the_other_is_written(void **state) {
  (void)state;
  struct fixture *f = opened();
  struct outcome outcomes[2][DEPTH];
  assert_int_equal(spate_nvme_format(&f->nvme, SECOND, 4096, SPATE_NVME_ERASE_NONE, 60000), SPATE_E_BUSY);
  submit_writes(f, outcomes, DEPTH);
  fixture_poll_ms(f, 10);
  assert_int_equal(spate_nvme_queue_close(&f->nvme, &f->queue), SPATE_OK);
  submit_and_wait(f, 1, (struct spate_io){.op = SPATE_TRIM, .lba = 8, .blocks = 8});
  assert_int_equal(fixture_queue_open(f, &f->queue, SECOND, DEPTH), SPATE_OK);
  struct spate_io io = write_of(f, 16, 1);
  submit_and_wait(f, 0, io);
  expect_media(f, NAMESPACE_BYTES + 16u * BLOCK_BYTES, f->ring_memory, BLOCK_BYTES);
  expect_written(f, outcomes, DEPTH);
  assert_int_equal(spate_nvme_shutdown(&f->nvme), SPATE_OK);
  assert_int_equal(sim_drive_counters(f->drive)->hot_shutdowns, 0);
  fixture_free(f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_writes_and_reads_stay_in_their_namespace),
      cmocka_unit_test(test_trim_and_zero_leave_the_other_namespace),
      cmocka_unit_test(test_each_flush_names_its_namespace),
      cmocka_unit_test(test_replay_reaches_the_namespace_of_the_queue),
      cmocka_unit_test(test_a_power_cut_is_reported_on_both),
      cmocka_unit_test(test_either_namespace_is_missed_after_a_reset),
      cmocka_unit_test(test_one_namespace_is_closed_while_the_other_is_written),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
