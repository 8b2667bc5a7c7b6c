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
  struct outcome outcomes[SPATE_NVME_LIST_PAGES];
  fixture_fault(f, SIM_STATUS, false, -1, 0, SPATE_NVME_LIST_PAGES, 0x006);
  for (unsigned i = 0; i < SPATE_NVME_LIST_PAGES; i++)
    assert_int_equal(fixture_submit(f, &outcomes[i], buffer_write(f, ONE_LIST_BLOCKS)), SPATE_OK);
  spate_block_kick(&f->queue.block);
  spend_us(f, US_PER_MS);
  assert_int_equal(io_count(f), SPATE_NVME_LIST_PAGES);
  slow(f);
  fixture_poll_ms(f, 10);
  assert_int_equal(io_count(f), 2 * SPATE_NVME_LIST_PAGES);
  assert_true(fixture_wait(f, &outcomes[SPATE_NVME_LIST_PAGES - 1], 1000));
  fixture_free(f);
  (void)state;
}

/* A command that needs more pages than are free leaves them to one that needs fewer. */
static void test_a_command_that_waits_for_pages_holds_none(void **state) {
  struct fixture *f = opened();
  struct outcome outcomes[SPATE_NVME_LIST_PAGES - 1], wide, narrow;
  slow(f);
  for (unsigned i = 0; i < SPATE_NVME_LIST_PAGES - 1; i++)
    assert_int_equal(fixture_submit(f, &outcomes[i], buffer_write(f, ONE_LIST_BLOCKS)), SPATE_OK);
  assert_int_equal(fixture_submit(f, &wide, buffer_write(f, TWO_LISTS_BLOCKS)), SPATE_OK);
  assert_int_equal(fixture_submit(f, &narrow, buffer_write(f, ONE_LIST_BLOCKS)), SPATE_OK);
  spate_block_kick(&f->queue.block);
  spend_us(f, US_PER_MS);
  assert_int_equal(io_count(f), SPATE_NVME_LIST_PAGES);
  assert_int_equal(io_command(f, SPATE_NVME_LIST_PAGES - 1)->dwords[12], ONE_LIST_BLOCKS - 1);
  assert_true(fixture_wait(f, &wide, 1000));
  assert_int_equal(wide.io.error, SPATE_OK);
  fixture_free(f);
  (void)state;
}

/* Some commands wait for pages, another one for the delay that the drive stated: each goes as soon as it can. */
static void test_a_command_that_waits_for_pages_waits_for_nothing_else(void **state) {
  struct fixture *f = fixture_make(9);
  struct outcome outcomes[SPATE_NVME_LIST_PAGES], delayed, waiting;
  spate_put16(controller_page(f) + 128, 50); /* CRDT1: 5 s */
  fixture_open(f, 16);
  fixture_fault(f, SIM_STATUS, false, 0, 0, 1, 1u << 11 | 0x006);
  assert_int_equal(fixture_submit(f, &delayed, (struct spate_io){.op = SPATE_FLUSH}), SPATE_OK);
  fixture_poll_ms(f, 1);
  slow(f);
  for (unsigned i = 0; i < SPATE_NVME_LIST_PAGES; i++)
    assert_int_equal(fixture_submit(f, &outcomes[i], buffer_write(f, ONE_LIST_BLOCKS)), SPATE_OK);
  assert_int_equal(fixture_submit(f, &waiting, buffer_write(f, ONE_LIST_BLOCKS)), SPATE_OK);
  assert_true(fixture_wait(f, &waiting, 1000));
  assert_int_equal(delayed.calls, 0);
  assert_true(fixture_wait(f, &delayed, 6000));
  fixture_free(f);
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_retry_has_the_pages_it_had),
      cmocka_unit_test(test_a_command_that_waits_for_pages_holds_none),
      cmocka_unit_test(test_a_command_that_waits_for_pages_waits_for_nothing_else),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
