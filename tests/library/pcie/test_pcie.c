/* SPDX-License-Identifier: Apache-2.0 */
/* Enumeration: which functions exist, which bus numbers they get, and what cannot be enumerated. */
#include "pcie_fixture.h"

static void a_drive_behind_a_root_port_is_ready_for_dma(void **state) {
  (void)state;
  fake_reset();
  fake_endpoint(NULL, 0, 0, 0x060000); /* a host bridge: not listed as a device */
  struct fake_function *port = fake_bridge(NULL, 3, FAKE_ROOT_PORT);
  struct fake_function *drive = drive_below(port);
  assert_int_equal(enumerate(), SPATE_OK);

  assert_int_equal(host.device_count, 1);
  assert_int_equal(host.bridge_count, 1);
  struct spate_pcie_device *device;
  assert_int_equal(spate_pcie_find(&host, NVME, 0, &device), SPATE_OK);
  assert_at(device->address, 1, 0, 0);
  assert_int_equal(device->vendor_id, 0x1b36);
  assert_int_equal(device->device_id, 0x0010);
  assert_int_equal(device->class_code, NVME);
  assert_int_equal(device->bar0_bytes, 0x4000);
  assert_int_equal(device->bar0, fake_bar_address(drive, 0) - WINDOW_BUS + WINDOW_CPU);
  assert_int_equal(device->payload_bytes, 256);
  assert_int_equal(device->read_request_bytes, 512);
  assert_int_equal(drive->config[0x04 / 4] & 0x407, 0x406); /* memory, master, no INTx; I/O off */
  assert_int_equal(port->config[0x18 / 4], 0x00010100);
  assert_all_reachable(WINDOW_BYTES);
}

static void enumerating_again_finds_the_same(void **state) {
  (void)state;
  a_switch_gets_nested_bus_numbers_and_windows(state);
  struct spate_pcie_host before = host;
  assert_int_equal(enumerate(), SPATE_OK);
  assert_memory_equal(&before.devices, &host.devices, sizeof host.devices);

  /* Stale bus numbers that overlap each other and the new ones. */
  for (unsigned i = 0; i < fake.count; i++)
    if (is_bridge(&fake.functions[i])) fake.functions[i].config[0x18 / 4] = 0x00ff0100u;
  assert_int_equal(enumerate(), SPATE_OK);
  assert_memory_equal(&before.devices, &host.devices, sizeof host.devices);

  /* Without one of the first drives the others get other buses and windows, whatever was in the registers. */
  for (unsigned i = 0; i < fake.count; i++)
    if (fake.functions[i].device == 0 && fake.functions[i].parent && fake.functions[i].parent->device == 0 &&
        (fake.functions[i].config[0x08 / 4] >> 8) == NVME)
      fake.functions[i].removed = true;
  assert_int_equal(enumerate(), SPATE_OK);
  assert_int_equal(host.device_count, 3);
}

static void a_port_that_answers_for_every_device_has_one(void **state) {
  (void)state;
  fake_reset();
  struct fake_function *port = fake_bridge(NULL, 0, FAKE_ROOT_PORT);
  drive_below(port);
  struct fake_function *up = fake_bridge(fake_bridge(NULL, 1, FAKE_ROOT_PORT), 0, FAKE_UPSTREAM);
  struct fake_function *down = fake_bridge(up, 7, FAKE_DOWNSTREAM);
  drive_below(down);
  port->answers_all = down->answers_all = up->parent->answers_all = true;
  assert_int_equal(enumerate(), SPATE_OK);
  assert_int_equal(host.device_count, 2);
  assert_int_equal(host.bridge_count, 4);
}

static void functions_above_0_exist_where_function_0_says_so(void **state) {
  (void)state;
  fake_reset();
  struct fake_function *port = fake_bridge(NULL, 0, FAKE_ROOT_PORT);
  struct fake_function *first = fake_endpoint(port, 0, 0, 0x010601);
  struct fake_function *fifth = fake_endpoint(port, 0, 5, NVME);
  fake_bar(fifth, 0, 0x4000, BAR_64);
  assert_int_equal(enumerate(), SPATE_OK);
  struct spate_pcie_device *device;
  assert_int_equal(spate_pcie_find(&host, NVME, 0, &device), SPATE_E_WRONG_CLASS);

  first->config[0x0c / 4] |= 0x00800000u;
  uint64_t start = fake.now_ticks;
  assert_int_equal(enumerate(), SPATE_OK);
  assert_in_range(fake.now_ticks - start, 0, 10 * FAKE_MS); /* no wait for functions 1–4, though the link is up */
  assert_int_equal(spate_pcie_find(&host, NVME, 0, &device), SPATE_OK);
  assert_at(device->address, 1, 0, 5);
}

static void a_loop_of_capabilities_ends(void **state) {
  (void)state;
  fake_reset();
  struct fake_function *drive = drive_below(fake_bridge(NULL, 0, FAKE_ROOT_PORT));
  drive->config[0x40 / 4] = 0x4001; /* its own successor */
  assert_int_equal(enumerate(), SPATE_OK);
  assert_int_equal(host.devices[0].link.speed, 0);
  drive->config[0x40 / 4] = 0x2c01; /* into the header, where data looks like the right capability */
  drive->config[0x2c / 4] = 0x0010;
  drive->config[(0x2c + 0x0c) / 4] = 0x0043;
  assert_int_equal(enumerate(), SPATE_OK);
  assert_int_equal(host.devices[0].link.speed_max, 0);
}

static void too_many_functions_below_the_root_are_reported(void **state) {
  (void)state;
  fake_reset();
  struct fake_function *bridge = NULL;
  for (unsigned i = 0; i < SPATE_PCIE_BRIDGES_MAX; i++)
    bridge = fake_bridge(bridge, 0, FAKE_UPSTREAM);
  struct fake_function *last = bridge;
  drive_below(last);
  assert_int_equal(enumerate(), SPATE_OK);
  assert_at(host.devices[0].address, SPATE_PCIE_BRIDGES_MAX, 0, 0);
  assert_all_reachable(WINDOW_BYTES);
  assert_int_equal(host.left_out, 0);
  struct fake_function *many = fake_bridge(last, 1, FAKE_UPSTREAM);
  struct fake_function *behind = drive_below(many);
  assert_int_equal(enumerate(), SPATE_OK);
  assert_at(host.failed_at, SPATE_PCIE_BRIDGES_MAX, 1, 0);
  assert_int_equal(host.left_out, 1);
  assert_int_equal(host.device_count, 1);
  assert_false(fake_can_dma(many)); /* off, whatever firmware had set */
  assert_false(fake_can_dma(behind));
  assert_int_equal(many->config[0x18 / 4], 0);

  fake_reset();
  for (unsigned i = 0; i <= SPATE_PCIE_DEVICES_MAX; i++)
    fake_endpoint(NULL, i, 0, NVME);
  assert_int_equal(enumerate(), SPATE_OK);
  assert_int_equal(host.device_count, SPATE_PCIE_DEVICES_MAX);
  assert_int_equal(host.left_out, 1);
  assert_at(host.failed_at, 0, SPATE_PCIE_DEVICES_MAX, 0);

  /* As many BARs as possible. */
  fake_reset();
  for (unsigned i = 0; i < SPATE_PCIE_DEVICES_MAX; i++) {
    struct fake_function *endpoint = fake_endpoint(NULL, i, 0, NVME);
    for (unsigned index = 0; index < 6; index++)
      fake_bar(endpoint, index, 4096, BAR_32);
  }
  assert_int_equal(enumerate(), SPATE_OK);
  assert_int_equal(host.device_count, SPATE_PCIE_DEVICES_MAX);
  assert_all_reachable(WINDOW_BYTES);

  fake_reset();
  bridge = NULL;
  for (unsigned i = 0; i < 3; i++)
    bridge = fake_bridge(bridge, 0, FAKE_UPSTREAM);
  drive_below(bridge);
  struct spate_pcie_ecam_config config = ecam_config(WINDOW_BYTES, 0);
  config.last_bus = 2;
  assert_int_equal(spate_pcie_ecam_open(&host, &config), SPATE_OK);
  assert_int_equal(spate_pcie_enumerate(&host, 0), SPATE_E_TOPOLOGY);
  assert_at(host.failed_at, 2, 0, 0);
}

static void ecam_refuses_what_cannot_be(void **state) {
  (void)state;
  fake_reset();
  struct spate_pcie_ecam_config config = ecam_config(WINDOW_BYTES, 0);
  fake.accesses = 0;
  assert_int_equal(spate_pcie_ecam_open(&host, &config), SPATE_E_NO_BRIDGE);
  assert_int_equal(fake.accesses, 32); /* the devices of the first bus, and no more */
  fake.background = 0;
  assert_int_equal(spate_pcie_ecam_open(&host, &config), SPATE_E_NO_BRIDGE);
  fake.background = UINT32_MAX;
  fake_bridge(NULL, 31, FAKE_ROOT_PORT);
  assert_int_equal(spate_pcie_ecam_open(&host, &config), SPATE_OK);

  config.config_base += 0x1000;
  assert_int_equal(spate_pcie_ecam_open(&host, &config), SPATE_E_INVALID);
  config = ecam_config(WINDOW_BYTES, 0), config.first_bus = 3, config.last_bus = 2;
  assert_int_equal(spate_pcie_ecam_open(&host, &config), SPATE_E_INVALID);
  config = ecam_config(0, 0);
  assert_int_equal(spate_pcie_ecam_open(&host, &config), SPATE_E_INVALID);
  config = ecam_config(4 * GIB, 0); /* past 4 GiB on the bus */
  assert_int_equal(spate_pcie_ecam_open(&host, &config), SPATE_E_INVALID);
  config = ecam_config(WINDOW_BYTES, 0), config.memory.cpu_address = UINT64_MAX - WINDOW_BYTES + 2;
  assert_int_equal(spate_pcie_ecam_open(&host, &config), SPATE_E_INVALID);
  config.memory.cpu_address--; /* the last byte there is */
  assert_int_equal(spate_pcie_ecam_open(&host, &config), SPATE_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_drive_behind_a_root_port_is_ready_for_dma),
      cmocka_unit_test(a_switch_gets_nested_bus_numbers_and_windows),
      cmocka_unit_test(enumerating_again_finds_the_same),
      cmocka_unit_test(a_port_that_answers_for_every_device_has_one),
      cmocka_unit_test(functions_above_0_exist_where_function_0_says_so),
      cmocka_unit_test(a_loop_of_capabilities_ends),
      cmocka_unit_test(too_many_functions_below_the_root_are_reported),
      cmocka_unit_test(ecam_refuses_what_cannot_be),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
