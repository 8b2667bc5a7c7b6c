/* SPDX-License-Identifier: Apache-2.0 */
/* Bus resets, disabling of bus mastering, and links that dropped unseen. */
#include "pcie_fixture.h"

#include <spate/nvme_pcie.h>

#define BUS_RESET      0x00400000u /* Bridge Control */
#define FUNCTION_RESET 0x00008000u /* Device Control */
#define SLOT           0x01000000u /* PCI Express Capabilities: slot implemented */
#define CHANGED        0x01000000u /* Slot Status: data link layer state changed */

static struct fake_function *port, *drive;

static void one_drive(void) {
  fake_reset();
  port = fake_bridge(NULL, 0, FAKE_ROOT_PORT);
  port->writable[0x3c / 4] = BUS_RESET;
  *fake_express_register(port, 0x00) |= SLOT;
  *fake_express_register(port, 0x18) |= 0x00400000u; /* present */
  port->clears[(FAKE_EXPRESS + 0x18) / 4] = CHANGED;
  drive = drive_below(port);
  *fake_express_register(drive, 0x04) |= 0x10000000u;
  assert_int_equal(enumerate(), SPATE_OK);
}

static enum spate_error step(enum spate_pcie_reset how, uint64_t ticks) {
  const uint64_t start = fake.now_ticks;
  const enum spate_error error = spate_pcie_reset(&host, &host.devices[0], how);
  assert_in_range(fake.now_ticks - start, 0, FAKE_MS); /* a step never waits */
  fake.now_ticks += ticks;
  return error;
}

static void a_bus_reset_lasts_a_millisecond_at_least(void **state) {
  (void)state;
  one_drive();
  for (unsigned turn = 0; turn < 2; turn++) {
    assert_int_equal(step(SPATE_PCIE_RESET_BUS, FAKE_MS / 10), SPATE_E_BUSY);
    const uint64_t begun = fake.now_ticks;
    assert_int_equal(port->config[0x3c / 4] & BUS_RESET, BUS_RESET);
    unsigned steps = 0;
    while (step(SPATE_PCIE_RESET_BUS, FAKE_MS / 10) == SPATE_E_BUSY)
      assert_in_range(++steps, 0, 100);
    assert_in_range(fake.now_ticks - begun, FAKE_MS, 4 * FAKE_MS);
    assert_int_equal(port->config[0x3c / 4] & BUS_RESET, 0);
  }
}

/* Some drives need more than the 100 ms of the specification. */
static void a_function_reset_leaves_it_alone_for_250_ms(void **state) {
  (void)state;
  one_drive();
  drive->writable[(FAKE_EXPRESS + 0x08) / 4] = 0xffffu;
  assert_int_equal(step(SPATE_PCIE_RESET_FUNCTION, 0), SPATE_E_BUSY);
  assert_int_equal(*fake_express_register(drive, 0x08) & FUNCTION_RESET, FUNCTION_RESET);
  assert_false(fake_can_dma(drive)); /* it has no request of its own in flight */
  const uint64_t begun = fake.now_ticks;
  fake.first_below_ticks = 0;
  while (step(SPATE_PCIE_RESET_FUNCTION, FAKE_MS) == SPATE_E_BUSY)
    assert_in_range(fake.now_ticks - begun, 0, 260 * FAKE_MS);
  assert_in_range(fake.now_ticks - begun, 250 * FAKE_MS, 253 * FAKE_MS);
  assert_int_equal(fake.first_below_ticks, 0);

  /* A reset that was begun and never ended does not count for another kind. */
  assert_int_equal(step(SPATE_PCIE_RESET_FUNCTION, 500 * FAKE_MS), SPATE_E_BUSY);
  assert_int_equal(step(SPATE_PCIE_RESET_BUS, 0), SPATE_E_BUSY);
  assert_int_equal(port->config[0x3c / 4] & BUS_RESET, BUS_RESET);
}

static void an_impossible_reset_is_reported(void **state) {
  (void)state;
  one_drive();
  *fake_express_register(drive, 0x04) &= ~0x10000000u;
  assert_int_equal(step(SPATE_PCIE_RESET_FUNCTION, 0), SPATE_E_UNSUPPORTED);
  drive->removed = true;
  assert_int_equal(step(SPATE_PCIE_RESET_FUNCTION, 0), SPATE_E_NO_DEVICE);
  port->removed = true;
  assert_int_equal(step(SPATE_PCIE_RESET_BUS, 0), SPATE_E_NO_DEVICE);

  fake_reset();
  drive = fake_endpoint(NULL, 3, 0, NVME);
  drive->config[0x04 / 4] &= ~0x00100000u; /* no capabilities, and no bridge above */
  assert_int_equal(enumerate(), SPATE_OK);
  assert_int_equal(step(SPATE_PCIE_RESET_FUNCTION, 0), SPATE_E_UNSUPPORTED);
  assert_int_equal(step(SPATE_PCIE_RESET_BUS, 0), SPATE_E_UNSUPPORTED);

  struct spate_pcie_device unknown = {0};
  assert_int_equal(spate_pcie_reset(&host, &unknown, SPATE_PCIE_RESET_BUS), SPATE_E_NO_DEVICE);
  assert_int_equal(spate_pcie_isolate(&host, &unknown), SPATE_E_NO_DEVICE);
}

/* A bus reset that would also reset other devices is refused: a second function, or everything behind one port. */
static void a_bus_reset_of_several_devices_is_refused(void **state) {
  (void)state;
  one_drive();
  drive->config[0x0c / 4] |= 0x00800000u; /* more than one function */
  fake_bar(fake_endpoint(port, 0, 1, NVME), 0, 0x4000, BAR_64);
  assert_int_equal(enumerate(), SPATE_OK);
  assert_int_equal(host.device_count, 2);
  const unsigned writes = port->writes;
  assert_int_equal(step(SPATE_PCIE_RESET_BUS, 0), SPATE_E_UNSUPPORTED);
  assert_int_equal(port->writes, writes);

  a_switch_gets_nested_bus_numbers_and_windows(state); /* each drive has a port of its own there */
  port = &fake.functions[2];                           /* the first downstream port */
  assert_ptr_equal(port->parent, &fake.functions[1]);
  port->writable[0x3c / 4] = BUS_RESET;
  assert_int_equal(step(SPATE_PCIE_RESET_BUS, 3 * FAKE_MS), SPATE_E_BUSY);
  assert_int_equal(port->config[0x3c / 4] & BUS_RESET, BUS_RESET);
  assert_int_equal(step(SPATE_PCIE_RESET_BUS, 0), SPATE_OK);
  for (unsigned i = 0; i < host.device_count; i++)
    assert_true(spate_pcie_link_is_up(&host, &host.devices[i])); /* this model's links do not follow the bit */
}

/* The device itself is isolated, so that its neighbours work on. Where it does not answer, the port above it is. */
static void an_isolated_device_has_no_bus_mastering(void **state) {
  (void)state;
  one_drive();
  assert_int_equal(spate_pcie_isolate(&host, &host.devices[0]), SPATE_OK);
  assert_false(fake_can_dma(drive));
  assert_true(fake_can_dma(port));
  assert_int_equal(restore(&host.devices[0], 1000), SPATE_OK);
  assert_true(fake_can_dma(drive));

  drive->silent_ticks = FAKE_NEVER;
  assert_int_equal(spate_pcie_isolate(&host, &host.devices[0]), SPATE_OK);
  assert_false(fake_can_dma(port));

  drive->silent_ticks = 0; /* it answers, but the bit stays set */
  port->config[0x04 / 4] |= 4;
  drive->writable[0x04 / 4] &= ~4u;
  assert_int_equal(spate_pcie_isolate(&host, &host.devices[0]), SPATE_OK);
  assert_false(fake_can_dma(port));
  port->config[0x04 / 4] |= 4;
  port->writable[0x04 / 4] &= ~4u;
  assert_int_equal(spate_pcie_isolate(&host, &host.devices[0]), SPATE_E_NO_DEVICE);
  assert_int_equal(fake.status_offences, 0);
}

static void a_link_that_dropped_unseen_is_not_up(void **state) {
  (void)state;
  one_drive();
  const struct spate_pcie_device *device = &host.devices[0];
  assert_true(spate_pcie_link_is_up(&host, device));
  port->link_ticks = FAKE_NEVER;
  assert_false(spate_pcie_link_is_up(&host, device));
  port->link_ticks = 0;
  assert_false(spate_pcie_link_is_up(&host, device)); /* it was down in between */
  assert_int_equal(restore(&host.devices[0], 1000), SPATE_OK);
  assert_true(spate_pcie_link_is_up(&host, device));
  *fake_express_register(port, 0x18) |= CHANGED; /* it dropped and came back between two accesses */
  fake.first_below_ticks = 0;
  assert_false(spate_pcie_link_is_up(&host, device));
  assert_int_equal(fake.first_below_ticks, 0); /* only ports are read */
  assert_int_equal(restore(&host.devices[0], 1000), SPATE_OK);
  assert_true(spate_pcie_link_is_up(&host, device));

  host.changes++; /* both noted while another device was restored: neither hides the other */
  host.bridges[0].changes++;
  assert_false(spate_pcie_link_is_up(&host, device));
  assert_int_equal(restore(&host.devices[0], 1000), SPATE_OK);
  assert_true(spate_pcie_link_is_up(&host, device));

  *fake_express_register(port, 0x18) |= CHANGED; /* set before the enumeration */
  assert_int_equal(enumerate(), SPATE_OK);
  assert_true(spate_pcie_link_is_up(&host, device));

  /* A port without a slot does not report changes, and a port without link reporting reports nothing. */
  *fake_express_register(port, 0x00) &= ~SLOT;
  assert_int_equal(enumerate(), SPATE_OK);
  *fake_express_register(port, 0x18) |= CHANGED;
  assert_true(spate_pcie_link_is_up(&host, device));
  *fake_express_register(port, 0x0c) &= ~(1u << 20);
  port->link_ticks = FAKE_NEVER;
  assert_true(spate_pcie_link_is_up(&host, device));
}

/* No access goes over a link that is down: only the port is accessed. */
static void a_device_behind_a_dead_link_is_isolated_by_its_port(void **state) {
  (void)state;
  one_drive();
  port->link_ticks = FAKE_NEVER;
  fake.first_below_ticks = 0;
  assert_int_equal(spate_pcie_isolate(&host, &host.devices[0]), SPATE_OK);
  assert_int_equal(fake.first_below_ticks, 0);
  assert_false(fake_can_dma(port));
}

/* The device disappears at any access during isolation, on a bridge that returns zeros: either its own answer or its
 * port's is needed. */
static void a_device_that_disappears_during_isolation_is_isolated_by_its_port(void **state) {
  (void)state;
  for (unsigned after = 0; after < 12; after++) {
    one_drive();
    *fake_express_register(port, 0x0c) &= ~(1u << 20);
    assert_int_equal(enumerate(), SPATE_OK);
    fake.background = 0;
    port->drop_ticks = fake.now_ticks + after * (FAKE_MS / 1000);
    assert_int_equal(spate_pcie_isolate(&host, &host.devices[0]), SPATE_OK);
    assert_false(fake_can_dma(drive) && fake_can_dma(port));
  }
}

/* Each link on the path counts, from the first bus on: nothing below a dead link is accessed. */
static void each_link_above_a_device_counts(void **state) {
  (void)state;
  fake_reset();
  struct fake_function *root = fake_bridge(NULL, 0, FAKE_ROOT_PORT);
  struct fake_function *down = fake_bridge(fake_bridge(root, 0, FAKE_UPSTREAM), 0, FAKE_DOWNSTREAM);
  drive_below(down);
  assert_int_equal(enumerate(), SPATE_OK);
  assert_true(spate_pcie_link_is_up(&host, &host.devices[0]));
  down->link_ticks = FAKE_NEVER;
  assert_false(spate_pcie_link_is_up(&host, &host.devices[0]));
  down->link_ticks = 0;
  root->link_ticks = FAKE_NEVER;
  fake.background = 0;
  fake.first_below_ticks = 0;
  assert_false(spate_pcie_link_is_up(&host, &host.devices[0]));
  assert_int_equal(fake.first_below_ticks, 0);
}

static enum spate_error released(void *context) {
  (void)context;
  return SPATE_OK;
}

/* The wait for a link that had settled before the reset starts again, also where the port does not report its link. */
static void a_reset_restarts_the_wait_for_the_link(void **state) {
  (void)state;
  for (enum spate_nvme_reset how = SPATE_NVME_RESET_BUS; how <= SPATE_NVME_RESET_SLOT; how++) {
    one_drive();
    *fake_express_register(port, 0x0c) &= ~(1u << 20);
    assert_int_equal(enumerate(), SPATE_OK);
    struct spate_nvme_pcie pcie_bus = {.host = &host, .device = &host.devices[0], .perst = released};
    const struct spate_nvme_bus bus = spate_nvme_pcie_bus(&pcie_bus);
    drive->silent_ticks = FAKE_NEVER;
    assert_int_equal(restore(&host.devices[0], 300), SPATE_E_BUSY);
    while (bus.reset(bus.context, how) == SPATE_E_BUSY)
      fake.now_ticks += FAKE_MS;
    drive->silent_ticks = 0;
    const uint64_t begun = fake.now_ticks;
    fake.first_below_ticks = 0;
    assert_int_equal(restore(&host.devices[0], 1000), SPATE_OK);
    assert_in_range(fake.first_below_ticks - begun, 100 * FAKE_MS, 103 * FAKE_MS);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_bus_reset_lasts_a_millisecond_at_least),
      cmocka_unit_test(a_function_reset_leaves_it_alone_for_250_ms),
      cmocka_unit_test(an_impossible_reset_is_reported),
      cmocka_unit_test(a_bus_reset_of_several_devices_is_refused),
      cmocka_unit_test(an_isolated_device_has_no_bus_mastering),
      cmocka_unit_test(a_link_that_dropped_unseen_is_not_up),
      cmocka_unit_test(a_device_behind_a_dead_link_is_isolated_by_its_port),
      cmocka_unit_test(a_device_that_disappears_during_isolation_is_isolated_by_its_port),
      cmocka_unit_test(each_link_above_a_device_counts),
      cmocka_unit_test(a_reset_restarts_the_wait_for_the_link),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
