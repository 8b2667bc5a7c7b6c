/* SPDX-License-Identifier: Apache-2.0 */
/* Edge cases of enumeration and restoring: the last device and function, the largest window, a second enumeration,
 * several links in series. */
#include "pcie/internal.h"
#include "pcie_fixture.h"

/* ---- the devices that are listed ---- */

static void the_last_device_and_function_are_found(void **state) {
  (void)state;
  fake_reset();
  struct fake_function *first = fake_endpoint(NULL, 31, 0, NVME);
  fake_endpoint(NULL, 31, 7, NVME);
  first->config[0x0c / 4] |= 0x00800000u; /* several functions */
  fake_endpoint(NULL, 30, 0, NVME);
  fake_endpoint(NULL, 30, 1, NVME); /* its function 0 does not have the multi-function bit */
  assert_int_equal(enumerate(), SPATE_OK);
  assert_int_equal(host.device_count, 3);
  assert_at(host.devices[0].address, 0, 30, 0);
  assert_at(host.devices[1].address, 0, 31, 0);
  assert_at(host.devices[2].address, 0, 31, 7);
}

/* Only vendor ID 0001h is "retry"; a vendor ID that ends in 01h is a vendor. */
static void a_vendor_id_is_not_mistaken_for_retry(void **state) {
  (void)state;
  fake_reset();
  fake_endpoint(NULL, 0, 0, NVME)->config[0] = 0x12348001u;
  const uint64_t start = fake.now_ticks;
  assert_int_equal(enumerate(), SPATE_OK);
  assert_int_equal(host.devices[0].vendor_id, 0x8001);
  assert_in_range(fake.now_ticks - start, 0, 10 * FAKE_MS);
}

static void the_first_device_left_out_is_named(void **state) {
  (void)state;
  fake_reset();
  for (unsigned i = 0; i < SPATE_PCIE_DEVICES_MAX + 3; i++)
    fake_endpoint(NULL, i, 0, NVME);
  assert_int_equal(enumerate(), SPATE_OK);
  assert_int_equal(host.left_out, 3);
  assert_at(host.failed_at, 0, SPATE_PCIE_DEVICES_MAX, 0);
}

/* No result of an enumeration remains when the next one fails, or when it finds less. */
static void enumeration_starts_from_a_clean_host(void **state) {
  (void)state;
  fake_reset();
  struct fake_function *port = fake_bridge(NULL, 0, FAKE_ROOT_PORT);
  drive_below(port);
  for (unsigned i = 0; i < SPATE_PCIE_DEVICES_MAX; i++)
    fake_endpoint(NULL, 1 + i, 0, NVME);
  assert_int_equal(enumerate(), SPATE_OK);
  assert_int_equal(spate_pcie_enumerate(&host, 0), SPATE_OK);
  assert_int_equal(host.device_count, SPATE_PCIE_DEVICES_MAX);
  assert_int_equal(host.bridge_count, 1);
  assert_int_equal(host.left_out, 1);
  for (unsigned i = 1; i < fake.count; i++)
    fake.functions[i].removed = true;
  port->link_ticks = FAKE_NEVER;
  assert_int_equal(spate_pcie_enumerate(&host, 0), SPATE_E_LINK_DOWN);
  assert_int_equal(host.device_count, 0);
  assert_int_equal(host.bridge_count, 0);
  assert_int_equal(host.left_out, 0);
  struct spate_pcie_device *device;
  assert_int_equal(spate_pcie_find(&host, NVME, 0, &device), SPATE_E_NO_DEVICE);
}

/* What was counted before the devices were listed again says nothing about them. */
static void changes_of_before_are_forgotten(void **state) {
  (void)state;
  fake_reset();
  drive_below(fake_bridge(NULL, 0, FAKE_ROOT_PORT));
  assert_int_equal(enumerate(), SPATE_OK);
  host.changes++; /* noted while another device was restored */
  assert_false(spate_pcie_link_is_up(&host, &host.devices[0]));
  assert_int_equal(spate_pcie_enumerate(&host, 0), SPATE_OK);
  assert_true(spate_pcie_link_is_up(&host, &host.devices[0]));
}

/* A bridge for which no bus number is left gets none, and nothing below it is read. */
static void bus_numbers_end_where_they_end(void **state) {
  (void)state;
  fake_reset();
  struct fake_function *ports[2];
  for (unsigned i = 0; i < 2; i++)
    drive_below(ports[i] = fake_bridge(NULL, i, FAKE_ROOT_PORT));
  struct spate_pcie_ecam_config config = ecam_config(WINDOW_BYTES, 0);
  config.last_bus = 1;
  assert_int_equal(spate_pcie_ecam_open(&host, &config), SPATE_OK);
  assert_int_equal(spate_pcie_enumerate(&host, 0), SPATE_OK);
  assert_int_equal(host.device_count, 1);
  assert_int_equal(host.left_out, 1);
  assert_at(host.failed_at, 0, 1, 0);
  assert_int_equal(ports[1]->config[0x18 / 4], 0);
}

static void an_empty_slot_is_not_read(void **state) {
  (void)state;
  fake_reset();
  struct fake_function *port = fake_bridge(NULL, 2, FAKE_ROOT_PORT);
  port->link_ticks = FAKE_NEVER;
  *fake_express_register(port, 0x00) |= 0x01000000u;
  fake.first_below_ticks = 0;
  assert_int_equal(enumerate(), SPATE_E_NO_DEVICE);
  assert_int_equal(fake.first_below_ticks, 0);
}

/* ---- windows ---- */

static void windows_end_below_the_last_address(void **state) {
  const uint64_t most = UINT64_C(1) << 48, page = 4096;
  const struct {
    struct spate_pcie_window prefetchable;
    bool valid;
  } cases[] = {
      {{0, 0, 0}, true},
      {{UINT64_MAX, UINT64_MAX, 0}, true}, /* none */
      {{most, HIGH_BUS, most}, true},
      {{most, HIGH_BUS, most + page}, false},
      {{0, UINT64_MAX - most + 1 - page, MIB}, true},
      {{0, UINT64_MAX - most + 1, MIB}, false},
      {{UINTPTR_MAX - page + 1, HIGH_BUS, page}, true},
      {{UINTPTR_MAX - page + 2, HIGH_BUS, page}, false},
      {{UINTPTR_MAX - MIB + 1, HIGH_BUS, MIB}, true},
      {{UINTPTR_MAX - MIB + 2, HIGH_BUS, MIB}, false},
  };
  (void)state;
  fake_reset();
  fake_endpoint(NULL, 0, 0, NVME);
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct spate_pcie_ecam_config config = ecam_config(WINDOW_BYTES, 0);
    config.prefetchable = cases[i].prefetchable;
    assert_int_equal(spate_pcie_ecam_open(&host, &config), cases[i].valid ? SPATE_OK : SPATE_E_INVALID);
  }
}

/* One address cannot lead to two places, and a BAR of one window must not be placed over one of the other. */
static void windows_do_not_overlap(void **state) {
  const uint64_t page = 4096;
  const struct {
    struct spate_pcie_window memory, prefetchable;
    bool valid;
  } cases[] = {
      {{WINDOW_CPU, WINDOW_BUS, MIB}, {WINDOW_CPU + MIB, WINDOW_BUS + MIB, MIB}, true}, /* side by side */
      {{WINDOW_CPU + MIB, WINDOW_BUS + MIB, MIB}, {WINDOW_CPU, WINDOW_BUS, MIB}, true},
      {{WINDOW_CPU, WINDOW_BUS, MIB}, {WINDOW_CPU + MIB, WINDOW_BUS + MIB - page, MIB}, false},
      {{WINDOW_CPU, WINDOW_BUS, MIB}, {WINDOW_CPU + MIB - page, WINDOW_BUS + MIB, MIB}, false},
      {{WINDOW_CPU + MIB - page, WINDOW_BUS + MIB, MIB}, {WINDOW_CPU, WINDOW_BUS, MIB}, false},
      {{WINDOW_CPU + MIB, WINDOW_BUS + MIB - page, MIB}, {WINDOW_CPU, WINDOW_BUS, MIB}, false},
      {{WINDOW_CPU, WINDOW_BUS, MIB}, {WINDOW_CPU, WINDOW_BUS, MIB}, false},
      {{WINDOW_CPU, WINDOW_BUS, MIB}, {WINDOW_CPU, WINDOW_BUS, 0}, true}, /* there is no second one */
  };
  (void)state;
  fake_reset();
  fake_endpoint(NULL, 0, 0, NVME);
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct spate_pcie_ecam_config config = ecam_config(WINDOW_BYTES, 0);
    config.memory = cases[i].memory;
    config.prefetchable = cases[i].prefetchable;
    assert_int_equal(spate_pcie_ecam_open(&host, &config), cases[i].valid ? SPATE_OK : SPATE_E_INVALID);
  }
}

/* A processor with 32-bit addresses reaches a bus above 4 GiB only through a window that is below 4 GiB for itself. */
static void a_32_bit_processor_needs_windows_that_it_can_address(void **state) {
  const uint64_t last = UINT32_MAX, top = UINT64_C(1) << 32;
  const struct spate_pcie_window low = {0x40000000, 0x80000000, MIB};
  const struct {
    struct spate_pcie_window memory, prefetchable;
    bool valid;
  } cases[] = {
      {low, {0, 0, 0}, true},
      {low, {0x50000000, HIGH_BUS, GIB}, true},
      {low, {top - MIB, HIGH_BUS, MIB}, true},
      {low, {top - MIB, HIGH_BUS, 2 * MIB}, false},
      {low, {top, HIGH_BUS, MIB}, false},
      {{WINDOW_CPU, 0x80000000, MIB}, {0, 0, 0}, false}, /* the 64-bit aperture of a Zynq UltraScale+, from its R5F */
      {{top - MIB, 0x80000000, MIB}, {0, 0, 0}, true},
      {{top - MIB + 4096, 0x80000000, MIB}, {0, 0, 0}, false},
  };
  (void)state;
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    assert_int_equal(spate_pcie_windows_valid(&cases[i].memory, &cases[i].prefetchable, last), cases[i].valid);
    assert_true(spate_pcie_windows_valid(&cases[i].memory, &cases[i].prefetchable, UINT64_MAX));
  }
}

/* Addresses are aligned to where a window begins and ends. */
static void windows_are_whole_pages(void **state) {
  const struct {
    uint64_t bus_address, bytes;
    bool valid;
  } cases[] = {{HIGH_BUS + 4096, 4096, true}, {HIGH_BUS, MIB + 4096, true}, {HIGH_BUS + 2048, MIB, false},
               {HIGH_BUS + 1, MIB, false},    {HIGH_BUS, 2048, false},      {HIGH_BUS, MIB + 1, false},
               {HIGH_BUS + 1, MIB - 1, false}};
  (void)state;
  fake_reset();
  fake_endpoint(NULL, 0, 0, NVME);
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct spate_pcie_ecam_config config = ecam_config(WINDOW_BYTES, 0);
    config.prefetchable = (struct spate_pcie_window){HIGH_CPU, cases[i].bus_address, cases[i].bytes};
    assert_int_equal(spate_pcie_ecam_open(&host, &config), cases[i].valid ? SPATE_OK : SPATE_E_INVALID);
  }
}

/* ---- links ---- */

/* The second port's link comes up during the wait for the first one: the library cannot know how long ago. */
static void a_link_that_came_up_meanwhile_is_left_alone_for_100_ms(void **state) {
  (void)state;
  fake_reset();
  for (unsigned i = 0; i < 2; i++) {
    struct fake_function *port = fake_bridge(NULL, i, FAKE_ROOT_PORT);
    drive_below(port);
    fake_express(port, 2, i == 0 ? 1 : 3, 1, i == 0 ? 1 : 3, 1);
    port->link_ticks = fake.now_ticks + (i == 0 ? 300 : 299) * FAKE_MS;
  }
  const uint64_t start = fake.now_ticks;
  assert_int_equal(enumerate(), SPATE_OK);
  assert_int_equal(host.device_count, 2);
  assert_in_range(fake.now_ticks - start, 400 * FAKE_MS, 405 * FAKE_MS); /* the first is of 2.5 GT/s: no wait */
}

/* Two links in series. The lower one comes up a given time after the upper one. Each is left alone for 100 ms once it
 * is up. */
static void links_settle_one_behind_the_other(void **state) {
  static const unsigned later_ms[] = {0, 50, 150, 400}, silent_ms[] = {0, 700};
  (void)state;
  for (unsigned i = 0; i < sizeof later_ms / sizeof later_ms[0]; i++) {
    for (unsigned j = 0; j < sizeof silent_ms / sizeof silent_ms[0]; j++) {
      fake_reset();
      struct fake_function *root = fake_bridge(NULL, 0, FAKE_ROOT_PORT);
      struct fake_function *down = fake_bridge(fake_bridge(root, 0, FAKE_UPSTREAM), 0, FAKE_DOWNSTREAM);
      struct fake_function *drive = drive_below(down);
      assert_int_equal(enumerate(), SPATE_OK);
      const uint64_t start = fake.now_ticks;
      fake_link_drop(root, start);
      fake_link_drop(down, start + later_ms[i] * FAKE_MS);
      drive->silent_ticks = start + silent_ms[j] * FAKE_MS;
      assert_int_equal(restore(&host.devices[0], 2000), SPATE_OK);
      const unsigned seen_ms =
          later_ms[i] < 100 ? 100 : later_ms[i]; /* the lower port is read when the upper link has settled */
      const unsigned ready_ms = silent_ms[j] > seen_ms + 100 ? silent_ms[j] : seen_ms + 100;
      assert_in_range(fake.now_ticks - start, ready_ms * FAKE_MS, (ready_ms + 4) * FAKE_MS);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_last_device_and_function_are_found),
      cmocka_unit_test(a_vendor_id_is_not_mistaken_for_retry),
      cmocka_unit_test(the_first_device_left_out_is_named),
      cmocka_unit_test(enumeration_starts_from_a_clean_host),
      cmocka_unit_test(changes_of_before_are_forgotten),
      cmocka_unit_test(bus_numbers_end_where_they_end),
      cmocka_unit_test(an_empty_slot_is_not_read),
      cmocka_unit_test(windows_end_below_the_last_address),
      cmocka_unit_test(windows_do_not_overlap),
      cmocka_unit_test(a_32_bit_processor_needs_windows_that_it_can_address),
      cmocka_unit_test(windows_are_whole_pages),
      cmocka_unit_test(a_link_that_came_up_meanwhile_is_left_alone_for_100_ms),
      cmocka_unit_test(links_settle_one_behind_the_other),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
