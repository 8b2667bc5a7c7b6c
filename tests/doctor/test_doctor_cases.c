/* SPDX-License-Identifier: Apache-2.0 */
/* Special cases of single findings: what must not be reported, and what must be in spite of its surroundings. */
#include "doctor_fixture.h"

static void a_drive_without_a_driver_need_not_work(void **state) {
  (void)state;
  static struct facts facts;
  struct heard heard;

  fill(&facts);
  memcpy(facts.config_after, facts.config, sizeof facts.config);
  set(&facts, DRIVE, 0x04, 0x6, 0);
  facts.registers.status = facts.registers.configuration = 0;
  facts.in_use = false;
  (void)judge(&facts, &heard);
  assert_int_equal(heard.count, 0);
  facts.registers.status = 8; /* shut down, as a driver leaves it */
  (void)judge(&facts, &heard);
  assert_int_equal(heard.count, 0);
}

/* vfio-pci puts a drive that nobody has opened into a low-power state, and the port above may follow. */
static void a_drive_without_a_driver_may_sleep(void **state) {
  (void)state;
  static struct facts facts;
  struct heard heard;

  fill(&facts);
  facts.in_use = false;
  EACH_OF(facts, i) set(&facts, i, POWER + 4, 3, 3);
  memcpy(facts.config_after, facts.config, sizeof facts.config);
  assert_int_equal(judge(&facts, &heard), SPATE_DOCTOR_NOTE);
  assert_int_equal(heard.count, 0);
}

/* pci=pcie_bus_perf: each function has the largest payload size that it supports, and the drive's read requests are no
 * larger than its own. Requests of 512 bytes would break a working system. */
static void small_requests_suit_a_small_payload_below_a_larger_one(void **state) {
  (void)state;
  static struct facts facts;
  struct heard heard;

  fill(&facts);
  set(&facts, DRIVE, EXPRESS + 0x04, 7, 0);
  set(&facts, DRIVE, EXPRESS + 0x08, 7u << 5 | 7u << 12, 0);
  memcpy(facts.config_after, facts.config, sizeof facts.config);
  assert_int_equal(judge(&facts, &heard), SPATE_DOCTOR_NOTE);
  assert_int_equal(heard.count, 0);

  /* In the opposite case the packets that the drive sends are too large for the port. */
  set(&facts, DRIVE, EXPRESS + 0x04, 7, 1);
  set(&facts, DRIVE, EXPRESS + 0x08, 0, 1u << 5);
  set(&facts, PORT, EXPRESS + 0x08, 7u << 5, 0);
  memcpy(facts.config_after, facts.config, sizeof facts.config);
  assert_int_equal(judge(&facts, &heard), SPATE_DOCTOR_ERROR);
  assert_int_equal(heard.findings[0].code, SPATE_DOCTOR_PAYLOAD_MISMATCH);
}

static void a_window_above_4_gib_reaches_a_bar_there(void **state) {
  (void)state;
  static struct facts facts;
  struct heard heard;

  fill(&facts);
  set(&facts, DRIVE, 0x14, 0, 0x20);
  set(&facts, PORT, 0x24, 0, 0xe001e001);
  set(&facts, PORT, 0x28, 0, 0x20);
  set(&facts, PORT, 0x2c, 0, 0x20);
  memcpy(facts.config_after, facts.config, sizeof facts.config);
  (void)judge(&facts, &heard);
  assert_int_equal(heard.count, 0);
  facts.bar0_bytes = 0x100001; /* one byte more than there is */
  (void)judge(&facts, &heard);
  assert_int_equal(heard.count, 1);
  assert_int_equal(heard.findings[0].code, SPATE_DOCTOR_BAR_OUTSIDE_WINDOW);
}

/* Its registers read as zeros, and it forwards nothing below 1 MiB. */
static void a_bridge_without_a_prefetchable_window_has_none(void **state) {
  (void)state;
  static struct facts facts;
  struct heard heard;

  fill(&facts);
  set(&facts, DRIVE, 0x10, 0xfffffff0, 0x80000);
  memcpy(facts.config_after, facts.config, sizeof facts.config);
  (void)judge(&facts, &heard);
  assert_int_equal(heard.count, 1);
  assert_int_equal(heard.findings[0].code, SPATE_DOCTOR_BAR_OUTSIDE_WINDOW);
}

static void errors_from_before_a_transfer_are_not_reported_again(void **state) {
  (void)state;
  static struct facts facts;
  struct heard heard;

  fill(&facts);
  set(&facts, DRIVE, AER + 0x10, 0, 0x41);
  memcpy(facts.config_after, facts.config, sizeof facts.config);
  facts.config_after[DRIVE][(AER + 0x10) / 4] |= 0x1000;
  (void)judge(&facts, &heard);
  assert_int_equal(heard.count, 2);
  assert_int_equal(heard.findings[1].code, SPATE_DOCTOR_CORRECTED_DURING);
  assert_int_equal(heard.findings[1].numbers[0], 0x1000);
}

/* Without Advanced Error Reporting there is only Device Status. An unsupported request does not hide a later fatal
 * error. */
static void a_fatal_error_after_an_unsupported_request_is_reported(void **state) {
  (void)state;
  static struct facts facts;
  struct heard heard;

  fill(&facts);
  set(&facts, DRIVE, AER, UINT32_MAX, 0);
  set(&facts, DRIVE, EXPRESS + 0x08, 0, 0xa0000);
  memcpy(facts.config_after, facts.config, sizeof facts.config);
  facts.config_after[DRIVE][(EXPRESS + 0x08) / 4] |= 0x40000;
  (void)judge(&facts, &heard);
  assert_int_equal(heard.count, 2);
  assert_int_equal(heard.findings[0].code, SPATE_DOCTOR_UNSUPPORTED_BEFORE);
  assert_int_equal(heard.findings[1].code, SPATE_DOCTOR_UNCORRECTED_DURING);
}

/* Inside a switch, between its upstream and downstream ports, there is no link. */
static void inside_a_switch_there_is_no_link(void **state) {
  (void)state;
  static struct facts facts;
  struct spate_doctor_function path[4];
  struct heard heard = {.count = 0};
  struct spate_doctor doctor = {.found = hear, .context = &heard};

  for (unsigned i = 0; i < 4; i++) {
    const uint32_t types[] = {0x4, 0x5, 0x6, 0x0};
    fill(&facts);
    const unsigned like = i == 3 ? DRIVE : PORT;
    set(&facts, like, EXPRESS, 0xfu << 20, types[i] << 20);
    set(&facts, like, 0x18, 0xffffff, 0x030000 | (i + 1) << 8 | i);
    if (i == 1 || i == 2)
      set(&facts, like, EXPRESS + 0x10, 0xfu << 16, 1u << 16); /* slow, at a port that is not judged */
    const struct spate_doctor_space space = space_of(facts.config[like], 4096);
    spate_doctor_function_read(&path[i], (struct spate_pcie_address){.bus = (uint8_t)i}, &space);
  }
  path[1].link.speed = 4;
  spate_doctor_judge_path(&doctor, path, 4, true);
  assert_int_equal(heard.count, 0);
}

static void unknown_facts_are_not_judged(void **state) {
  (void)state;
  static struct facts facts;
  static const unsigned sizes[] = {0, 32, 64, EXPRESS + 8, 256};
  struct heard heard;

  for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    struct spate_doctor_function path[FUNCTIONS];
    struct spate_doctor doctor = {.found = hear, .context = &heard};
    fill(&facts);
    heard.count = 0;
    for (unsigned each = 0; each < FUNCTIONS; each++) {
      const struct spate_doctor_space space = space_of(facts.config[each], sizes[i]);
      spate_doctor_function_read(&path[each], (struct spate_pcie_address){.bus = (uint8_t)each}, &space);
    }
    spate_doctor_judge_path(&doctor, path, FUNCTIONS, true);
    spate_doctor_judge_port(&doctor, &path[PORT]);
    assert_int_equal(heard.count, sizes[i] == 256); /* the port's silent device */
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_drive_without_a_driver_need_not_work),
      cmocka_unit_test(a_drive_without_a_driver_may_sleep),
      cmocka_unit_test(small_requests_suit_a_small_payload_below_a_larger_one),
      cmocka_unit_test(a_window_above_4_gib_reaches_a_bar_there),
      cmocka_unit_test(a_bridge_without_a_prefetchable_window_has_none),
      cmocka_unit_test(errors_from_before_a_transfer_are_not_reported_again),
      cmocka_unit_test(a_fatal_error_after_an_unsupported_request_is_reported),
      cmocka_unit_test(inside_a_switch_there_is_no_link),
      cmocka_unit_test(unknown_facts_are_not_judged),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
