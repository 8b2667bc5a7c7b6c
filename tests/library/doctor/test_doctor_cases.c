/* SPDX-License-Identifier: Apache-2.0 */
/* Special cases: what must not be reported, and findings that other facts must not hide. */
#include "doctor_fixture.h"

static void a_drive_without_a_driver_may_be_disabled(void **state) {
  (void)state;
  static struct facts facts;
  struct report report;

  fill(&facts);
  memcpy(facts.config_after, facts.config, sizeof facts.config);
  set(&facts, DRIVE, 0x04, 0x6, 0);
  facts.registers.status = facts.registers.configuration = 0;
  facts.in_use = false;
  (void)judge(&facts, &report);
  assert_int_equal(report.count, 0);
  facts.registers.status = 8; /* shut down, as a driver leaves it */
  (void)judge(&facts, &report);
  assert_int_equal(report.count, 0);
}

/* vfio-pci puts a drive that no program has opened into D3hot. The port above it may enter D3hot, too. */
static void a_drive_without_a_driver_may_be_in_d3hot(void **state) {
  (void)state;
  static struct facts facts;
  struct report report;

  fill(&facts);
  facts.in_use = false;
  EACH_OF(facts, i) set(&facts, i, POWER + 4, 3, 3);
  memcpy(facts.config_after, facts.config, sizeof facts.config);
  assert_int_equal(judge(&facts, &report), SPATE_DOCTOR_NOTE);
  assert_int_equal(report.count, 0);
}

/* With pci=pcie_bus_perf, Linux gives each function the largest payload size that it supports, and limits the drive's
 * read requests to its own payload size. The port could answer a larger request with packets that the drive does not
 * accept. So these small requests are not reported. */
static void read_requests_may_be_as_small_as_the_drives_payload(void **state) {
  (void)state;
  static struct facts facts;
  struct report report;

  fill(&facts);
  set(&facts, DRIVE, EXPRESS + 0x04, 7, 0);
  set(&facts, DRIVE, EXPRESS + 0x08, 7u << 5 | 7u << 12, 0);
  memcpy(facts.config_after, facts.config, sizeof facts.config);
  assert_int_equal(judge(&facts, &report), SPATE_DOCTOR_NOTE);
  assert_int_equal(report.count, 0);

  /* In the opposite case the drive's packets are too large for the port. */
  set(&facts, DRIVE, EXPRESS + 0x04, 7, 1);
  set(&facts, DRIVE, EXPRESS + 0x08, 0, 1u << 5);
  set(&facts, PORT, EXPRESS + 0x08, 7u << 5, 0);
  memcpy(facts.config_after, facts.config, sizeof facts.config);
  assert_int_equal(judge(&facts, &report), SPATE_DOCTOR_ERROR);
  assert_int_equal(report.findings[0].code, SPATE_DOCTOR_PAYLOAD_MISMATCH);
}

static void a_window_above_4_gib_reaches_a_bar_there(void **state) {
  (void)state;
  static struct facts facts;
  struct report report;

  fill(&facts);
  set(&facts, DRIVE, 0x14, 0, 0x20);
  set(&facts, PORT, 0x24, 0, 0xe001e001);
  set(&facts, PORT, 0x28, 0, 0x20);
  set(&facts, PORT, 0x2c, 0, 0x20);
  memcpy(facts.config_after, facts.config, sizeof facts.config);
  (void)judge(&facts, &report);
  assert_int_equal(report.count, 0);
  facts.bar0_bytes = 0x100001; /* one byte more than the window has */
  (void)judge(&facts, &report);
  assert_int_equal(report.count, 1);
  assert_int_equal(report.findings[0].code, SPATE_DOCTOR_BAR_OUTSIDE_WINDOW);
}

/* A prefetchable window that does not exist reads as zeros. It is not a window from 0 to 1 MiB. */
static void zeros_are_no_prefetchable_window(void **state) {
  (void)state;
  static struct facts facts;
  struct report report;

  fill(&facts);
  set(&facts, DRIVE, 0x10, 0xfffffff0, 0x80000);
  memcpy(facts.config_after, facts.config, sizeof facts.config);
  (void)judge(&facts, &report);
  assert_int_equal(report.count, 1);
  assert_int_equal(report.findings[0].code, SPATE_DOCTOR_BAR_OUTSIDE_WINDOW);
}

static void errors_from_before_a_transfer_are_not_reported_again(void **state) {
  (void)state;
  static struct facts facts;
  struct report report;

  fill(&facts);
  set(&facts, DRIVE, AER + 0x10, 0, 0x41);
  memcpy(facts.config_after, facts.config, sizeof facts.config);
  facts.config_after[DRIVE][(AER + 0x10) / 4] |= 0x1000;
  (void)judge(&facts, &report);
  assert_int_equal(report.count, 2);
  assert_int_equal(report.findings[1].code, SPATE_DOCTOR_CORRECTED_DURING);
  assert_int_equal(report.findings[1].numbers[0], 0x1000);
}

/* Without Advanced Error Reporting there is only Device Status. An unsupported request does not hide a later fatal
 * error. */
static void a_fatal_error_after_an_unsupported_request_is_reported(void **state) {
  (void)state;
  static struct facts facts;
  struct report report;

  fill(&facts);
  set(&facts, DRIVE, AER, UINT32_MAX, 0);
  set(&facts, DRIVE, EXPRESS + 0x08, 0, 0xa0000);
  memcpy(facts.config_after, facts.config, sizeof facts.config);
  facts.config_after[DRIVE][(EXPRESS + 0x08) / 4] |= 0x40000;
  (void)judge(&facts, &report);
  assert_int_equal(report.count, 2);
  assert_int_equal(report.findings[0].code, SPATE_DOCTOR_UNSUPPORTED_BEFORE);
  assert_int_equal(report.findings[1].code, SPATE_DOCTOR_UNCORRECTED_DURING);
}

/* Inside a switch, between its upstream and downstream ports, there is no link. */
static void inside_a_switch_there_is_no_link(void **state) {
  (void)state;
  static struct facts facts;
  struct spate_doctor_function path[4];
  struct report report = {.count = 0};
  struct spate_doctor doctor = {.found = add_finding, .context = &report};

  for (unsigned i = 0; i < 4; i++) {
    const uint32_t types[] = {0x4, 0x5, 0x6, 0x0};
    fill(&facts);
    const unsigned like = i == 3 ? DRIVE : PORT;
    set(&facts, like, EXPRESS, 0xfu << 20, types[i] << 20);
    set(&facts, like, 0x18, 0xffffff, 0x030000 | (i + 1) << 8 | i);
    if (i == 1 || i == 2)
      set(&facts, like, EXPRESS + 0x10, 0xfu << 16, 1u << 16); /* 2.5 GT/s, at a port that has no link */
    const struct spate_doctor_space space = space_of(facts.config[like], 4096);
    spate_doctor_function_read(&path[i], (struct spate_pcie_address){.bus = (uint8_t)i}, &space);
  }
  path[1].link.speed = 4;
  spate_doctor_judge_path(&doctor, path, 4, true);
  assert_int_equal(report.count, 0);
}

static void unknown_facts_are_not_judged(void **state) {
  (void)state;
  static struct facts facts;
  static const unsigned sizes[] = {0, 32, 64, EXPRESS + 8, 256};
  struct report report;

  for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    struct spate_doctor_function path[FUNCTIONS];
    struct spate_doctor doctor = {.found = add_finding, .context = &report};
    fill(&facts);
    report.count = 0;
    for (unsigned each = 0; each < FUNCTIONS; each++) {
      const struct spate_doctor_space space = space_of(facts.config[each], sizes[i]);
      spate_doctor_function_read(&path[each], (struct spate_pcie_address){.bus = (uint8_t)each}, &space);
    }
    spate_doctor_judge_path(&doctor, path, FUNCTIONS, true);
    spate_doctor_judge_port(&doctor, &path[PORT]);
    assert_int_equal(report.count, sizes[i] == 256); /* nothing answers below the port */
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_drive_without_a_driver_may_be_disabled),
      cmocka_unit_test(a_drive_without_a_driver_may_be_in_d3hot),
      cmocka_unit_test(read_requests_may_be_as_small_as_the_drives_payload),
      cmocka_unit_test(a_window_above_4_gib_reaches_a_bar_there),
      cmocka_unit_test(zeros_are_no_prefetchable_window),
      cmocka_unit_test(errors_from_before_a_transfer_are_not_reported_again),
      cmocka_unit_test(a_fatal_error_after_an_unsupported_request_is_reported),
      cmocka_unit_test(inside_a_switch_there_is_no_link),
      cmocka_unit_test(unknown_facts_are_not_judged),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
