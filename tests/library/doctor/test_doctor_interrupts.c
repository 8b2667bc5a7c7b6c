/* SPDX-License-Identifier: Apache-2.0 */
/* Interrupts of a drive that is polled. */
#include "doctor_fixture.h"

enum { MSI = 0x50, MSIX = 0x60 };

static void judge_drive_with(uint32_t msi, uint32_t msix, struct report *report) {
  static struct facts facts;
  struct spate_doctor_function drive;
  struct spate_doctor doctor = {.found = add_finding, .context = report};

  fill(&facts);
  set(&facts, DRIVE, POWER, 0xff00, MSI << 8);
  set(&facts, DRIVE, MSI, UINT32_MAX, msi | MSIX << 8 | 0x05);
  set(&facts, DRIVE, MSIX, UINT32_MAX, msix | EXPRESS << 8 | 0x11);
  report->count = 0;
  const struct spate_doctor_space space = space_of(facts.config[DRIVE], 4096);
  spate_doctor_function_read(&drive, (struct spate_pcie_address){.bus = 1}, &space);
  spate_doctor_judge_interrupts(&doctor, &drive);
}

static void interrupts_that_are_on_are_found(void **state) {
  static const struct {
    uint32_t msi, msix;
    enum spate_doctor_code code;
    const char *name;
  } cases[] = {
      {0x00800000, 0x00400000, SPATE_DOCTOR_POLLED, NULL}, /* what the drive can do, and nothing turned on */
      {0x00810000, 0x00000000, SPATE_DOCTOR_INTERRUPTS_ON, "(MSI)"},
      {0x00000000, 0x80000000, SPATE_DOCTOR_INTERRUPTS_ON, "(MSI-X)"},
      {0x00010000, 0x80400000, SPATE_DOCTOR_INTERRUPTS_ON, "(MSI and MSI-X)"},
  };
  struct report report;
  char text[SPATE_DOCTOR_SENTENCE_BYTES];

  (void)state;
  for (unsigned i = 0; i < 4; i++) {
    judge_drive_with(cases[i].msi, cases[i].msix, &report);
    assert_int_equal(report.count, 1);
    assert_int_equal(report.findings[0].code, cases[i].code);
    (void)spate_doctor_problem(text, sizeof text, cases[i].code, &report.findings[0]);
    if (cases[i].name != NULL) assert_non_null(strstr(text, cases[i].name));
  }
}

static void nothing_is_said_about_a_drive_that_is_not_known(void **state) {
  struct report report = {.count = 0};
  struct spate_doctor doctor = {.found = add_finding, .context = &report};
  struct spate_doctor_function drive = {.header_known = true};

  (void)state;
  spate_doctor_judge_interrupts(&doctor, &drive); /* its capabilities were not read */
  drive = (struct spate_doctor_function){.header_known = true, .silent = true, .kind = SPATE_DOCTOR_ENDPOINT};
  spate_doctor_judge_interrupts(&doctor, &drive);
  assert_int_equal(report.count, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(interrupts_that_are_on_are_found),
      cmocka_unit_test(nothing_is_said_about_a_drive_that_is_not_known),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
