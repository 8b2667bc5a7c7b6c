/* SPDX-License-Identifier: Apache-2.0 */
/* What earlier firmware left on, and root ports that do not do what is written to them. */
#include "pcie_fixture.h"

#define ROM        (0x30u / 4)
#define BRIDGE_ROM (0x38u / 4)
#define CONTROL    (0x3cu / 4)
#define BUS_RESET  0x00400000u

static struct fake_function *port, *drive;

static void one_drive(void) {
  fake_reset();
  port = fake_bridge(NULL, 0, FAKE_ROOT_PORT);
  drive = drive_below(port);
}

/* It would decode memory as soon as memory decoding is on. */
static void an_expansion_rom_is_turned_off(void **state) {
  (void)state;
  one_drive();
  drive->config[ROM] = port->config[BRIDGE_ROM] = 0x80000001u;
  drive->writable[ROM] = port->writable[BRIDGE_ROM] = 0xfffff801u;
  assert_int_equal(enumerate(), SPATE_OK);
  assert_int_equal(drive->config[ROM] & 1, 0);
  assert_int_equal(port->config[BRIDGE_ROM] & 1, 0);
  assert_all_reachable(WINDOW_BYTES);
}

/* In any state but D0 it decodes no memory. It is left alone while it wakes up, and then asks for retries. What is
 * below a bridge that wakes up is left alone until its link has trained, and 100 ms more. */
static void a_sleeping_function_is_woken(void **state) {
  (void)state;
  for (uint32_t power = 1; power <= 3; power++) {
    for (unsigned i = 0; i < 6; i++) {
      const unsigned who = 1u + i % 3, train_ms = i < 3 ? 480 : 600;
      one_drive();
      drive->writable[FAKE_POWER / 4 + 1] = port->writable[FAKE_POWER / 4 + 1] = 3;
      drive->wake_ms = port->wake_ms = 400;
      port->train_ms = train_ms;
      if (who & 1) drive->config[FAKE_POWER / 4 + 1] = power;
      if (who & 2) port->config[FAKE_POWER / 4 + 1] = power;
      const uint64_t start = fake.now_ticks;
      fake.first_below_ticks = 0;
      assert_int_equal(enumerate(), SPATE_OK);
      assert_int_equal(drive->config[FAKE_POWER / 4 + 1] & 3, 0);
      assert_int_equal(port->config[FAKE_POWER / 4 + 1] & 3, 0);
      assert_int_equal(host.device_count, 1);
      if (who & 2)
        assert_in_range(fake.first_below_ticks - start, (train_ms + 100) * FAKE_MS, (train_ms + 150) * FAKE_MS);
      assert_all_reachable(WINDOW_BYTES);
    }
  }
}

/* The link trains when the reset ends, and the device below gets its 100 ms after that, however long it takes. */
static void a_secondary_bus_reset_is_ended(void **state) {
  (void)state;
  for (unsigned train_ms = 0; train_ms <= 900; train_ms += 90) {
    one_drive();
    port->config[CONTROL] = BUS_RESET | 0x00030000u;
    port->writable[CONTROL] = 0x00ff0000u;
    port->train_ms = train_ms;
    const uint64_t start = fake.now_ticks;
    fake.first_below_ticks = 0;
    assert_int_equal(enumerate(), SPATE_OK);
    assert_int_equal(port->config[CONTROL], 0x00030000u);
    assert_int_equal(host.device_count, 1);
    assert_in_range(fake.first_below_ticks - start, (train_ms + 100) * FAKE_MS,
                    (train_ms < 100 ? 210 : train_ms + 110) * FAKE_MS);
    assert_all_reachable(WINDOW_BYTES);
  }
}

/* The first bus, and a bus below a bridge without a PCI Express capability, show device 0 at each number. */
static void a_device_at_every_number_is_one_device(void **state) {
  (void)state;
  one_drive();
  fake.first_bus_answers_all = port->answers_all = true;
  assert_int_equal(enumerate(), SPATE_OK);
  assert_int_equal(host.device_count, 1);
  assert_int_equal(host.bridge_count, 1);
  assert_int_equal(host.left_out, 0);
  assert_all_reachable(WINDOW_BYTES);

  one_drive();
  port->config[0x34 / 4] = 0;
  port->config[0x04 / 4] &= ~0x00100000u;
  port->answers_all = true;
  assert_int_equal(enumerate(), SPATE_OK);
  assert_int_equal(host.device_count, 1);
  assert_int_equal(host.left_out, 0);
  assert_all_reachable(WINDOW_BYTES);

  /* Two root ports and two endpoints of one kind are two. */
  one_drive();
  drive_below(fake_bridge(NULL, 1, FAKE_ROOT_PORT));
  for (unsigned i = 2; i < 4; i++)
    fake_bar(fake_endpoint(NULL, i, 0, NVME), 0, 0x4000, BAR_64);
  assert_int_equal(enumerate(), SPATE_OK);
  assert_int_equal(host.device_count, 4);
  assert_int_equal(host.bridge_count, 2);
  assert_all_reachable(WINDOW_BYTES);
}

/* A root port that keeps its payload size, whatever is written. */
static void a_payload_that_cannot_be_set_is_that_of_all(void **state) {
  (void)state;
  for (uint32_t code = 0; code < 3; code++) {
    one_drive();
    fake_express(port, 2, 3, 4, 3, 4);
    fake_express(drive, 2, 3, 4, 3, 4);
    port->writable[(FAKE_EXPRESS + 0x08) / 4] &= ~0xe0u;
    *fake_express_register(port, 0x08) = (*fake_express_register(port, 0x08) & ~0xe0u) | code << 5;
    assert_int_equal(enumerate(), SPATE_OK);
    assert_int_equal(*fake_express_register(drive, 0x08) >> 5 & 7, code);
    assert_int_equal(host.devices[0].payload_bytes, 128u << code);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_expansion_rom_is_turned_off),
      cmocka_unit_test(a_sleeping_function_is_woken),
      cmocka_unit_test(a_secondary_bus_reset_is_ended),
      cmocka_unit_test(a_device_at_every_number_is_one_device),
      cmocka_unit_test(a_payload_that_cannot_be_set_is_that_of_all),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
