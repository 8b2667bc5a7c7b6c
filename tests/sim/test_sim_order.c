/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data that a drive will read must be visible to it before the register write that makes the drive read leaves the
 * processor. A barrier or a clean after that write is in time only by luck, and is a violation: for commands, page
 * lists, data and new rings.
 */
#include "machine/internal.h"
#include "machine/stack.h"
#include <setjmp.h>
#include <spate/port.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define TOO_LATE "became visible only after the register write that announces it"
#define BYTES    16384u

static struct sim_stack *open_stack(void) {
  const struct sim_stack_config config = {
      .machine = {.seed = 3, .host = sim_host_a53}, .options = {.bytes = UINT64_C(64) << 20}, .depth = 16};
  struct sim_stack *stack = sim_stack_new(&config);
  assert_int_equal(sim_stack_open(stack), SPATE_OK);
  return stack;
}

static unsigned too_late(struct sim_stack *stack) {
  const char *first = NULL;
  const unsigned count = sim_take_violations(stack->sim, &first);
  if (count > 0 && strstr(first, TOO_LATE) == NULL) fail_msg("%s", first);
  return count;
}

static void finished(struct spate_io *io) { *(bool *)io->context = true; }

/* A write of dirty lines, cleaned before the doorbell or after it. */
static unsigned write_dirty(bool clean_first) {
  struct sim_stack *stack = open_stack();
  struct spate_block *block = stack->block;
  const struct spate_region *region = sim_stack_region(stack, BYTES, SIM_CACHED);
  bool done = false;
  struct spate_io io = {
      .op = SPATE_WRITE, .lba = 8, .blocks = BYTES / 512u, .region = region, .done = finished, .context = &done};
  memset(region->start, 0x5a, BYTES);
  if (clean_first) spate_port_cache_clean(region->start, BYTES);
  assert_int_equal(block->ops->submit(block, &io), SPATE_OK);
  block->ops->kick(block);
  if (!clean_first) spate_port_cache_clean(region->start, BYTES);
  for (unsigned i = 0; i < 100000 && !done; i++)
    (void)block->ops->poll(block, 16);
  assert_true(done);
  const unsigned count = too_late(stack);
  sim_stack_free(stack);
  return count;
}

static void test_data_are_clean_before_the_doorbell(void **state) {
  assert_int_equal(write_dirty(true), 0);
  assert_true(write_dirty(false) > 0);
  (void)state;
}

/* Data in the same line as data that became visible in time stay in time, to the quadword. */
static void test_when_data_became_visible(void **state) {
  struct sim *sim = sim_new(&(struct sim_config){.seed = 1});
  sim_use(sim);
  uint8_t *queue = sim_memory_take(sim, 4096, SIM_QUEUE), *cached = sim_memory_take(sim, 4096, SIM_CACHED);
  const uint64_t queue_at = spate_port_dma_address(queue), cached_at = spate_port_dma_address(cached);
  queue[8] = cached[8] = 1;
  spate_port_dma_write_barrier();
  spate_port_cache_clean(cached, 64);
  const uint64_t first = sim_next_sequence(sim);
  assert_true(sim_memory_was_shown(sim, queue_at, 4096, first) && sim_memory_was_shown(sim, cached_at, 4096, first));
  queue[16] = cached[16] = 1;
  assert_true(sim_memory_was_shown(sim, queue_at, 4096, first)); /* still in the store buffer */
  spate_port_dma_write_barrier();
  spate_port_cache_clean(cached, 64);
  assert_true(sim_memory_was_shown(sim, queue_at, 16, first) && sim_memory_was_shown(sim, cached_at, 16, first));
  assert_false(sim_memory_was_shown(sim, queue_at + 15, 2, first) || sim_memory_was_shown(sim, cached_at, 17, first));
  assert_true(sim_memory_was_shown(sim, queue_at, 4096, sim_next_sequence(sim)));
  sim_free(sim);
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_data_are_clean_before_the_doorbell),
      cmocka_unit_test(test_when_data_became_visible),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
