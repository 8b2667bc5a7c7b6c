/* SPDX-License-Identifier: Apache-2.0 */
/* What the port of the Zynq-7000 does with its clocks, its logic and its outer cache, on a model of the registers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../ports/zynq7000/machine.h"
#include <spate/port.h>

#define REGISTERS 64u
#define POLLS     3u /* of an operation on the whole outer cache */
#define PS_CLOCK  33333333u

#define SLCR(offset)  ((uint32_t)MACHINE_SLCR + (offset))
#define OUTER(offset) ((uint32_t)MACHINE_PL310 + (offset))

static struct model {
  struct {
    uint32_t address, value;
  } registers[REGISTERS];
  unsigned count, polls;
  bool invalidated;
} model;

static uint32_t *at(uint32_t address) {
  for (unsigned i = 0; i < model.count; i++)
    if (model.registers[i].address == address) return &model.registers[i].value;
  assert_true(model.count < REGISTERS);
  model.registers[model.count].address = address;
  return &model.registers[model.count++].value;
}

static uint32_t model_read(uintptr_t address) {
  const uint32_t offset = (uint32_t)address - (uint32_t)MACHINE_PL310;
  if (offset == 0x77c && model.polls && --model.polls == 0) *at((uint32_t)address) = 0;
  return *at((uint32_t)address);
}

/* The outer cache. Writes to its configuration while it is on are errors, and so is anything while an operation runs
 * (DDI 0246, 3.1.2, 3.3.10). */
static void outer_cache_gets(uint32_t offset, uint32_t value) {
  const bool on = *at(OUTER(0x100)) & 1u;
  assert_int_equal(model.polls, 0);
  switch (offset) {
  case 0x100:
    if (value & 1u) assert_true(model.invalidated);
    break;
  case 0x104:
  case 0x108:
  case 0x10c: assert_false(on); break;
  case 0x77c:
    assert_false(on); /* it would discard what was written */
    model.invalidated = true;
    model.polls = POLLS;
    break;
  default: break;
  }
}

static void model_write(uintptr_t address, uint32_t value) {
  const uint32_t offset = (uint32_t)address - SLCR(0);
  if (address >= MACHINE_PL310) outer_cache_gets((uint32_t)address - (uint32_t)MACHINE_PL310, value);
  if (offset == 0x004 && value == 0x767b) *at(SLCR(0x00c)) = 1;
  if (offset == 0x008 && value == 0xdf0d) *at(SLCR(0x00c)) = 0;
  if (offset > 0x00c && offset < 0x1000 && *at(SLCR(0x00c))) return; /* locked: the write has no effect */
  if (offset == 0xa1c) assert_int_equal(*at(OUTER(0x100)) & 1u, 0);
  *at((uint32_t)address) = value;
}

#define SPATE_PORT_PL310   MACHINE_PL310 /* as spate_board.h of the board */
#define spate_port_read32  model_read
#define spate_port_write32 model_write
#include "../../ports/common/armv7/pl310.c"
#include "../../ports/zynq7000/slcr.c"
#undef spate_port_read32
#undef spate_port_write32

static int start(void **state) {
  (void)state;
  memset(&model, 0, sizeof model);
  *at(SLCR(0x00c)) = 1; /* locked */
  return 0;
}

/* ---- clock ---- */

static void the_timer_has_half_of_the_processors_clock(void **state) {
  (void)state;
  *at(SLCR(0x100)) = 40u << 12 | 8u; /* ARM PLL: times 40 */
  *at(SLCR(0x120)) = 0x1f000200;     /* divided by 2 */
  assert_int_equal(slcr_timer_hz(PS_CLOCK), UINT64_C(33333333) * 40 / 2 / 2);
}

static void the_clock_may_come_from_each_pll(void **state) {
  (void)state;
  *at(SLCR(0x100)) = 40u << 12;
  *at(SLCR(0x104)) = 32u << 12;
  *at(SLCR(0x108)) = 30u << 12;
  const unsigned times[] = {40, 40, 32, 30};
  for (uint32_t source = 0; source < 4; source++) {
    *at(SLCR(0x120)) = 4u << 8 | source << 4;
    assert_int_equal(slcr_timer_hz(PS_CLOCK), (uint64_t)PS_CLOCK * times[source] / 4 / 2);
  }
}

/* As a debugger finds the processor that no loader has started. */
static void a_pll_that_is_bypassed_gives_the_oscillators_clock(void **state) {
  (void)state;
  *at(SLCR(0x100)) = 26u << 12 | 0x10u;
  *at(SLCR(0x120)) = 4u << 8;
  assert_int_equal(slcr_timer_hz(PS_CLOCK), PS_CLOCK / 4 / 2);
}

/* ---- logic ---- */

static void logic_that_is_not_configured_is_left_alone(void **state) {
  (void)state;
  *at(SLCR(0x240)) = 0xf;
  assert_false(slcr_open_logic());
  assert_int_equal(*at(SLCR(0x900)), 0);
  assert_int_equal(*at(SLCR(0x240)), 0xf);
}

static void the_way_to_the_logic_is_opened_and_the_lock_stays(void **state) {
  (void)state;
  *at((uint32_t)MACHINE_DEVCFG + 0xc) = 4; /* PCFG_DONE */
  for (uint32_t locked = 0; locked < 2; locked++) {
    *at(SLCR(0x00c)) = locked;
    *at(SLCR(0x240)) = 0xf;
    *at(SLCR(0x900)) = 0;
    assert_true(slcr_open_logic());
    assert_int_equal(*at(SLCR(0x900)), 0xf);
    assert_int_equal(*at(SLCR(0x240)), 0);
    assert_int_equal(*at(SLCR(0x00c)), locked);
  }
}

/* ---- outer cache ---- */

static void check_outer_cache(void) {
  assert_int_equal(*at(OUTER(0x100)), 1);
  assert_int_equal(*at(OUTER(0x104)), 0x02060000 | 0x30400000); /* what was there stays */
  assert_int_equal(*at(OUTER(0x108)), 0x111);
  assert_int_equal(*at(OUTER(0x10c)), 0x121);
  assert_int_equal(*at(SLCR(0xa1c)), 0x00020202);
  assert_true(model.invalidated);
}

static void the_outer_cache_is_turned_on(void **state) {
  (void)state;
  *at(OUTER(0x104)) = 0x02060000;
  pl310_start(MACHINE_PL310);
  check_outer_cache();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(the_timer_has_half_of_the_processors_clock, start),
      cmocka_unit_test_setup(the_clock_may_come_from_each_pll, start),
      cmocka_unit_test_setup(a_pll_that_is_bypassed_gives_the_oscillators_clock, start),
      cmocka_unit_test_setup(logic_that_is_not_configured_is_left_alone, start),
      cmocka_unit_test_setup(the_way_to_the_logic_is_opened_and_the_lock_stays, start),
      cmocka_unit_test_setup(the_outer_cache_is_turned_on, start),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
