/* SPDX-License-Identifier: Apache-2.0 */
/* Striping: how requests are split into parts, and how they end. */
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
    /* Each request has eleven parts, so that the requests always wait for one another. */
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
  while (stripe->splitting != NULL) {
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
  struct spate_io again = write_of(data, 0, 40 * CHUNK / 512);
  again.detail = 0x281; /* the answer of before */
  OK(start(stripe, &request, again));
  poll_until(stripe, &request);
  OK(request.io.error);
  assert_int_equal(request.io.detail, 0);
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
      cmocka_unit_test(test_poll_kicks),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
