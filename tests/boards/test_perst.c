/* SPDX-License-Identifier: Apache-2.0 */
/* PERST# by each kind of pin, in both polarities, on a model of the GPIO controllers' registers. The model sees the
 * level at the slot after each write. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../ports/common/xilinx/perst.c"

#define BASE            0x1000u
#define AXI_BASE        0x8000u
#define BANKS           6u
#define TICKS_PER_US    10u
#define RELAX_TICKS     7u
#define OTHERS          UINT32_C(0x5a5a5a5a) /* levels and directions that belong to others */
#define EVENTS_MAX      8u
#define LINE_RESETS     0
#define LINE_RELEASES   1
#define LINE_NOT_DRIVEN 2

static struct {
  uint32_t data[BANKS], direction[BANKS], enable[BANKS]; /* Zynq */
  uint32_t axi_data[2], axi_inputs[2];
  uint64_t ticks;
  const struct perst *perst;
  uint32_t bank, bit; /* where the pin is */
  struct {
    int line;
    uint64_t ticks;
  } events[EVENTS_MAX];
  unsigned event_count;
} model;

/* ---- what the slot sees ---- */

static int line_now(void) {
  const struct perst *perst = model.perst;
  const uint32_t bit = model.bit;
  bool driven, level;

  if (perst->kind == PERST_BY_AXI_GPIO) {
    driven = (model.axi_inputs[model.bank] & bit) == 0;
    level = (model.axi_data[model.bank] & bit) != 0;
  } else {
    driven = (model.direction[model.bank] & model.enable[model.bank] & bit) != 0;
    level = (model.data[model.bank] & bit) != 0;
  }
  if (!driven) return LINE_NOT_DRIVEN;
  return level == perst->active_high ? LINE_RESETS : LINE_RELEASES;
}

static void look_at_line(void) {
  const int line = line_now();

  if (model.event_count > 0 && model.events[model.event_count - 1].line == line) return;
  assert_true(model.event_count < EVENTS_MAX);
  model.events[model.event_count].line = line;
  model.events[model.event_count++].ticks = model.ticks;
}

/* ---- the registers ---- */

static uint32_t *register_at(uintptr_t address) {
  if (address >= AXI_BASE) {
    const uintptr_t offset = address - AXI_BASE;
    assert_true(offset < 16u && offset % 4u == 0);
    return offset % 8u == 0 ? &model.axi_data[offset / 8u] : &model.axi_inputs[offset / 8u];
  }
  const uintptr_t offset = address - BASE;
  assert_true(offset >= 0x204u);
  const uintptr_t bank = (offset - 0x200u) / 0x40u, which = (offset - 0x200u) % 0x40u;
  assert_true(bank < BANKS && (which == 4u || which == 8u));
  return which == 4u ? &model.direction[bank] : &model.enable[bank];
}

/* Outputs of AXI GPIO read as 0. */
uint32_t host_read32(uintptr_t address) {
  if (address == AXI_BASE || address == AXI_BASE + 8u) return 0;
  return *register_at(address);
}

static void write_masked(uintptr_t offset, uint32_t value) {
  const unsigned shift = offset % 8u == 0 ? 0 : 16;
  const uint32_t change = (~value >> 16 & 0xffffu) << shift;
  uint32_t *data = &model.data[offset / 8u];

  assert_true(offset / 8u < BANKS);
  *data = (*data & ~change) | ((value & 0xffffu) << shift & change);
}

void host_write32(uintptr_t address, uint32_t value) {
  if (address < BASE + 8u * BANKS)
    write_masked(address - BASE, value);
  else
    *register_at(address) = value;
  look_at_line();
}

void host_dma_write_barrier(void) {}
void host_dma_read_barrier(void) {}
void host_cache_clean(const void *start, size_t bytes) {
  (void)start;
  (void)bytes;
}
void host_cache_invalidate(void *start, size_t bytes) {
  (void)start;
  (void)bytes;
}
uint64_t host_dma_address(const volatile void *memory) { return (uintptr_t)memory; }
uint64_t host_ticks(void) { return model.ticks; }
uint64_t host_ticks_per_second(void) { return TICKS_PER_US * UINT64_C(1000000); }
void host_relax(void) { model.ticks += RELAX_TICKS; }
void host_log(const char *text, uint64_t value) {
  (void)text;
  (void)value;
}

/* ---- each pin ---- */

static const struct {
  enum perst_kind kind;
  uint8_t pin;
  struct perst_banks banks;
  uint32_t bank, bit;
} pins[] = {
    {PERST_BY_MIO, 7, {BASE, 32, 2}, 0, 7}, /* Zynq-7000 */
    {PERST_BY_MIO, 53, {BASE, 32, 2}, 1, 21},  {PERST_BY_EMIO, 0, {BASE, 32, 2}, 2, 0},
    {PERST_BY_EMIO, 63, {BASE, 32, 2}, 3, 31}, {PERST_BY_MIO, 0, {BASE, 26, 3}, 0, 0}, /* Zynq UltraScale+ */
    {PERST_BY_MIO, 15, {BASE, 26, 3}, 0, 15},  {PERST_BY_MIO, 31, {BASE, 26, 3}, 1, 5},
    {PERST_BY_MIO, 77, {BASE, 26, 3}, 2, 25},  {PERST_BY_EMIO, 16, {BASE, 26, 3}, 3, 16},
    {PERST_BY_EMIO, 95, {BASE, 26, 3}, 5, 31}, {PERST_BY_AXI_GPIO, 0, {0}, 0, 0},
    {PERST_BY_AXI_GPIO, 33, {0}, 1, 1},
};

enum before {
  BEFORE_INPUT,    /* not driven, and the data register has the level that releases */
  BEFORE_RELEASED, /* driven at that level */
};

static void set(uint32_t *word, uint32_t bit, bool value) { *word = (*word & ~bit) | (value ? bit : 0); }

static void start(struct perst *perst, size_t which, bool active_high, enum before before) {
  *perst = (struct perst){.kind = pins[which].kind,
                          .pin = pins[which].pin,
                          .active_high = active_high,
                          .banks = pins[which].banks,
                          .axi_gpio = AXI_BASE,
                          .other_outputs = OTHERS};
  memset(&model, 0, sizeof model);
  model.ticks = 1000;
  model.perst = perst;
  model.bank = pins[which].bank;
  model.bit = UINT32_C(1) << pins[which].bit;
  for (unsigned i = 0; i < BANKS; i++)
    model.data[i] = model.direction[i] = model.enable[i] = OTHERS;
  for (unsigned i = 0; i < 2; i++)
    model.axi_data[i] = model.axi_inputs[i] = OTHERS;
  const bool driven = before == BEFORE_RELEASED;
  if (perst->kind == PERST_BY_AXI_GPIO) {
    set(&model.axi_data[model.bank], model.bit, !active_high);
    set(&model.axi_inputs[model.bank], model.bit, !driven);
  } else {
    set(&model.data[model.bank], model.bit, !active_high);
    set(&model.direction[model.bank], model.bit, driven);
    set(&model.enable[model.bank], model.bit, driven);
  }
  look_at_line();
}

/* Nothing that belongs to others has changed. */
static void check_others(void) {
  const bool axi = model.perst->kind == PERST_BY_AXI_GPIO;

  for (unsigned i = 0; i < BANKS; i++) {
    const uint32_t own = !axi && i == model.bank ? model.bit : 0;
    assert_int_equal((model.data[i] ^ OTHERS) & ~own, 0);
    assert_int_equal((model.direction[i] ^ OTHERS) & ~own, 0);
    assert_int_equal((model.enable[i] ^ OTHERS) & ~own, 0);
  }
  for (unsigned i = 0; i < 2; i++) {
    const uint32_t own = axi && i == model.bank ? model.bit : 0;
    assert_int_equal((model.axi_data[i] ^ OTHERS) & ~own, 0);
    assert_int_equal((model.axi_inputs[i] ^ OTHERS) & ~own, 0);
  }
}

/* Reset once, for long enough, then released: and nothing in between. */
static void check_line(unsigned first) {
  assert_int_equal(model.event_count, first + 2u);
  assert_int_equal(model.events[first].line, LINE_RESETS);
  assert_int_equal(model.events[first + 1u].line, LINE_RELEASES);
  assert_true(model.events[first + 1u].ticks - model.events[first].ticks >= PERST_US * TICKS_PER_US);
  check_others();
}

static void each_case(void (*check)(struct perst *perst)) {
  for (size_t which = 0; which < sizeof pins / sizeof pins[0]; which++)
    for (int active_high = 0; active_high < 2; active_high++)
      for (int before = BEFORE_INPUT; before <= BEFORE_RELEASED; before++) {
        struct perst perst;
        start(&perst, which, active_high, (enum before)before);
        check(&perst);
      }
}

static void cycles_once(struct perst *perst) {
  const uint64_t released_ticks = perst_cycle(perst);

  check_line(1);
  assert_int_equal(released_ticks, model.events[2].ticks);
}

static void a_cycle_resets_and_releases_without_a_glitch(void **state) {
  (void)state;
  each_case(cycles_once);
}

static void steps_twice(struct perst *perst) {
  for (unsigned turn = 0; turn < 2; turn++) {
    const uint64_t before_ticks = model.ticks;
    unsigned calls = 0;
    while (perst_step(perst) == SPATE_E_BUSY) {
      model.ticks += 5u * TICKS_PER_US;
      calls++;
    }
    assert_in_range(calls, PERST_US / 5u, PERST_US / 5u + 1u); /* a call does not wait */
    assert_true(model.ticks - before_ticks >= PERST_US * TICKS_PER_US);
    check_line(1u + 2u * turn);
  }
}

static void the_drivers_hook_never_waits_and_can_be_used_again(void **state) {
  (void)state;
  each_case(steps_twice);
}

static void a_design_without_perst_touches_nothing(void **state) {
  (void)state;
  struct perst perst;
  start(&perst, 0, false, BEFORE_INPUT);
  perst.kind = PERST_BY_NOTHING;
  model.event_count = 0;
  assert_int_equal(perst_cycle(&perst), 0);
  assert_int_equal(perst_step(&perst), SPATE_E_UNSUPPORTED);
  assert_int_equal(model.event_count, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_cycle_resets_and_releases_without_a_glitch),
      cmocka_unit_test(the_drivers_hook_never_waits_and_can_be_used_again),
      cmocka_unit_test(a_design_without_perst_touches_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
