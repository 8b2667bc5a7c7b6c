/* SPDX-License-Identifier: Apache-2.0 */
/* Windows and BARs: where each BAR is placed, what happens to BARs without a place, and what an address reaches. */
#include "pcie_fixture.h"

static void prefetchable_64_bit_bars_go_high_where_every_bridge_agrees(void **state) {
  (void)state;
  fake_reset();
  struct fake_function *wide = fake_bridge(NULL, 0, FAKE_ROOT_PORT);
  struct fake_function *high = drive_below(wide);
  fake_bar(high, 2, 256 * MIB, BAR_64_PREF);
  fake_bar(high, 4, MIB, BAR_32_PREF);
  struct fake_function *narrow = fake_bridge(NULL, 1, FAKE_ROOT_PORT);
  narrow->config[0x24 / 4] = 0; /* 32-bit addresses only */
  struct fake_function *low = drive_below(narrow);
  fake_bar(low, 2, MIB, BAR_64_PREF);
  struct fake_function *none = fake_bridge(NULL, 2, FAKE_ROOT_PORT);
  none->config[0x24 / 4] = none->writable[0x24 / 4] = 0; /* no prefetchable window at all */
  struct fake_function *other = fake_endpoint(none, 0, 0, NVME);
  fake_bar(other, 0, MIB, BAR_64_PREF);
  struct fake_function *integrated = fake_endpoint(NULL, 3, 0, 0x020000);
  fake_bar(integrated, 0, MIB, BAR_64_PREF);

  assert_int_equal(enumerate_with(WINDOW_BYTES, GIB), SPATE_OK);
  assert_all_reachable(WINDOW_BYTES);
  assert_true(fake_bar_address(high, 2) >= HIGH_BUS);
  assert_true(fake_bar_address(integrated, 0) >= HIGH_BUS);
  assert_true(fake_bar_address(high, 0) < HIGH_BUS);
  assert_true(fake_bar_address(high, 4) < HIGH_BUS);
  assert_true(fake_bar_address(low, 2) < HIGH_BUS);
  assert_true(fake_bar_address(other, 0) < HIGH_BUS);

  /* A bridge with a 64-bit window does not help below one that has a 32-bit window. */
  fake_reset();
  struct fake_function *top = fake_bridge(NULL, 0, FAKE_ROOT_PORT);
  top->config[0x24 / 4] = 0;
  struct fake_function *drive = drive_below(fake_bridge(fake_bridge(top, 0, FAKE_UPSTREAM), 0, FAKE_DOWNSTREAM));
  fake_bar(drive, 2, MIB, BAR_64_PREF);
  assert_int_equal(enumerate_with(WINDOW_BYTES, GIB), SPATE_OK);
  assert_all_reachable(WINDOW_BYTES);
}

static void bar_0_in_the_high_window_has_its_cpu_address(void **state) {
  (void)state;
  fake_reset();
  struct fake_function *drive = fake_endpoint(fake_bridge(NULL, 0, FAKE_ROOT_PORT), 0, 0, NVME);
  fake_bar(drive, 0, 0x8000, BAR_64_PREF);
  assert_int_equal(enumerate_with(WINDOW_BYTES, GIB), SPATE_OK);
  assert_int_equal(host.devices[0].bar0, fake_bar_address(drive, 0) - HIGH_BUS + HIGH_CPU);
  fake_bar(drive, 2, 8 * GIB, BAR_64_PREF);
  assert_int_equal(enumerate_with(WINDOW_BYTES, 32 * GIB), SPATE_OK);
  assert_all_reachable(WINDOW_BYTES);
}

static void io_bars_are_left_alone(void **state) {
  (void)state;
  fake_reset();
  struct fake_function *drive = drive_below(fake_bridge(NULL, 0, FAKE_ROOT_PORT));
  fake_bar(drive, 4, 0x20, BAR_IO);
  drive->config[0x20 / 4] |= 0xc040;
  assert_int_equal(enumerate(), SPATE_OK);
  assert_int_equal(drive->config[0x20 / 4], 0xc041);
  assert_int_equal(drive->parent->config[0x1c / 4] & 0xffff, 0x00f0); /* closed: base above limit */
}

/* A BAR without a place is put aside: no address that the host can send reaches it. */
static void assert_out_of_the_way(const struct fake_function *function, unsigned index) {
  if ((function->config[0x04 / 4] & 2) == 0) return;
  uint64_t first = fake_bar_address(function, index), last = first + function->bar_bytes[index] - 1;
  const struct spate_pcie_window *windows[] = {&host.memory, &host.prefetchable};
  for (unsigned i = 0; i < 2; i++) {
    uint64_t end = (windows[i]->bus_address + windows[i]->bytes + MIB - 1) / MIB * MIB; /* rounded as bridges do */
    assert_true(windows[i]->bytes == 0 || last < windows[i]->bus_address || first >= end);
  }
}

static enum spate_error find_drive(struct spate_pcie_device **device) {
  return spate_pcie_find(&host, NVME, 0, device);
}

/* BAR 5 says that it has 64 bits. The register behind it is another one (7.5.1.2). */
static void the_last_bar_has_no_upper_half(void **state) {
  (void)state;
  fake_reset();
  struct fake_function *drive = drive_below(NULL);
  fake_bar(drive, 5, 0x10000, BAR_64);
  drive->writable[0x28 / 4] = UINT32_MAX;
  drive->config[0x28 / 4] = 0x12345678;
  assert_int_equal(enumerate(), SPATE_OK);
  assert_int_equal(drive->config[0x28 / 4], 0x12345678);
  assert_in_range(drive->config[0x24 / 4] & ~0xfu, WINDOW_BUS, WINDOW_BUS + WINDOW_BYTES - 0x10000);
}

static void a_drive_is_usable_beside_bars_that_are_too_large(void **state) {
  (void)state;
  static const struct {
    uint64_t bytes;
    uint32_t flags;
  } large[] = {{256 * MIB, BAR_64_PREF}, {256 * MIB, BAR_64},         {256 * MIB, BAR_32},    {MIB, BAR_32},
               {MIB, BAR_64_PREF},       {UINT64_C(1) << 63, BAR_64}, {64 * GIB, BAR_64_PREF}};
  for (unsigned i = 0; i < sizeof large / sizeof large[0]; i++) {
    for (unsigned neighbour = 0; neighbour < 2; neighbour++) {
      fake_reset();
      struct fake_function *port = fake_bridge(NULL, 0, FAKE_ROOT_PORT);
      struct fake_function *other = NULL, *drive;
      if (neighbour) other = fake_endpoint(fake_bridge(NULL, 1, FAKE_ROOT_PORT), 0, 0, 0x020000);
      drive = drive_below(port);
      if (neighbour) fake_bar(other, 0, large[i].bytes, large[i].flags);
      fake_bar(drive, neighbour ? 4 : 2, neighbour ? 0x1000 : large[i].bytes, neighbour ? BAR_32 : large[i].flags);
      assert_int_equal(enumerate_with(MIB, 0), SPATE_OK);

      struct spate_pcie_device *device;
      assert_int_equal(find_drive(&device), SPATE_OK);
      assert_int_equal(device->bar0, fake_bar_address(drive, 0) - WINDOW_BUS + WINDOW_CPU);
      assert_int_equal(device->bar0_bytes, 0x4000);
      unsigned bar = 9;
      assert_ptr_equal(fake_decode(fake_bar_address(drive, 0), &bar), drive);
      assert_int_equal(bar, 0);
      assert_true(fake_can_dma(drive));
      assert_out_of_the_way(neighbour ? other : drive, neighbour ? 0 : 2);
      if (!neighbour) continue;
      if (large[i].bytes > MIB)
        assert_ptr_equal(fake_decode(fake_bar_address(drive, 4), &bar), drive);
      else
        assert_out_of_the_way(drive, 4); /* it was left out before any BAR 0 */
      assert_int_equal(spate_pcie_find(&host, 0x020000, 0, &device), SPATE_E_WINDOW);
      assert_at(device->address, other->parent->config[0x18 / 4] >> 8 & 0xff, 0, 0);
      assert_int_equal(device->bar0, 0);
      assert_int_equal(device->bar0_bytes, large[i].bytes);
    }
  }
}

static void a_bar_0_larger_than_the_window_is_named(void **state) {
  (void)state;
  static const struct {
    uint64_t bytes;
    uint32_t flags;
    enum spate_error error;
  } cases[] = {
      {WINDOW_BYTES, BAR_32, SPATE_OK},
      {2 * WINDOW_BYTES, BAR_32, SPATE_E_WINDOW},
      {2 * WINDOW_BYTES, BAR_64, SPATE_E_WINDOW},
      {UINT64_C(1) << 31, BAR_32, SPATE_E_WINDOW},
      {UINT64_C(1) << 63, BAR_64, SPATE_E_WINDOW},
  };
  struct spate_pcie_device *device;
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    fake_reset();
    struct fake_function *drive = fake_endpoint(fake_bridge(NULL, 0, FAKE_ROOT_PORT), 0, 0, NVME);
    fake_bar(drive, 0, cases[i].bytes, cases[i].flags);
    assert_int_equal(enumerate(), SPATE_OK);
    assert_int_equal(find_drive(&device), cases[i].error);
    assert_int_equal(device->bar0_bytes, cases[i].bytes);
    assert_int_equal(device->bar0 == 0, cases[i].error != SPATE_OK);
    if (cases[i].error) assert_out_of_the_way(drive, 0);
  }

  /* A BAR that has no writable address bit claims every address: it is never decoded. */
  fake_reset();
  struct fake_function *odd = fake_endpoint(fake_bridge(NULL, 0, FAKE_ROOT_PORT), 0, 0, NVME);
  odd->config[0x10 / 4] = BAR_64;
  assert_int_equal(enumerate(), SPATE_OK);
  assert_int_equal(odd->config[0x04 / 4] & 2, 0);
  assert_int_equal(host.devices[0].bar0, 0);
}

/* A 32-bit BAR without a place is put at the top of 4 GiB. A window there leaves no room for it. */
static void a_bar_that_cannot_be_put_aside_is_not_decoded(void **state) {
  (void)state;
  fake_reset();
  struct fake_function *port = fake_bridge(NULL, 0, FAKE_ROOT_PORT), *drive = drive_below(port);
  fake_bar(drive, 2, 2 * MIB, BAR_32);
  struct spate_pcie_ecam_config config = ecam_config(MIB, 0);
  struct spate_pcie_device *device;
  config.memory.bus_address = 4 * GIB - 3 * MIB;
  for (unsigned i = 0; i < 3; i++, config.memory.bus_address += MIB) {
    assert_int_equal(spate_pcie_ecam_open(&host, &config), SPATE_OK);
    assert_int_equal(spate_pcie_enumerate(&host, 0), SPATE_OK);
    assert_int_equal(find_drive(&device), i ? SPATE_E_WINDOW : SPATE_OK);
    assert_int_equal(drive->config[0x04 / 4] & 6, i ? 4 : 6);
    assert_out_of_the_way(drive, 2);
  }

  /* A bridge has to decode: otherwise nothing below it is reached. */
  fake_bar(port, 0, 2 * MIB, BAR_32);
  config.memory.bus_address -= MIB;
  assert_int_equal(spate_pcie_ecam_open(&host, &config), SPATE_OK);
  assert_int_equal(spate_pcie_enumerate(&host, 0), SPATE_E_WINDOW);
  assert_at(host.failed_at, 0, 0, 0);
}

static void the_largest_bars_are_left_out_until_the_rest_fit(void **state) {
  (void)state;
  fake_reset();
  struct fake_function *port = fake_bridge(NULL, 0, FAKE_ROOT_PORT);
  struct fake_function *card = fake_endpoint(fake_bridge(NULL, 1, FAKE_ROOT_PORT), 0, 0, 0x030000);
  fake_bar(card, 0, WINDOW_BYTES, BAR_64);
  fake_bar(card, 2, 2 * MIB, BAR_64);
  struct fake_function *drive = drive_below(port);
  fake_bar(drive, 2, WINDOW_BYTES / 2, BAR_64);
  fake_bar(port, 0, WINDOW_BYTES / 2, BAR_32);
  assert_int_equal(enumerate(), SPATE_OK);
  struct spate_pcie_device *device;
  assert_int_equal(find_drive(&device), SPATE_OK); /* the card's BAR 0 and the drive's do not fit together */
  assert_int_equal(spate_pcie_find(&host, 0x030000, 0, &device), SPATE_E_WINDOW);
  assert_out_of_the_way(card, 0);
  assert_out_of_the_way(drive, 2);
  assert_out_of_the_way(port, 0);
}

static void a_window_is_filled_to_the_last_byte(void **state) {
  (void)state;
  fake_reset();
  struct fake_function *drive = fake_endpoint(fake_bridge(NULL, 0, FAKE_ROOT_PORT), 0, 0, NVME);
  fake_bar(drive, 0, MIB / 8, BAR_32);
  fake_bar(drive, 1, MIB / 2, BAR_32);
  fake_bar(drive, 2, MIB / 8, BAR_32);
  fake_bar(drive, 3, MIB / 4, BAR_64);
  assert_int_equal(enumerate_with(MIB, 0), SPATE_OK);
  assert_all_reachable(MIB);

  /* A window smaller than a bridge's granularity: the bridge's registers round up, but the BARs stay in the window. */
  fake_reset();
  drive = drive_below(fake_bridge(NULL, 0, FAKE_ROOT_PORT));
  assert_int_equal(enumerate_with(0x10000, 0), SPATE_OK);
  assert_all_reachable(0x10000);
  fake_bar(drive, 2, 0x10000, BAR_64);
  assert_int_equal(enumerate_with(0x10000, 0), SPATE_OK);
  assert_out_of_the_way(drive, 2);
}

static void bus_address_0_is_not_handed_out(void **state) {
  (void)state;
  fake_reset();
  struct fake_function *drive = drive_below(fake_bridge(NULL, 0, FAKE_ROOT_PORT));
  struct spate_pcie_ecam_config config = ecam_config(WINDOW_BYTES, 0);
  config.memory.bus_address = 0;
  assert_int_equal(spate_pcie_ecam_open(&host, &config), SPATE_OK);
  assert_int_equal(spate_pcie_enumerate(&host, 0), SPATE_OK);
  assert_int_not_equal(fake_bar_address(drive, 0), 0);
  assert_int_equal(host.devices[0].bar0, WINDOW_CPU + fake_bar_address(drive, 0));
}

static bool is_placed(const struct fake_function *function, unsigned index) {
  uint64_t first = fake_bar_address(function, index), last = first + function->bar_bytes[index] - 1;
  const struct spate_pcie_window *low = &host.memory, *high = &host.prefetchable;
  return (first >= low->bus_address && last < low->bus_address + low->bytes) ||
         (high->bytes && first >= high->bus_address && last < high->bus_address + high->bytes);
}

/* Returns the number of BARs that have no place. */
static unsigned assert_placed_or_out_of_the_way(void) {
  unsigned left_out = 0, left_out_0 = 0;
  for (unsigned i = 0; i < fake.count; i++) {
    struct fake_function *function = &fake.functions[i];
    for (unsigned index = 0; index < 6; index++) {
      unsigned bar = 9;
      if (!function->bar_bytes[index]) continue;
      if (!is_placed(function, index)) {
        assert_out_of_the_way(function, index);
        left_out++;
        if (index == 0 && !is_bridge(function)) left_out_0++;
        continue;
      }
      assert_ptr_equal(fake_decode(fake_bar_address(function, index), &bar), function);
      assert_int_equal(bar, index);
    }
  }
  for (unsigned i = 0; i < host.device_count; i++)
    if (host.devices[i].bar0_bytes && !host.devices[i].bar0) left_out_0--;
  assert_int_equal(left_out_0, 0);
  return left_out;
}

/* After each successful enumeration every BAR's addresses reach that BAR alone. */
static void random_trees_route_every_address(void **state) {
  (void)state;
  unsigned fitted = 0, with_left_out = 0;
  for (unsigned seed = 1; seed <= 3000; seed++) {
    random_state = seed * UINT64_C(0x9e3779b97f4a7c15);
    fake_reset();
    random_tree();
    assert_int_equal(enumerate_with(8 * MIB << below(3), below(2) ? 32 * MIB : 0), SPATE_OK);
    if (assert_placed_or_out_of_the_way()) {
      with_left_out++;
    } else {
      assert_all_reachable(host.memory.bytes);
      fitted++;
    }
  }
  assert_true(fitted > 1000); /* otherwise the windows above test nothing */
  assert_true(with_left_out > 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(prefetchable_64_bit_bars_go_high_where_every_bridge_agrees),
      cmocka_unit_test(bar_0_in_the_high_window_has_its_cpu_address),
      cmocka_unit_test(io_bars_are_left_alone),
      cmocka_unit_test(the_last_bar_has_no_upper_half),
      cmocka_unit_test(a_drive_is_usable_beside_bars_that_are_too_large),
      cmocka_unit_test(a_bar_0_larger_than_the_window_is_named),
      cmocka_unit_test(a_bar_that_cannot_be_put_aside_is_not_decoded),
      cmocka_unit_test(the_largest_bars_are_left_out_until_the_rest_fit),
      cmocka_unit_test(a_window_is_filled_to_the_last_byte),
      cmocka_unit_test(bus_address_0_is_not_handed_out),
      cmocka_unit_test(random_trees_route_every_address),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
