/* SPDX-License-Identifier: Apache-2.0 */
/* Registers field by field: each field is read whole, and a write changes only the intended bits. */
#include "pcie_fixture.h"

#define COMMAND          (0x04 / 4)
#define COMMAND_IO       0x0001u
#define COMMAND_MASTER   0x0004u
#define COMMAND_INTX_OFF 0x0400u
#define LINK_CHANGED     0x01000000u

static struct fake_function *port, *drive;

static void one_drive(void) {
  fake_reset();
  port = fake_bridge(NULL, 3, FAKE_ROOT_PORT);
  drive = drive_below(port);
}

static void no_express(struct fake_function *function) { function->config[COMMAND] &= ~0x00100000u; }

/* ---- fields ---- */

/* Speed has four bits, width six; the neighbouring bits do not matter. */
static void speed_and_width_are_whole_fields(void **state) {
  static const uint8_t widths[] = {1, 2, 4, 8, 12, 16, 32};
  (void)state;
  for (uint8_t speed = 1; speed < 16; speed++) {
    for (unsigned i = 0; i < sizeof widths; i++) {
      one_drive();
      fake_express(port, 2, speed, widths[i], speed, widths[i]);
      fake_express(drive, 2, speed, widths[i], speed, widths[i]);
      *fake_express_register(drive, 0x0c) |= 0xfffffc00u;
      *fake_express_register(drive, 0x10) |= 0xfc000000u;
      assert_int_equal(enumerate(), SPATE_OK);
      struct spate_pcie_link *link = &host.devices[0].link;
      assert_true(link->up);
      assert_int_equal(link->speed, speed);
      assert_int_equal(link->speed_max, speed);
      assert_int_equal(link->width, widths[i]);
      assert_int_equal(link->width_max, widths[i]);
      assert_int_equal(spate_pcie_link_check(&host, &host.devices[0]), SPATE_OK);

      fake_express(drive, 2, speed, widths[i], speed, widths[i] / 2u);
      assert_int_equal(spate_pcie_link_check(&host, &host.devices[0]), SPATE_E_LINK_DEGRADED);
      assert_int_equal(link->width, widths[i] / 2);
    }
  }
}

static void speeds_beyond_the_known_have_no_name(void **state) {
  static const uint32_t mts[] = {0, 2500, 5000, 8000, 16000, 32000, 64000};
  (void)state;
  for (unsigned speed = 0; speed < 256; speed++)
    assert_int_equal(spate_pcie_speed_mts((uint8_t)speed), speed < 7 ? mts[speed] : 0);
}

/* A function without the PCI Express capability has no link, and does not limit the payload. */
static void a_function_without_the_express_capability_limits_nothing(void **state) {
  (void)state;
  fake_reset();
  struct fake_function *root = fake_bridge(NULL, 0, FAKE_ROOT_PORT);
  struct fake_function *old_bridge = fake_bridge(root, 0, FAKE_UPSTREAM);
  struct fake_function *old = fake_endpoint(old_bridge, 5, 0, NVME), *modern = drive_below(old_bridge);
  fake_bar(old, 0, 0x4000, BAR_64);
  no_express(old_bridge);
  no_express(old);
  old_bridge->config[0] = 0x00401b36u;   /* its ID would be a root port's type */
  old_bridge->config[0x0c / 4] |= 0x11u; /* cache line size, where others have a link's speed and width */
  old->config[0x0c / 4] |= 0x48u;
  fake_express(root, 3, 3, 16, 3, 16);
  fake_express(modern, 3, 4, 4, 4, 4);
  assert_int_equal(enumerate(), SPATE_OK);
  assert_int_equal(host.device_count, 2);
  assert_all_reachable(WINDOW_BYTES);
  for (unsigned i = 0; i < 2; i++) {
    const struct spate_pcie_device *device = &host.devices[i];
    const bool is_old = device->address.device == 5;
    assert_true(device->link.up);
    assert_int_equal(device->link.speed, is_old ? 0 : 4);
    assert_int_equal(device->link.width, is_old ? 0 : 4);
    assert_int_equal(device->link.speed_max, is_old ? 0 : 4); /* the function above it does not limit the payload */
    assert_int_equal(device->link.width_max, is_old ? 0 : 4);
    assert_int_equal(device->payload_bytes, 1024);
  }
  assert_int_equal(*fake_express_register(modern, 0x08) & 0x70e0u, 3u << 5 | 2u << 12);
}

static void a_capability_that_is_gone_is_a_link_that_is_down(void **state) {
  (void)state;
  one_drive();
  assert_int_equal(enumerate(), SPATE_OK);
  no_express(drive);
  assert_int_equal(spate_pcie_link_check(&host, &host.devices[0]), SPATE_E_LINK_DOWN);
}

/* ---- what is written ---- */

static void only_the_bits_meant_change(void **state) {
  (void)state;
  one_drive();
  drive->writable[COMMAND] = drive->writable[(FAKE_EXPRESS + 0x08) / 4] = 0xffffu;
  drive->writable[(FAKE_EXPRESS + 0x10) / 4] = 0xffffu;
  drive->config[COMMAND] |= 0xffffu & ~COMMAND_INTX_OFF & ~COMMAND_MASTER;
  *fake_express_register(drive, 0x08) |= 0x7fffu; /* without the function's reset */
  *fake_express_register(drive, 0x10) |= 0xffffu;
  *fake_express_register(drive, 0x04) |= 0x10000018u; /* beside it: phantom functions */
  port->writable[(FAKE_EXPRESS + 0x1c) / 4] = 0xffffu;
  *fake_express_register(port, 0x1c) |= 0xffefu;
  assert_int_equal(enumerate(), SPATE_OK);
  assert_int_equal(drive->config[COMMAND] & 0xffff, 0xffff & ~COMMAND_IO);
  assert_int_equal(*fake_express_register(drive, 0x08) & 0xffff, (0x7fff & ~0x78f0) | 1 << 5 | 2 << 12);
  assert_int_equal(*fake_express_register(drive, 0x10) & 0xffff, 0xfffc);
  assert_int_equal(*fake_express_register(port, 0x1c) & 0xffff, 0xffff);

  struct spate_pcie_device *device = &host.devices[0];
  enumerated = fake;
  fake_link_drop(port, fake.now_ticks);
  assert_int_equal(restore(device, 1000), SPATE_OK);
  assert_as_enumerated();
  assert_int_equal(spate_pcie_isolate(&host, device), SPATE_OK);
  assert_int_equal(drive->config[COMMAND] & 0xffff, 0xffff & ~COMMAND_IO & ~COMMAND_MASTER);
  const uint32_t control = *fake_express_register(drive, 0x08);
  assert_int_equal(spate_pcie_reset(&host, device, SPATE_PCIE_RESET_FUNCTION), SPATE_E_BUSY);
  assert_int_equal(*fake_express_register(drive, 0x08), control | 0x8000u);
}

/* A root port that cannot make "retry" visible is not configured to do so. */
static void a_root_port_gets_only_what_it_supports(void **state) {
  (void)state;
  one_drive();
  *fake_express_register(port, 0x1c) = 0;
  assert_int_equal(enumerate(), SPATE_OK);
  assert_int_equal(*fake_express_register(port, 0x1c), 0);
}

/* Other software may own the slot's status register: without a slot, or without a change, nothing is written. */
static void a_slot_is_written_only_after_a_change(void **state) {
  (void)state;
  for (unsigned slot = 0; slot < 2; slot++) {
    one_drive();
    port->clears[(FAKE_EXPRESS + 0x18) / 4] = LINK_CHANGED;
    if (slot) *fake_express_register(port, 0x00) |= 0x01000000u;
    *fake_express_register(port, 0x18) |= 0x00400000u | LINK_CHANGED;
    assert_int_equal(enumerate(), SPATE_OK);
    assert_int_equal(*fake_express_register(port, 0x18) & LINK_CHANGED, slot ? 0 : LINK_CHANGED);
    const unsigned writes = port->writes;
    assert_int_equal(restore(&host.devices[0], 1000), SPATE_OK);
    assert_int_equal(port->writes, writes);
    *fake_express_register(port, 0x18) |= LINK_CHANGED;
    assert_int_equal(restore(&host.devices[0], 1000), SPATE_OK);
    assert_int_equal(port->writes, writes + slot);
  }
}

/* I/O space stays as it is, in whichever BAR an endpoint claims it. */
static void io_space_is_left_alone(void **state) {
  (void)state;
  one_drive();
  for (unsigned i = 2; i < 6; i++) {
    fake_bar(drive, i, 0x100, BAR_IO);
    drive->config[0x10 / 4 + i] |= 0x1000u * i;
  }
  assert_int_equal(enumerate(), SPATE_OK);
  for (unsigned i = 2; i < 6; i++)
    assert_int_equal(drive->config[0x10 / 4 + i], 0x1000u * i | 1);
}

/* A reset is done by the port above the device, and each kind of reset has its own state. */
static void a_reset_is_of_the_port_above(void **state) {
  (void)state;
  fake_reset();
  struct fake_function *ports[3];
  for (unsigned i = 0; i < 3; i++) {
    ports[i] = fake_bridge(NULL, 2 * i + 1, FAKE_ROOT_PORT);
    ports[i]->writable[0x3c / 4] = 0x00400000u;
    *fake_express_register(drive_below(ports[i]), 0x04) |= 0x10000000u;
  }
  assert_int_equal(enumerate(), SPATE_OK);
  struct spate_pcie_device *device = &host.devices[1];
  assert_int_equal(spate_pcie_reset(&host, device, SPATE_PCIE_RESET_BUS), SPATE_E_BUSY);
  for (unsigned i = 0; i < 3; i++)
    assert_int_equal(ports[i]->config[0x3c / 4] & 0x00400000u, i == 1 ? 0x00400000u : 0);
  fake.now_ticks += 5 * FAKE_MS;
  assert_int_equal(spate_pcie_reset(&host, device, SPATE_PCIE_RESET_BUS), SPATE_OK);
  assert_int_equal(spate_pcie_reset(&host, device, SPATE_PCIE_RESET_FUNCTION), SPATE_E_BUSY); /* begins now */
  fake.now_ticks += 249 * FAKE_MS + FAKE_MS / 2;
  assert_int_equal(spate_pcie_reset(&host, device, SPATE_PCIE_RESET_FUNCTION), SPATE_E_BUSY);
  fake.now_ticks += FAKE_MS / 2;
  assert_int_equal(spate_pcie_reset(&host, device, SPATE_PCIE_RESET_FUNCTION), SPATE_OK);
}

/* No access goes over a link that is down, or to a device that was never enumerated: the address may belong to
 * another. */
static void an_absent_device_is_not_accessed(void **state) {
  (void)state;
  one_drive();
  *fake_express_register(drive, 0x04) |= 0x10000000u;
  assert_int_equal(enumerate(), SPATE_OK);
  port->link_ticks = FAKE_NEVER;
  fake.first_below_ticks = 0;
  assert_int_equal(spate_pcie_reset(&host, &host.devices[0], SPATE_PCIE_RESET_FUNCTION), SPATE_E_NO_DEVICE);
  assert_int_equal(fake.first_below_ticks, 0);

  fake_reset();
  struct fake_function *other = fake_endpoint(NULL, 0, 0, NVME);
  struct spate_pcie_device unknown = {0};
  assert_int_equal(enumerate(), SPATE_OK);
  const unsigned writes = other->writes;
  assert_int_equal(spate_pcie_isolate(&host, &unknown), SPATE_E_NO_DEVICE);
  assert_int_equal(spate_pcie_reset(&host, &unknown, SPATE_PCIE_RESET_FUNCTION), SPATE_E_NO_DEVICE);
  assert_int_equal(other->writes, writes);
  assert_true(fake_can_dma(other));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(speed_and_width_are_whole_fields),
      cmocka_unit_test(speeds_beyond_the_known_have_no_name),
      cmocka_unit_test(a_function_without_the_express_capability_limits_nothing),
      cmocka_unit_test(a_capability_that_is_gone_is_a_link_that_is_down),
      cmocka_unit_test(only_the_bits_meant_change),
      cmocka_unit_test(a_root_port_gets_only_what_it_supports),
      cmocka_unit_test(a_slot_is_written_only_after_a_change),
      cmocka_unit_test(io_space_is_left_alone),
      cmocka_unit_test(a_reset_is_of_the_port_above),
      cmocka_unit_test(an_absent_device_is_not_accessed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
