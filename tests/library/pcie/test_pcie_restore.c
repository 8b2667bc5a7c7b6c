/* SPDX-License-Identifier: Apache-2.0 */
/* Restoring configuration that was lost below a link that went down. For the Xilinx bridge: test_pcie_xilinx.c. */
#include "pcie_fixture.h"

static void a_drive_whose_link_came_back_is_as_before(void **state) {
  (void)state;
  fake_reset();
  struct fake_function *port = fake_bridge(NULL, 0, FAKE_ROOT_PORT);
  struct fake_function *drive = drive_below(port);
  fake_bar(drive, 2, 2 * MIB, BAR_64_PREF);
  fake_express(drive, 1, 4, 4, 4, 4);
  assert_int_equal(enumerate_with(WINDOW_BYTES, GIB), SPATE_OK);
  for (unsigned turn = 0; turn < 3; turn++) {
    enumerated = fake;
    const uint64_t up = fake.now_ticks + (turn == 2 ? 0 : 70 * FAKE_MS);
    fake_link_drop(port, up);
    assert_int_equal(fake_bar_address(drive, 0), 0);
    fake.first_below_ticks = 0;
    assert_int_equal(restore(&host.devices[0], 1000), SPATE_OK);
    assert_in_range(fake.first_below_ticks - up, 100 * FAKE_MS, 103 * FAKE_MS);
    assert_as_enumerated();
    assert_int_equal(port->writes, enumerated.functions[0].writes); /* it had lost nothing */
  }
}

static void only_what_lost_its_configuration_is_written(void **state) {
  (void)state;
  a_switch_gets_nested_bus_numbers_and_windows(state);
  struct fake_function *down = &fake.functions[4]; /* the port above the second drive */
  enumerated = fake;
  fake_link_drop(down, fake.now_ticks + 20 * FAKE_MS);
  assert_int_equal(restore(&host.devices[1], 1000), SPATE_OK);
  assert_as_enumerated();
  for (unsigned i = 0; i < fake.count; i++)
    if (fake.functions[i].parent != down) assert_int_equal(fake.functions[i].writes, enumerated.functions[i].writes);
}

/* The link above a switch dropped: each drive below it is restored separately, in turn, one call at a time. */
static void a_switch_is_restored_with_its_drives(void **state) {
  (void)state;
  a_switch_gets_nested_bus_numbers_and_windows(state);
  enumerated = fake;
  const uint64_t start = fake.now_ticks;
  fake_link_drop(&fake.functions[0], start + 30 * FAKE_MS);
  bool restored[3] = {false};
  while (!(restored[0] && restored[1] && restored[2])) {
    for (unsigned i = 0; i < 3; i++)
      if (!restored[i]) restored[i] = spate_pcie_restore(&host, &host.devices[i]) == SPATE_OK;
    assert_in_range(fake.now_ticks - start, 0, 250 * FAKE_MS); /* two links of 100 ms, in parallel */
    fake.now_ticks += FAKE_MS;
  }
  assert_as_enumerated();
}

/*
 * The link above a switch dropped, and one drive is restored. The other drives must notice the drop, too, although its
 * signs are gone by then: a slot's change bit is cleared, the link is up, or the switch has its configuration again.
 */
static void each_drive_below_a_switch_notices_a_change(void **state) {
  enum { BY_SLOT, BY_REPORTING, BY_LOSS, KINDS };
  for (unsigned kind = 0; kind < KINDS; kind++) {
    a_switch_gets_nested_bus_numbers_and_windows(state);
    struct fake_function *port = &fake.functions[0];
    if (kind == BY_SLOT) fake_slot(port);
    if (kind == BY_LOSS) *fake_express_register(port, 0x0c) &= ~(1u << 20);
    assert_int_equal(enumerate(), SPATE_OK);
    for (unsigned i = 0; i < 4; i++)
      assert_true(spate_pcie_link_is_up(&host, &host.devices[i]));
    if (kind == BY_SLOT) *fake_express_register(port, 0x18) |= FAKE_LINK_CHANGED;
    if (kind == BY_REPORTING) port->link_ticks = fake.now_ticks + 5 * FAKE_MS;
    if (kind == BY_LOSS) fake_link_drop(port, fake.now_ticks);
    assert_int_equal(restore(&host.devices[0], 1000), SPATE_OK);
    assert_true(spate_pcie_link_is_up(&host, &host.devices[0]));
    assert_false(spate_pcie_link_is_up(&host, &host.devices[1]));
    assert_false(spate_pcie_link_is_up(&host, &host.devices[2]));
    assert_true(spate_pcie_link_is_up(&host, &host.devices[3])); /* below another port */
    assert_int_equal(restore(&host.devices[1], 1000), SPATE_OK);
    assert_int_equal(restore(&host.devices[2], 1000), SPATE_OK);
    for (unsigned i = 0; i < 4; i++)
      assert_true(spate_pcie_link_is_up(&host, &host.devices[i]));
  }
}

/* A root port that tells of changes, and a drive below it. */
static struct fake_function *port_that_tells(void) {
  fake_reset();
  struct fake_function *port = fake_bridge(NULL, 0, FAKE_ROOT_PORT);
  fake_slot(port);
  drive_below(port);
  assert_int_equal(enumerate(), SPATE_OK);
  return port;
}

/* The link bounces before any access of the question, and is up again: the answer counts until the last access. */
static void a_change_up_to_the_last_access_is_seen(void **state) {
  (void)state;
  unsigned seen = 0, before = 0;
  for (bool up = false; !up; seen += !up) {
    fake.stop_access = 0;
    struct fake_function *port = port_that_tells();
    before = fake.accesses;
    fake.bounces = port;
    fake.stop_access = before + seen;
    up = spate_pcie_link_is_up(&host, &host.devices[0]);
  }
  assert_int_equal(fake.accesses - before, seen); /* no access was left */
  assert_true(seen > 2);
  fake.stop_access = 0;
}

/* The same while the drive is restored after a drop: in the end it has its registers, and no change is open. */
static void a_change_while_restoring_is_not_lost(void **state) {
  (void)state;
  bool happened = true;
  for (unsigned at = 0; happened; at++) {
    fake.stop_access = 0;
    struct fake_function *port = port_that_tells();
    enumerated = fake;
    fake_link_drop(port, fake.now_ticks + 5 * FAKE_MS);
    fake.bounces = port;
    const unsigned before = fake.accesses;
    fake.stop_access = before + at;
    for (unsigned ms = 0; !spate_pcie_link_is_up(&host, &host.devices[0]); ms++) {
      assert_in_range(ms, 0, 2000);
      const enum spate_error error = spate_pcie_restore(&host, &host.devices[0]);
      assert_true(error == SPATE_OK || error == SPATE_E_BUSY);
      fake.now_ticks += FAKE_MS;
    }
    happened = fake.accesses - before > at;
    for (unsigned i = 0; i < fake.count; i++)
      assert_memory_equal(fake.functions[i].config, enumerated.functions[i].config, sizeof fake.functions[i].config);
    assert_true(at < 5000);
  }
  fake.stop_access = 0;
}

/* A port reports a change of its link only if it says so in Link Capabilities (7.5.3.6); until then the slot's bit
 * means nothing. */
static void a_port_that_reports_no_changes_is_not_asked(void **state) {
  (void)state;
  for (unsigned reports = 0; reports < 2; reports++) {
    fake_reset();
    struct fake_function *port = fake_bridge(NULL, 0, FAKE_ROOT_PORT);
    drive_below(port);
    fake_slot(port);
    if (!reports) *fake_express_register(port, 0x0c) &= ~(1u << 20);
    assert_int_equal(enumerate(), SPATE_OK);
    *fake_express_register(port, 0x18) |= FAKE_LINK_CHANGED;
    assert_int_equal(spate_pcie_link_is_up(&host, &host.devices[0]), !reports);
  }
}

/* A device that is part of the root complex has no link. Its capability may end before the link's registers, so what
 * lies there is not touched (7.5.3). */
static void an_integrated_endpoint_has_no_link_registers(void **state) {
  (void)state;
  fake_reset();
  struct fake_function *drive = drive_below(NULL);
  *fake_express_register(drive, 0x00) |= FAKE_INTEGRATED << 20;
  assert_int_equal(enumerate(), SPATE_OK);
  uint32_t *behind = fake_express_register(drive, 0x10);
  drive->writable[(FAKE_EXPRESS + 0x10) / 4] = UINT32_MAX;
  *behind = ~*behind;
  const uint32_t found = *behind;
  assert_int_equal(restore(&host.devices[0], 1000), SPATE_OK);
  assert_int_equal(*behind, found);
}

static void a_link_that_goes_down_again_is_waited_for_again(void **state) {
  (void)state;
  fake_reset();
  struct fake_function *port = fake_bridge(NULL, 0, FAKE_ROOT_PORT);
  drive_below(port);
  assert_int_equal(enumerate(), SPATE_OK);
  enumerated = fake;
  fake_link_drop(port, fake.now_ticks);
  assert_int_equal(restore(&host.devices[0], 60), SPATE_E_BUSY);
  const uint64_t up = fake.now_ticks + 20 * FAKE_MS;
  fake_link_drop(port, up);
  fake.first_below_ticks = 0;
  assert_int_equal(restore(&host.devices[0], 1000), SPATE_OK);
  assert_in_range(fake.first_below_ticks - up, 100 * FAKE_MS, 103 * FAKE_MS);
  assert_as_enumerated();
}

/* The link went down and up again between two accesses: the port's slot reports it to the first caller. */
static void a_link_that_bounces_is_waited_for_again(void **state) {
  for (unsigned neighbour = 0; neighbour < 2; neighbour++) {
    a_switch_gets_nested_bus_numbers_and_windows(state);
    struct fake_function *port = &fake.functions[0];
    fake_slot(port);
    assert_int_equal(enumerate(), SPATE_OK);
    fake_link_drop(port, fake.now_ticks);
    assert_int_equal(restore(&host.devices[0], 60), SPATE_E_BUSY);
    *fake_express_register(port, 0x18) |= FAKE_LINK_CHANGED;
    const uint64_t up = fake.now_ticks;
    if (neighbour) assert_int_equal(spate_pcie_restore(&host, &host.devices[1]), SPATE_E_BUSY);
    fake.first_below_ticks = 0;
    assert_int_equal(restore(&host.devices[0], 1000), SPATE_OK);
    assert_in_range(fake.first_below_ticks - up, 100 * FAKE_MS, 103 * FAKE_MS);
  }
}

static void a_returning_device_is_identified(void **state) {
  (void)state;
  fake_reset();
  struct fake_function *port = fake_bridge(NULL, 0, FAKE_ROOT_PORT);
  struct fake_function *drive = drive_below(port);
  assert_int_equal(enumerate(), SPATE_OK);
  enumerated = fake;
  fake_link_drop(port, fake.now_ticks);
  drive->ready_ticks = fake.now_ticks + 300 * FAKE_MS; /* "retry" */
  assert_int_equal(restore(&host.devices[0], 250), SPATE_E_BUSY);
  drive->silent_ticks = fake.now_ticks + 300 * FAKE_MS;
  assert_int_equal(restore(&host.devices[0], 250), SPATE_E_BUSY);
  assert_int_equal(restore(&host.devices[0], 250), SPATE_OK);
  assert_as_enumerated();

  drive->config[0] ^= 0x10000u;
  fake_link_drop(port, fake.now_ticks);
  const unsigned writes = drive->writes;
  assert_int_equal(restore(&host.devices[0], 250), SPATE_E_NO_DEVICE);
  assert_int_equal(drive->writes, writes);
}

/* The link drops again just after the port reported it up, and the bridge returns arbitrary data: this is not taken for
 * another device. */
static void arbitrary_data_is_not_another_device(void **state) {
  (void)state;
  unsigned busy = 0, restored = 0;
  for (unsigned after = 0; after < 60; after++) {
    fake_reset();
    struct fake_function *port = fake_bridge(NULL, 0, FAKE_ROOT_PORT);
    drive_below(port);
    assert_int_equal(enumerate(), SPATE_OK);
    fake_link_drop(port, fake.now_ticks);
    assert_int_equal(restore(&host.devices[0], 99), SPATE_E_BUSY);
    fake.now_ticks += 2 * FAKE_MS;
    fake.background = 0x5eed1234u;
    port->drop_ticks = fake.now_ticks + after * ACCESS_TICKS;
    const enum spate_error error = spate_pcie_restore(&host, &host.devices[0]);
    busy += error == SPATE_E_BUSY;
    restored += error == SPATE_OK;
  }
  assert_int_equal(busy + restored, 60);
  assert_true(busy > 5 && restored > 5);
}

static void what_was_never_enumerated_is_not_restored(void **state) {
  (void)state;
  fake_reset();
  drive_below(fake_bridge(NULL, 0, FAKE_ROOT_PORT));
  host = (struct spate_pcie_host){0};
  assert_int_equal(spate_pcie_restore(&host, &host.devices[0]), SPATE_E_NO_DEVICE);
  assert_int_equal(enumerate(), SPATE_OK);
  struct spate_pcie_device before = host.devices[0];
  struct spate_pcie_ecam_config config = ecam_config(WINDOW_BYTES, 0);
  assert_int_equal(spate_pcie_ecam_open(&host, &config),
                   SPATE_OK); /* after a new open the record of the bridge is gone */
  assert_int_equal(spate_pcie_restore(&host, &before), SPATE_E_NO_DEVICE);
}

static void random_trees_are_restored(void **state) {
  (void)state;
  for (unsigned seed = 1; seed <= 1000; seed++) {
    random_state = seed * UINT64_C(0x9e3779b97f4a7c15);
    fake_reset();
    random_tree();
    assert_int_equal(enumerate_with(8 * MIB << below(3), below(2) ? 32 * MIB : 0), SPATE_OK);
    enumerated = fake;
    fake_link_drop(&fake.functions[0], fake.now_ticks);
    for (unsigned i = 0; i < host.device_count; i++)
      if (restore(&host.devices[i], 1000) != SPATE_OK) fail_msg("seed %u, device %u", seed, i);
    for (unsigned i = 0; i < fake.count; i++) {
      const struct fake_function *function = &fake.functions[i];
      bool on_the_way = !is_bridge(function);
      for (unsigned j = 0; j < fake.count; j++)
        on_the_way |= !is_bridge(&fake.functions[j]) && is_below(&fake.functions[j], function);
      if (on_the_way && memcmp(function->config, enumerated.functions[i].config, sizeof function->config) != 0)
        fail_msg("seed %u, function %u", seed, i);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_drive_whose_link_came_back_is_as_before),
      cmocka_unit_test(only_what_lost_its_configuration_is_written),
      cmocka_unit_test(a_switch_is_restored_with_its_drives),
      cmocka_unit_test(each_drive_below_a_switch_notices_a_change),
      cmocka_unit_test(a_change_up_to_the_last_access_is_seen),
      cmocka_unit_test(a_change_while_restoring_is_not_lost),
      cmocka_unit_test(a_port_that_reports_no_changes_is_not_asked),
      cmocka_unit_test(an_integrated_endpoint_has_no_link_registers),
      cmocka_unit_test(a_link_that_goes_down_again_is_waited_for_again),
      cmocka_unit_test(a_link_that_bounces_is_waited_for_again),
      cmocka_unit_test(a_returning_device_is_identified),
      cmocka_unit_test(arbitrary_data_is_not_another_device),
      cmocka_unit_test(what_was_never_enumerated_is_not_restored),
      cmocka_unit_test(random_trees_are_restored),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
