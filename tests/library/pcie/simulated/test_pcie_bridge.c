/* SPDX-License-Identifier: Apache-2.0 */
/* Bring-up behind each Xilinx bridge that the simulator models: what differs between the families, what earlier
 * firmware left, and bridges that are absent. Their links: test_pcie_bridge_link.c. */
#include "bridge_fixture.h"

#define MLE_PORT    UINT32_C(0x1000abcd) /* device 1000, and a vendor that is not Xilinx */
#define INBOUND_BAR 0x10u

/* ---- each family ---- */

static bool is_in(uint64_t address, uint64_t start, uint64_t bytes) { return address - start < bytes; }

/* BAR 0 is where both the processor and the bridge expect it. */
static void check_addresses(const struct sim_stack *stack) {
  const struct sim_bridge_map map = sim_bridge_map_of(&stack->config.bridge);
  const struct spate_pcie_device *device = &stack->host.devices[0];
  const uintptr_t bar = map.control + (UINT64_C(1) << 20) + 0x10;
  const uint64_t bus = (uint64_t)spate_port_read32(bar + 4) << 32 | (spate_port_read32(bar) & ~UINT32_C(0xf));
  const bool high = stack->config.bridge.high_bar && map.high.bytes != 0;

  assert_int_equal(device->address.bus, 1);
  assert_int_equal(device->address.device, 0);
  assert_true(is_in(device->bar0, high ? map.high.cpu : map.memory.cpu, high ? map.high.bytes : map.memory.bytes));
  assert_int_equal(device->bar0 - (high ? map.high.cpu : map.memory.cpu), bus - (high ? map.high.bus : map.memory.bus));
  assert_true(high ? bus > UINT32_MAX : bus <= UINT32_MAX);
}

static void test_each_family_brings_up_its_drive(void **state) {
  (void)state;
  for (unsigned i = 0; i < FAMILIES * 16; i++) {
    const struct sim_bridge_config bridge = {.family = families[i / 16],
                                             .translates = i & 1,
                                             .high_bar = (i & 2) != 0,
                                             .reports_link = (i & 4) != 0,
                                             .echoes = (i & 8) != 0,
                                             .port_id = i & 1 ? MLE_PORT : 0};
    struct sim_stack *stack = machine_with(&bridge);
    assert_int_equal(sim_stack_open(stack), SPATE_OK);
    assert_int_equal(stack->host.device_count, 1);
    assert_int_equal(stack->host.bridges[0].tells_changes, bridge.reports_link);
    check_addresses(stack);
    writes_and_reads(stack);
    assert_int_equal(sim_stack_close(stack), SPATE_OK);
    sim_stack_free(stack);
  }
}

/* Until Bridge Enable is set, memory requests end in a slave error. Configuration requests do not. */
static void test_memory_requests_need_bridge_enable(void **state) {
  (void)state;
  for (unsigned i = 0; i < FAMILIES; i++) {
    struct sim_stack *stack = machine_with(&(struct sim_bridge_config){.family = families[i]});
    const struct sim_bridge_map map = sim_bridge_map_of(&stack->config.bridge);
    (void)spate_port_read32(map.memory.cpu);
    assert_int_equal(sim_bridge_counters(stack->sim).slave_errors, 1);
    assert_int_equal(sim_stack_open(stack), SPATE_OK);
    assert_int_equal(sim_bridge_counters(stack->sim).slave_errors, 1);
    assert_int_equal(sim_bridge_counters(stack->sim).enables, 1);
    sim_stack_free(stack);
  }
}

/* The root port's BAR says which memory the drive may reach. It is the design's, and stays. */
static void test_the_inbound_bar_stays(void **state) {
  (void)state;
  struct sim_stack *stack = machine_with(&(struct sim_bridge_config){.family = SIM_BRIDGE_PG194});
  const uintptr_t upper = sim_bridge_map_of(&stack->config.bridge).control + INBOUND_BAR + 4;
  spate_port_write32(upper, 0x40);
  assert_int_equal(sim_stack_open(stack), SPATE_OK);
  assert_int_equal(spate_port_read32(upper), 0x40);
  sim_stack_free(stack);
}

/* ---- configs that cannot work ---- */

static void test_a_config_that_cannot_work_is_refused(void **state) {
  (void)state;
  struct sim_stack *stack = machine_with(&(struct sim_bridge_config){.family = SIM_BRIDGE_QDMA});
  const struct spate_pcie_xilinx_config good = sim_stack_xilinx(&stack->config.bridge);
  struct spate_pcie_xilinx_config bad[5];
  for (unsigned i = 0; i < 5; i++)
    bad[i] = good;
  bad[0].bridge_base += 2;
  bad[1].control_base += 4096;
  bad[2].last_bus = 0;
  bad[3].prefetchable.bus_address = good.memory.bus_address;
  bad[4].prefetchable.cpu_address = good.memory.cpu_address;
  for (unsigned i = 0; i < 5; i++) {
    assert_int_equal(spate_pcie_xilinx_open(&stack->host, &bad[i]), SPATE_E_INVALID);
    assert_int_equal(spate_pcie_phy(&stack->host, &(struct spate_pcie_phy){0}), SPATE_E_UNSUPPORTED);
  }
  assert_int_equal(spate_pcie_xilinx_open(&stack->host, &good), SPATE_OK);
  sim_stack_free(stack);
}

/* ---- bridges that are absent ---- */

static void test_an_absent_bridge_is_reported_and_not_written_to(void **state) {
  (void)state;
  for (unsigned i = 0; i < FAMILIES * 3; i++) {
    const struct sim_bridge_config bridge = {.family = families[i / 3],
                                             .presence = SIM_BRIDGE_READS_ZEROS + i % 3,
                                             .registers = SIM_BRIDGE_READS_ZEROS + i % 3};
    struct sim_stack *stack = machine_with(&bridge);
    struct spate_pcie_phy phy;
    assert_int_equal(sim_stack_open(stack), SPATE_E_NO_BRIDGE);
    assert_int_equal(now_ms(stack), 0);
    assert_int_equal(spate_pcie_phy(&stack->host, &phy), SPATE_E_NO_BRIDGE);
    assert_memory_equal(&phy, &(struct spate_pcie_phy){0}, sizeof phy);
    assert_int_equal(sim_take_violations(stack->sim, NULL), 0);

    sim_bridge_set_presence(stack->sim, SIM_BRIDGE_PRESENT); /* the logic is loaded, or comes out of reset */
    assert_true(phy_of(stack).up);
    assert_int_equal(sim_stack_open(stack), SPATE_OK);
    sim_stack_free(stack);
  }
}

/* Configuration space is there and the second region is not: its address is wrong. Zeros look like a link that is
 * down. */
static void test_an_absent_second_region_is_reported(void **state) {
  static const enum spate_error wanted[] = {SPATE_E_LINK_DOWN, SPATE_E_NO_BRIDGE, SPATE_E_NO_BRIDGE};
  (void)state;
  for (unsigned i = 0; i < 6; i++) {
    const struct sim_bridge_config bridge = {.family = i < 3 ? SIM_BRIDGE_QDMA : SIM_BRIDGE_CPM5,
                                             .registers = SIM_BRIDGE_READS_ZEROS + i % 3};
    struct sim_stack *stack = machine_with(&bridge);
    assert_int_equal(sim_stack_open(stack), wanted[i % 3]);
    sim_stack_free(stack);
  }
}

/* ---- what earlier firmware and training left ---- */

static void test_no_interrupt_stays_asserted(void **state) {
  (void)state;
  for (unsigned i = 0; i < FAMILIES; i++) {
    struct sim_stack *stack =
        machine_with(&(struct sim_bridge_config){.family = families[i], .interrupts_on = true, .errors = 3});
    assert_true(sim_bridge_interrupts(stack->sim));
    assert_int_equal(sim_stack_open(stack), SPATE_OK);
    assert_false(sim_bridge_interrupts(stack->sim));
    /* A later link drop sets a bit, and asserts nothing. */
    sim_drive_link_drop(stack->drives[0].drive, 10);
    assert_false(sim_bridge_interrupts(stack->sim));
    sim_stack_free(stack);
  }
}

static void test_the_fifos_are_empty_afterwards(void **state) {
  (void)state;
  for (unsigned i = 0; i < FAMILIES; i++) {
    struct sim_stack *stack = machine_with(
        &(struct sim_bridge_config){.family = families[i], .training_ms = 30, .errors = 256, .interrupts = 7});
    assert_true(sim_bridge_fifo_entries(stack->sim) >= 256);
    assert_int_equal(sim_stack_open(stack), SPATE_OK);
    assert_int_equal(sim_bridge_fifo_entries(stack->sim), 0);
    assert_int_equal(spate_port_read32(register_at(stack, 0x138)), 0); /* cleared after the FIFO was empty */
    sim_stack_free(stack);
  }
}

static void test_a_fifo_that_never_empties_does_not_hang(void **state) {
  (void)state;
  struct sim_stack *stack =
      machine_with(&(struct sim_bridge_config){.family = SIM_BRIDGE_QDMA, .errors = 1, .endless_errors = true});
  assert_int_equal(sim_stack_open(stack), SPATE_OK);
  assert_in_range(now_ms(stack), 0, 10);
  sim_stack_free(stack);
}

/* The bridge takes writes to one page for MSIs. Earlier firmware put this page into memory that is now the library's.
 */
static void test_no_write_of_the_drive_is_taken_for_an_msi(void **state) {
  (void)state;
  for (unsigned i = 0; i < FAMILIES; i++) {
    struct sim_bridge_config bridge = {.family = families[i]};
    struct sim_stack *stack = machine_with(&bridge);
    const uint64_t start = spate_port_dma_address(stack->drives[0].queue_memory.start);
    const uint64_t bytes = stack->drives[0].queue_memory.bytes;
    sim_stack_free(stack);
    for (bridge.msi_base = start; bridge.msi_base < start + bytes; bridge.msi_base += 4096) {
      stack = machine_with(&bridge);
      assert_int_equal(sim_stack_open(stack), SPATE_OK);
      writes_and_reads(stack);
      assert_int_equal(sim_bridge_counters(stack->sim).msi_writes, 0);
      assert_int_equal(spate_port_read32(register_at(stack, MSI_UPPER)), 0);
      sim_stack_free(stack);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_each_family_brings_up_its_drive),
      cmocka_unit_test(test_memory_requests_need_bridge_enable),
      cmocka_unit_test(test_the_inbound_bar_stays),
      cmocka_unit_test(test_a_config_that_cannot_work_is_refused),
      cmocka_unit_test(test_an_absent_bridge_is_reported_and_not_written_to),
      cmocka_unit_test(test_an_absent_second_region_is_reported),
      cmocka_unit_test(test_no_interrupt_stays_asserted),
      cmocka_unit_test(test_the_fifos_are_empty_afterwards),
      cmocka_unit_test(test_a_fifo_that_never_empties_does_not_hang),
      cmocka_unit_test(test_no_write_of_the_drive_is_taken_for_an_msi),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
