/* SPDX-License-Identifier: Apache-2.0 */
/* The pool of list pages, for buffers outside regions: no command holds a page that it cannot use. */
#include "nvme_fixture.h"

#define ONE_LIST_BLOCKS  64u   /* 32 KiB: eight pages, seven of them in a list */
#define TWO_LISTS_BLOCKS 4352u /* 2.1 MiB: more pages than one page of a list has entries */
#define LONG_MS          350u  /* several intervals of the periodic service */

static struct fixture *opened(void) {
  struct fixture *f = fixture_make(9);
  controller_page(f)[77] = 0; /* no MDTS */
  fixture_open(f, 16);
  return f;
}

/* From now on each command takes long. */
static void slow(struct fixture *f) { fixture_fault(f, SIM_LATE, false, -1, 0, UINT32_MAX, LONG_MS); }

static struct spate_io buffer_write(const struct fixture *f, uint32_t blocks) {
  return (struct spate_io){.op = SPATE_WRITE, .blocks = blocks, .buffer = f->ring_memory};
}

/* All of the pool is in use when every command has to be sent again. Each uses its own pages, so none has to wait. */
static void test_a_retry_has_the_pages_it_had(void **state) {
  struct fixture *f = opened();
  struct outcome outcomes[SPATE_NVME_LIST_PAGES_MAX];
  fixture_fault(f, SIM_STATUS, false, -1, 0, SPATE_NVME_LIST_PAGES_MAX, 0x006);
  for (unsigned i = 0; i < SPATE_NVME_LIST_PAGES_MAX; i++)
    assert_int_equal(fixture_submit(f, &outcomes[i], buffer_write(f, ONE_LIST_BLOCKS)), SPATE_OK);
  spate_block_kick(&f->queue.block);
  spend_us(f, US_PER_MS);
  assert_int_equal(io_count(f), SPATE_NVME_LIST_PAGES_MAX);
  slow(f);
  fixture_poll_ms(f, 10);
  assert_int_equal(io_count(f), 2 * SPATE_NVME_LIST_PAGES_MAX);
  assert_true(fixture_wait(f, &outcomes[SPATE_NVME_LIST_PAGES_MAX - 1], 1000));
  fixture_free(f);
  (void)state;
}

/* A command that needs more pages than are free holds none while it waits. The commands behind it keep their order, and
 * one that needs no page goes at once. */
static void test_commands_get_pages_in_their_order(void **state) {
  struct fixture *f = opened();
  struct outcome outcomes[SPATE_NVME_LIST_PAGES_MAX - 1], wide, narrow, flush;
  slow(f);
  for (unsigned i = 0; i < SPATE_NVME_LIST_PAGES_MAX - 1; i++)
    assert_int_equal(fixture_submit(f, &outcomes[i], buffer_write(f, ONE_LIST_BLOCKS)), SPATE_OK);
  assert_int_equal(fixture_submit(f, &wide, buffer_write(f, TWO_LISTS_BLOCKS)), SPATE_OK);
  assert_int_equal(fixture_submit(f, &narrow, buffer_write(f, ONE_LIST_BLOCKS)), SPATE_OK);
  assert_int_equal(fixture_submit(f, &flush, (struct spate_io){.op = SPATE_FLUSH}), SPATE_OK);
  spate_block_kick(&f->queue.block);
  spend_us(f, US_PER_MS);
  assert_int_equal(io_count(f), SPATE_NVME_LIST_PAGES_MAX);
  unsigned held = 0;
  for (unsigned i = 0; i < SPATE_NVME_LIST_PAGES_MAX; i++)
    held += f->queue.list_owner[i] != NULL;
  assert_int_equal(held, SPATE_NVME_LIST_PAGES_MAX - 1);
  assert_true(fixture_wait(f, &narrow, 1000));
  assert_true(wide.calls == 1 || fixture_wait(f, &wide, 1000)); /* it moves more data */
  assert_int_equal(wide.io.error, SPATE_OK);
  const unsigned last = SPATE_NVME_LIST_PAGES_MAX + 1;
  assert_int_equal(io_count(f), last + 1);
  assert_int_equal(io_command(f, last - 1)->dwords[12], TWO_LISTS_BLOCKS - 1);
  assert_int_equal(io_command(f, last)->dwords[12], ONE_LIST_BLOCKS - 1);
  fixture_free(f);
  (void)state;
}

/* ---- a stream that submits its next command from `done` ---- */

struct stream {
  struct fixture *f;
  struct spate_io ios[2 * SPATE_NVME_LIST_PAGES_MAX];
  unsigned calls[2 * SPATE_NVME_LIST_PAGES_MAX];
  bool is_over;
};

static void submit_again(struct spate_io *io) {
  struct stream *stream = io->context;

  stream->calls[io - stream->ios]++;
  if (!stream->is_over) assert_int_equal(spate_block_submit(&stream->f->queue.block, io), SPATE_OK);
}

/* Of more commands than there are pages each has its turn, also one of two pages, and one that comes later. */
static void test_no_command_waits_for_ever(void **state) {
  (void)state;
  for (unsigned pages = 1; pages <= SPATE_NVME_LIST_PAGES_MAX; pages++) {
    struct fixture *f = fixture_make(9);
    controller_page(f)[77] = 0; /* no MDTS */
    assert_int_equal(spate_nvme_open(&f->nvme, &f->config), SPATE_OK);
    assert_int_equal(fixture_queue_open_with(f, &f->queue, 0, 16, pages), SPATE_OK);
    struct stream stream = {.f = f};
    struct outcome late;
    for (unsigned i = 0; i < 2 * pages; i++) {
      stream.ios[i] = buffer_write(f, i == 0 ? TWO_LISTS_BLOCKS : ONE_LIST_BLOCKS);
      if (pages == 1) stream.ios[i].blocks = ONE_LIST_BLOCKS;
      stream.ios[i].done = submit_again;
      stream.ios[i].context = &stream;
      assert_int_equal(spate_block_submit(&f->queue.block, &stream.ios[i]), SPATE_OK);
    }
    fixture_poll_ms(f, 20);
    assert_int_equal(fixture_submit(f, &late, buffer_write(f, pages == 1 ? ONE_LIST_BLOCKS : TWO_LISTS_BLOCKS)),
                     SPATE_OK);
    fixture_poll_ms(f, 20);
    assert_int_equal(late.calls, 1);
    for (unsigned i = 0; i < 2 * pages; i++)
      assert_true(stream.calls[i] >= 4);
    stream.is_over = true;
    fixture_poll_ms(f, 100);
    fixture_free(f);
  }
}

/* Some commands wait for pages, another one for the delay that the drive stated: each goes as soon as it can. */
static void test_a_command_that_waits_for_pages_waits_for_nothing_else(void **state) {
  struct fixture *f = fixture_make(9);
  struct outcome outcomes[SPATE_NVME_LIST_PAGES_MAX], delayed, waiting;
  spate_put16(controller_page(f) + 128, 50); /* CRDT1: 5 s */
  fixture_open(f, 16);
  fixture_fault(f, SIM_STATUS, false, 0, 0, 1, 1u << 11 | 0x006);
  assert_int_equal(fixture_submit(f, &delayed, (struct spate_io){.op = SPATE_FLUSH}), SPATE_OK);
  fixture_poll_ms(f, 1);
  slow(f);
  for (unsigned i = 0; i < SPATE_NVME_LIST_PAGES_MAX; i++)
    assert_int_equal(fixture_submit(f, &outcomes[i], buffer_write(f, ONE_LIST_BLOCKS)), SPATE_OK);
  assert_int_equal(fixture_submit(f, &waiting, buffer_write(f, ONE_LIST_BLOCKS)), SPATE_OK);
  assert_true(fixture_wait(f, &waiting, 1000));
  assert_int_equal(delayed.calls, 0);
  assert_true(fixture_wait(f, &delayed, 6000));
  fixture_free(f);
  (void)state;
}

/* ---- how many there are ---- */

static struct fixture *opened_with(unsigned depth, unsigned list_pages) {
  struct fixture *f = fixture_make(9);
  controller_page(f)[77] = 0; /* no MDTS */
  assert_int_equal(spate_nvme_open(&f->nvme, &f->config), SPATE_OK);
  assert_int_equal(fixture_queue_open_with(f, &f->queue, 0, depth, list_pages), SPATE_OK);
  return f;
}

/* The longest request, from the address with the most pages, is written and read back: each command waits for the page
 * of the one before. */
static void test_one_page_is_enough_for_any_request(void **state) {
  struct fixture *f = opened_with(4, 1);
  const uint32_t blocks = f->queue.block.request_blocks_max, bytes = blocks << 9;
  uint8_t *from = f->ring_memory + SPATE_PAGE_BYTES - 4, *to = f->ring_memory + FIXTURE_RING_BYTES / 2 + 4;
  assert_int_equal(bytes, 3 * SPATE_REGION_COMMAND_BYTES);
  for (uint32_t at = 0; at < bytes; at += 4)
    spate_put32(from + at, at);
  assert_int_equal(fixture_do(f, (struct spate_io){.op = SPATE_WRITE, .blocks = blocks, .buffer = from}, NULL),
                   SPATE_OK);
  assert_int_equal(io_count(f), 4); /* of up to 511 whole pages and a part of the first */
  assert_int_equal(fixture_do(f, (struct spate_io){.op = SPATE_READ, .blocks = blocks, .buffer = to}, NULL), SPATE_OK);
  assert_memory_equal(to, from, bytes);
  fixture_free(f);
  (void)state;
}

static void test_as_many_commands_as_pages_are_in_flight(void **state) {
  for (unsigned pages = 1; pages <= SPATE_NVME_LIST_PAGES_MAX; pages++) {
    struct fixture *f = opened_with(16, pages);
    struct outcome outcomes[SPATE_NVME_LIST_PAGES_MAX + 1];
    slow(f);
    for (unsigned i = 0; i <= pages; i++)
      assert_int_equal(fixture_submit(f, &outcomes[i], buffer_write(f, ONE_LIST_BLOCKS)), SPATE_OK);
    spate_block_kick(&f->queue.block);
    spend_us(f, US_PER_MS);
    assert_int_equal(io_count(f), pages);
    assert_true(fixture_wait(f, &outcomes[pages], 1000));
    assert_int_equal(outcomes[pages].io.error, SPATE_OK);
    fixture_free(f);
  }
  (void)state;
}

/* Memory of a closed queue with fewer pages is too small, and memory with more of them is enough. */
static void test_the_number_of_pages_decides_which_memory_fits(void **state) {
  struct fixture *f = opened_with(4, 0);
  const size_t before_bytes = f->arena.used_bytes;
  assert_int_equal(spate_nvme_queue_close(&f->nvme, &f->queue), SPATE_OK);
  assert_int_equal(fixture_queue_open_with(f, &f->queue, 0, 4, SPATE_NVME_LIST_PAGES_MAX + 1), SPATE_E_INVALID);
  assert_int_equal(fixture_queue_open_with(f, &f->queue, 0, 4, 1), SPATE_OK); /* 0 is 1 */
  assert_int_equal(f->arena.used_bytes, before_bytes);
  assert_int_equal(spate_nvme_queue_close(&f->nvme, &f->queue), SPATE_OK);
  assert_int_equal(fixture_queue_open_with(f, &f->queue, 0, 4, 2), SPATE_OK);
  assert_int_equal(f->arena.used_bytes - before_bytes, SPATE_NVME_QUEUE_MEMORY_BYTES(4, 2));
  for (unsigned pages = 2; pages > 0; pages--) {
    assert_int_equal(spate_nvme_queue_close(&f->nvme, &f->queue), SPATE_OK);
    assert_int_equal(fixture_queue_open_with(f, &f->queue, 0, 4, pages), SPATE_OK);
  }
  assert_int_equal(f->arena.used_bytes - before_bytes, SPATE_NVME_QUEUE_MEMORY_BYTES(4, 2));
  fixture_free(f);
  (void)state;
}

/* Where there is no other identifier, memory with too few pages is replaced. */
static void test_memory_with_too_few_pages_is_replaced(void **state) {
  struct fixture *f = fixture_make_with((struct sim_drive_options){.queue_pairs = 1}, 1);
  assert_int_equal(spate_nvme_open(&f->nvme, &f->config), SPATE_OK);
  assert_int_equal(fixture_queue_open_with(f, &f->queue, 0, 4, 1), SPATE_OK);
  const size_t before_bytes = f->arena.used_bytes;
  assert_int_equal(spate_nvme_queue_close(&f->nvme, &f->queue), SPATE_OK);
  assert_int_equal(fixture_queue_open_with(f, &f->queue, 0, 4, 2), SPATE_OK);
  assert_int_equal(f->queue.id, 1);
  assert_int_equal(f->arena.used_bytes - before_bytes, SPATE_NVME_QUEUE_MEMORY_BYTES(4, 2));
  fixture_free(f);
  (void)state;
}

/* Queues of two shapes alternate on a drive with one queue pair: one of many entries, and one of many pages. Memory
 * that is enough for both is taken once. */
static void test_shapes_that_alternate_do_not_use_up_the_arena(void **state) {
  struct fixture *f = fixture_make_with((struct sim_drive_options){.queue_pairs = 1}, 1);
  size_t used_bytes = 0;
  assert_int_equal(spate_nvme_open(&f->nvme, &f->config), SPATE_OK);
  for (unsigned i = 0; i < 20; i++) {
    const bool deep = i % 2 == 0;
    assert_int_equal(fixture_queue_open_with(f, &f->queue, 0, deep ? 60 : 4, deep ? 1 : 4), SPATE_OK);
    if (i == 1) used_bytes = f->arena.used_bytes;
    assert_int_equal(spate_nvme_queue_close(&f->nvme, &f->queue), SPATE_OK);
  }
  assert_int_equal(f->arena.used_bytes, used_bytes);
  assert_int_equal(SPATE_NVME_QUEUE_MEMORY_BYTES(4, 0), SPATE_NVME_QUEUE_MEMORY_BYTES(4, 1));
  fixture_free(f);
  (void)state;
}

/* Queues with few and with many pages are opened in either order: each gets the memory that it had. */
static void test_memory_with_the_fewest_pages_that_are_enough_is_chosen(void **state) {
  struct fixture *f = opened_with(4, SPATE_NVME_LIST_PAGES_MAX);
  assert_int_equal(fixture_queue_open_with(f, &f->second, 0, 4, 1), SPATE_OK);
  const size_t used_bytes = f->arena.used_bytes;
  for (unsigned i = 0; i < 4; i++) {
    assert_int_equal(spate_nvme_queue_close(&f->nvme, &f->queue), SPATE_OK);
    assert_int_equal(spate_nvme_queue_close(&f->nvme, &f->second), SPATE_OK);
    for (unsigned j = 0; j < 2; j++) {
      const bool few = j == i % 2;
      assert_int_equal(
          fixture_queue_open_with(f, few ? &f->second : &f->queue, 0, 4, few ? 1 : SPATE_NVME_LIST_PAGES_MAX),
          SPATE_OK);
    }
  }
  assert_int_equal(f->arena.used_bytes, used_bytes);
  fixture_free(f);
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_retry_has_the_pages_it_had),
      cmocka_unit_test(test_commands_get_pages_in_their_order),
      cmocka_unit_test(test_no_command_waits_for_ever),
      cmocka_unit_test(test_a_command_that_waits_for_pages_waits_for_nothing_else),
      cmocka_unit_test(test_one_page_is_enough_for_any_request),
      cmocka_unit_test(test_as_many_commands_as_pages_are_in_flight),
      cmocka_unit_test(test_the_number_of_pages_decides_which_memory_fits),
      cmocka_unit_test(test_memory_with_too_few_pages_is_replaced),
      cmocka_unit_test(test_shapes_that_alternate_do_not_use_up_the_arena),
      cmocka_unit_test(test_memory_with_the_fewest_pages_that_are_enough_is_chosen),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
