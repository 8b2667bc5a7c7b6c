/* SPDX-License-Identifier: Apache-2.0 */
/* The regions of an ARMv7-R memory protection unit, and a clock of 32 bits that is extended. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../ports/common/armv7r/cover.c"

#define KIB4  UINT64_C(0x1000)
#define TRIES 20000u

/* Instead of ports/zynqmp-r5/cycles.h: the same registers on no processor. */
#define SPATE_PORTS_CYCLES_H
static uint32_t cycles;
static void cycles_start(void) { cycles = 0; }
static uint32_t cycles_read(void) { return cycles; }

uint64_t r5_ticks(void);

#include <spate/port.h>
#define spate_port_ticks r5_ticks
#include "../../ports/zynqmp-r5/clock.c"
#undef spate_port_ticks

/* ---- regions ---- */

static bool has(const struct mpu_region *region, uint64_t address) {
  const uint64_t size = UINT64_C(1) << region->size_log;
  if (address < region->base || address >= region->base + size) return false;
  return !(region->left_out >> ((address - region->base) / (size / 8)) & 1u);
}

/* What the processor demands, and what the caller asked for: the region has all of the range, and nothing else of what
 * lies around it. */
static void check(const struct mpu_region *region, uint64_t start, uint64_t end) {
  const uint64_t size = UINT64_C(1) << region->size_log;
  assert_int_equal(region->base % size, 0);
  assert_true(region->size_log >= 8); /* smaller ones have no eighths (Arm ARM v7 B5.1) */
  for (uint64_t i = 0; i < 8; i++) {
    const uint64_t eighth = region->base + i * (size / 8);
    assert_int_equal(has(region, eighth), eighth >= start && eighth < end);
  }
  assert_true(has(region, start) && has(region, end - 1));
}

static unsigned regions_of(uint64_t start, uint64_t end) {
  unsigned count = 0;
  while (start < end) {
    struct mpu_region region;
    const uint64_t reached = mpu_cover(start, end, &region);
    assert_true(reached > start && reached <= end);
    check(&region, start, reached);
    start = reached;
    count++;
  }
  return count;
}

static void regions_cover_a_range_and_nothing_else(void **state) {
  (void)state;
  uint64_t random = 1;
  for (unsigned i = 0; i < TRIES; i++) {
    random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
    const uint64_t start = (random >> 33) % (1u << 20) * KIB4;
    const uint64_t most = ((UINT64_C(1) << 32) - start) / KIB4;
    const uint64_t pages = 1 + (random >> 13) % (most >> random % 20 ? most >> random % 20 : 1);
    assert_true(regions_of(start, start + pages * KIB4) < 32);
  }
}

static void usual_ranges_need_few_regions(void **state) {
  (void)state;
  assert_int_equal(regions_of(0x10000000, 0x20000000), 1); /* a power of two */
  assert_int_equal(regions_of(0x02000000, 0x10000000), 1); /* seven eighths of one */
  assert_int_equal(regions_of(0xfd000000, 0xffc00000), 2);
  assert_int_equal(regions_of(0, UINT64_C(1) << 32), 1);
  assert_int_equal(regions_of(0xfffff000, UINT64_C(1) << 32), 1);
}

/* ---- clock ---- */

static void a_counter_that_wraps_goes_on(void **state) {
  (void)state;
  clock_start();
  assert_int_equal(r5_ticks(), 0);
  cycles = UINT32_MAX;
  assert_int_equal(r5_ticks(), UINT32_MAX);
  for (uint64_t round = 1; round < 4; round++) {
    cycles = 5;
    assert_int_equal(r5_ticks(), (round << 32) + 5);
    assert_int_equal(r5_ticks(), (round << 32) + 5);
    cycles = UINT32_MAX - 5;
    assert_int_equal(r5_ticks(), (round << 32) + UINT32_MAX - 5);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(regions_cover_a_range_and_nothing_else),
      cmocka_unit_test(usual_ranges_need_few_regions),
      cmocka_unit_test(a_counter_that_wraps_goes_on),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
