/* SPDX-License-Identifier: Apache-2.0 */
/* Striping: what a member reports or does wrong, and how the array polls its members. */
#include "stripe_fixture.h"

#define CHUNK  8192u
#define MEMBER (UINT64_C(1) << 18) /* of data area: 32 chunks */

/*
 * A drive reports a loss of power by a counter. A caller that flushed reads it as soon as the flush is done. A caller
 * that wrote reads it when the write is done, because a member may have completed its part before, and lost it.
 */
struct loss_witness {
  struct request request;
  const struct spate_block *block;
  uint32_t losses;
};

static void witness_ended(struct spate_io *io) {
  struct loss_witness *witness = io->context;

  witness->request.ended++;
  witness->losses = witness->block->power_losses;
}

static void check_losses(struct spate_io io) {
  struct array *array = open_array(3, MEMBER, CHUNK, 512);
  struct spate_block *block = &array->stripe.block;
  struct loss_witness witness = {.block = block};

  assert_int_equal(block->power_losses, 0);
  array->drives[1].held_ops = RAM_ANY_OP;
  witness.request.io = io;
  witness.request.io.done = witness_ended;
  witness.request.io.context = &witness;
  OK(spate_block_submit(block, &witness.request.io));
  for (unsigned i = 0; i < 3; i++)
    spate_block_poll(block, 16);
  assert_int_equal(witness.request.ended, 0);
  array->drives[0].block.power_losses++; /* noticed by another queue of the same drive; its own part is long done */
  array->drives[2].block.power_losses += 2;
  array->drives[1].held_ops = 0;
  spate_block_poll(block, 16);
  assert_int_equal(witness.request.ended, 1);
  assert_int_equal(witness.losses, 3);
  array->drives[1].block.power_losses++;
  spate_block_poll(block, 16);
  assert_int_equal(block->power_losses, 4);
  close_drives(array);
}

static void test_power_losses(void **state) {
  uint8_t *data = take(3 * CHUNK);

  (void)state;
  check_losses((struct spate_io){.op = SPATE_FLUSH});
  check_losses(write_of(data, 0, 3 * CHUNK / 512));
  check_losses(write_of(data, CHUNK / 512, CHUNK / 512)); /* several commands on that member */
  check_losses((struct spate_io){.op = SPATE_ZERO, .blocks = 3 * CHUNK / 512});
  free(data);
}

/* Once a member turns out to lack an operation, the array lacks it, too. */
static void test_abilities(void **state) {
  struct array *array = open_array(3, MEMBER, CHUNK, 512);
  struct spate_block *block = &array->stripe.block;
  struct request request;

  (void)state;
  OK(start(&array->stripe, &request, (struct spate_io){.op = SPATE_ZERO, .blocks = 40}));
  poll_until(&array->stripe, &request);
  OK(request.io.error);

  array->drives[1].block.can_zero = false; /* refused by the member itself: two of three parts are in flight */
  OK(start(&array->stripe, &request, (struct spate_io){.op = SPATE_ZERO, .blocks = 48}));
  poll_until(&array->stripe, &request);
  GIVES(SPATE_E_UNSUPPORTED, request.io.error);
  assert_false(block->can_zero);
  assert_true(block->can_trim);
  GIVES(SPATE_E_UNSUPPORTED, start(&array->stripe, &request, (struct spate_io){.op = SPATE_ZERO, .blocks = 1}));

  array->drives[0].block.can_trim = false; /* the only part: nothing has begun */
  GIVES(SPATE_E_UNSUPPORTED, start(&array->stripe, &request, (struct spate_io){.op = SPATE_TRIM, .blocks = 1}));
  assert_false(block->can_trim);
  assert_int_equal(request.ended, 0);
  assert_int_equal(array->stripe.members[0].errors + array->stripe.members[1].errors, 2);
  assert_true(is_idle(array));
  close_drives(array);
}

/* A member that is gone fails every request: immediately, in its queue, or while waiting for it. */
static enum spate_error gone_submit(struct spate_block *block, struct spate_io *io) {
  (void)block;
  (void)io;
  return SPATE_E_GONE;
}

static void test_member_gone(void **state) {
  struct array *array = open_array(3, MEMBER, CHUNK, 512);
  struct spate_stripe *stripe = &array->stripe;
  uint8_t *data = take(9 * CHUNK);
  struct request requests[8], request;

  (void)state;
  array->drives[1].block.depth = 2;
  array->drives[1].held_ops = RAM_ANY_OP;
  for (unsigned i = 0; i < 8; i++)
    OK(start(stripe, &requests[i], write_of(data, (1 + 3 * i) * (CHUNK / 512), CHUNK / 512)));
  assert_int_equal(stripe->members[1].waiting, 6);

  struct spate_block_ops ops = *array->drives[1].block.ops;
  ops.submit = gone_submit;
  array->drives[1].block.ops = &ops;
  spate_block_poll(&stripe->block, 16);
  for (unsigned i = 2; i < 8; i++) { /* those waiting for it */
    assert_int_equal(requests[i].ended, 1);
    GIVES(SPATE_E_GONE, requests[i].io.error);
  }
  GIVES(SPATE_E_GONE, start(stripe, &request, write_of(data, CHUNK / 512, 1)));
  GIVES(SPATE_E_GONE, spate_block_flush(&stripe->block));
  OK(start(stripe, &request, write_of(data, 0, 9 * CHUNK / 512))); /* the first part is in flight */
  poll_until(stripe, &request);
  GIVES(SPATE_E_GONE, request.io.error);
  OK(start(stripe, &request, write_of(data, 2 * CHUNK / 512, 2 * CHUNK / 512)));
  poll_until(stripe, &request);
  OK(request.io.error);

  array->drives[1].held_ops = 0;
  poll_until(stripe, &requests[0]);
  poll_until(stripe, &requests[1]);
  GIVES(SPATE_E_GONE, stripe->members[1].error);
  assert_int_equal(stripe->members[0].errors + stripe->members[2].errors, 0);
  assert_true(is_idle(array));
  free(data);
  close_drives(array);
}

/* If several parts fail, the request gets the first error. */
static void test_first_error(void **state) {
  struct array *array = open_array(3, MEMBER, CHUNK, 512);
  struct spate_stripe *stripe = &array->stripe;
  uint8_t *data = take(3 * CHUNK);
  struct request request;

  (void)state;
  for (unsigned i = 0; i < 3; i++)
    ram_block_fault(&array->drives[i], (struct ram_fault){.ops = RAM_OP(SPATE_WRITE),
                                                          .last_lba = UINT64_MAX,
                                                          .times = RAM_ALWAYS,
                                                          .error = i == 1 ? SPATE_E_MEDIA : SPATE_E_COMMAND,
                                                          .detail = (uint16_t)(0x100 + i)});
  array->drives[0].held_ops = array->drives[2].held_ops = RAM_ANY_OP;
  OK(start(stripe, &request, write_of(data, 0, 3 * CHUNK / 512)));
  spate_block_poll(&stripe->block, 16);
  assert_int_equal(request.ended, 0);
  array->drives[0].held_ops = array->drives[2].held_ops = 0;
  poll_until(stripe, &request);
  GIVES(SPATE_E_MEDIA, request.io.error);
  assert_int_equal(request.io.detail, 0x101);
  for (unsigned i = 0; i < 3; i++) {
    assert_int_equal(stripe->members[i].errors, 1);
    GIVES(i == 1 ? SPATE_E_MEDIA : SPATE_E_COMMAND, stripe->members[i].error);
  }
  free(data);
  close_drives(array);
}

static unsigned (*real_poll)(struct spate_block *block, unsigned max);

static unsigned poll_all(struct spate_block *block, unsigned max) { return real_poll(block, max + 100); }

/* A poll reaps at most `max`, and serves every member however small `max` is. */
static void test_poll_is_fair(void **state) {
  struct array *array = open_array(4, MEMBER, CHUNK, 512);
  struct spate_stripe *stripe = &array->stripe;
  uint8_t *data = take(CHUNK);
  struct request requests[80];

  (void)state;
  for (unsigned i = 0; i < 80; i++)
    OK(start(stripe, &requests[i], write_of(data, (i % 4 + i / 4 * 4) * (CHUNK / 512), 1)));
  spate_block_kick(&stripe->block);
  for (unsigned polls = 0; polls < 40; polls++) {
    assert_int_equal(spate_block_poll(&stripe->block, 1), 1);
    for (unsigned i = 0; i < 4; i++)
      assert_in_range(array->drives[i].pending_count, 20 - (polls + 1) / 4 - 1, 20 - (polls + 1) / 4);
  }
  assert_int_equal(spate_block_poll(&stripe->block, 3), 3);

  /* A drive that gives up may end more requests than asked for: this does not raise the limit for the others. */
  uint64_t polls[4];
  struct spate_block_ops ops = *array->drives[0].block.ops;
  real_poll = ops.poll;
  ops.poll = poll_all;
  for (unsigned i = 0; i < 4; i++) {
    array->drives[i].block.ops = &ops;
    polls[i] = array->drives[i].polls;
  }
  assert_true(spate_block_poll(&stripe->block, 1) > 1);
  unsigned polled = 0;
  for (unsigned i = 0; i < 4; i++)
    polled += array->drives[i].polls != polls[i];
  assert_int_equal(polled, 1);
  for (unsigned i = 0; i < 80; i++)
    poll_until(stripe, &requests[i]);
  assert_int_equal(spate_block_poll(&stripe->block, 25), 0);
  free(data);
  close_drives(array);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_power_losses), cmocka_unit_test(test_abilities),    cmocka_unit_test(test_member_gone),
      cmocka_unit_test(test_first_error),  cmocka_unit_test(test_poll_is_fair),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
