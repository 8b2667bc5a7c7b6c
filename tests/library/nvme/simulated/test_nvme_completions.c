/* SPDX-License-Identifier: Apache-2.0 */
/* Completions in any order, and completions that must be ignored. */
#include "nvme_fixture.h"

/* The slot of the command with this number, from its identifier. */
static uint32_t slot_of(const struct fixture *f, unsigned number) {
  return io_command(f, number)->dwords[0] >> 16 & 0xffu;
}

static void test_completions_in_any_order(void **state) {
  struct fixture *f = fixture_make_with((struct sim_drive_options){.shuffle = true}, 1);
  static struct outcome outcomes[2000];
  unsigned submitted = 0;
  fixture_open(f, 32);
  while (submitted < 2000) {
    const uint64_t lba = (submitted * 16) % 16000;
    struct spate_io io = write_of(f, lba, 16);
    io.offset_bytes = (submitted % 1000) * 8192u;
    if (fixture_submit(f, &outcomes[submitted], io) == SPATE_OK)
      submitted++;
    else
      (void)spate_block_poll(&f->queue.block, 8);
  }
  fixture_poll_ms(f, 100);
  for (unsigned i = 0; i < 2000; i++) {
    assert_int_equal(outcomes[i].calls, 1);
    assert_int_equal(outcomes[i].io.error, SPATE_OK);
  }
  assert_int_equal(spate_nvme_counters(&f->nvme)->spurious_completions, 0);
  fixture_free(f);
  (void)state;
}

static void test_doubled_completion_retires_nothing(void **state) {
  struct fixture *f = fixture_opened(8);
  struct outcome outcomes[4];
  io_fault(f, SIM_DOUBLE, 0, 4, 0);
  for (unsigned round = 0; round < 8; round++) {
    for (unsigned i = 0; i < 4; i++)
      assert_int_equal(fixture_submit(f, &outcomes[i], write_of(f, i, 1)), SPATE_OK);
    fixture_poll_ms(f, 10);
    for (unsigned i = 0; i < 4; i++)
      assert_int_equal(outcomes[i].calls, 1);
  }
  assert_int_equal(spate_nvme_counters(&f->nvme)->spurious_completions, 4);
  fixture_free(f);
  (void)state;
}

/* The second completion comes when the slot already holds the next command: only the generation distinguishes them. */
static void test_late_double_does_not_retire_the_next_command(void **state) {
  struct fixture *f = fixture_opened(2);
  struct outcome first, second;
  io_fault(f, SIM_DOUBLE, 0, 1, 5);
  io_fault(f, SIM_LATE, 0, 1, 50);
  assert_int_equal(fixture_submit(f, &first, write_of(f, 0, 1)), SPATE_OK);
  assert_true(fixture_wait(f, &first, 3));
  assert_int_equal(fixture_submit(f, &second, write_of(f, 0, 1)), SPATE_OK);
  fixture_poll_ms(f, 10);
  assert_int_equal(slot_of(f, 0), slot_of(f, 1));
  assert_int_equal(spate_nvme_counters(&f->nvme)->spurious_completions, 1);
  assert_int_equal(second.calls, 0);
  assert_true(fixture_wait(f, &second, 100));
  fixture_free(f);
  (void)state;
}

/* A completion may come twice, the second time when many commands have used the slot since. */
static void test_an_identifier_comes_again_after_256_commands(void **state) {
  struct fixture *f = fixture_opened(2);
  uint32_t first = 0;
  for (unsigned i = 0; i <= 256; i++) {
    assert_int_equal(fixture_do(f, write_of(f, 0, 1), NULL), SPATE_OK);
    assert_int_equal(slot_of(f, i), slot_of(f, 0));
    const uint32_t id = io_command(f, i)->dwords[0] >> 16;
    if (i == 0) first = id;
    assert_int_equal(id == first, i % 256 == 0);
  }
  fixture_free(f);
  (void)state;
}

static void test_unknown_identifiers_are_ignored(void **state) {
  const uint32_t wrong[] = {0x0001, 0x0010, 0x00ff, 0x0100, 0x8000, 0xffff};
  for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    struct fixture *f = fixture_opened(4);
    io_fault(f, SIM_WRONG_ID, 0, 1, wrong[i]);
    assert_int_equal(fixture_do(f, write_of(f, 0, 1), NULL), SPATE_OK);
    fixture_poll_ms(f, 10);
    assert_int_equal(spate_nvme_counters(&f->nvme)->spurious_completions, 1);
    fixture_free(f);
  }
  (void)state;
}

static void test_completion_for_another_queue_is_ignored(void **state) {
  struct fixture *f = fixture_opened(4);
  struct outcome outcome;
  io_fault(f, SIM_MISDIRECT, 0, 1, 0);
  assert_int_equal(fixture_submit(f, &outcome, write_of(f, 0, 1)), SPATE_OK);
  fixture_poll_ms(f, 100);
  assert_int_equal(outcome.calls, 0);
  assert_int_equal(spate_nvme_counters(&f->nvme)->spurious_completions, 1);
  assert_true(fixture_wait(f, &outcome, 20000)); /* after its timeout and a reset */
  fixture_free(f);
  (void)state;
}

static void test_admin_completion_of_another_command_is_ignored(void **state) {
  struct fixture *f = fixture_opened(4);
  bool on = false;
  fixture_fault(f, SIM_WRONG_ID, true, 0x0a, 0, 1, 0x100);
  assert_int_equal(spate_nvme_write_cache_get(&f->nvme, &on), SPATE_OK);
  assert_true(on);
  assert_int_equal(spate_nvme_counters(&f->nvme)->spurious_completions, 1);
  fixture_free(f);
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_completions_in_any_order),
      cmocka_unit_test(test_doubled_completion_retires_nothing),
      cmocka_unit_test(test_late_double_does_not_retire_the_next_command),
      cmocka_unit_test(test_an_identifier_comes_again_after_256_commands),
      cmocka_unit_test(test_unknown_identifiers_are_ignored),
      cmocka_unit_test(test_completion_for_another_queue_is_ignored),
      cmocka_unit_test(test_admin_completion_of_another_command_is_ignored),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
