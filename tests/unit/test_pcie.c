/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_pci.c" /* one program: its host_* stand in for the hosted port's */

#include <spate/pcie.h>

#define MIB          UINT64_C(0x100000)
#define GIB          UINT64_C(0x40000000)
#define WINDOW_CPU   UINT64_C(0x500000000)
#define WINDOW_BUS   UINT64_C(0x80000000)
#define WINDOW_BYTES (64 * MIB)
#define HIGH_CPU     UINT64_C(0x2000000000)
#define HIGH_BUS     UINT64_C(0x1000000000)
#define NVME         SPATE_PCIE_CLASS_NVME
#define BAR_32       0x0u
#define BAR_64       0x4u
#define BAR_64_PREF  0xcu
#define BAR_32_PREF  0x8u
#define BAR_IO       0x1u

static struct spate_pcie_host host;

static struct spate_pcie_ecam_config ecam_config(uint64_t window_bytes, uint64_t high_bytes) {
  return (struct spate_pcie_ecam_config){
      .config_base = FAKE_ECAM_BASE,
      .last_bus = 255,
      .memory = {WINDOW_CPU, WINDOW_BUS, window_bytes},
      .prefetchable = {HIGH_CPU, HIGH_BUS, high_bytes},
  };
}

static enum spate_error enumerate_with(uint64_t window_bytes, uint64_t high_bytes) {
  struct spate_pcie_ecam_config config = ecam_config(window_bytes, high_bytes);
  assert_int_equal(spate_pcie_ecam_open(&host, &config), SPATE_OK);
  enum spate_error error = spate_pcie_enumerate(&host, 0);
  assert_int_equal(fake.status_offences, 0);
  assert_int_equal(fake.decoding_offences, 0);
  return error;
}

static enum spate_error enumerate(void) { return enumerate_with(WINDOW_BYTES, 0); }

static struct fake_function *drive_below(struct fake_function *port) {
  struct fake_function *drive = fake_endpoint(port, 0, 0, NVME);
  fake_bar(drive, 0, 0x4000, BAR_64);
  return drive;
}

/* Each BAR is inside a window, and an access to it reaches it and nothing else. */
static void assert_all_reachable(uint64_t window_bytes) {
  for (unsigned i = 0; i < fake.count; i++) {
    struct fake_function *function = &fake.functions[i];
    for (unsigned index = 0; index < 6; index++) {
      if (!function->bar_bytes[index] || (function->config[0x10 / 4 + index] & 1)) continue;
      uint64_t first = fake_bar_address(function, index), last = first + function->bar_bytes[index] - 1;
      assert_int_equal(first % function->bar_bytes[index], 0);
      assert_true(first >= HIGH_BUS || (first >= WINDOW_BUS && last < WINDOW_BUS + window_bytes));
      unsigned bar = 9;
      assert_ptr_equal(fake_decode(first, &bar), function);
      assert_int_equal(bar, index);
      assert_ptr_equal(fake_decode(last, &bar), function);
    }
    assert_true(fake_can_dma(function));
    if (is_bridge(function)) assert_false(forwards(function, 0x1000)); /* a window with nothing in it is closed */
  }
}

static void assert_at(struct spate_pcie_address at, unsigned bus, unsigned device, unsigned function) {
  assert_int_equal(at.bus, bus);
  assert_int_equal(at.device, device);
  assert_int_equal(at.function, function);
}

static void a_drive_behind_a_root_port_is_ready_for_dma(void **state) {
  (void)state;
  fake_reset();
  fake_endpoint(NULL, 0, 0, 0x060000); /* a host bridge: not a device of anybody's */
  struct fake_function *port = fake_bridge(NULL, 3, FAKE_ROOT_PORT);
  struct fake_function *drive = drive_below(port);
  assert_int_equal(enumerate(), SPATE_OK);

  assert_int_equal(host.device_count, 1);
  assert_int_equal(host.bridge_count, 1);
  const struct spate_pcie_device *device;
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

static void a_switch_gets_nested_bus_numbers_and_windows(void **state) {
  (void)state;
  fake_reset();
  struct fake_function *port = fake_bridge(NULL, 0, FAKE_ROOT_PORT);
  struct fake_function *up = fake_bridge(port, 0, FAKE_UPSTREAM);
  fake_bar(up, 0, 0x20000, BAR_32);
  struct fake_function *drives[3];
  for (unsigned i = 0; i < 3; i++) {
    struct fake_function *down = fake_bridge(up, 4 * i, FAKE_DOWNSTREAM);
    drives[i] = drive_below(down);
    fake_bar(drives[i], 2, 2 * MIB << i, BAR_64);
  }
  struct fake_function *second = fake_bridge(NULL, 1, FAKE_ROOT_PORT);
  drive_below(second);
  assert_int_equal(enumerate(), SPATE_OK);

  assert_int_equal(port->config[0x18 / 4], 0x00050100);
  assert_int_equal(up->config[0x18 / 4], 0x00050201);
  for (unsigned i = 0; i < 3; i++)
    assert_int_equal(drives[i]->parent->config[0x18 / 4], 0x00000002 | (0x101u * (3 + i)) << 8);
  assert_int_equal(second->config[0x18 / 4], 0x00060600);
  assert_int_equal(host.device_count, 4);
  assert_int_equal(host.bridge_count, 6);
  assert_all_reachable(WINDOW_BYTES);
  const struct spate_pcie_device *device;
  assert_int_equal(spate_pcie_find(&host, NVME, 3, &device), SPATE_OK);
  assert_at(device->address, 6, 0, 0);
  assert_int_equal(spate_pcie_find(&host, NVME, 4, &device), SPATE_E_WRONG_CLASS);
}

static void enumerating_again_finds_the_same(void **state) {
  (void)state;
  a_switch_gets_nested_bus_numbers_and_windows(state);
  struct spate_pcie_host before = host;
  assert_int_equal(enumerate(), SPATE_OK);
  assert_memory_equal(&before.devices, &host.devices, sizeof host.devices);

  /* Numbers left behind that overlap each other and the new ones. */
  for (unsigned i = 0; i < fake.count; i++)
    if (is_bridge(&fake.functions[i])) fake.functions[i].config[0x18 / 4] = 0x00ff0100u;
  assert_int_equal(enumerate(), SPATE_OK);
  assert_memory_equal(&before.devices, &host.devices, sizeof host.devices);

  /* A drive less, ahead of the others: buses and windows move up, whatever was in the registers. */
  for (unsigned i = 0; i < fake.count; i++)
    if (fake.functions[i].device == 0 && fake.functions[i].parent && fake.functions[i].parent->device == 0 &&
        (fake.functions[i].config[0x08 / 4] >> 8) == NVME)
      fake.functions[i].removed = true;
  assert_int_equal(enumerate(), SPATE_OK);
  assert_int_equal(host.device_count, 3);
}

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

  /* Below a narrow bridge a wide one does not help. */
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

/* A BAR without a place is out of the way: no address that the host can send reaches it. */
static void assert_out_of_the_way(const struct fake_function *function, unsigned index) {
  if ((function->config[0x04 / 4] & 2) == 0) return;
  uint64_t first = fake_bar_address(function, index), last = first + function->bar_bytes[index] - 1;
  const struct spate_pcie_window *windows[] = {&host.memory, &host.prefetchable};
  for (unsigned i = 0; i < 2; i++) {
    uint64_t end = (windows[i]->bus_address + windows[i]->bytes + MIB - 1) / MIB * MIB; /* as bridges count */
    assert_true(windows[i]->bytes == 0 || last < windows[i]->bus_address || first >= end);
  }
}

static enum spate_error find_drive(const struct spate_pcie_device **device) {
  return spate_pcie_find(&host, NVME, 0, device);
}

static void a_drive_is_usable_whatever_else_is_too_large(void **state) {
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

      const struct spate_pcie_device *device;
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
        assert_out_of_the_way(drive, 4); /* it went before anybody's BAR 0 */
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
  const struct spate_pcie_device *device;
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

  /* A BAR of which no address bit can be written takes every address: it is never decoded. */
  fake_reset();
  struct fake_function *odd = fake_endpoint(fake_bridge(NULL, 0, FAKE_ROOT_PORT), 0, 0, NVME);
  odd->config[0x10 / 4] = BAR_64;
  assert_int_equal(enumerate(), SPATE_OK);
  assert_int_equal(odd->config[0x04 / 4] & 2, 0);
  assert_int_equal(host.devices[0].bar0, 0);
}

/* A 32-bit BAR without a place goes to the top of 4 GiB. A window there leaves no room for it. */
static void a_bar_that_cannot_be_put_aside_is_not_decoded(void **state) {
  (void)state;
  fake_reset();
  struct fake_function *port = fake_bridge(NULL, 0, FAKE_ROOT_PORT), *drive = drive_below(port);
  fake_bar(drive, 2, 2 * MIB, BAR_32);
  struct spate_pcie_ecam_config config = ecam_config(MIB, 0);
  const struct spate_pcie_device *device;
  config.memory.bus_address = 4 * GIB - 3 * MIB;
  for (unsigned i = 0; i < 3; i++, config.memory.bus_address += MIB) {
    assert_int_equal(spate_pcie_ecam_open(&host, &config), SPATE_OK);
    assert_int_equal(spate_pcie_enumerate(&host, 0), SPATE_OK);
    assert_int_equal(find_drive(&device), i ? SPATE_E_WINDOW : SPATE_OK);
    assert_int_equal(drive->config[0x04 / 4] & 6, i ? 4 : 6);
    assert_out_of_the_way(drive, 2);
  }

  /* A bridge has to decode, or nothing below it is reached. */
  fake_bar(port, 0, 2 * MIB, BAR_32);
  config.memory.bus_address -= MIB;
  assert_int_equal(spate_pcie_ecam_open(&host, &config), SPATE_OK);
  assert_int_equal(spate_pcie_enumerate(&host, 0), SPATE_E_WINDOW);
  assert_at(host.failed_at, 0, 0, 0);
}

static void of_bars_that_do_not_fit_together_the_largest_are_left_out(void **state) {
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
  const struct spate_pcie_device *device;
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

  /* A window smaller than what a bridge can express: its registers round up, the BARs do not leave it. */
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

static void a_slow_device_is_asked_again_for_a_second(void **state) {
  (void)state;
  fake_reset();
  struct fake_function *port = fake_bridge(NULL, 0, FAKE_ROOT_PORT);
  struct fake_function *drive = drive_below(port);
  uint64_t start = fake.now_ticks;
  drive->ready_ticks = start + 300 * FAKE_MS;
  assert_int_equal(enumerate(), SPATE_OK);
  assert_in_range(fake.now_ticks - start, 300 * FAKE_MS, 310 * FAKE_MS);
  assert_int_equal(*fake_express_register(port, 0x1c) & 0x10, 0x10); /* "retry" made visible */
  assert_all_reachable(WINDOW_BYTES);

  drive->ready_ticks = FAKE_NEVER;
  start = fake.now_ticks;
  assert_int_equal(enumerate(), SPATE_E_NOT_READY);
  assert_in_range(fake.now_ticks - start, 1000 * FAKE_MS, 1100 * FAKE_MS);
  assert_at(host.failed_at, 1, 0, 0);
}

static void no_access_within_100_ms_of_reset(void **state) {
  (void)state;
  fake_reset();
  drive_below(fake_bridge(NULL, 0, FAKE_ROOT_PORT));
  struct spate_pcie_ecam_config config = ecam_config(WINDOW_BYTES, 0);
  assert_int_equal(spate_pcie_ecam_open(&host, &config), SPATE_OK);
  uint64_t released = fake.now_ticks;
  fake.first_access_ticks = 0;
  assert_int_equal(spate_pcie_enumerate(&host, released), SPATE_OK);
  assert_in_range(fake.first_access_ticks - released, 100 * FAKE_MS, 105 * FAKE_MS);
}

static void an_empty_slot_is_no_device_at_once(void **state) {
  (void)state;
  fake_reset();
  struct fake_function *port = fake_bridge(NULL, 2, FAKE_ROOT_PORT);
  port->link_ticks = FAKE_NEVER;
  *fake_express_register(port, 0x00) |= 0x01000000u; /* a slot, and its presence bit is 0 */
  uint64_t start = fake.now_ticks;
  assert_int_equal(enumerate(), SPATE_E_NO_DEVICE);
  assert_in_range(fake.now_ticks - start, 0, 10 * FAKE_MS);
  const struct spate_pcie_device *device;
  assert_int_equal(spate_pcie_find(&host, NVME, 0, &device), SPATE_E_NO_DEVICE);
}

static void a_link_is_given_a_second(void **state) {
  (void)state;
  for (unsigned slot = 0; slot < 2; slot++) {
    fake_reset();
    struct fake_function *port = fake_bridge(NULL, 2, FAKE_ROOT_PORT);
    drive_below(port);
    if (slot) *fake_express_register(port, 0x00) |= 0x01000000u, *fake_express_register(port, 0x18) |= 0x00400000u;
    uint64_t start = fake.now_ticks;
    port->link_ticks = start + 400 * FAKE_MS;
    assert_int_equal(enumerate(), SPATE_OK);
    assert_in_range(fake.now_ticks - start, 500 * FAKE_MS, 510 * FAKE_MS);

    start = fake.now_ticks;
    port->link_ticks = FAKE_NEVER;
    assert_int_equal(enumerate(), SPATE_E_LINK_DOWN);
    assert_in_range(fake.now_ticks - start, 1000 * FAKE_MS, 1010 * FAKE_MS);
    assert_at(host.failed_at, 0, 2, 0);
  }
}

/* Base specification 6.6.1: a link above 5 GT/s is trained first, and 100 ms count from then. */
static void a_link_that_came_up_late_is_left_alone_for_100_ms(void **state) {
  (void)state;
  for (unsigned speed = 1; speed <= 4; speed++) {
    for (unsigned late = 0; late < 2; late++) {
      fake_reset();
      struct fake_function *port = fake_bridge(NULL, 2, FAKE_ROOT_PORT);
      drive_below(port);
      fake_express(port, 2, speed, 4, speed, 4);
      uint64_t start = fake.now_ticks, up = start + (late ? 300 * FAKE_MS : 0);
      port->link_ticks = up;
      assert_int_equal(enumerate(), SPATE_OK);
      uint64_t wait = late && speed > 2 ? 100 * FAKE_MS : 0;
      assert_in_range(fake.first_below_ticks - up, wait, wait + 5 * FAKE_MS);
    }
  }
}

static void silence_on_a_live_link_is_not_yet(void **state) {
  (void)state;
  fake_reset();
  struct fake_function *port = fake_bridge(NULL, 0, FAKE_ROOT_PORT);
  struct fake_function *drive = drive_below(port);
  uint64_t start = fake.now_ticks;
  drive->silent_ticks = start + 700 * FAKE_MS;
  assert_int_equal(enumerate(), SPATE_OK);
  assert_int_equal(host.device_count, 1);
  assert_in_range(fake.now_ticks - start, 700 * FAKE_MS, 710 * FAKE_MS);

  /* Not for ever; and what is dead does not hide what lives. */
  drive_below(fake_bridge(NULL, 1, FAKE_ROOT_PORT));
  drive->silent_ticks = FAKE_NEVER;
  start = fake.now_ticks;
  assert_int_equal(enumerate(), SPATE_OK);
  assert_int_equal(host.device_count, 1);
  assert_in_range(fake.now_ticks - start, 1000 * FAKE_MS, 1010 * FAKE_MS);

  /* A slot that says it is empty is, even where the port calls its link active. */
  *fake_express_register(port, 0x00) |= 0x01000000u;
  start = fake.now_ticks;
  assert_int_equal(enumerate(), SPATE_OK);
  assert_in_range(fake.now_ticks - start, 0, 10 * FAKE_MS);
}

static void a_port_that_cannot_tell_is_probed(void **state) {
  (void)state;
  fake_reset();
  struct fake_function *port = fake_bridge(NULL, 0, FAKE_ROOT_PORT);
  *fake_express_register(port, 0x0c) &= ~(1u << 20);
  uint64_t start = fake.now_ticks;
  assert_int_equal(enumerate(), SPATE_E_NO_DEVICE);
  assert_in_range(fake.now_ticks - start, 0, 10 * FAKE_MS);
  drive_below(port);
  assert_int_equal(enumerate(), SPATE_OK);
}

static void a_dead_port_does_not_hide_a_live_one(void **state) {
  (void)state;
  fake_reset();
  fake_bridge(NULL, 0, FAKE_ROOT_PORT)->link_ticks = FAKE_NEVER;
  drive_below(fake_bridge(NULL, 1, FAKE_ROOT_PORT));
  assert_int_equal(enumerate(), SPATE_OK);
  assert_int_equal(host.device_count, 1);
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
  const struct spate_pcie_device *device;
  assert_int_equal(spate_pcie_find(&host, NVME, 0, &device), SPATE_E_WRONG_CLASS);

  first->config[0x0c / 4] |= 0x00800000u;
  uint64_t start = fake.now_ticks;
  assert_int_equal(enumerate(), SPATE_OK);
  assert_in_range(fake.now_ticks - start, 0, 10 * FAKE_MS); /* nobody waits for functions 1–4, though the link is up */
  assert_int_equal(spate_pcie_find(&host, NVME, 0, &device), SPATE_OK);
  assert_at(device->address, 1, 0, 5);
}

static struct spate_pcie_device link_of(unsigned port_speed, unsigned port_width, unsigned drive_speed,
                                        unsigned drive_width, unsigned speed, unsigned width) {
  fake_reset();
  struct fake_function *port = fake_bridge(NULL, 0, FAKE_ROOT_PORT);
  fake_express(port, 2, port_speed, port_width, speed, width);
  fake_express(drive_below(port), 1, drive_speed, drive_width, speed, width);
  assert_int_equal(enumerate(), SPATE_OK);
  return host.devices[0];
}

static void a_link_below_what_both_ends_can_do_is_degraded(void **state) {
  (void)state;
  struct spate_pcie_device device = link_of(3, 4, 4, 4, 3, 4);
  assert_int_equal(device.link.speed_max, 3);
  assert_int_equal(device.link.width_max, 4);
  assert_int_equal(spate_pcie_link_check(&host, &device), SPATE_OK);
  device = link_of(4, 2, 3, 4, 3, 2);
  assert_int_equal(spate_pcie_link_check(&host, &device), SPATE_OK);
  device = link_of(3, 4, 3, 4, 1, 4);
  assert_int_equal(spate_pcie_link_check(&host, &device), SPATE_E_LINK_DEGRADED);
  assert_int_equal(device.link.speed, 1);
  device = link_of(3, 4, 3, 4, 3, 1);
  assert_int_equal(spate_pcie_link_check(&host, &device), SPATE_E_LINK_DEGRADED);
  assert_int_equal(device.link.width, 1);

  device = link_of(0, 0, 3, 4, 2, 4); /* a port that tells nothing */
  assert_int_equal(device.link.speed_max, 3);
  assert_int_equal(spate_pcie_link_check(&host, &device), SPATE_E_LINK_DEGRADED);

  /* What it was when it was enumerated is not what it is. */
  device = link_of(3, 4, 3, 4, 3, 4);
  fake_express(&fake.functions[1], 1, 3, 4, 2, 4);
  assert_int_equal(spate_pcie_link_check(&host, &device), SPATE_E_LINK_DEGRADED);
  fake.functions[1].removed = true;
  assert_int_equal(spate_pcie_link_check(&host, &device), SPATE_E_LINK_DOWN);
  assert_false(device.link.up);
}

static void a_device_without_a_link_has_none_to_degrade(void **state) {
  (void)state;
  fake_reset();
  struct fake_function *integrated = fake_endpoint(NULL, 4, 0, NVME);
  fake_bar(integrated, 0, 0x4000, BAR_64);
  *fake_express_register(integrated, 0x00) |= 0x9u << 20;
  struct fake_function *plain = fake_endpoint(NULL, 5, 0, NVME);
  plain->config[0x04 / 4] &= ~0x00100000u; /* no capabilities at all */
  assert_int_equal(enumerate(), SPATE_OK);
  assert_int_equal(host.device_count, 2);
  assert_int_equal(host.devices[0].link.speed, 0);
  assert_int_equal(*fake_express_register(integrated, 0x10) & 3, 3); /* no link control register: not written */
  assert_int_equal(spate_pcie_link_check(&host, &host.devices[0]), SPATE_OK);
  assert_int_equal(spate_pcie_link_check(&host, &host.devices[1]), SPATE_OK);
  const struct spate_pcie_device *device;
  assert_int_equal(spate_pcie_find(&host, NVME, 1, &device), SPATE_OK); /* no BAR 0 is not one that did not fit */
}

static unsigned payload_set(struct fake_function *function) { return *fake_express_register(function, 0x08) >> 5 & 7; }

static void payload_is_the_least_below_each_root_port(void **state) {
  (void)state;
  fake_reset();
  struct fake_function *port = fake_bridge(NULL, 0, FAKE_ROOT_PORT);
  struct fake_function *up = fake_bridge(port, 0, FAKE_UPSTREAM);
  struct fake_function *downs[2], *drives[2];
  for (unsigned i = 0; i < 2; i++) {
    downs[i] = fake_bridge(up, i, FAKE_DOWNSTREAM);
    drives[i] = drive_below(downs[i]);
  }
  fake_express(drives[0], 1, 3, 4, 3, 4);
  fake_express(drives[1], 3, 3, 4, 3, 4);
  struct fake_function *other = drive_below(fake_bridge(NULL, 1, FAKE_ROOT_PORT));
  fake_express(other, 3, 3, 4, 3, 4);
  struct fake_function *reserved = fake_endpoint(NULL, 2, 0, 0x020000);
  fake_express(reserved, 7, 3, 4, 3, 4);
  assert_int_equal(enumerate(), SPATE_OK);

  struct fake_function *same[] = {port, up, downs[0], downs[1], drives[0], drives[1]};
  for (unsigned i = 0; i < 6; i++)
    assert_int_equal(payload_set(same[i]), 1);
  assert_int_equal(payload_set(other), 2); /* its port's */
  assert_int_equal(payload_set(reserved), 5);
  const struct spate_pcie_device *device;
  assert_int_equal(spate_pcie_find(&host, NVME, 2, &device), SPATE_OK);
  assert_int_equal(device->payload_bytes, 512);
  for (unsigned i = 0; i < fake.count; i++) {
    assert_int_equal(*fake_express_register(&fake.functions[i], 0x08) >> 12 & 7, 2);     /* reads of 512 */
    assert_int_equal(*fake_express_register(&fake.functions[i], 0x08) & 0x0f1f, 0x0810); /* the rest is kept */
    assert_int_equal(*fake_express_register(&fake.functions[i], 0x10) & 3, 0);           /* no ASPM */
  }
}

static void a_loop_of_capabilities_ends(void **state) {
  (void)state;
  fake_reset();
  struct fake_function *drive = drive_below(fake_bridge(NULL, 0, FAKE_ROOT_PORT));
  drive->config[0x40 / 4] = 0x4001; /* its own successor */
  assert_int_equal(enumerate(), SPATE_OK);
  assert_int_equal(host.devices[0].link.speed, 0);
  drive->config[0x40 / 4] = 0x2c01; /* into the header, where something looks like the right one */
  drive->config[0x2c / 4] = 0x0010;
  drive->config[(0x2c + 0x0c) / 4] = 0x0043;
  assert_int_equal(enumerate(), SPATE_OK);
  assert_int_equal(host.devices[0].link.speed_max, 0);
}

static void too_much_below_the_root_is_told(void **state) {
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
  fake_bridge(last, 1, FAKE_UPSTREAM);
  assert_int_equal(enumerate(), SPATE_E_TOPOLOGY);
  assert_at(host.failed_at, SPATE_PCIE_BRIDGES_MAX, 1, 0);

  fake_reset();
  for (unsigned i = 0; i <= SPATE_PCIE_DEVICES_MAX; i++)
    fake_endpoint(NULL, i, 0, NVME);
  assert_int_equal(enumerate(), SPATE_E_TOPOLOGY);
  assert_at(host.failed_at, 0, SPATE_PCIE_DEVICES_MAX, 0);

  /* More BARs than the table of resources has room for. */
  fake_reset();
  for (unsigned i = 0; i < SPATE_PCIE_DEVICES_MAX; i++) {
    struct fake_function *endpoint = fake_endpoint(NULL, i, 0, NVME);
    for (unsigned index = 0; index < 6; index++)
      fake_bar(endpoint, index, 4096, BAR_32);
  }
  assert_int_equal(enumerate(), SPATE_E_TOPOLOGY);

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
  assert_int_equal(spate_pcie_ecam_open(&host, &config), SPATE_E_NO_BRIDGE);
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
  port->bar_bytes[0] = 0; /* not for fake_decode() */
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

static void a_xilinx_bridge_without_a_drive_has_none(void **state) {
  (void)state;
  struct fake_function *port = xilinx_port(0x800);
  uint64_t start = fake.now_ticks;
  assert_int_equal(spate_pcie_xilinx_open(&host, &xilinx_config), SPATE_OK);
  assert_int_equal(spate_pcie_enumerate(&host, 0), SPATE_E_NO_DEVICE);
  assert_in_range(fake.now_ticks - start, 1000 * FAKE_MS, 1010 * FAKE_MS);

  /* What the bridge knows of its own link says nothing about those of a switch. */
  struct fake_function *down = fake_bridge(fake_bridge(port, 0, FAKE_UPSTREAM), 0, FAKE_DOWNSTREAM);
  *fake_express_register(down, 0x0c) &= ~(1u << 20);
  start = fake.now_ticks;
  assert_int_equal(spate_pcie_enumerate(&host, 0), SPATE_E_NO_DEVICE);
  assert_in_range(fake.now_ticks - start, 0, 10 * FAKE_MS);
}

static void a_xilinx_bridge_shows_who_it_is_first(void **state) {
  (void)state;
  static const struct {
    unsigned offset;
    uint32_t value;
  } strangers[] = {{0x00, 0x702110ef}, {0x00, 0xffffffff}, {0x00, 0}, {0x08, 0x05800000}, {0x0c, 0}};
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
}

static void a_xilinx_link_that_stays_down_is_told_in_time(void **state) {
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

static void a_xilinx_fifo_that_never_empties_does_not_hang(void **state) {
  (void)state;
  struct fake_function *port = xilinx_port(0x800);
  port->fifo_left[0] = port->fifo_left[1] = UINT32_MAX;
  assert_int_equal(spate_pcie_xilinx_open(&host, &xilinx_config), SPATE_OK);
  assert_in_range(fake.accesses, 0, 2000);
}

/* ---- restoring what a device lost ---- */

/* Call until it is not BUSY, which no call may wait for. */
static enum spate_error restore(struct spate_pcie_device *device, uint64_t give_up_ms) {
  const uint64_t end = fake.now_ticks + give_up_ms * FAKE_MS;
  for (;;) {
    const uint64_t start = fake.now_ticks;
    const enum spate_error error = spate_pcie_restore(&host, device);
    assert_in_range(fake.now_ticks - start, 0, FAKE_MS);
    if (error != SPATE_E_BUSY || fake.now_ticks >= end) return error;
    fake.now_ticks += FAKE_MS;
  }
}

static struct fake_pci enumerated; /* as it was before something happened */

static void assert_as_enumerated(void) {
  for (unsigned i = 0; i < fake.count; i++)
    assert_memory_equal(fake.functions[i].config, enumerated.functions[i].config, sizeof fake.functions[i].config);
  assert_int_equal(fake.status_offences, 0);
  assert_int_equal(fake.decoding_offences, 0);
}

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
  struct fake_function *down = &fake.functions[4]; /* above the second drive */
  enumerated = fake;
  fake_link_drop(down, fake.now_ticks + 20 * FAKE_MS);
  assert_int_equal(restore(&host.devices[1], 1000), SPATE_OK);
  assert_as_enumerated();
  for (unsigned i = 0; i < fake.count; i++)
    if (fake.functions[i].parent != down) assert_int_equal(fake.functions[i].writes, enumerated.functions[i].writes);
}

/* The link above a switch: each drive below it is restored by itself, in turns, one call each. */
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
    assert_in_range(fake.now_ticks - start, 0, 250 * FAKE_MS); /* two links of 100 ms, side by side */
    fake.now_ticks += FAKE_MS;
  }
  assert_as_enumerated();
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

static void who_comes_back_is_asked(void **state) {
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

static void what_was_never_enumerated_is_not_restored(void **state) {
  (void)state;
  fake_reset();
  drive_below(fake_bridge(NULL, 0, FAKE_ROOT_PORT));
  host = (struct spate_pcie_host){0};
  assert_int_equal(spate_pcie_restore(&host, &host.devices[0]), SPATE_E_NO_DEVICE);
  assert_int_equal(enumerate(), SPATE_OK);
  struct spate_pcie_device before = host.devices[0];
  struct spate_pcie_ecam_config config = ecam_config(WINDOW_BYTES, 0);
  assert_int_equal(spate_pcie_ecam_open(&host, &config), SPATE_OK); /* opened anew, the bridge's record is gone */
  assert_int_equal(spate_pcie_restore(&host, &before), SPATE_E_NO_DEVICE);
}

/* The bridge stops forwarding when its link goes down, and must not be asked for what is below meanwhile. */
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
}

/* Trees from a seed: whatever comes out OK routes each BAR's addresses to that BAR alone. */
static uint64_t random_state;

static unsigned below(unsigned limit) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (unsigned)(random_state >> 20) % limit;
}

static void random_bars(struct fake_function *function, unsigned bars) {
  static const uint32_t kinds[] = {BAR_32, BAR_64, BAR_64_PREF, BAR_32_PREF};
  for (unsigned index = 0; index < bars; index++) {
    if (below(3)) continue;
    uint32_t flags = kinds[below(4)];
    if ((flags & 4) && index + 1 == bars) continue;
    fake_bar(function, index, UINT64_C(16) << below(19), flags);
    if (flags & 4) index++;
  }
}

static void random_tree(void) {
  struct fake_function *ports[SPATE_PCIE_BRIDGES_MAX];
  unsigned port_count = 1 + below(SPATE_PCIE_BRIDGES_MAX);
  unsigned below_count[SPATE_PCIE_BRIDGES_MAX + 1] = {0};
  for (unsigned i = 0; i < port_count; i++) {
    unsigned above = below(i + 1); /* i: the root */
    ports[i] = fake_bridge(above == i ? NULL : ports[above], below_count[above == i ? SPATE_PCIE_BRIDGES_MAX : above]++,
                           FAKE_UPSTREAM);
    if (below(3) == 0) ports[i]->config[0x24 / 4] = 0;
    if (below(5) == 0) ports[i]->config[0x24 / 4] = ports[i]->writable[0x24 / 4] = 0;
    random_bars(ports[i], 2);
  }
  for (unsigned i = 1 + below(12); i > 0; i--) {
    unsigned above = below(port_count);
    random_bars(fake_endpoint(ports[above], below_count[above]++, 0, NVME), 6);
  }
}

static bool is_placed(const struct fake_function *function, unsigned index) {
  uint64_t first = fake_bar_address(function, index), last = first + function->bar_bytes[index] - 1;
  const struct spate_pcie_window *low = &host.memory, *high = &host.prefetchable;
  return (first >= low->bus_address && last < low->bus_address + low->bytes) ||
         (high->bytes && first >= high->bus_address && last < high->bus_address + high->bytes);
}

/* Returns the number of BARs without a place. */
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
  assert_true(fitted > 1000); /* or the windows above are no test */
  assert_true(with_left_out > 100);
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

static void speeds_have_names(void **state) {
  (void)state;
  static const uint32_t mts[] = {0, 2500, 5000, 8000, 16000, 32000, 0, 0};
  for (uint8_t i = 0; i < 8; i++)
    assert_int_equal(spate_pcie_speed_mts(i), mts[i]);
  assert_int_equal(spate_pcie_speed_mts(255), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_drive_behind_a_root_port_is_ready_for_dma),
      cmocka_unit_test(a_switch_gets_nested_bus_numbers_and_windows),
      cmocka_unit_test(enumerating_again_finds_the_same),
      cmocka_unit_test(prefetchable_64_bit_bars_go_high_where_every_bridge_agrees),
      cmocka_unit_test(bar_0_in_the_high_window_has_its_cpu_address),
      cmocka_unit_test(io_bars_are_left_alone),
      cmocka_unit_test(a_drive_is_usable_whatever_else_is_too_large),
      cmocka_unit_test(a_bar_0_larger_than_the_window_is_named),
      cmocka_unit_test(a_bar_that_cannot_be_put_aside_is_not_decoded),
      cmocka_unit_test(of_bars_that_do_not_fit_together_the_largest_are_left_out),
      cmocka_unit_test(a_window_is_filled_to_the_last_byte),
      cmocka_unit_test(bus_address_0_is_not_handed_out),
      cmocka_unit_test(a_slow_device_is_asked_again_for_a_second),
      cmocka_unit_test(no_access_within_100_ms_of_reset),
      cmocka_unit_test(an_empty_slot_is_no_device_at_once),
      cmocka_unit_test(a_link_is_given_a_second),
      cmocka_unit_test(a_link_that_came_up_late_is_left_alone_for_100_ms),
      cmocka_unit_test(silence_on_a_live_link_is_not_yet),
      cmocka_unit_test(a_port_that_cannot_tell_is_probed),
      cmocka_unit_test(a_dead_port_does_not_hide_a_live_one),
      cmocka_unit_test(a_port_that_answers_for_every_device_has_one),
      cmocka_unit_test(functions_above_0_exist_where_function_0_says_so),
      cmocka_unit_test(a_link_below_what_both_ends_can_do_is_degraded),
      cmocka_unit_test(a_device_without_a_link_has_none_to_degrade),
      cmocka_unit_test(payload_is_the_least_below_each_root_port),
      cmocka_unit_test(a_loop_of_capabilities_ends),
      cmocka_unit_test(too_much_below_the_root_is_told),
      cmocka_unit_test(ecam_refuses_what_cannot_be),
      cmocka_unit_test(a_xilinx_bridge_brings_up_its_drive),
      cmocka_unit_test(a_xilinx_bridge_without_a_drive_has_none),
      cmocka_unit_test(a_xilinx_bridge_shows_who_it_is_first),
      cmocka_unit_test(a_xilinx_link_that_stays_down_is_told_in_time),
      cmocka_unit_test(a_xilinx_link_that_came_up_late_is_left_alone_for_100_ms),
      cmocka_unit_test(a_xilinx_fifo_that_never_empties_does_not_hang),
      cmocka_unit_test(a_drive_whose_link_came_back_is_as_before),
      cmocka_unit_test(only_what_lost_its_configuration_is_written),
      cmocka_unit_test(a_switch_is_restored_with_its_drives),
      cmocka_unit_test(a_link_that_goes_down_again_is_waited_for_again),
      cmocka_unit_test(who_comes_back_is_asked),
      cmocka_unit_test(what_was_never_enumerated_is_not_restored),
      cmocka_unit_test(a_xilinx_bridge_forwards_again),
      cmocka_unit_test(random_trees_route_every_address),
      cmocka_unit_test(random_trees_are_restored),
      cmocka_unit_test(speeds_have_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
