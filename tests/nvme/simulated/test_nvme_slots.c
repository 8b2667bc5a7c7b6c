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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_too_few_slots_are_refused),
      cmocka_unit_test(test_exactly_enough_slots_hold_a_full_queue),
      cmocka_unit_test(test_a_completion_may_name_any_slot),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
