/* SPDX-License-Identifier: Apache-2.0 */
/* The slots of a queue are the caller's, and as many as its depth needs. Here they are in an allocation of their own,
 * so that the address sanitizer finds each access beside them. */
#include "nvme_fixture.h"

static const unsigned depths[] = {2, 3, 4, 5, 31, 32, 33, 63};

static struct fixture *controller_only(void) {
  struct fixture *f = fixture_make(9);

  assert_int_equal(spate_nvme_open(&f->nvme, &f->config), SPATE_OK);
  return f;
}

static struct spate_io write_at(const struct fixture *f, uint64_t lba) {
  return (struct spate_io){.op = SPATE_WRITE, .lba = lba, .blocks = 1, .region = &f->ring};
}

/* The driver looks before it takes memory or asks the drive. */
static void test_too_few_slots_are_refused(void **state) {
  static struct spate_nvme_slot slots[SPATE_NVME_SLOTS(SPATE_NVME_QUEUE_DEPTH_MAX)];
  (void)state;
  struct fixture *f = controller_only();
  const size_t used_bytes = f->arena.used_bytes;
  for (unsigned i = 0; i < sizeof depths / sizeof depths[0]; i++) {
    struct spate_nvme_queue_config config = {
        .depth = depths[i], .slots = slots, .slot_count = SPATE_NVME_SLOTS(depths[i]) - 1};
    assert_int_equal(spate_nvme_queue_open(&f->nvme, &f->queue, &config), SPATE_E_INVALID);
    config.slots = NULL;
    config.slot_count = SPATE_NVME_SLOTS(depths[i]);
    assert_int_equal(spate_nvme_queue_open(&f->nvme, &f->queue, &config), SPATE_E_INVALID);
  }
  assert_int_equal(f->arena.used_bytes, used_bytes);
  fixture_free(f);
}

static void test_exactly_enough_slots_hold_a_full_queue(void **state) {
  (void)state;
  for (unsigned i = 0; i < sizeof depths / sizeof depths[0]; i++) {
    struct fixture *f = controller_only();
    struct outcome outcomes[64], surplus;
    const unsigned depth = depths[i];
    assert_int_equal(fixture_queue_open(f, &f->queue, 0, depth), SPATE_OK);
    assert_int_equal(f->queue.block.depth, depth);
    for (unsigned lap = 0; lap < 3; lap++) {
      for (unsigned j = 0; j < depth; j++)
        assert_int_equal(fixture_submit(f, &outcomes[j], write_at(f, j)), SPATE_OK);
      assert_int_equal(fixture_submit(f, &surplus, write_at(f, 0)), SPATE_E_FULL);
      for (unsigned j = 0; j < depth; j++) {
        assert_true(fixture_wait(f, &outcomes[j], 1000));
        assert_int_equal(outcomes[j].io.error, SPATE_OK);
      }
    }
    fixture_free(f);
  }
}

/* A completion may name any of 256 slots, on a queue that has four. */
static void test_a_completion_may_name_any_slot(void **state) {
  (void)state;
  struct fixture *f = controller_only();
  assert_int_equal(fixture_queue_open(f, &f->queue, 0, 4), SPATE_OK);
  for (uint32_t difference = 1; difference < 256; difference++) {
    fixture_fault(f, SIM_WRONG_ID, false, -1, 0, 1, difference);
    assert_int_equal(fixture_do(f, write_at(f, 0), NULL), SPATE_OK);
    assert_int_equal(spate_nvme_counters(&f->nvme)->spurious_completions, difference);
  }
  fixture_free(f);
}

/* With a depth of 3 there is a fourth slot. What was in it before must not count as a command. */
static void test_a_slot_behind_the_depth_is_empty(void **state) {
  struct spate_nvme_slot slots[4];
  struct spate_io ghost = {0};
  (void)state;
  struct fixture *f = controller_only();
  for (unsigned i = 0; i < 4; i++)
    slots[i] = (struct spate_nvme_slot){.io = &ghost, .sent = UINT64_C(1) << 32 | 3u << 16 | 2u}; /* Read, slot 3 */
  const struct spate_nvme_queue_config config = {.depth = 3, .slots = slots, .slot_count = 4};
  assert_int_equal(spate_nvme_queue_open(&f->nvme, &f->queue, &config), SPATE_OK);
  fixture_fault(f, SIM_WRONG_ID, false, -1, 0, 1, 3);
  assert_int_equal(fixture_do(f, write_at(f, 0), NULL), SPATE_OK);
  assert_int_equal(spate_nvme_counters(&f->nvme)->spurious_completions, 1);
  fixture_free(f);
}

/* After a shutdown the caller may use the slots for something else, and poll the block or submit to it. */
static void test_slots_are_not_used_after_a_shutdown(void **state) {
  struct outcome outcome;
  (void)state;
  struct fixture *f = controller_only();
  struct spate_nvme_slot *slots = calloc(4, sizeof *slots);
  const struct spate_nvme_queue_config config = {.depth = 4, .slots = slots, .slot_count = 4};
  assert_int_equal(spate_nvme_queue_open(&f->nvme, &f->queue, &config), SPATE_OK);
  assert_int_equal(fixture_do(f, write_at(f, 0), NULL), SPATE_OK);
  assert_int_equal(spate_nvme_shutdown(&f->nvme), SPATE_OK);
  free(slots);
  assert_int_equal(fixture_submit(f, &outcome, write_at(f, 0)), SPATE_E_INVALID);
  spate_block_kick(&f->queue.block);
  assert_int_equal(spate_block_poll(&f->queue.block, 4), 0);
  fixture_free(f);
}

/* A request that the drive has lost is still there when the time for a shutdown is over. */
static void test_a_request_that_a_shutdown_leaves_ends_when_polled(void **state) {
  struct outcome outcome;
  (void)state;
  struct fixture *f = fixture_make(9);
  f->config.command_timeout_ms = 120000;
  fixture_open(f, 4);
  fixture_fault(f, SIM_LOSE, false, -1, 0, 1, 0);
  assert_int_equal(fixture_submit(f, &outcome, write_at(f, 0)), SPATE_OK);
  assert_int_equal(spate_nvme_shutdown(&f->nvme), SPATE_OK);
  assert_int_equal(outcome.calls, 0);
  assert_int_equal(spate_block_poll(&f->queue.block, 4), 1);
  assert_int_equal(outcome.calls, 1);
  assert_int_equal(outcome.io.error, SPATE_E_INVALID);
  fixture_free(f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_too_few_slots_are_refused),
      cmocka_unit_test(test_exactly_enough_slots_hold_a_full_queue),
      cmocka_unit_test(test_a_completion_may_name_any_slot),
      cmocka_unit_test(test_a_slot_behind_the_depth_is_empty),
      cmocka_unit_test(test_slots_are_not_used_after_a_shutdown),
      cmocka_unit_test(test_a_request_that_a_shutdown_leaves_ends_when_polled),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
