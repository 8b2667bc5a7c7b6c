/* SPDX-License-Identifier: Apache-2.0 */
/* Links and the devices behind them: how long enumeration waits for each, and the resulting speed, width and
 * payload. */
#include "pcie_fixture.h"

static void a_slow_device_is_asked_again_for_three_seconds(void **state) {
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
  assert_in_range(fake.now_ticks - start, 3000 * FAKE_MS, 3100 * FAKE_MS);
  assert_at(host.failed_at, 1, 0, 0);

  /* As long as the caller says. */
  for (uint32_t ms = 100; ms <= 10000; ms *= 10) {
    struct spate_pcie_ecam_config config = ecam_config(WINDOW_BYTES, 0);
    config.ready_timeout_ms = ms;
    assert_int_equal(spate_pcie_ecam_open(&host, &config), SPATE_OK);
    start = fake.now_ticks;
    assert_int_equal(spate_pcie_enumerate(&host, 0), SPATE_E_NOT_READY);
    assert_in_range(fake.now_ticks - start, ms * FAKE_MS, (ms + 100) * FAKE_MS);
  }
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
  struct spate_pcie_device *device;
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

/* Base specification 6.6.1: a link above 5 GT/s trains first, and the 100 ms count from the end of training. */
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

/* After a reset the 100 ms do not begin at PERST# alone: training may have ended just before the first look. The waits
 * of several ports run in parallel. */
static void a_link_that_came_up_unseen_is_left_alone_for_100_ms(void **state) {
  (void)state;
  for (unsigned speed = 1; speed <= 4; speed++) {
    fake_reset();
    const uint64_t released = fake.now_ticks;
    for (unsigned i = 0; i < 4; i++) {
      struct fake_function *port = fake_bridge(NULL, i, FAKE_ROOT_PORT);
      drive_below(port);
      fake_express(port, 2, speed, 4, speed, 4);
      port->link_ticks = released + 95 * FAKE_MS;
    }
    struct spate_pcie_ecam_config config = ecam_config(WINDOW_BYTES, 0);
    assert_int_equal(spate_pcie_ecam_open(&host, &config), SPATE_OK);
    assert_int_equal(spate_pcie_enumerate(&host, released), SPATE_OK);
    assert_int_equal(host.device_count, 4);
    const uint64_t wait = (speed > 2 ? 200 : 100) * FAKE_MS;
    assert_in_range(fake.first_below_ticks - released, wait, wait + 5 * FAKE_MS);
    assert_in_range(fake.now_ticks - released, wait, wait + 20 * FAKE_MS);
  }
}

static struct fake_function *slot_with_drive(void) {
  fake_reset();
  struct fake_function *port = fake_bridge(NULL, 0, FAKE_ROOT_PORT);
  fake_slot(port);
  drive_below(port);
  return port;
}

/* Its change bit has been set since then. */
static void a_link_that_came_up_long_ago_costs_no_wait(void **state) {
  (void)state;
  (void)slot_with_drive();
  const uint64_t start = fake.now_ticks;
  assert_int_equal(enumerate(), SPATE_OK);
  assert_in_range(fake.now_ticks - start, 0, 10 * FAKE_MS);
}

/* The link bounces while enumeration waits for it to settle: the wait starts again. */
static void a_link_that_bounces_while_it_settles_is_waited_for_again(void **state) {
  (void)state;
  for (unsigned ms = 301; ms < 400; ms += 7) {
    struct fake_function *port = slot_with_drive();
    const uint64_t start = fake.now_ticks;
    port->link_ticks = start + 300 * FAKE_MS;
    port->bounce_ticks = start + ms * FAKE_MS;
    assert_int_equal(enumerate(), SPATE_OK);
    const unsigned up_ms = ms + FAKE_BOUNCE_MS, seen_ms = up_ms < 400 ? 400 : up_ms;
    assert_in_range(fake.first_below_ticks - start, (seen_ms + 100) * FAKE_MS, (seen_ms + 105) * FAKE_MS);
    assert_all_reachable(WINDOW_BYTES);
    assert_true(spate_pcie_link_is_up(&host, &host.devices[0]));
  }
}

/* Whenever the link bounces, the device is as enumeration reports it, or the link change is recorded. */
static void a_link_that_bounces_during_enumeration_is_never_forgotten(void **state) {
  (void)state;
  unsigned whole = 0, changed = 0;
  for (unsigned late = 0; late < 2; late++) {
    for (uint64_t us = 0; us < 600000; us += us % 100000 < 400 ? 3 : 4000) {
      struct fake_function *port = slot_with_drive();
      const uint64_t start = fake.now_ticks;
      if (late) port->link_ticks = start + 300 * FAKE_MS;
      port->bounce_ticks = start + us * (FAKE_MS / 1000) + 1;
      if (enumerate() != SPATE_OK) continue;
      const bool up = spate_pcie_link_is_up(&host, &host.devices[0]);
      if (up) assert_all_reachable(WINDOW_BYTES);
      whole += up;
      changed += !up;
    }
  }
  assert_true(whole > 50 && changed > 10);
}

static void a_link_that_never_stays_up_is_down(void **state) {
  (void)state;
  struct fake_function *port = slot_with_drive();
  const uint64_t start = fake.now_ticks;
  *fake_express_register(port, 0x18) |= FAKE_LINK_CHANGED; /* on every write: the link changes again at once */
  port->clears[(FAKE_EXPRESS + 0x18) / 4] = 0;
  assert_int_equal(enumerate(), SPATE_E_LINK_DOWN);
  assert_in_range(fake.now_ticks - start, 1000 * FAKE_MS, 1205 * FAKE_MS);
  assert_at(host.failed_at, 0, 0, 0);
}

static void no_answer_on_a_live_link_means_not_ready(void **state) {
  (void)state;
  fake_reset();
  struct fake_function *port = fake_bridge(NULL, 0, FAKE_ROOT_PORT);
  struct fake_function *drive = drive_below(port);
  uint64_t start = fake.now_ticks;
  drive->silent_ticks = start + 700 * FAKE_MS;
  assert_int_equal(enumerate(), SPATE_OK);
  assert_int_equal(host.device_count, 1);
  assert_in_range(fake.now_ticks - start, 700 * FAKE_MS, 710 * FAKE_MS);

  /* The wait is bounded, and a dead device does not hide the others. */
  drive_below(fake_bridge(NULL, 1, FAKE_ROOT_PORT));
  drive->silent_ticks = FAKE_NEVER;
  start = fake.now_ticks;
  assert_int_equal(enumerate(), SPATE_OK);
  assert_int_equal(host.device_count, 1);
  assert_in_range(fake.now_ticks - start, 3000 * FAKE_MS, 3010 * FAKE_MS);

  /* A slot that reports itself empty counts as empty, even where the port reports an active link. */
  *fake_express_register(port, 0x00) |= 0x01000000u;
  start = fake.now_ticks;
  assert_int_equal(enumerate(), SPATE_OK);
  assert_in_range(fake.now_ticks - start, 0, 10 * FAKE_MS);
}

/* Zeros also mean that nothing answered (PG194: configuration requests without a completion). */
static void zeros_are_no_device(void **state) {
  (void)state;
  fake_reset();
  fake.background = 0;
  struct fake_function *port = fake_bridge(NULL, 0, FAKE_ROOT_PORT);
  struct fake_function *drive = drive_below(port);
  const uint64_t start = fake.now_ticks;
  drive->silent_ticks = start + 700 * FAKE_MS;
  assert_int_equal(enumerate(), SPATE_OK);
  assert_int_equal(host.device_count, 1);
  assert_int_equal(host.devices[0].vendor_id, 0x1b36);
  assert_in_range(fake.now_ticks - start, 700 * FAKE_MS, 710 * FAKE_MS);
  drive->removed = true;
  assert_int_equal(spate_pcie_link_check(&host, &host.devices[0]), SPATE_E_LINK_DOWN);
  host.devices[0].link.speed_max = 0; /* the same where nothing is known of its link */
  assert_int_equal(spate_pcie_link_check(&host, &host.devices[0]), SPATE_E_LINK_DOWN);
  assert_int_equal(enumerate(), SPATE_E_NO_DEVICE);
}

/* A device that answers "retry" forever is left out and counted; the others are listed. */
static void a_sick_device_does_not_hide_the_others(void **state) {
  (void)state;
  fake_reset();
  struct fake_function *sick = drive_below(fake_bridge(NULL, 0, FAKE_ROOT_PORT));
  struct fake_function *drive = drive_below(fake_bridge(NULL, 1, FAKE_ROOT_PORT));
  sick->ready_ticks = FAKE_NEVER;
  assert_int_equal(enumerate(), SPATE_OK);
  assert_int_equal(host.device_count, 1);
  assert_int_equal(host.left_out, 1);
  assert_at(host.failed_at, 1, 0, 0);
  assert_at(host.devices[0].address, 2, 0, 0);
  assert_true(fake_can_dma(drive));
  sick->ready_ticks = 0;
  assert_int_equal(enumerate(), SPATE_OK);
  assert_int_equal(host.device_count, 2);
  assert_int_equal(host.left_out, 0);
}

/* ASPM L1 is turned off at the downstream end first, at enumeration and at restoring. */
static void aspm_is_turned_off_from_the_downstream_end(void **state) {
  (void)state;
  fake_reset();
  struct fake_function *port = fake_bridge(NULL, 0, FAKE_ROOT_PORT);
  struct fake_function *up = fake_bridge(port, 0, FAKE_UPSTREAM);
  struct fake_function *drive = drive_below(fake_bridge(up, 0, FAKE_DOWNSTREAM));
  assert_int_equal(enumerate(), SPATE_OK);
  for (const struct fake_function *function = drive; function->parent != NULL; function = function->parent)
    assert_true(function->awake_ticks < function->parent->awake_ticks);
  fake_link_drop(port, fake.now_ticks);
  assert_int_equal(restore(&host.devices[0], 1000), SPATE_OK);
  for (const struct fake_function *function = drive; function->parent != port; function = function->parent)
    assert_true(function->awake_ticks < function->parent->awake_ticks);
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

  device = link_of(0, 0, 3, 4, 2, 4); /* a port that reports nothing */
  assert_int_equal(device.link.speed_max, 3);
  assert_int_equal(spate_pcie_link_check(&host, &device), SPATE_E_LINK_DEGRADED);

  /* The current state counts, not the state at enumeration. */
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
  struct spate_pcie_device *device;
  /* a device without BAR 0 is not a BAR that did not fit */
  assert_int_equal(spate_pcie_find(&host, NVME, 1, &device), SPATE_OK);
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
  assert_int_equal(payload_set(other), 2); /* that of its port */
  assert_int_equal(payload_set(reserved), 5);
  struct spate_pcie_device *device;
  assert_int_equal(spate_pcie_find(&host, NVME, 2, &device), SPATE_OK);
  assert_int_equal(device->payload_bytes, 512);
  for (unsigned i = 0; i < fake.count; i++) {
    assert_int_equal(*fake_express_register(&fake.functions[i], 0x08) >> 12 & 7, 2);     /* reads of 512 */
    assert_int_equal(*fake_express_register(&fake.functions[i], 0x08) & 0x0810, 0);      /* in order, and snooped */
    assert_int_equal(*fake_express_register(&fake.functions[i], 0x08) & 0x070f, 0x0000); /* the rest is kept */
    assert_int_equal(*fake_express_register(&fake.functions[i], 0x10) & 3, 0);           /* no ASPM */
  }
}

static void speeds_have_names(void **state) {
  (void)state;
  static const uint32_t mts[] = {0, 2500, 5000, 8000, 16000, 32000, 64000, 0};
  for (uint8_t i = 0; i < 8; i++)
    assert_int_equal(spate_pcie_speed_mts(i), mts[i]);
  assert_int_equal(spate_pcie_speed_mts(255), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_slow_device_is_asked_again_for_three_seconds),
      cmocka_unit_test(no_access_within_100_ms_of_reset),
      cmocka_unit_test(an_empty_slot_is_no_device_at_once),
      cmocka_unit_test(a_link_is_given_a_second),
      cmocka_unit_test(a_link_that_came_up_late_is_left_alone_for_100_ms),
      cmocka_unit_test(a_link_that_came_up_unseen_is_left_alone_for_100_ms),
      cmocka_unit_test(a_link_that_came_up_long_ago_costs_no_wait),
      cmocka_unit_test(a_link_that_bounces_while_it_settles_is_waited_for_again),
      cmocka_unit_test(a_link_that_bounces_during_enumeration_is_never_forgotten),
      cmocka_unit_test(a_link_that_never_stays_up_is_down),
      cmocka_unit_test(no_answer_on_a_live_link_means_not_ready),
      cmocka_unit_test(zeros_are_no_device),
      cmocka_unit_test(a_sick_device_does_not_hide_the_others),
      cmocka_unit_test(aspm_is_turned_off_from_the_downstream_end),
      cmocka_unit_test(a_port_that_cannot_tell_is_probed),
      cmocka_unit_test(a_dead_port_does_not_hide_a_live_one),
      cmocka_unit_test(a_link_below_what_both_ends_can_do_is_degraded),
      cmocka_unit_test(a_device_without_a_link_has_none_to_degrade),
      cmocka_unit_test(payload_is_the_least_below_each_root_port),
      cmocka_unit_test(speeds_have_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
