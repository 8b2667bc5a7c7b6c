/* SPDX-License-Identifier: Apache-2.0 */
/* A range of a device that records its requests: they reach the right blocks, and never one outside. */
#include "../../linux/command/target/block_range.c"
#include "../../linux/command/text/fail.c"
#include "../../linux/command/text/failure.c"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define DEPTH 4u
#define FIRST 1000u
#define COUNT 50u

/* ---- the device below: it keeps requests until it is polled ---- */

static struct spate_io *held[DEPTH];
static unsigned held_count, kicks;
static struct spate_block below;

static enum spate_error below_submit(struct spate_block *block, struct spate_io *io) {
  (void)block;
  if (held_count == DEPTH) return SPATE_E_FULL;
  if (io->op == SPATE_TRIM) {
    below.can_trim = false;
    return SPATE_E_UNSUPPORTED;
  }
  held[held_count++] = io;
  return SPATE_OK;
}

static void below_kick(struct spate_block *block) {
  (void)block;
  kicks++;
}

static unsigned below_poll(struct spate_block *block, unsigned max) {
  unsigned count = 0;

  (void)block;
  for (; held_count > 0 && count < max; count++) {
    struct spate_io *io = held[--held_count];
    io->error = SPATE_E_MEDIA;
    io->detail = (uint16_t)io->lba;
    io->done(io);
  }
  return count;
}

static const struct spate_block_ops below_ops = {.submit = below_submit, .kick = below_kick, .poll = below_poll};

static int setup(void **state) {
  below =
      (struct spate_block){.ops = &below_ops, .blocks = 1 << 20, .block_shift = 9, .can_trim = true, .depth = DEPTH};
  held_count = kicks = 0;
  *state = block_range_open(&below, FIRST, COUNT);
  return 0;
}

static int teardown(void **state) {
  block_range_close(*state);
  return 0;
}

/* ---- requests ---- */

static unsigned finished;

static void note(struct spate_io *io) {
  (void)io;
  finished++;
}

static struct spate_io request(enum spate_op op, uint64_t lba, uint32_t blocks) {
  return (struct spate_io){.op = (uint8_t)op, .lba = lba, .blocks = blocks, .done = note};
}

static void test_requests_reach_the_right_blocks(void **state) {
  struct spate_block *block = block_range_block(*state);
  struct spate_io first = request(SPATE_READ, 0, COUNT), last = request(SPATE_WRITE, COUNT - 1, 1),
                  flush = request(SPATE_FLUSH, 0, 0);

  finished = 0;
  assert_int_equal(block->blocks, COUNT);
  assert_int_equal(spate_block_submit(block, &first), SPATE_OK);
  assert_int_equal(spate_block_submit(block, &last), SPATE_OK);
  assert_int_equal(spate_block_submit(block, &flush), SPATE_OK);
  assert_int_equal(held[0]->lba, FIRST);
  assert_int_equal(held[1]->lba, FIRST + COUNT - 1);
  assert_int_equal(held[2]->lba, 0);
  spate_block_kick(block);
  assert_int_equal(kicks, 1);
  assert_int_equal(spate_block_poll(block, 8), 3);
  assert_int_equal(finished, 3);
  /* The result comes from the device below; the caller's request is not changed. */
  assert_int_equal(first.error, SPATE_E_MEDIA);
  assert_int_equal(last.detail, FIRST + COUNT - 1);
  assert_int_equal(first.lba, 0);
  assert_int_equal(last.lba, COUNT - 1);
}

static void test_nothing_outside_is_reached(void **state) {
  struct spate_block *block = block_range_block(*state);
  const struct {
    uint64_t lba;
    uint32_t blocks;
  } outside[] = {{COUNT, 1},      {0, COUNT + 1}, {COUNT - 1, 2}, {UINT64_MAX - FIRST + 1, 1},
                 {UINT64_MAX, 2}, {1, UINT32_MAX}};

  for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++)
    for (unsigned op = SPATE_READ; op <= SPATE_ZERO; op++) {
      struct spate_io io = request(op, outside[i].lba, outside[i].blocks);
      assert_int_equal(spate_block_submit(block, &io), SPATE_E_INVALID);
    }
  assert_int_equal(held_count, 0);
}

static void test_a_full_device_accepts_more_later(void **state) {
  struct spate_block *block = block_range_block(*state);
  struct spate_io ios[DEPTH + 1];

  for (unsigned turn = 0; turn < 3; turn++) {
    for (unsigned i = 0; i <= DEPTH; i++) {
      ios[i] = request(SPATE_READ, i, 1);
      assert_int_equal(spate_block_submit(block, &ios[i]), i < DEPTH ? SPATE_OK : SPATE_E_FULL);
    }
    assert_int_equal(spate_block_poll(block, 8), DEPTH);
  }
}

static void test_changes_of_the_device_are_passed_on(void **state) {
  struct spate_block *block = block_range_block(*state);
  struct spate_io trim = request(SPATE_TRIM, 0, 1);

  assert_true(block->can_trim);
  assert_int_equal(spate_block_submit(block, &trim), SPATE_E_UNSUPPORTED);
  assert_false(block->can_trim);
  below.power_losses = 3;
  below.power_unknown = 5;
  (void)spate_block_poll(block, 1);
  assert_int_equal(block->power_losses, 3);
  assert_int_equal(block->power_unknown, 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_requests_reach_the_right_blocks, setup, teardown),
      cmocka_unit_test_setup_teardown(test_nothing_outside_is_reached, setup, teardown),
      cmocka_unit_test_setup_teardown(test_a_full_device_accepts_more_later, setup, teardown),
      cmocka_unit_test_setup_teardown(test_changes_of_the_device_are_passed_on, setup, teardown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
