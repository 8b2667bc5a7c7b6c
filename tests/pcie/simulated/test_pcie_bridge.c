/* SPDX-License-Identifier: Apache-2.0 */
/* Bring-up behind each Xilinx bridge that the simulator models: what differs between the families, what earlier
 * firmware left, links that train late or never, and bridges that are absent. */
#include "internal.h"
#include "stack.h"
#include <setjmp.h>
#include <spate/port.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MLE_PORT    UINT32_C(0x1000abcd) /* device 1000, and a vendor that is not Xilinx */
#define BLOCKS      64u
#define MSI_UPPER   0x14cu
#define MSI_LOWER   0x150u
#define INBOUND_BAR 0x10u

static const enum sim_bridge_family families[] = {SIM_BRIDGE_PG055, SIM_BRIDGE_PG194, SIM_BRIDGE_QDMA, SIM_BRIDGE_CPM4,
                                                  SIM_BRIDGE_CPM5};
#define FAMILIES (sizeof families / sizeof families[0])

static struct sim_stack *machine_with(const struct sim_bridge_config *bridge) {
  return sim_stack_new(&(struct sim_stack_config){.machine = {.seed = 3, .host = sim_host_a53},
                                                  .depth = 8,
                                                  .options = {.bytes = UINT64_C(64) << 20},
                                                  .bridge = *bridge});
}

static uint64_t now_ms(const struct sim_stack *stack) { return sim_now_ps(stack->sim) / SIM_PS_PER_MS; }

/* Waits as long as `ms` for the link. */
static enum spate_error open_bridge(struct sim_stack *stack, uint32_t ms) {
  struct spate_pcie_xilinx_config config = sim_stack_xilinx(&stack->config.bridge);

  config.link_timeout_ms = ms;
  return spate_pcie_xilinx_open(&stack->host, &config);
}

/* The CPU address of a register of the bridge. */
static uintptr_t register_at(const struct sim_stack *stack, uint32_t offset) {
  const struct sim_bridge_map map = sim_bridge_map_of(&stack->config.bridge);

  return (map.region != 0 ? map.region : map.control) + sim_bridge_shift(stack->config.bridge.family) + offset;
}

static struct spate_pcie_phy phy_of(struct sim_stack *stack) {
  struct spate_pcie_phy phy;
  const uint64_t before_ps = sim_now_ps(stack->sim);

  assert_int_equal(spate_pcie_phy(&stack->host, &phy), SPATE_OK);
  assert_in_range(sim_now_ps(stack->sim) - before_ps, 0, 100 * SIM_PS_PER_US); /* it never waits */
  return phy;
}

static void writes_and_reads(struct sim_stack *stack) {
  struct spate_region *region = sim_stack_region(stack, (size_t)2 * BLOCKS * 512, SIM_LOGIC);

  memset(region->start, 0x5a, (size_t)BLOCKS * 512);
  for (unsigned i = 0; i < 2; i++) {
    struct spate_io io = {.op = i == 0 ? SPATE_WRITE : SPATE_READ,
                          .lba = 8,
                          .blocks = BLOCKS,
                          .region = region,
                          .offset_bytes = (uint64_t)i * BLOCKS * 512};
    assert_int_equal(spate_block_do(stack->block, &io), SPATE_OK);
  }
  assert_memory_equal(region->start, (const uint8_t *)region->start + (size_t)BLOCKS * 512, (size_t)BLOCKS * 512);
}

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

/* ---- training ---- */

struct range {
  uint8_t first, last;
};

/* PG054, and PG213: Detect, Polling, Configuration, L0. */
static const struct range stages[2][4] = {{{0x00, 0x03}, {0x04, 0x0a}, {0x0b, 0x15}, {0x16, 0x16}},
                                          {{0x00, 0x01}, {0x02, 0x04}, {0x05, 0x0a}, {0x10, 0x10}}};

static unsigned stage_of(enum sim_bridge_family family, uint8_t ltssm) {
  const struct range *ranges = stages[family != SIM_BRIDGE_PG055];
  unsigned stage = 0;

  while (stage < 4 && !(ltssm >= ranges[stage].first && ltssm <= ranges[stage].last))
    stage++;
  return stage;
}

/* open() gave up after 5 ms. The host that it left shows the link from Detect to L0, and can be opened then. */
static void test_a_link_in_training_can_be_watched(void **state) {
  (void)state;
  for (unsigned i = 0; i < FAMILIES; i++) {
    struct sim_stack *stack = machine_with(&(struct sim_bridge_config){.family = families[i], .training_ms = 60});
    unsigned seen = 0, stage = 0;
    assert_int_equal(open_bridge(stack, 5), SPATE_E_LINK_DOWN);
    assert_int_equal(sim_bridge_counters(stack->sim).enables, 0);
    for (struct spate_pcie_phy phy = {0}; !phy.up; sim_spend(stack->sim, SIM_PS_PER_MS / 4)) {
      phy = phy_of(stack);
      assert_in_range(now_ms(stack), 0, 61);
      const unsigned now = stage_of(families[i], phy.ltssm);
      assert_in_range(now, stage, 3); /* no unknown state, and none twice */
      assert_int_equal(phy.up, now == 3);
      assert_int_equal(phy.link.speed != 0, phy.up);
      assert_int_equal(phy.link.width != 0, phy.up);
      stage = now;
      seen |= 1u << now;
    }
    assert_int_equal(seen, 0xf);
    assert_in_range(now_ms(stack), 60, 61);
    assert_int_equal(open_bridge(stack, 0), SPATE_OK);
    assert_int_equal(spate_pcie_enumerate(&stack->host, 1), SPATE_OK); /* 1: PERST# was released at the start */
    assert_int_equal(stack->host.device_count, 1);
    sim_stack_free(stack);
  }
}

static void test_a_link_that_never_trains_shows_where_it_is(void **state) {
  (void)state;
  for (unsigned i = 0; i < FAMILIES * 3; i++) {
    const struct sim_bridge_config bridge = {.family = families[i / 3], .training = SIM_BRIDGE_STUCK_IN_DETECT + i % 3};
    struct sim_stack *stack = machine_with(&bridge);
    assert_int_equal(sim_stack_open(stack), SPATE_E_LINK_DOWN);
    assert_in_range(now_ms(stack), 1000, 1010);
    for (unsigned turn = 0; turn < 100; turn++, sim_spend(stack->sim, SIM_PS_PER_MS)) {
      const struct spate_pcie_phy phy = phy_of(stack);
      assert_false(phy.up || phy.link.up);
      assert_int_equal(stage_of(bridge.family, phy.ltssm), i % 3);
      assert_int_equal(phy.link.speed, 0);
      assert_int_equal(phy.link.width_max, 4);
    }
    assert_int_equal(sim_bridge_counters(stack->sim).enables, 0);
    sim_stack_free(stack);
  }
}

/* ---- speed and lanes ---- */

static struct sim_stack *machine_with_link(enum sim_bridge_family family, uint8_t generation, uint8_t lanes) {
  const struct sim_link_config link = {.generation = generation,
                                       .lanes = lanes,
                                       .port_generation = generation,
                                       .port_lanes = 4,
                                       .payload_bytes = 256,
                                       .read_request_bytes = 512,
                                       .latency_ns = 250,
                                       .dllp_percent = 2};

  return sim_stack_new(
      &(struct sim_stack_config){.machine = {.seed = 3},
                                 .options = {.bytes = UINT64_C(64) << 20, .link = link},
                                 .bridge = {.family = family, .training_ms = 20, .speed_change_ms = 40}});
}

/* PHY status cannot say 16 GT/s and more: Link Status does. */
static void test_the_phy_reports_speed_and_width(void **state) {
  static const uint32_t mts[] = {0, 2500, 5000, 8000, 16000, 32000};
  (void)state;
  for (unsigned i = 0; i < FAMILIES * 5; i++) {
    const uint8_t generation = (uint8_t)(1 + i % 5), lanes = (uint8_t)(1u << i % 3);
    struct sim_stack *stack = machine_with_link(families[i / 5], generation, lanes);
    assert_int_equal(open_bridge(stack, 100), SPATE_OK);
    struct spate_pcie_phy phy = phy_of(stack);
    assert_true(phy.up && phy.link.up);
    assert_int_equal(spate_pcie_speed_mts(phy.link.speed), mts[generation]);
    assert_int_equal(phy.link.speed_max, generation);
    assert_int_equal(phy.link.width, lanes);
    assert_int_equal(phy.link.width_max, 4);
    assert_int_equal(stage_of(families[i / 5], phy.ltssm), 3);
    sim_stack_free(stack);
  }
}

/* Each link comes up at 2.5 GT/s, and goes through Recovery to its speed. It counts as up meanwhile. */
static void test_the_phy_shows_the_change_of_speed(void **state) {
  (void)state;
  for (unsigned i = 0; i < FAMILIES; i++) {
    struct sim_stack *stack = machine_with_link(families[i], 3, 4);
    unsigned recovery = 0;
    assert_int_equal(open_bridge(stack, 1), SPATE_E_LINK_DOWN);
    while (!phy_of(stack).up) {
      assert_in_range(now_ms(stack), 0, 25);
      sim_spend(stack->sim, SIM_PS_PER_MS);
    }
    const uint64_t up_ms = now_ms(stack);
    for (struct spate_pcie_phy phy = {0}; phy.link.speed != 3; sim_spend(stack->sim, SIM_PS_PER_MS)) {
      phy = phy_of(stack);
      assert_true(phy.up);
      assert_in_range(now_ms(stack) - up_ms, 0, 50);
      assert_in_range(phy.link.speed, 1, 3);
      recovery += stage_of(families[i], phy.ltssm) == 4;
    }
    assert_in_range(now_ms(stack) - up_ms, 38, 42);
    assert_in_range(recovery, 15, 25);
    sim_stack_free(stack);
  }
}

static void test_fewer_lanes_than_both_ends_have_are_reported(void **state) {
  (void)state;
  for (unsigned i = 0; i < FAMILIES; i++) {
    struct sim_stack *stack = machine_with_link(families[i], 3, 2);
    assert_int_equal(sim_stack_open(stack), SPATE_OK);
    assert_int_equal(phy_of(stack).link.width, 2);
    assert_int_equal(spate_pcie_link_check(&stack->host, &stack->host.devices[0]), SPATE_E_LINK_DEGRADED);
    sim_stack_free(stack);
  }
}

/* PG194 and its successors call the two bits reserved. */
static void test_lanes_in_reverse_order_are_reported_where_they_can_be(void **state) {
  (void)state;
  for (unsigned i = 0; i < FAMILIES; i++) {
    struct sim_stack *stack = machine_with(&(struct sim_bridge_config){.family = families[i], .lane_reversal = 2});
    assert_int_equal(sim_stack_open(stack), SPATE_OK);
    assert_int_equal(phy_of(stack).lane_reversal, families[i] == SIM_BRIDGE_PG055 ? 2 : 0);
    sim_stack_free(stack);
  }
}

static void test_the_phy_needs_a_bridge_that_has_one(void **state) {
  (void)state;
  struct spate_pcie_phy phy = {.up = true};
  struct spate_pcie_host never = {0};
  assert_int_equal(spate_pcie_phy(&never, &phy), SPATE_E_UNSUPPORTED);
  assert_false(phy.up);
  struct sim_stack *stack = machine_with(&(struct sim_bridge_config){0});
  assert_int_equal(sim_stack_open(stack), SPATE_OK);
  assert_int_equal(spate_pcie_phy(&stack->host, &phy), SPATE_E_UNSUPPORTED);
  sim_stack_free(stack);
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
        &(struct sim_bridge_config){.family = families[i], .training_ms = 30, .errors = 40, .interrupts = 7});
    assert_true(sim_bridge_fifo_entries(stack->sim) >= 40);
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

/* ---- the link drops ---- */

static enum spate_error restored(struct sim_stack *stack) {
  struct spate_pcie_device *device = &stack->host.devices[0];
  enum spate_error error = SPATE_E_BUSY;

  for (unsigned ms = 0; ms < 1000 && error == SPATE_E_BUSY; ms++) {
    error = spate_pcie_restore(&stack->host, device);
    sim_spend(stack->sim, SIM_PS_PER_MS);
  }
  return error;
}

/* Bridge Enable is the only trace of a drop where the port reports nothing. */
static void test_a_link_drop_shows_in_bridge_enable_and_is_repaired(void **state) {
  (void)state;
  for (unsigned i = 0; i < FAMILIES * SIM_UNANSWERED_MODES; i++) {
    struct sim_stack *stack = machine_with(&(struct sim_bridge_config){.family = families[i / SIM_UNANSWERED_MODES]});
    sim_set_unanswered(stack->sim, i % SIM_UNANSWERED_MODES);
    assert_int_equal(sim_stack_open(stack), SPATE_OK);
    assert_true(spate_pcie_link_is_up(&stack->host, &stack->host.devices[0]));
    sim_drive_link_drop(stack->drives[0].drive, 20);
    assert_int_equal(spate_pcie_link_check(&stack->host, &stack->host.devices[0]), SPATE_E_LINK_DOWN);
    sim_spend(stack->sim, 300 * SIM_PS_PER_MS); /* it is up again when somebody looks */
    assert_true(phy_of(stack).up);
    assert_false(spate_pcie_link_is_up(&stack->host, &stack->host.devices[0]));
    assert_int_equal(restored(stack), SPATE_OK);
    assert_int_equal(sim_bridge_counters(stack->sim).enables, 2);
    assert_true(spate_pcie_link_is_up(&stack->host, &stack->host.devices[0]));
    writes_and_reads(stack);
    sim_stack_free(stack);
  }
}

/* PERST# that resets the bridge as well: what open() had set in the bridge is set again. */
static void test_a_bridge_that_was_reset_is_repaired(void **state) {
  (void)state;
  for (unsigned i = 0; i < FAMILIES; i++) {
    struct sim_stack *stack = machine_with(&(struct sim_bridge_config){.family = families[i]});
    const struct spate_pcie_window memory = sim_stack_xilinx(&stack->config.bridge).memory;
    assert_int_equal(sim_stack_open(stack), SPATE_OK);
    sim_drive_link_drop(stack->drives[0].drive, 20);
    sim_bridge_set_presence(stack->sim, SIM_BRIDGE_PRESENT);
    assert_int_equal(spate_port_read32(register_at(stack, MSI_LOWER)), 0);
    assert_int_equal(restored(stack), SPATE_OK);
    assert_int_equal(spate_port_read32(register_at(stack, MSI_UPPER)), 0);
    assert_int_equal(spate_port_read32(register_at(stack, MSI_LOWER)), memory.bus_address);
    writes_and_reads(stack);
    sim_stack_free(stack);
  }
}

static void drop_for_good(void *drive, uint64_t number) {
  (void)number;
  sim_drive_link_drop(drive, UINT32_MAX);
}

/* The link drops at some moment of an enumeration. The model reports a configuration request that is sent to a link
 * that has been down for 10 us. */
static void test_no_request_is_sent_to_a_link_that_is_down(void **state) {
  (void)state;
  unsigned found = 0, lost = 0;
  for (unsigned step = 0; step < 200; step++) {
    struct sim_stack *stack = machine_with(&(struct sim_bridge_config){.family = SIM_BRIDGE_PG194});
    assert_int_equal(open_bridge(stack, 0), SPATE_OK);
    sim_at(stack->sim, sim_now_ps(stack->sim) + step * SIM_PS_PER_US / 4, drop_for_good, stack->drives[0].drive, 0);
    const uint64_t start_ms = now_ms(stack);
    const bool complete = spate_pcie_enumerate(&stack->host, 0) == SPATE_OK;
    assert_in_range(now_ms(stack) - start_ms, 0, 1010);
    found += complete;
    lost += !complete;
    sim_stack_free(stack); /* ends the program after a violation */
  }
  assert_true(found > 5 && lost > 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_each_family_brings_up_its_drive),
      cmocka_unit_test(test_memory_requests_need_bridge_enable),
      cmocka_unit_test(test_the_inbound_bar_stays),
      cmocka_unit_test(test_a_config_that_cannot_work_is_refused),
      cmocka_unit_test(test_an_absent_bridge_is_reported_and_not_written_to),
      cmocka_unit_test(test_an_absent_second_region_is_reported),
      cmocka_unit_test(test_a_link_in_training_can_be_watched),
      cmocka_unit_test(test_a_link_that_never_trains_shows_where_it_is),
      cmocka_unit_test(test_the_phy_reports_speed_and_width),
      cmocka_unit_test(test_the_phy_shows_the_change_of_speed),
      cmocka_unit_test(test_fewer_lanes_than_both_ends_have_are_reported),
      cmocka_unit_test(test_lanes_in_reverse_order_are_reported_where_they_can_be),
      cmocka_unit_test(test_the_phy_needs_a_bridge_that_has_one),
      cmocka_unit_test(test_no_interrupt_stays_asserted),
      cmocka_unit_test(test_the_fifos_are_empty_afterwards),
      cmocka_unit_test(test_a_fifo_that_never_empties_does_not_hang),
      cmocka_unit_test(test_no_write_of_the_drive_is_taken_for_an_msi),
      cmocka_unit_test(test_a_link_drop_shows_in_bridge_enable_and_is_repaired),
      cmocka_unit_test(test_a_bridge_that_was_reset_is_repaired),
      cmocka_unit_test(test_no_request_is_sent_to_a_link_that_is_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
