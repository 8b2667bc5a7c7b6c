/* SPDX-License-Identifier: Apache-2.0 */
/* The link of each Xilinx bridge that the simulator models: training that is late or never ends, speed and lanes, and
 * link drops. */
#include "bridge_fixture.h"

/* ---- training ---- */

struct range {
  uint8_t first, last;
};

/* PG054, with the codes of a root port in Configuration, and PG213: Detect, Polling, Configuration, L0. */
static const struct range stages[2][4] = {{{0x00, 0x03}, {0x04, 0x0a}, {0x26, 0x2c}, {0x16, 0x16}},
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
    assert_in_range(now_ms(stack) - start_ms, 0, 3010);
    found += complete;
    lost += !complete;
    sim_stack_free(stack); /* ends the program after a violation */
  }
  assert_true(found > 5 && lost > 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_link_in_training_can_be_watched),
      cmocka_unit_test(test_a_link_that_never_trains_shows_where_it_is),
      cmocka_unit_test(test_the_phy_reports_speed_and_width),
      cmocka_unit_test(test_the_phy_shows_the_change_of_speed),
      cmocka_unit_test(test_fewer_lanes_than_both_ends_have_are_reported),
      cmocka_unit_test(test_lanes_in_reverse_order_are_reported_where_they_can_be),
      cmocka_unit_test(test_the_phy_needs_a_bridge_that_has_one),
      cmocka_unit_test(test_a_link_drop_shows_in_bridge_enable_and_is_repaired),
      cmocka_unit_test(test_a_bridge_that_was_reset_is_repaired),
      cmocka_unit_test(test_no_request_is_sent_to_a_link_that_is_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
