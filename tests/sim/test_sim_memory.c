/* SPDX-License-Identifier: Apache-2.0 */
/* The effect of each memory call of the port between the processor's view and the devices' view. */
#include "machine/internal.h"
#include <setjmp.h>
#include <spate/dma.h>
#include <spate/port.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LINE SPATE_DMA_ALIGN

static struct sim *make(bool coherent) {
  struct sim *sim = sim_new(&(struct sim_config){.seed = 1, .coherent = coherent});

  sim_use(sim);
  return sim;
}

static uint8_t *device(struct sim *sim, const void *memory) {
  uint8_t *view = sim_memory_device(sim, spate_port_dma_address(memory), 1);

  assert_non_null(view);
  return view;
}

static void store(struct sim *sim, const void *to, const char *text) {
  assert_true(sim_memory_store(sim, spate_port_dma_address(to), text, strlen(text)));
}

static void assert_violation(struct sim *sim, const char *says) {
  const char *first;

  assert_int_equal(sim_take_violations(sim, &first), 1);
  assert_non_null(strstr(first, says));
}

/* ---- addresses ---- */

static void test_bus_addresses_differ_from_pointers(void **state) {
  (void)state;
  struct sim *sim = make(false);
  uint8_t *one = sim_memory_take(sim, 10000, SIM_CACHED);
  uint8_t *other = sim_memory_take(sim, 1, SIM_QUEUE);
  const uint64_t address = spate_port_dma_address(one);

  assert_int_equal(address % SPATE_PAGE_BYTES, 0);
  assert_int_not_equal(address, (uintptr_t)one);
  assert_int_equal(spate_port_dma_address(one + 12287), address + 12287);
  assert_int_not_equal(spate_port_dma_address(other), address + 12288);
  for (size_t i = 0; i < 12288; i++)
    assert_int_equal(one[i], 0);
  sim_free(sim);
}

static void test_nothing_answers_beyond_an_allocation(void **state) {
  (void)state;
  struct sim *sim = make(false);
  uint8_t *memory = sim_memory_take(sim, 4096, SIM_QUEUE);
  const uint64_t address = spate_port_dma_address(memory);

  assert_non_null(sim_memory_device(sim, address, 4096));
  assert_null(sim_memory_device(sim, address, 4097));
  assert_null(sim_memory_device(sim, address + 4095, 2));
  assert_null(sim_memory_device(sim, address - 1, 1));
  assert_null(sim_memory_device(sim, address + 4096, UINT64_MAX));
  assert_null(sim_memory_device(sim, 0, 1));
  assert_true(sim_memory_store(sim, address + 4095, "x", 1));
  assert_false(sim_memory_store(sim, address + 4095, "xy", 2));
  assert_false(sim_memory_store_completion(sim, address + 4088, "0123456789abcdef"));
  assert_int_equal(*device(sim, memory + 4095), 'x');
  sim_free(sim);
}

/* Static memory, within a page: what it holds is there, views follow the same rules, and it stays the program's. */
static void test_memory_of_the_program_becomes_the_machines(void **state) {
  static struct { uint8_t before[LINE], memory[SPATE_PAGE_BYTES]; } own __attribute__((aligned(SPATE_PAGE_BYTES)));

  (void)state;
  for (unsigned coherent = 0; coherent < 2; coherent++) {
    struct sim *sim = make(coherent != 0);
    memcpy(own.memory, "old", 3);
    sim_memory_give(sim, own.memory, sizeof own.memory, SIM_CACHED);
    assert_int_equal(spate_port_dma_address(own.memory) % SPATE_PAGE_BYTES, LINE);
    assert_memory_equal(device(sim, own.memory), "old", 3);
    memcpy(own.memory, "new", 3);
    assert_int_equal(*device(sim, own.memory), coherent ? 'n' : 'o');
    spate_port_cache_clean(own.memory, LINE);
    assert_memory_equal(device(sim, own.memory), "new", 3);
    sim_free(sim);
    assert_memory_equal(own.memory, "new", 3);
  }
}

static void test_memory_from_elsewhere_is_a_violation(void **state) {
  (void)state;
  struct sim *sim = make(false);
  int mine = 0;

  assert_null(sim_memory_device(sim, spate_port_dma_address(&mine), 1));
  assert_violation(sim, "no device can reach");
  spate_port_cache_clean(&mine, sizeof mine);
  assert_violation(sim, "no device can reach");
  uint8_t *memory = sim_memory_take(sim, 4096, SIM_CACHED);
  spate_port_cache_invalidate(memory + 64, 4096);
  assert_violation(sim, "beyond the end");
  sim_free(sim);
}

/* ---- uncached memory with a store buffer ---- */

static void test_queue_stores_wait_for_the_write_barrier(void **state) {
  (void)state;
  struct sim *sim = make(false);
  char *memory = sim_memory_take(sim, 8192, SIM_QUEUE);

  memcpy(memory + 5000, "entry", 5);
  assert_memory_equal(device(sim, memory + 5000), "\0\0\0\0\0", 5);
  spate_port_dma_read_barrier();
  spate_port_cache_clean(memory, 8192);
  assert_memory_equal(device(sim, memory + 5000), "\0\0\0\0\0", 5);
  spate_port_dma_write_barrier();
  assert_memory_equal(device(sim, memory + 5000), "entry", 5);
  memory[5000] = 0; /* writing the original value back is a store, too */
  spate_port_dma_write_barrier();
  assert_memory_equal(device(sim, memory + 5000), "\0ntry", 5);
  sim_free(sim);
}

static void test_a_write_barrier_moves_only_what_was_stored(void **state) {
  (void)state;
  struct sim *sim = make(false);
  char *memory = sim_memory_take(sim, 4096, SIM_QUEUE);

  store(sim, memory, "device");
  memory[7] = 'c';
  spate_port_dma_write_barrier();
  assert_memory_equal(device(sim, memory), "device\0c", 8);
  sim_free(sim);
}

static void test_queue_loads_wait_for_the_read_barrier(void **state) {
  (void)state;
  struct sim *sim = make(false);
  char *memory = sim_memory_take(sim, 4096, SIM_QUEUE);

  store(sim, memory + 100, "identify");
  assert_memory_equal(memory + 100, "\0\0\0\0\0\0\0\0", 8);
  spate_port_dma_write_barrier();
  spate_port_cache_invalidate(memory, 4096);
  assert_memory_equal(memory + 100, "\0\0\0\0\0\0\0\0", 8);
  spate_port_dma_read_barrier();
  assert_memory_equal(memory + 100, "identify", 8);
  sim_free(sim);
}

static void test_a_completion_may_be_visible_before_earlier_stores(void **state) {
  (void)state;
  struct sim *sim = make(false);
  char *memory = sim_memory_take(sim, 4096, SIM_QUEUE);

  store(sim, memory + 2048, "data");
  assert_true(sim_memory_store_completion(sim, spate_port_dma_address(memory + 32), "first...second.."));
  assert_memory_equal(memory + 32, "\0\0\0\0\0\0\0\0second..", 16);
  assert_memory_equal(memory + 2048, "\0\0\0\0", 4);
  spate_port_dma_read_barrier();
  assert_memory_equal(memory + 32, "first...second..", 16);
  assert_memory_equal(memory + 2048, "data", 4);
  sim_free(sim);
}

/* A barrier before the store does not apply to it. */
static void test_an_early_read_barrier_does_not_count(void **state) {
  (void)state;
  struct sim *sim = make(false);
  char *memory = sim_memory_take(sim, 4096, SIM_QUEUE);

  spate_port_dma_read_barrier();
  store(sim, memory, "late");
  assert_memory_equal(memory, "\0\0\0\0", 4);
  sim_free(sim);
}

/* A barrier shows each store once: a later barrier does not repeat an earlier store. */
static void test_a_read_barrier_shows_a_store_once(void **state) {
  (void)state;
  struct sim *sim = make(false);
  char *memory = sim_memory_take(sim, 4096, SIM_QUEUE);

  store(sim, memory, "device");
  spate_port_dma_read_barrier();
  memory[0] = 'c';
  spate_port_dma_read_barrier();
  assert_memory_equal(memory, "cevice", 6);
  spate_port_dma_write_barrier();
  assert_memory_equal(device(sim, memory), "cevice", 6);
  sim_free(sim);
}

/* ---- cached memory ---- */

static void test_cached_stores_wait_for_the_clean(void **state) {
  (void)state;
  struct sim *sim = make(false);
  char *memory = sim_memory_take(sim, 4096, SIM_CACHED);

  memcpy(memory, "first", 5);
  memcpy(memory + LINE, "second", 6);
  spate_port_dma_write_barrier();
  assert_int_equal(*device(sim, memory), 0);
  spate_port_cache_clean(memory, LINE);
  assert_memory_equal(device(sim, memory), "first", 5);
  assert_int_equal(*device(sim, memory + LINE), 0);
  spate_port_cache_clean(memory + LINE + 5, 1); /* the line that contains it */
  assert_memory_equal(device(sim, memory + LINE), "second", 6);
  sim_free(sim);
}

static void test_cached_loads_wait_for_barrier_and_invalidate(void **state) {
  (void)state;
  struct sim *sim = make(false);
  char *memory = sim_memory_take(sim, 4096, SIM_CACHED);

  store(sim, memory, "data");
  spate_port_dma_read_barrier();
  assert_int_equal(memory[0], 0);
  spate_port_cache_invalidate(memory, LINE);
  assert_memory_equal(memory, "data", 4);

  store(sim, memory, "more");
  spate_port_cache_invalidate(memory, LINE); /* fetched before the completion was read */
  assert_memory_equal(memory, "data", 4);
  spate_port_dma_read_barrier(); /* too late: the line is in the cache */
  assert_memory_equal(memory, "data", 4);
  spate_port_cache_invalidate(memory, LINE);
  assert_memory_equal(memory, "more", 4);
  sim_free(sim);
}

static void test_an_invalidate_takes_whole_lines_and_no_others(void **state) {
  (void)state;
  struct sim *sim = make(false);
  char *memory = sim_memory_take(sim, 4096, SIM_CACHED);

  memory[LINE - 1] = 'b';
  memory[LINE] = 'c';
  memory[2 * LINE - 1] = 'd';
  memory[2 * LINE] = 'e';
  spate_port_cache_invalidate(memory + LINE + 10, 1);
  assert_int_equal(memory[LINE - 1], 'b');
  assert_int_equal(memory[LINE], 0);
  assert_int_equal(memory[2 * LINE - 1], 0);
  assert_int_equal(memory[2 * LINE], 'e');
  spate_port_cache_invalidate(memory, 0);
  assert_int_equal(memory[LINE - 1], 'b');
  sim_free(sim);
}

static void test_a_dirty_line_is_evicted_over_what_a_device_writes(void **state) {
  (void)state;
  struct sim *sim = make(false);
  char *memory = sim_memory_take(sim, 4096, SIM_CACHED);

  memory[10] = 'd'; /* in the first of three lines */
  char data[3 * LINE];
  memset(data, 'x', sizeof data);
  assert_true(sim_memory_store(sim, spate_port_dma_address(memory), data, sizeof data));
  assert_int_equal(*device(sim, memory), 0);
  assert_int_equal(*device(sim, memory + 10), 'd');
  assert_memory_equal(device(sim, memory + LINE), data, (size_t)2 * LINE);
  spate_port_dma_read_barrier();
  spate_port_cache_invalidate(memory, sizeof data);
  assert_int_equal(memory[0], 0);
  assert_memory_equal(memory + LINE, data, (size_t)2 * LINE);
  sim_free(sim);
}

/* A clean line is not evicted, however stale it is. */
static void test_a_clean_line_is_not_evicted(void **state) {
  (void)state;
  struct sim *sim = make(false);
  char *memory = sim_memory_take(sim, 4096, SIM_CACHED);

  memory[0] = 'a';
  spate_port_cache_clean(memory, LINE);
  store(sim, memory, "device");
  spate_port_cache_clean(memory, LINE); /* nothing dirty to clean */
  assert_memory_equal(device(sim, memory), "device", 6);
  memory[8] = 'b';
  spate_port_cache_invalidate(memory, LINE);
  store(sim, memory, "again");
  assert_memory_equal(device(sim, memory), "againe", 6);
  sim_free(sim);
}

/* ---- one view ---- */

static void assert_one_view(struct sim *sim, enum sim_memory_kind kind) {
  char *memory = sim_memory_take(sim, 4096, kind);

  memory[0] = 'c';
  assert_ptr_equal(device(sim, memory), memory);
  store(sim, memory + 1, "device");
  assert_memory_equal(memory, "cdevice", 7);
  spate_port_cache_clean(memory, 4096);
  spate_port_cache_invalidate(memory, 4096);
  spate_port_dma_write_barrier();
  spate_port_dma_read_barrier();
  assert_memory_equal(memory, "cdevice", 7);
  assert_true(sim_memory_store_completion(sim, spate_port_dma_address(memory), "first...second.."));
  assert_memory_equal(memory, "first...second..", 16);
}

static void test_logic_and_coherent_memory_have_one_view(void **state) {
  (void)state;
  struct sim *sim = make(false);

  assert_one_view(sim, SIM_LOGIC);
  sim_free(sim);
  sim = make(true);
  assert_one_view(sim, SIM_LOGIC);
  assert_one_view(sim, SIM_QUEUE);
  assert_one_view(sim, SIM_CACHED);
  sim_free(sim);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bus_addresses_differ_from_pointers),
      cmocka_unit_test(test_nothing_answers_beyond_an_allocation),
      cmocka_unit_test(test_memory_of_the_program_becomes_the_machines),
      cmocka_unit_test(test_memory_from_elsewhere_is_a_violation),
      cmocka_unit_test(test_queue_stores_wait_for_the_write_barrier),
      cmocka_unit_test(test_a_write_barrier_moves_only_what_was_stored),
      cmocka_unit_test(test_queue_loads_wait_for_the_read_barrier),
      cmocka_unit_test(test_a_completion_may_be_visible_before_earlier_stores),
      cmocka_unit_test(test_an_early_read_barrier_does_not_count),
      cmocka_unit_test(test_a_read_barrier_shows_a_store_once),
      cmocka_unit_test(test_cached_stores_wait_for_the_clean),
      cmocka_unit_test(test_cached_loads_wait_for_barrier_and_invalidate),
      cmocka_unit_test(test_an_invalidate_takes_whole_lines_and_no_others),
      cmocka_unit_test(test_a_dirty_line_is_evicted_over_what_a_device_writes),
      cmocka_unit_test(test_a_clean_line_is_not_evicted),
      cmocka_unit_test(test_logic_and_coherent_memory_have_one_view),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
