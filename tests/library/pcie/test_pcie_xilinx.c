/* SPDX-License-Identifier: Apache-2.0 */
/* The Xilinx bridge: bring-up, drives behind it, and a link that goes down. */
#include "pcie_fixture.h"

/* Xilinx: the bridge's registers are in the root port's configuration space, and bus 0 answers for every device. */
static struct fake_function *xilinx_port(uint32_t phy) {
  fake_reset();
  struct fake_function *port = fake_bridge(NULL, 0, FAKE_ROOT_PORT);
  port->config[0x00 / 4] = 0x702110ee;
  port->config[0x144 / 4] = phy;
  port->writable[0x13c / 4] = UINT32_MAX;
  port->config[0x13c / 4] = 0x00ff0000;
  port->writable[0x148 / 4] = 1;
  port->answers_all = true;
  fake.first_bus_answers_all = true;
  fake_bar(port, 0, 8 * GIB, BAR_64); /* inbound */
  port->config[0x10 / 4] |= 0x40000000;
  port->config[0x14 / 4] = 0x00000010;
  port->bar_bytes[0] = 0; /* ignored by fake_decode() */
  return port;
}

static const struct spate_pcie_xilinx_config xilinx_config = {
    .control_base = FAKE_ECAM_BASE,
    .last_bus = 15,
    .memory = {WINDOW_CPU, WINDOW_BUS, MIB},
};

static void a_xilinx_bridge_brings_up_its_drive(void **state) {
  (void)state;
  struct fake_function *port = xilinx_port(0x1800 | 2 << 1);
  struct fake_function *drive = drive_below(port);
  port->fifo_left[0] = 3, port->fifo_left[1] = 2;
  assert_int_equal(spate_pcie_xilinx_open(&host, &xilinx_config), SPATE_OK);
  assert_int_equal(port->config[0x148 / 4], 1);
  assert_int_equal(port->config[0x13c / 4], 0);
  assert_int_equal(port->fifo_left[0], 0);
  assert_int_equal(port->fifo_left[1], 0);
  struct spate_pcie_link link;
  assert_int_equal(host.ops->link(&host, &link), SPATE_OK);
  assert_true(link.up);
  assert_int_equal(link.speed, 3);
  assert_int_equal(link.width, 4);

  assert_int_equal(spate_pcie_enumerate(&host, 0), SPATE_OK);
  assert_int_equal(host.device_count, 1);
  assert_at(host.devices[0].address, 1, 0, 0);
  assert_all_reachable(MIB);
  assert_int_equal(host.devices[0].bar0, fake_bar_address(drive, 0) - WINDOW_BUS + WINDOW_CPU);
  assert_int_equal(port->config[0x10 / 4], 0x40000004); /* the inbound BAR is as it was */
  assert_int_equal(port->config[0x14 / 4], 0x00000010);

  assert_int_equal(spate_pcie_link_check(&host, &host.devices[0]), SPATE_OK);
  port->config[0x144 / 4] = 0;
  assert_int_equal(spate_pcie_link_check(&host, &host.devices[0]), SPATE_E_LINK_DOWN);
  assert_int_equal(spate_pcie_enumerate(&host, 0), SPATE_E_LINK_DOWN);
}

/* Some root ports show the drive at each device number. Without a capability that tells of the link, the bus number
 * says that there is one device. */
static void a_xilinx_bridge_has_one_drive_below_it(void **state) {
  (void)state;
  struct fake_function *port = xilinx_port(0x1800);
  drive_below(port);
  port->config[0x04 / 4] &= ~0x00100000u; /* no list of capabilities */
  assert_int_equal(spate_pcie_xilinx_open(&host, &xilinx_config), SPATE_OK);
  assert_int_equal(spate_pcie_enumerate(&host, 0), SPATE_OK);
  assert_int_equal(host.device_count, 1);
  assert_at(host.devices[0].address, 1, 0, 0);
  assert_int_equal(host.left_out, 0);
}

/* Rate and width as both product guides define them. */
static void a_xilinx_bridge_reports_its_links_speed_and_width(void **state) {
  static const struct {
    uint32_t phy;
    uint8_t speed, width;
  } cases[] = {{0x0800, 1, 1}, {0x0801, 2, 1},  {0x0802, 1, 2}, {0x0805, 2, 4},  {0x0806, 1, 8},
               {0x1800, 3, 1}, {0x1801, 3, 1},  {0x1806, 3, 8}, {0x3800, 3, 16}, {0x2800, 1, 16},
               {0x27fe, 0, 0}, {0xffff, 3, 16}, {0x0000, 0, 0}};
  (void)state;
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct fake_function *port = xilinx_port(0x0800);
    assert_int_equal(spate_pcie_xilinx_open(&host, &xilinx_config), SPATE_OK);
    port->config[0x144 / 4] = cases[i].phy;
    struct spate_pcie_link link;
    assert_int_equal(host.ops->link(&host, &link), SPATE_OK);
    assert_int_equal(link.up, cases[i].speed != 0);
    assert_int_equal(link.speed, cases[i].speed);
    assert_int_equal(link.width, cases[i].width);
  }
}

/* Link Status knows speeds that PHY status has no bits for. A root port without the capability has only PHY status. */
static void the_phy_prefers_link_status(void **state) {
  (void)state;
  for (unsigned without = 0; without < 2; without++) {
    struct fake_function *port = xilinx_port(0x0801 | 0x16 << 3 | 3 << 9); /* 5 GT/s, one lane, L0, reversed */
    struct spate_pcie_phy phy;
    if (without)
      port->config[0x04 / 4] &= ~0x00100000u; /* no list of capabilities */
    else
      fake_express(port, 1, 5, 16, 4, 8); /* 16 GT/s and 8 lanes, of 32 GT/s and 16 */
    assert_int_equal(spate_pcie_xilinx_open(&host, &xilinx_config), SPATE_OK);
    assert_int_equal(spate_pcie_phy(&host, &phy), SPATE_OK);
    assert_true(phy.up && phy.link.up);
    assert_int_equal(phy.ltssm, 0x16);
    assert_int_equal(phy.lane_reversal, 3);
    assert_int_equal(phy.link.speed, without ? 2 : 4);
    assert_int_equal(phy.link.width, without ? 1 : 8);
    assert_int_equal(phy.link.speed_max, without ? 0 : 5);
    assert_int_equal(phy.link.width_max, without ? 0 : 16);

    port->config[0x144 / 4] = 0x3f << 3 | 1; /* down: Link Status is stale */
    assert_int_equal(spate_pcie_phy(&host, &phy), SPATE_OK);
    assert_false(phy.up || phy.link.up);
    assert_int_equal(phy.ltssm, 0x3f);
    assert_int_equal(phy.link.speed, 0);
    assert_int_equal(phy.link.width, 0);
    assert_int_equal(phy.link.speed_max, without ? 0 : 5);
  }
}

/* Another device than the drive gets no requests: the bridge does not forward them. */
static void a_xilinx_bridge_stays_closed_to_another_device(void **state) {
  (void)state;
  struct fake_function *port = xilinx_port(0x1800 | 2 << 1);
  struct fake_function *drive = drive_below(port);
  assert_int_equal(spate_pcie_xilinx_open(&host, &xilinx_config), SPATE_OK);
  assert_int_equal(spate_pcie_enumerate(&host, 0), SPATE_OK);
  drive->config[0] ^= 0x10000;
  port->config[0x148 / 4] = 0;
  assert_int_equal(restore(&host.devices[0], 1000), SPATE_E_NO_DEVICE);
  assert_int_equal(port->config[0x148 / 4], 0);
  drive->config[0] ^= 0x10000;
  assert_int_equal(restore(&host.devices[0], 1000), SPATE_OK);
  assert_int_equal(port->config[0x148 / 4], 1);
}

static void a_xilinx_bridge_without_a_drive_has_none(void **state) {
  (void)state;
  struct fake_function *port = xilinx_port(0x800);
  uint64_t start = fake.now_ticks;
  assert_int_equal(spate_pcie_xilinx_open(&host, &xilinx_config), SPATE_OK);
  assert_int_equal(spate_pcie_enumerate(&host, 0), SPATE_E_NO_DEVICE);
  assert_in_range(fake.now_ticks - start, 3000 * FAKE_MS, 3010 * FAKE_MS);

  /* The bridge's own link status says nothing about the links of a switch. */
  struct fake_function *down = fake_bridge(fake_bridge(port, 0, FAKE_UPSTREAM), 0, FAKE_DOWNSTREAM);
  *fake_express_register(down, 0x0c) &= ~(1u << 20);
  start = fake.now_ticks;
  assert_int_equal(spate_pcie_enumerate(&host, 0), SPATE_E_NO_DEVICE);
  assert_in_range(fake.now_ticks - start, 0, 10 * FAKE_MS);
}

static void a_xilinx_bridge_is_identified_first(void **state) {
  (void)state;
  static const struct {
    unsigned offset;
    uint32_t value;
  } strangers[] = {{0x00, 0xffffffff}, {0x00, 0}, {0x08, 0x05800000}, {0x0c, 0}};
  for (unsigned i = 0; i < sizeof strangers / sizeof strangers[0]; i++) {
    struct fake_function *port = xilinx_port(0x800);
    port->config[strangers[i].offset / 4] = strangers[i].value;
    struct fake_function before = *port;
    assert_int_equal(spate_pcie_xilinx_open(&host, &xilinx_config), SPATE_E_NO_BRIDGE);
    assert_memory_equal(&before, port, sizeof before); /* and nothing was written */
  }
  fake_reset();
  fake.background = 0;
  assert_int_equal(spate_pcie_xilinx_open(&host, &xilinx_config), SPATE_E_NO_BRIDGE);
  xilinx_port(0x800)->config[0] = 0x10001d9b; /* a vendor's own bridge, with that vendor's ID */
  assert_int_equal(spate_pcie_xilinx_open(&host, &xilinx_config), SPATE_OK);
}

/* PERST# was released a moment ago, and the link is up at the first look. When it came up is unknown. */
static void a_xilinx_link_that_came_up_unseen_has_its_100_ms(void **state) {
  (void)state;
  for (unsigned reports = 0; reports < 2; reports++) { /* the second time by the port's own capability */
    struct fake_function *port = xilinx_port(0x1800);
    drive_below(port);
    if (!reports) *fake_express_register(port, 0x0c) &= ~(1u << 20);
    const uint64_t released = fake.now_ticks;
    fake.now_ticks += 60 * FAKE_MS;
    assert_int_equal(spate_pcie_xilinx_open(&host, &xilinx_config), SPATE_OK);
    assert_int_equal(spate_pcie_enumerate(&host, released), SPATE_OK);
    assert_in_range(fake.first_below_ticks - released, 160 * FAKE_MS, 165 * FAKE_MS);
  }
}

static void a_xilinx_link_that_stays_down_is_reported_in_time(void **state) {
  (void)state;
  struct fake_function *port = xilinx_port(0x5);
  uint64_t start = fake.now_ticks;
  assert_int_equal(spate_pcie_xilinx_open(&host, &xilinx_config), SPATE_E_LINK_DOWN);
  assert_in_range(fake.now_ticks - start, 1000 * FAKE_MS, 1010 * FAKE_MS);
  assert_int_equal(port->config[0x148 / 4], 0);

  struct spate_pcie_xilinx_config quick = xilinx_config;
  quick.link_timeout_ms = 50;
  start = fake.now_ticks;
  assert_int_equal(spate_pcie_xilinx_open(&host, &quick), SPATE_E_LINK_DOWN);
  assert_in_range(fake.now_ticks - start, 50 * FAKE_MS, 51 * FAKE_MS);
}

static void a_xilinx_link_that_came_up_late_is_left_alone_for_100_ms(void **state) {
  (void)state;
  for (unsigned late = 0; late < 2; late++) {
    struct fake_function *port = xilinx_port(0x1800);
    struct fake_function *drive = drive_below(port);
    *fake_express_register(port, 0x0c) &= ~(1u << 20); /* the bridge's own register tells instead */
    uint64_t start = fake.now_ticks;
    if (late) fake.phy_ticks = start + 200 * FAKE_MS;
    drive->silent_ticks = start + 600 * FAKE_MS;
    assert_int_equal(spate_pcie_xilinx_open(&host, &xilinx_config), SPATE_OK);
    assert_in_range(fake.now_ticks - start, late ? 300 * FAKE_MS : 0, late ? 305 * FAKE_MS : FAKE_MS);
    assert_int_equal(spate_pcie_enumerate(&host, 0), SPATE_OK);
    assert_in_range(fake.now_ticks - start, 600 * FAKE_MS, 610 * FAKE_MS);
  }
}

/* What was there before is forgotten, and nothing that comes later. */
static void a_xilinx_bridge_keeps_what_happens_once_it_forwards(void **state) {
  (void)state;
  struct fake_function *port = xilinx_port(0x1800);
  port->clears[0x138 / 4] = UINT32_MAX;
  port->config[0x138 / 4] = 0x00010203;
  port->decoded = 0x00000a00;
  assert_int_equal(spate_pcie_xilinx_open(&host, &xilinx_config), SPATE_OK);
  assert_int_equal(port->config[0x138 / 4], port->decoded);
}

static void a_xilinx_fifo_that_never_empties_does_not_hang(void **state) {
  (void)state;
  struct fake_function *port = xilinx_port(0x800);
  port->fifo_left[0] = port->fifo_left[1] = UINT32_MAX;
  assert_int_equal(spate_pcie_xilinx_open(&host, &xilinx_config), SPATE_OK);
  assert_in_range(fake.accesses, 0, 2000);
}

/* The bridge stops forwarding when its link goes down. Nothing below it may be accessed until it forwards again. */
static void a_xilinx_bridge_forwards_again(void **state) {
  (void)state;
  struct fake_function *port = xilinx_port(0x1800);
  drive_below(port);
  assert_int_equal(spate_pcie_xilinx_open(&host, &xilinx_config), SPATE_OK);
  assert_int_equal(spate_pcie_enumerate(&host, 0), SPATE_OK);
  enumerated = fake;
  fake.phy_ticks = fake.now_ticks + 50 * FAKE_MS;
  fake_link_drop(port, fake.now_ticks); /* the port itself does not know */
  port->config[0x148 / 4] &= ~1u;
  fake.first_below_ticks = 0;
  assert_int_equal(restore(&host.devices[0], 40), SPATE_E_BUSY);
  assert_int_equal(fake.first_below_ticks, 0);
  assert_int_equal(restore(&host.devices[0], 1000), SPATE_OK);
  assert_in_range(fake.first_below_ticks - fake.phy_ticks, 100 * FAKE_MS, 103 * FAKE_MS);
  assert_int_equal(port->config[0x148 / 4] & 1, 1);
  assert_as_enumerated();

  /* The link is up again before anybody looked: that the bridge stopped forwarding shows the drop. */
  assert_true(spate_pcie_link_is_up(&host, &host.devices[0]));
  port->config[0x148 / 4] &= ~1u;
  assert_false(spate_pcie_link_is_up(&host, &host.devices[0]));
  port->config[0x148 / 4] |= 1;
  fake.phy_ticks = FAKE_NEVER;
  assert_false(spate_pcie_link_is_up(&host, &host.devices[0]));
}

/* A switch is below the bridge. The bridge records a change in one bit, and restoring the first drive sets this bit
 * again. */
static void each_drive_notices_a_xilinx_bridges_change(void **state) {
  (void)state;
  struct fake_function *port = xilinx_port(0x1800 | 2 << 1);
  struct fake_function *up = fake_bridge(port, 0, FAKE_UPSTREAM);
  struct spate_pcie_xilinx_config config = xilinx_config;
  config.memory.bytes = WINDOW_BYTES;
  for (unsigned i = 0; i < 2; i++)
    drive_below(fake_bridge(up, i, FAKE_DOWNSTREAM));
  assert_int_equal(spate_pcie_xilinx_open(&host, &config), SPATE_OK);
  assert_int_equal(spate_pcie_enumerate(&host, 0), SPATE_OK);
  assert_int_equal(host.device_count, 2);

  /* Only the link drops: nothing but the bridge's bit shows it. */
  port->config[0x148 / 4] = 0;
  assert_int_equal(restore(&host.devices[0], 1000), SPATE_OK);
  assert_true(spate_pcie_link_is_up(&host, &host.devices[0]));
  assert_false(spate_pcie_link_is_up(&host, &host.devices[1]));
  assert_int_equal(restore(&host.devices[1], 1000), SPATE_OK);
  assert_true(spate_pcie_link_is_up(&host, &host.devices[0]));
  assert_true(spate_pcie_link_is_up(&host, &host.devices[1]));

  /* The first drive is restored when the second one is, and neither disturbs the other. */
  fake_link_drop(port, fake.now_ticks);
  port->config[0x148 / 4] = 0;
  fake.phy_ticks = fake.now_ticks + 10 * FAKE_MS;
  bool restored[2] = {false};
  for (unsigned ms = 0; !(restored[0] && restored[1]); ms++) {
    assert_in_range(ms, 0, 500);
    for (unsigned i = 0; i < 2; i++)
      if (!restored[i]) restored[i] = spate_pcie_restore(&host, &host.devices[i]) == SPATE_OK;
    fake.now_ticks += FAKE_MS;
  }
  assert_all_reachable(WINDOW_BYTES);
  assert_true(spate_pcie_link_is_up(&host, &host.devices[0]));
  assert_true(spate_pcie_link_is_up(&host, &host.devices[1]));
}

/* The link goes down during the last step, at any access: the drive is not reported as restored. */
static void a_xilinx_link_that_drops_at_the_last_moment_is_seen(void **state) {
  (void)state;
  unsigned busy = 0, restored = 0;
  for (unsigned after = 0; after < 80; after++) {
    struct fake_function *port = xilinx_port(0x1800);
    drive_below(port);
    *fake_express_register(port, 0x0c) &= ~(1u << 20);
    assert_int_equal(spate_pcie_xilinx_open(&host, &xilinx_config), SPATE_OK);
    assert_int_equal(spate_pcie_enumerate(&host, 0), SPATE_OK);
    fake_link_drop(port, fake.now_ticks);
    port->config[0x148 / 4] &= ~1u;
    assert_int_equal(restore(&host.devices[0], 99), SPATE_E_BUSY);
    fake.now_ticks += 2 * FAKE_MS;
    const unsigned before = fake.accesses;
    fake.phy_drop_ticks = fake.now_ticks + after * (FAKE_MS / 1000);
    const enum spate_error error = spate_pcie_restore(&host, &host.devices[0]);
    assert_true(fake.accesses - before < 80);
    busy += error == SPATE_E_BUSY;
    restored += error == SPATE_OK;
    /* The last access was the library's own read of the PHY status. */
    if (error == SPATE_OK)
      assert_true(fake.now_ticks - fake.phy_drop_ticks < 4 * (FAKE_MS / 1000) || fake.now_ticks < fake.phy_drop_ticks);
  }
  assert_int_equal(busy + restored, 80);
  assert_true(busy > 5 && restored > 5);
}

/* The bridge stopped forwarding when the link dropped. A new enumeration makes it forward again, and a later drop is
 * detected. */
static void a_xilinx_bridge_forwards_when_it_is_enumerated_again(void **state) {
  (void)state;
  struct fake_function *port = xilinx_port(0x1800);
  drive_below(port);
  assert_int_equal(spate_pcie_xilinx_open(&host, &xilinx_config), SPATE_OK);
  assert_int_equal(spate_pcie_enumerate(&host, 0), SPATE_OK);
  fake_link_drop(port, fake.now_ticks);
  port->config[0x148 / 4] &= ~1u;
  assert_int_equal(spate_pcie_enumerate(&host, fake.now_ticks), SPATE_OK);
  assert_int_equal(port->config[0x148 / 4] & 1, 1);
  assert_true(spate_pcie_link_is_up(&host, &host.devices[0]));
}

/* The link was seen up before this reset: that says nothing about the time after the reset. */
static void a_xilinx_link_has_its_100_ms_after_each_reset(void **state) {
  (void)state;
  struct fake_function *port = xilinx_port(0x1800);
  drive_below(port);
  *fake_express_register(port, 0x0c) &= ~(1u << 20);
  assert_int_equal(spate_pcie_xilinx_open(&host, &xilinx_config), SPATE_OK);
  assert_int_equal(spate_pcie_enumerate(&host, 0), SPATE_OK);
  fake.now_ticks += 500 * FAKE_MS;
  const uint64_t released = fake.now_ticks;
  fake.first_below_ticks = 0;
  assert_int_equal(spate_pcie_enumerate(&host, released), SPATE_OK);
  assert_in_range(fake.first_below_ticks - released, 200 * FAKE_MS, 205 * FAKE_MS);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_xilinx_bridge_brings_up_its_drive),
      cmocka_unit_test(a_xilinx_bridge_has_one_drive_below_it),
      cmocka_unit_test(a_xilinx_bridge_reports_its_links_speed_and_width),
      cmocka_unit_test(the_phy_prefers_link_status),
      cmocka_unit_test(a_xilinx_bridge_stays_closed_to_another_device),
      cmocka_unit_test(a_xilinx_bridge_without_a_drive_has_none),
      cmocka_unit_test(a_xilinx_bridge_is_identified_first),
      cmocka_unit_test(a_xilinx_link_that_came_up_unseen_has_its_100_ms),
      cmocka_unit_test(a_xilinx_link_that_stays_down_is_reported_in_time),
      cmocka_unit_test(a_xilinx_link_that_came_up_late_is_left_alone_for_100_ms),
      cmocka_unit_test(a_xilinx_bridge_keeps_what_happens_once_it_forwards),
      cmocka_unit_test(a_xilinx_fifo_that_never_empties_does_not_hang),
      cmocka_unit_test(a_xilinx_bridge_forwards_again),
      cmocka_unit_test(each_drive_notices_a_xilinx_bridges_change),
      cmocka_unit_test(a_xilinx_link_that_drops_at_the_last_moment_is_seen),
      cmocka_unit_test(a_xilinx_bridge_forwards_when_it_is_enumerated_again),
      cmocka_unit_test(a_xilinx_link_has_its_100_ms_after_each_reset),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
