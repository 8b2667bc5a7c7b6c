/* SPDX-License-Identifier: Apache-2.0 */
/* sim_trace() reports barriers and cache maintenance in their order, with the devices' addresses. */
#include "machine/memory.h"
#include <setjmp.h>
#include <spate/port.h>
#include <stdarg.h>

#include <cmocka.h>

#define EVENTS_MAX 8u

struct seen {
  struct sim_access events[EVENTS_MAX];
  unsigned count;
};

static void note(void *context, const struct sim_access *access) {
  struct seen *seen = context;
  assert_true(seen->count < EVENTS_MAX);
  seen->events[seen->count++] = *access;
}

static void expect(const struct sim_access *access, enum sim_access_kind kind, uint64_t address, uint64_t bytes) {
  assert_int_equal(access->kind, kind);
  assert_int_equal(access->address, address);
  assert_int_equal(access->bytes, bytes);
}

static void test_barriers_and_caches(void **state) {
  static const enum sim_memory_kind kinds[] = {SIM_CACHED, SIM_LOGIC};
  for (unsigned i = 0; i < 2; i++) { /* also where there is nothing to maintain */
    struct sim *sim = sim_new(&(struct sim_config){.seed = 1});
    struct seen seen = {.count = 0};
    sim_use(sim);
    uint8_t *memory = sim_memory_take(sim, 4096, kinds[i]);
    const uint64_t address = sim_memory_address(sim, memory);
    sim_trace(sim, note, &seen);
    spate_port_cache_clean(memory + 64, 100);
    spate_port_dma_write_barrier();
    spate_port_dma_read_barrier();
    spate_port_cache_invalidate(memory, 4096);
    assert_int_equal(seen.count, 4);
    expect(&seen.events[0], SIM_ACCESS_CLEAN, address + 64, 100);
    expect(&seen.events[1], SIM_ACCESS_WRITE_BARRIER, 0, 0);
    expect(&seen.events[2], SIM_ACCESS_READ_BARRIER, 0, 0);
    expect(&seen.events[3], SIM_ACCESS_INVALIDATE, address, 4096);
    sim_free(sim);
  }
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_barriers_and_caches)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
