/* SPDX-License-Identifier: Apache-2.0 */
/* Striping: how requests are split and end, and that a misbehaving member does not harm the others. */
#include "stripe_fixture.h"

#define CHUNK  8192u
#define MEMBER (UINT64_C(1) << 18) /* of data area: 32 chunks */

/* A request whose completion submits another one, for the array's first block. */
struct late {
  struct request second;
  struct spate_stripe *stripe;
  void *data;
  enum spate_error wanted;
  unsigned called;
};

static void submit_late(struct spate_io *io) {
  struct late *late = io->context;

  late->called++;
  GIVES(late->wanted, start(late->stripe, &late->second, write_of(late->data, 0, 1)));
}

/* A member that does not answer keeps its own requests, in flight and in its queue of waiting parts; the others' parts
 * go through. */
static void test_slow_member(void **state) {
  struct array *array = open_array(4, MEMBER, CHUNK, 512);
  struct spate_stripe *stripe = &array->stripe;
  uint8_t *data = take(CHUNK);
  struct request requests[64];

  (void)state;
  memset(data, 0x5a, CHUNK);
  for (unsigned i = 0; i < 4; i++)
    array->drives[i].block.depth = 4;
  array->drives[1].held_ops = RAM_ANY_OP;
  for (unsigned i = 0; i < 64; i++) {
    OK(start(stripe, &requests[i], write_of(data, i * (CHUNK / 512), CHUNK / 512)));
    spate_block_poll(&stripe->block, 16);
  }
  for (unsigned i = 0; i < 8; i++)
    spate_block_poll(&stripe->block, 16);
  for (unsigned i = 0; i < 64; i++)
    assert_int_equal(requests[i].ended, i % 4 != 1);
  assert_int_equal(stripe->members[1].in_flight, 4);
  assert_int_equal(stripe->members[1].waiting, 12);
  assert_int_equal(stripe->members[1].full, 12);
  assert_int_equal(stripe->members[0].waiting + stripe->members[2].waiting + stripe->members[3].waiting, 0);

  array->drives[1].held_ops = 0;
  for (unsigned i = 0; i < 64; i++)
    poll_until(stripe, &requests[i]);
  assert_int_equal(stripe->members[1].in_flight_max, 4);
  assert_int_equal(stripe->members[1].waiting, 0);
  for (unsigned i = 0; i < 4; i++)
    for (uint64_t at = 0; at < 16 * CHUNK; at += CHUNK)
      assert_memory_equal(array->drives[i].memory + MIB + at, data, CHUNK);
  free(data);
  close_drives(array);
}

/* FLUSH: once to each member, and the request completes after the last of them. */
static void test_flush_waits_for_all(void **state) {
  struct array *array = open_array(5, MEMBER, CHUNK, 512);
  struct spate_stripe *stripe = &array->stripe;
  struct request first, second;

  (void)state;
  for (unsigned held = 0; held < 5; held++) {
    array->drives[held].held_ops = RAM_OP(SPATE_FLUSH);
    OK(start(stripe, &first, (struct spate_io){.op = SPATE_FLUSH}));
    OK(start(stripe, &second, (struct spate_io){.op = SPATE_FLUSH}));
    for (unsigned i = 0; i < 20; i++)
      spate_block_poll(&stripe->block, 16);
    assert_int_equal(first.ended + second.ended, 0);
    array->drives[held].held_ops = 0;
    poll_until(stripe, &first);
    poll_until(stripe, &second);
    OK(first.io.error);
    for (unsigned i = 0; i < 5; i++)
      assert_int_equal(array->drives[i].count[SPATE_FLUSH], 2 * held + 2 + 1); /* and one at its creation */
  }
  close_drives(array);
}

/* A caller that fills the array again whenever there is room. */
struct flood {
  struct spate_stripe *stripe;
  struct request requests[300];
  void *data;
  unsigned turns;
};

static void flood(void *context) {
  struct flood *flood = context;

  flood->turns++;
  for (unsigned i = 0; i < 300; i++) {
    struct request *request = &flood->requests[i];
    if (request->io.done != NULL && request->ended == 0) continue;
    /* Eleven parts each: they wait for one another all the time. */
    if (start(flood->stripe, request, write_of(flood->data, 8, 10 * CHUNK / 512)) != SPATE_OK) {
      request->ended = 1;
      break;
    }
  }
}

static void test_metadata_gets_in(void **state) {
  struct array *array = open_drives(4, MEMBER + MIB, 512);
  struct spate_stripe *stripe = &array->stripe;
  static struct flood writer;
  uint8_t *block = take(4096);

  (void)state;
  array->create.chunk_bytes = CHUNK;
  array->config.part_count = 8;
  OK(spate_stripe_create(&array->config, &array->create));
  OK(spate_stripe_open(stripe, &array->config));
  for (unsigned i = 0; i < 4; i++) {
    array->drives[i].block.depth = 2;
    array->drives[i].delay_polls = i;
  }
  writer = (struct flood){.stripe = stripe, .data = take(11 * CHUNK)};
  stripe->block.while_waiting = flood;
  stripe->block.while_waiting_context = &writer;
  flood(&writer);
  for (unsigned i = 0; i < 50; i++) {
    writer.turns = 0;
    OK(spate_block_flush(&stripe->block));
    assert_true(writer.turns > 0 && writer.turns < 100);
    writer.turns = 0;
    OK(spate_block_write(&stripe->block, 200, 8, block, SPATE_IO_FUA));
    assert_true(writer.turns > 0 && writer.turns < 100);
  }
  for (unsigned i = 0; i < 4; i++)
    assert_null(array->drives[i].block.while_waiting);
  for (unsigned i = 0; i < 300; i++)
    if (writer.requests[i].io.done != NULL) poll_until(stripe, &writer.requests[i]);
  free(writer.data);
  free(block);
  close_drives(array);
}

/* One request of a hundred parts, with eight part structures: it is accepted whole and ends once. Requests submitted in
 * the meantime get FULL. */
static void test_more_chunks_than_part_structures(void **state) {
  struct array *array = open_drives(4, 64 * CHUNK + MIB, 512);
  struct spate_stripe *stripe = &array->stripe;
  uint8_t *data = take(100 * CHUNK);
  uint8_t *back = take(100 * CHUNK);
  struct request large, small;
  uint64_t random = 3;

  (void)state;
  array->create.chunk_bytes = CHUNK;
  array->config.part_count = 8;
  OK(spate_stripe_create(&array->config, &array->create));
  OK(spate_stripe_open(stripe, &array->config));
  for (size_t i = 0; i < 100 * CHUNK; i++)
    data[i] = (uint8_t)ram_random(&random);
  OK(start(stripe, &large, write_of(data, 5, 100 * CHUNK / 512)));
  unsigned refused = 0;
  while (stripe->to_cut != NULL) {
    GIVES(SPATE_E_FULL, start(stripe, &small, (struct spate_io){.op = SPATE_FLUSH}));
    assert_int_equal(large.ended, 0);
    refused++;
    spate_block_poll(&stripe->block, 1);
  }
  assert_true(refused > 90);
  poll_until(stripe, &large);
  assert_true(is_idle(array));
  for (unsigned i = 0; i < 4; i++)
    assert_true(array->drives[i].pending_max <= 8);
  OK(spate_block_read(&stripe->block, 5, 100 * CHUNK / 512, back));
  assert_memory_equal(data, back, 100 * CHUNK);
  free(data);
  free(back);
  close_drives(array);
}

/* Once a part has failed, the rest of the request is not issued. */
static void test_error_ends_the_splitting(void **state) {
  struct array *array = open_drives(2, MEMBER + MIB, 512);
  struct spate_stripe *stripe = &array->stripe;
  uint8_t *data = take(40 * CHUNK);
  struct request request;

  (void)state;
  array->create.chunk_bytes = CHUNK;
  array->config.part_count = 4;
  OK(spate_stripe_create(&array->config, &array->create));
  OK(spate_stripe_open(stripe, &array->config));
  for (unsigned i = 0; i < 2; i++)
    ram_block_clear_log(&array->drives[i]);
  ram_block_fault(
      &array->drives[1],
      (struct ram_fault){
          .ops = RAM_OP(SPATE_WRITE), .last_lba = UINT64_MAX, .skip = 5, .times = 1, .error = SPATE_E_MEDIA});
  OK(start(stripe, &request, write_of(data, 0, 40 * CHUNK / 512)));
  poll_until(stripe, &request);
  GIVES(SPATE_E_MEDIA, request.io.error);
  assert_in_range(array->drives[0].count[SPATE_WRITE] + array->drives[1].count[SPATE_WRITE], 12, 12 + 2 * 4);
  assert_true(is_idle(array));
  free(data);
  close_drives(array);
}

/* Parts that wait for their member are not sent either. */
static void test_error_drops_waiting_parts(void **state) {
  struct array *array = open_array(2, MEMBER, CHUNK, 512);
  struct spate_stripe *stripe = &array->stripe;
  uint8_t *data = take(2 * CHUNK);
  struct request before, request;

  (void)state;
  array->drives[0].block.depth = 1;
  array->drives[0].held_ops = RAM_ANY_OP;
  OK(start(stripe, &before, write_of(data, 0, 1)));
  ram_block_fault(
      &array->drives[1],
      (struct ram_fault){.ops = RAM_OP(SPATE_WRITE), .last_lba = UINT64_MAX, .times = 1, .error = SPATE_E_MEDIA});
  OK(start(stripe, &request, write_of(data, 0, 2 * CHUNK / 512)));
  const uint64_t writes = array->drives[0].count[SPATE_WRITE];
  poll_until(stripe, &request); /* although the member is still full */
  GIVES(SPATE_E_MEDIA, request.io.error);
  assert_int_equal(before.ended, 0);
  array->drives[0].held_ops = 0;
  poll_until(stripe, &before);
  OK(before.io.error);
  assert_int_equal(array->drives[0].count[SPATE_WRITE], writes);
  assert_int_equal(stripe->members[0].errors, 0);
  assert_true(is_idle(array));
  free(data);
  close_drives(array);
}

/* A part structure that a completion frees goes to the request that is being split, not to one that `done` would
 * submit. */
static void test_splitting_goes_before_done(void **state) {
  struct array *array = open_drives(2, MEMBER + MIB, 512);
  struct spate_stripe *stripe = &array->stripe;
  struct late late = {.stripe = stripe, .data = take(4096), .wanted = SPATE_E_FULL};
  struct spate_io io = write_of(late.data, 31 * CHUNK / 512, 1);
  uint8_t *data = take(20 * CHUNK);
  struct request large;

  (void)state;
  array->create.chunk_bytes = CHUNK;
  array->config.part_count = 4;
  OK(spate_stripe_create(&array->config, &array->create));
  OK(spate_stripe_open(stripe, &array->config));
  io.done = submit_late;
  io.context = &late;
  OK(spate_block_submit(&stripe->block, &io));
  OK(start(stripe, &large, write_of(data, 0, 20 * CHUNK / 512)));
  array->drives[0].held_ops = RAM_ANY_OP;
  spate_block_poll(&stripe->block, 1);
  assert_int_equal(late.called, 1);
  array->drives[0].held_ops = 0;
  poll_until(stripe, &large);
  assert_int_equal(late.second.ended, 0);
  assert_true(is_idle(array));
  free(late.data);
  free(data);
  close_drives(array);
}

/* FUA goes to the member that holds the block, and to no other. */
static void test_fua(void **state) {
  struct array *array = open_array(3, MEMBER, CHUNK, 4096);
  uint8_t *data = take(4096);

  (void)state;
  for (uint64_t lba = 0; lba < 12; lba++) {
    for (unsigned i = 0; i < 3; i++)
      ram_block_clear_log(&array->drives[i]);
    OK(spate_block_write(&array->stripe.block, lba, 1, data, SPATE_IO_FUA));
    for (unsigned i = 0; i < 3; i++)
      assert_int_equal(array->drives[i].fua_count, lba / 2 % 3 == i);
  }
  free(data);
  close_drives(array);
}

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

  array->drives[1].block.can_zero = false; /* refused by the member itself: two of three parts are on their way */
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
  OK(start(stripe, &request, write_of(data, 0, 9 * CHUNK / 512))); /* the first part is on its way */
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

/* A request that a completion submits to a member that this poll() has already served is rung, too. */
static void test_poll_kicks(void **state) {
  struct array *array = open_array(3, MEMBER, CHUNK, 512);
  struct spate_stripe *stripe = &array->stripe;
  struct late late = {.stripe = stripe, .data = take(4096), .wanted = SPATE_OK};
  struct spate_io io = write_of(late.data, 2 * CHUNK / 512, 1);

  (void)state;
  io.done = submit_late;
  io.context = &late;
  OK(spate_block_submit(&stripe->block, &io));
  const uint64_t kicks = array->drives[0].kicks;
  assert_int_equal(spate_block_poll(&stripe->block, 16), 1);
  assert_int_equal(array->drives[0].pending_count, 1);
  assert_true(array->drives[0].pending[0].ready_at_poll != UINT64_MAX);
  assert_true(array->drives[0].kicks > kicks);
  poll_until(stripe, &late.second);
  free(late.data);
  close_drives(array);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_slow_member),
      cmocka_unit_test(test_flush_waits_for_all),
      cmocka_unit_test(test_metadata_gets_in),
      cmocka_unit_test(test_more_chunks_than_part_structures),
      cmocka_unit_test(test_error_ends_the_splitting),
      cmocka_unit_test(test_error_drops_waiting_parts),
      cmocka_unit_test(test_splitting_goes_before_done),
      cmocka_unit_test(test_fua),
      cmocka_unit_test(test_power_losses),
      cmocka_unit_test(test_abilities),
      cmocka_unit_test(test_member_gone),
      cmocka_unit_test(test_first_error),
      cmocka_unit_test(test_poll_is_fair),
      cmocka_unit_test(test_poll_kicks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
