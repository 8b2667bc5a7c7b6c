/* SPDX-License-Identifier: Apache-2.0 */
/* Trees of fake functions, enumerated, lost and restored. Included by one test program each. */
#ifndef SPATE_TESTS_PCIE_FIXTURE_H
#define SPATE_TESTS_PCIE_FIXTURE_H

#include "fake_pci.c" /* its host_* functions stand in for the hosted port's */

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

static inline struct spate_pcie_ecam_config ecam_config(uint64_t window_bytes, uint64_t high_bytes) {
  return (struct spate_pcie_ecam_config){
      .config_base = FAKE_ECAM_BASE,
      .last_bus = 255,
      .memory = {WINDOW_CPU, WINDOW_BUS, window_bytes},
      .prefetchable = {HIGH_CPU, HIGH_BUS, high_bytes},
  };
}

static inline enum spate_error enumerate_with(uint64_t window_bytes, uint64_t high_bytes) {
  struct spate_pcie_ecam_config config = ecam_config(window_bytes, high_bytes);
  assert_int_equal(spate_pcie_ecam_open(&host, &config), SPATE_OK);
  enum spate_error error = spate_pcie_enumerate(&host, 0);
  assert_int_equal(fake.status_offences, 0);
  assert_int_equal(fake.decoding_offences, 0);
  return error;
}

static inline enum spate_error enumerate(void) { return enumerate_with(WINDOW_BYTES, 0); }

static inline struct fake_function *drive_below(struct fake_function *port) {
  struct fake_function *drive = fake_endpoint(port, 0, 0, NVME);
  fake_bar(drive, 0, 0x4000, BAR_64);
  return drive;
}

/* The port has an occupied slot that reports changes of its link. */
static inline void fake_slot(struct fake_function *port) {
  *fake_express_register(port, 0x00) |= 0x01000000u;
  *fake_express_register(port, 0x18) |= 0x00400000u;
  port->clears[(FAKE_EXPRESS + 0x18) / 4] = FAKE_LINK_CHANGED;
}

/* Each BAR is inside a window, and an access to it reaches that BAR and no other. */
static inline void assert_all_reachable(uint64_t window_bytes) {
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
    if (is_bridge(function)) assert_false(forwards(function, 0x1000)); /* a window without BARs is closed */
  }
}

static inline void assert_at(struct spate_pcie_address at, unsigned bus, unsigned device, unsigned function) {
  assert_int_equal(at.bus, bus);
  assert_int_equal(at.device, device);
  assert_int_equal(at.function, function);
}

/* A test of test_pcie.c. Other tests begin with the tree that it leaves, which has everything. */
static inline void a_switch_gets_nested_bus_numbers_and_windows(void **state) {
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
  struct spate_pcie_device *device;
  assert_int_equal(spate_pcie_find(&host, NVME, 3, &device), SPATE_OK);
  assert_at(device->address, 6, 0, 0);
  assert_int_equal(spate_pcie_find(&host, NVME, 4, &device), SPATE_E_WRONG_CLASS);
}

/* ---- trees from a seed ---- */

static uint64_t random_state;

static inline unsigned below(unsigned limit) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (unsigned)(random_state >> 20) % limit;
}

static inline void random_bars(struct fake_function *function, unsigned bars) {
  static const uint32_t kinds[] = {BAR_32, BAR_64, BAR_64_PREF, BAR_32_PREF};
  for (unsigned index = 0; index < bars; index++) {
    if (below(3)) continue;
    uint32_t flags = kinds[below(4)];
    if ((flags & 4) && index + 1 == bars) continue;
    fake_bar(function, index, UINT64_C(16) << below(19), flags);
    if (flags & 4) index++;
  }
}

static inline void random_tree(void) {
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

/* ---- restoring what a device lost ---- */

/* Call until the answer is not BUSY. No call may wait. */
static inline enum spate_error restore(struct spate_pcie_device *device, uint64_t give_up_ms) {
  const uint64_t end = fake.now_ticks + give_up_ms * FAKE_MS;
  for (;;) {
    const uint64_t start = fake.now_ticks;
    const enum spate_error error = spate_pcie_restore(&host, device);
    assert_in_range(fake.now_ticks - start, 0, FAKE_MS);
    if (error != SPATE_E_BUSY || fake.now_ticks >= end) return error;
    fake.now_ticks += FAKE_MS;
  }
}

static struct fake_pci enumerated; /* the state before the event under test */

static inline void assert_as_enumerated(void) {
  for (unsigned i = 0; i < fake.count; i++)
    assert_memory_equal(fake.functions[i].config, enumerated.functions[i].config, sizeof fake.functions[i].config);
  assert_int_equal(fake.status_offences, 0);
  assert_int_equal(fake.decoding_offences, 0);
}

#endif
