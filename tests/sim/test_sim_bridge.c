/* SPDX-License-Identifier: Apache-2.0 */
/* The models of the Xilinx bridges by themselves: what their registers do when a host does not do what the library
 * does. */
#include "bus/unanswered.h"
#include "machine/stack.h"
#include <setjmp.h>
#include <spate/port.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define DECODE      0x138u
#define MASK        0x13cu
#define ROOT_PORT   0x148u
#define MSI_UPPER   0x14cu
#define MSI_LOWER   0x150u
#define ERROR_FIFO  0x154u
#define MASK_2      0x164u
#define MSI_1       0x170u
#define MSI_MASK_1  0x178u
#define TRANSLATION 0x208u
#define CORRECTABLE 0x200u
#define NVME_VS     0x08u
#define BLOCKS      8u

static struct sim_stack *machine_with(const struct sim_bridge_config *bridge) {
  return sim_stack_new(&(struct sim_stack_config){
      .machine = {.seed = 5}, .depth = 8, .options = {.bytes = UINT64_C(64) << 20}, .bridge = *bridge});
}

static struct sim_stack *opened(enum sim_bridge_family family) {
  struct sim_stack *stack = machine_with(&(struct sim_bridge_config){.family = family});

  assert_int_equal(sim_stack_open(stack), SPATE_OK);
  return stack;
}

static uintptr_t register_at(const struct sim_stack *stack, uint32_t offset) {
  const struct sim_bridge_map map = sim_bridge_map_of(&stack->config.bridge);

  return (map.region != 0 ? map.region : map.control) + sim_bridge_shift(stack->config.bridge.family) + offset;
}

static uint32_t get(const struct sim_stack *stack, uint32_t offset) {
  return spate_port_read32(register_at(stack, offset));
}

static void set(const struct sim_stack *stack, uint32_t offset, uint32_t value) {
  spate_port_write32(register_at(stack, offset), value);
}

static void expect_violation(struct sim_stack *stack, const char *words) {
  const char *first;

  assert_int_equal(sim_take_violations(stack->sim, &first), 1);
  assert_non_null(strstr(first, words));
}

static void test_memory_requests_need_bridge_enable(void **state) {
  (void)state;
  for (enum sim_bridge_family family = SIM_BRIDGE_PG055; family < SIM_BRIDGE_FAMILIES; family++) {
    struct sim_stack *stack = opened(family);
    const uintptr_t version = stack->host.devices[0].bar0 + NVME_VS;
    assert_int_equal(spate_port_read32(version), 0x00010400);
    set(stack, ROOT_PORT, 0);
    const uint64_t refused = sim_bridge_counters(stack->sim).slave_errors;
    assert_int_equal(spate_port_read32(version), UINT32_MAX);
    spate_port_write32(version, 0); /* dropped: the register is read-only, and a write to it would be a violation */
    assert_int_equal(sim_bridge_counters(stack->sim).slave_errors, refused + 2);
    set(stack, ROOT_PORT, 1);
    assert_int_equal(spate_port_read32(version), 0x00010400);
    sim_stack_free(stack);
  }
}

static void test_writes_to_the_msi_page_do_not_reach_memory(void **state) {
  (void)state;
  for (enum sim_bridge_family family = SIM_BRIDGE_PG055; family < SIM_BRIDGE_FAMILIES; family++) {
    struct sim_stack *stack = opened(family);
    struct spate_region *region = sim_stack_region(stack, (uint64_t)2 * 4096, SIM_LOGIC);
    const uint64_t page = spate_port_dma_address(region->start);
    struct spate_io io = {.op = SPATE_READ, .blocks = 2 * BLOCKS, .region = region};
    memset(region->start, 0xaa, (size_t)2 * 4096);
    set(stack, MSI_UPPER, (uint32_t)(page >> 32));
    set(stack, MSI_LOWER, (uint32_t)page | 0xfff); /* the page's offset is not kept */
    assert_int_equal(get(stack, MSI_LOWER), (uint32_t)page);
    assert_int_equal(spate_block_do(stack->block, &io), SPATE_OK);
    assert_true(sim_bridge_counters(stack->sim).msi_writes > 0);
    for (unsigned at = 0; at < 2 * 4096; at++)
      assert_int_equal(((const uint8_t *)region->start)[at], at < 4096 ? 0xaa : 0);
    assert_false(sim_bridge_interrupts(stack->sim));
    if (family == SIM_BRIDGE_PG055) {
      assert_int_equal(get(stack, MSI_1), 0);
    } else {
      assert_int_equal(get(stack, MSI_1), 1); /* vector 0 */
      set(stack, MSI_MASK_1, 1);
      assert_true(sim_bridge_interrupts(stack->sim));
      set(stack, MSI_1, 1);
      assert_false(sim_bridge_interrupts(stack->sim));
    }
    sim_stack_free(stack);
  }
}

/* PG194, "Interrupt Decode Register (Offset 0x138)": first the FIFO, then the bit. */
static void test_error_bits_stay_until_the_fifo_is_empty(void **state) {
  (void)state;
  for (enum sim_bridge_family family = SIM_BRIDGE_PG055; family < SIM_BRIDGE_FAMILIES; family++) {
    struct sim_stack *stack = machine_with(&(struct sim_bridge_config){.family = family, .errors = 2});
    set(stack, MASK, CORRECTABLE);
    for (unsigned left = 2; left > 0; left--) {
      assert_int_equal(get(stack, ROOT_PORT) >> 16 & 1, 1);
      assert_int_equal(get(stack, ERROR_FIFO), get(stack, ERROR_FIFO)); /* a read removes nothing */
      assert_int_equal(get(stack, ERROR_FIFO) >> 18 & 1, 1);
      set(stack, DECODE, UINT32_MAX);
      assert_int_equal(get(stack, DECODE), CORRECTABLE);
      assert_true(sim_bridge_interrupts(stack->sim));
      set(stack, ERROR_FIFO, 0);
    }
    assert_int_equal(get(stack, ERROR_FIFO), 0);
    assert_int_equal(get(stack, ROOT_PORT) >> 16 & 1, 0);
    set(stack, DECODE, UINT32_MAX);
    assert_int_equal(get(stack, DECODE), 0);
    assert_false(sim_bridge_interrupts(stack->sim));
    sim_stack_free(stack);
  }
}

static void test_a_link_that_goes_down_is_recorded(void **state) {
  (void)state;
  for (enum sim_bridge_family family = SIM_BRIDGE_PG055; family < SIM_BRIDGE_FAMILIES; family++) {
    struct sim_stack *stack = opened(family);
    set(stack, MASK, 1);
    sim_drive_link_drop(stack->drives[0].drive, 10);
    assert_int_equal(get(stack, DECODE), 1);
    assert_int_equal(get(stack, ROOT_PORT), 0);
    assert_true(sim_bridge_interrupts(stack->sim));
    sim_spend(stack->sim, 20 * SIM_PS_PER_MS);
    assert_int_equal(get(stack, ROOT_PORT), 0); /* it stays closed when the link is back */
    sim_stack_free(stack);
  }
}

/* Masks that a family has keep their value. In PG055 they are reserved: they read zero, and are not to be written. */
static void test_each_family_has_its_masks(void **state) {
  (void)state;
  for (enum sim_bridge_family family = SIM_BRIDGE_PG055; family < SIM_BRIDGE_FAMILIES; family++) {
    struct sim_stack *stack = machine_with(&(struct sim_bridge_config){.family = family});
    set(stack, MASK_2, UINT32_MAX);
    if (family == SIM_BRIDGE_PG055) expect_violation(stack, "reserved");
    assert_int_equal(get(stack, MASK_2), family == SIM_BRIDGE_PG055 ? 0 : 0xf0000);
    sim_stack_free(stack);
  }
}

static void test_translation_can_be_changed(void **state) {
  (void)state;
  struct sim_stack *stack = opened(SIM_BRIDGE_PG055);
  const uintptr_t version = stack->host.devices[0].bar0 + NVME_VS;
  const uint32_t bus = get(stack, TRANSLATION + 4);
  assert_int_equal(get(stack, TRANSLATION), 0);
  assert_int_equal(bus, 0x60000000);
  set(stack, TRANSLATION + 4, bus + 0x1000000);
  assert_int_equal(spate_port_read32(version), UINT32_MAX); /* nothing is there on the bus */
  assert_int_equal(spate_port_read32(version - 0x1000000), UINT32_MAX);
  set(stack, TRANSLATION + 4, bus);
  assert_int_equal(spate_port_read32(version), 0x00010400);
  sim_stack_free(stack);
}

static void test_the_drive_echoes_on_request(void **state) {
  (void)state;
  for (unsigned echoes = 0; echoes < 2; echoes++) {
    struct sim_stack *stack = machine_with(&(struct sim_bridge_config){.family = SIM_BRIDGE_PG194, .echoes = echoes});
    assert_int_equal(sim_stack_open(stack), SPATE_OK);
    const uintptr_t control = sim_bridge_map_of(&stack->config.bridge).control;
    const uint32_t port = spate_port_read32(control), drive = spate_port_read32(control + 0x100000);
    assert_int_equal(spate_port_read32(control + (5u << 15)), port);
    assert_int_equal(spate_port_read32(control + 0x100000 + (5u << 15)), echoes ? drive : UINT32_MAX);
    assert_int_equal(spate_port_read32(control + 0x100000 + (1u << 12)), UINT32_MAX); /* function 1 */
    sim_stack_free(stack);
  }
}

static void test_what_a_host_must_not_do_is_a_violation(void **state) {
  (void)state;
  struct sim_stack *stack =
      machine_with(&(struct sim_bridge_config){.family = SIM_BRIDGE_PG194, .presence = SIM_BRIDGE_READS_ZEROS});
  set(stack, ROOT_PORT, 1);
  expect_violation(stack, "absent");
  sim_stack_free(stack);

  stack = machine_with(&(struct sim_bridge_config){.family = SIM_BRIDGE_QDMA, .registers = SIM_BRIDGE_ABORTS});
  set(stack, ROOT_PORT, 1);
  expect_violation(stack, "absent");
  sim_stack_free(stack);

  stack = opened(SIM_BRIDGE_PG194);
  sim_drive_link_drop(stack->drives[0].drive, 10);
  (void)spate_port_read32(sim_bridge_map_of(&stack->config.bridge).control + 0x100000);
  assert_int_equal(sim_take_violations(stack->sim, NULL), 0); /* it may just have happened */
  sim_spend(stack->sim, SIM_PS_PER_MS);
  (void)spate_port_read32(sim_bridge_map_of(&stack->config.bridge).control + 0x100000);
  expect_violation(stack, "link is down");
  sim_stack_free(stack);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_memory_requests_need_bridge_enable),
      cmocka_unit_test(test_writes_to_the_msi_page_do_not_reach_memory),
      cmocka_unit_test(test_error_bits_stay_until_the_fifo_is_empty),
      cmocka_unit_test(test_a_link_that_goes_down_is_recorded),
      cmocka_unit_test(test_each_family_has_its_masks),
      cmocka_unit_test(test_translation_can_be_changed),
      cmocka_unit_test(test_the_drive_echoes_on_request),
      cmocka_unit_test(test_what_a_host_must_not_do_is_a_violation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
