/* SPDX-License-Identifier: Apache-2.0 */
/* What the doctor concludes from configuration space, registers and log pages: each finding has facts that provoke it,
 * and healthy facts provoke none. */
#include "doctor_fixture.h"

static void nothing_is_wrong_with_healthy_facts(void **state) {
  (void)state;
  static struct facts facts;
  struct report report;

  fill(&facts);
  memcpy(facts.config_after, facts.config, sizeof facts.config);
  assert_int_equal(judge(&facts, &report), SPATE_DOCTOR_NOTE);
  assert_int_equal(report.count, 0);
}

/* ---- facts that provoke each finding ---- */

static void slot_empty(struct facts *facts) {
  set(facts, PORT, EXPRESS + 0x18, 0x00400000, 0);
  set(facts, PORT, EXPRESS + 0x10, 0x20000000, 0);
}
static void link_down(struct facts *facts) { set(facts, PORT, EXPRESS + 0x10, 0x20000000, 0); }
static void link_training(struct facts *facts) { set(facts, PORT, EXPRESS + 0x10, 0x20000000, 0x08000000); }
static void link_slow(struct facts *facts) { set(facts, DRIVE, EXPRESS + 0x10, 0xfu << 16, 1u << 16); }
static void link_speed_limited(struct facts *facts) {
  link_slow(facts);
  set(facts, PORT, EXPRESS + 0x30, 0xf, 1);
}
static void link_narrow(struct facts *facts) { set(facts, DRIVE, EXPRESS + 0x10, 0x3fu << 20, 1u << 20); }
static void port_slower(struct facts *facts) { set(facts, DRIVE, EXPRESS + 0x0c, 0xf, 6); }
static void port_narrower(struct facts *facts) { set(facts, DRIVE, EXPRESS + 0x0c, 0x3f0, 8u << 4); }
static void payload_unsupported(struct facts *facts) {
  EACH_OF(facts, i) set(facts, i, EXPRESS + 0x08, 7u << 5, 2u << 5);
  set(facts, PORT, EXPRESS + 0x04, 7, 2);
}
static void payload_mismatch(struct facts *facts) { set(facts, DRIVE, EXPRESS + 0x08, 7u << 5, 0); }
static void payload_small(struct facts *facts) { EACH_OF(facts, i) set(facts, i, EXPRESS + 0x08, 7u << 5, 0); }
static void read_request_reserved(struct facts *facts) { set(facts, DRIVE, EXPRESS + 0x08, 0, 7u << 12); }
static void read_request_small(struct facts *facts) { set(facts, DRIVE, EXPRESS + 0x08, 7u << 12, 0); }
static void aspm_on(struct facts *facts) { set(facts, DRIVE, EXPRESS + 0x10, 0, 2); }

static void function_silent(struct facts *facts) { memset(facts->config[DRIVE], 0xff, sizeof facts->config[DRIVE]); }
static void function_of_zeros(struct facts *facts) { memset(facts->config[DRIVE], 0, sizeof facts->config[DRIVE]); }
static void wrong_class(struct facts *facts) { set(facts, DRIVE, 0x08, 0xffffff00, 0x01060100); }
static void known_drive(struct facts *facts) { set(facts, DRIVE, 0x00, 0xffffffff, 0xf1a58086); }
static void power_state(struct facts *facts) { set(facts, DRIVE, POWER + 4, 3, 3); }
static void bus_numbers(struct facts *facts) { set(facts, PORT, 0x18, 0xffff00, 0x020200); }
static void bus_numbers_reversed(struct facts *facts) { set(facts, PORT, 0x18, 0xff0000, 0); }
static void memory_off(struct facts *facts) { set(facts, DRIVE, 0x04, 0x2, 0); }
static void bus_master_off(struct facts *facts) { set(facts, PORT, 0x04, 0x4, 0); }
static void bar_unassigned(struct facts *facts) { set(facts, DRIVE, 0x10, 0xfffffff0, 0); }
static void bar_fixed(struct facts *facts) {
  bar_unassigned(facts);
  facts->bar0_bytes = 0;
  facts->bar0_fixed = true;
}
static void aperture_small(struct facts *facts) {
  bar_unassigned(facts);
  facts->bar0_bytes = UINT64_C(4) << 20;
}
static void bar_outside_window(struct facts *facts) { set(facts, DRIVE, 0x14, 0, 1); }

static void corrected_before(struct facts *facts) { set(facts, DRIVE, AER + 0x10, 0, 0x41); }
static void uncorrected_before(struct facts *facts) { set(facts, DRIVE, AER + 0x04, 0, 0x4000); }
static void unsupported_before(struct facts *facts) { set(facts, DRIVE, EXPRESS + 0x08, 0, 0xa0000); }
static void corrected_during(struct facts *facts) { facts->counted_after = 3; }
static void uncorrected_during(struct facts *facts) { facts->config_after[PORT][(AER + 4) / 4] |= 0x40000; }

static void registers_gone(struct facts *facts) { memset(&facts->registers, 0xff, sizeof facts->registers); }
static void controller_fatal(struct facts *facts) { facts->registers.status = 3; }
static void controller_not_ready(struct facts *facts) { facts->registers.status = 0; }
static void controller_shut_down(struct facts *facts) { facts->registers.status = 9; }
static void command_set(struct facts *facts) { facts->registers.capabilities = UINT64_C(0x40) << 37; }
static void page_size(struct facts *facts) { facts->registers.capabilities |= UINT64_C(4) << 48; }

static void spare_low(struct facts *facts) { facts->health.spare_percent = 9; }
static void unreliable(struct facts *facts) { facts->health.critical_warning = 4; }
static void read_only(struct facts *facts) { facts->health.critical_warning = 8; }
static void backup_failed(struct facts *facts) { facts->health.critical_warning = 16; }
static void worn(struct facts *facts) { facts->health.used_percent = 100; }
static void wearing(struct facts *facts) { facts->health.used_percent = 99; }
static void media_errors(struct facts *facts) { facts->health.media_errors = 1; }
static void too_hot(struct facts *facts) { facts->health.temperature_c = 100; }
static void hot(struct facts *facts) { facts->health.temperature_c = 99; }
static void temperature_warning(struct facts *facts) { facts->health.critical_warning = 2; }
static void throttled(struct facts *facts) { facts->throttling_after.seconds = 1; }
static void throttled_before(struct facts *facts) {
  facts->throttling.transitions = facts->throttling_after.transitions = 1;
}
static void no_namespace(struct facts *facts) { facts->namespaces = 0; }
static void namespace_metadata(struct facts *facts) { facts->namespace.metadata = true; }
static void namespace_format(struct facts *facts) { facts->namespace.block_bytes = 0; }

/* A finding about a single port, without the rest. */
static void device_silent(struct facts *facts) { (void)facts; }

static const struct provocation {
  enum spate_doctor_code code;
  void (*provoke)(struct facts *facts);
  const char *says; /* part of the problem's sentence */
} provocations[] = {
    {SPATE_DOCTOR_SLOT_EMPTY, slot_empty, "empty"},
    {SPATE_DOCTOR_LINK_DOWN, link_down, "no link"},
    {SPATE_DOCTOR_LINK_TRAINING, link_training, "training"},
    {SPATE_DOCTOR_LINK_SLOW, link_slow, "2.5 GT/s, and both ends support 16 GT/s"},
    {SPATE_DOCTOR_LINK_SPEED_LIMITED, link_speed_limited, "2.5 GT/s because"},
    {SPATE_DOCTOR_LINK_NARROW, link_narrow, "1 lane, and both ends support 4"},
    {SPATE_DOCTOR_PORT_SLOWER, port_slower, "64 GT/s"},
    {SPATE_DOCTOR_PORT_NARROWER, port_narrower, "4 lanes at most, and the device below it 8"},
    {SPATE_DOCTOR_PAYLOAD_UNSUPPORTED, payload_unsupported, "512 bytes, and this function supports 256 bytes"},
    {SPATE_DOCTOR_PAYLOAD_MISMATCH, payload_mismatch, "128 bytes here and to 256 bytes above"},
    {SPATE_DOCTOR_PAYLOAD_SMALL, payload_small, "128 bytes, and every function on the path supports 256 bytes"},
    {SPATE_DOCTOR_READ_REQUEST_RESERVED, read_request_reserved, "code 7"},
    {SPATE_DOCTOR_READ_REQUEST_SMALL, read_request_small, "128 bytes"},
    {SPATE_DOCTOR_ASPM_ON, aspm_on, "L1 (ASPM)"},
    {SPATE_DOCTOR_FUNCTION_SILENT, function_silent, "all ones"},
    {SPATE_DOCTOR_FUNCTION_SILENT, function_of_zeros, "zeros"},
    {SPATE_DOCTOR_WRONG_CLASS, wrong_class, "0x10601,"},
    {SPATE_DOCTOR_KNOWN_DRIVE, known_drive,
     "(Intel 600p, P3100: no Write Zeroes, submission queues of medium priority)"},
    {SPATE_DOCTOR_POWER_STATE, power_state, "D3,"},
    {SPATE_DOCTOR_BUS_NUMBERS, bus_numbers, "buses 2 to 2, and the next function is on bus 1"},
    {SPATE_DOCTOR_BUS_NUMBERS, bus_numbers_reversed, "buses 1 to 0"},
    {SPATE_DOCTOR_MEMORY_OFF, memory_off, "bit 1"},
    {SPATE_DOCTOR_BUS_MASTER_OFF, bus_master_off, "bit 2"},
    {SPATE_DOCTOR_BAR_FIXED, bar_fixed, "reads 0 after all ones"},
    {SPATE_DOCTOR_BAR_UNASSIGNED, bar_unassigned, "no address"},
    {SPATE_DOCTOR_APERTURE_SMALL, aperture_small, "2 MiB, and the drive's BAR 0 needs 4 MiB"},
    {SPATE_DOCTOR_BAR_OUTSIDE_WINDOW, bar_outside_window, "0x1e0000000"},
    {SPATE_DOCTOR_CORRECTED_BEFORE, corrected_before, "receiver error, bad TLP"},
    {SPATE_DOCTOR_UNCORRECTED_BEFORE, uncorrected_before, "completion timeout"},
    {SPATE_DOCTOR_UNSUPPORTED_BEFORE, unsupported_before, "unsupported"},
    {SPATE_DOCTOR_CORRECTED_DURING, corrected_during,
     "At least 3 correctable errors during the transfer (kind not known)"},
    {SPATE_DOCTOR_UNCORRECTED_DURING, uncorrected_during,
     "At least 1 uncorrectable error during the transfer (malformed TLP)"},
    {SPATE_DOCTOR_REGISTERS_GONE, registers_gone, "all ones"},
    {SPATE_DOCTOR_CONTROLLER_FATAL, controller_fatal, "status 0x3"},
    {SPATE_DOCTOR_CONTROLLER_NOT_READY, controller_not_ready, "CC.EN 1, CSTS 0x0"},
    {SPATE_DOCTOR_CONTROLLER_SHUT_DOWN, controller_shut_down, "0x9"},
    {SPATE_DOCTOR_COMMAND_SET, command_set, "CAP.CSS"},
    {SPATE_DOCTOR_PAGE_SIZE, page_size, "64 KiB"},
    {SPATE_DOCTOR_SPARE_LOW, spare_low, "9 % of the spare blocks are left, and the drive's threshold is 10 %"},
    {SPATE_DOCTOR_UNRELIABLE, unreliable, "no longer reliable"},
    {SPATE_DOCTOR_READ_ONLY, read_only, "reads only"},
    {SPATE_DOCTOR_BACKUP_FAILED, backup_failed, "backup"},
    {SPATE_DOCTOR_WORN, worn, "100 %"},
    {SPATE_DOCTOR_WEARING, wearing, "99 %"},
    {SPATE_DOCTOR_MEDIA_ERRORS, media_errors, "1 media error"},
    {SPATE_DOCTOR_TOO_HOT, too_hot, "100 C, and its critical limit is 100 C"},
    {SPATE_DOCTOR_HOT, hot, "99 C, and its warning limit is 70 C"},
    {SPATE_DOCTOR_TEMPERATURE_WARNING, temperature_warning, "50 C"},
    {SPATE_DOCTOR_THROTTLED, throttled, "during the transfer"},
    {SPATE_DOCTOR_THROTTLED_BEFORE, throttled_before, "1 time and was above its warning limit for 0 minutes"},
    {SPATE_DOCTOR_NO_NAMESPACE, no_namespace, "no active"},
    {SPATE_DOCTOR_NAMESPACE_METADATA, namespace_metadata, "Namespace 1"},
    {SPATE_DOCTOR_NAMESPACE_FORMAT, namespace_format, "Namespace 1"},
    {SPATE_DOCTOR_DEVICE_SILENT, device_silent, "no device below it responds"},
};

#define PROVOCATIONS (sizeof provocations / sizeof provocations[0])

static void each_finding_is_provoked_by_its_facts_and_alone(void **state) {
  (void)state;
  static struct facts facts;
  char text[SPATE_DOCTOR_SENTENCE_BYTES];
  struct report report;

  for (unsigned i = 0; i < PROVOCATIONS; i++) {
    const struct provocation *each = &provocations[i];
    fill(&facts);
    memcpy(facts.config_after, facts.config, sizeof facts.config);
    each->provoke(&facts);
    if (each->code == SPATE_DOCTOR_DEVICE_SILENT)
      judge_port(&facts, &report);
    else
      assert_int_equal(judge(&facts, &report), spate_doctor_severity_of(each->code));
    if (report.count != 1 || report.findings[0].code != each->code)
      fail_msg("%s: %u findings, the first %s", spate_doctor_name(each->code), report.count,
               report.count == 0 ? "-" : spate_doctor_name(report.findings[0].code));
    (void)spate_doctor_problem(text, sizeof text, each->code, &report.findings[0]);
    if (strstr(text, each->says) == NULL) fail_msg("\"%s\" does not say \"%s\"", text, each->says);
  }
}

/* The findings that the library makes. The program that gathers the facts makes the others. */
static void every_finding_of_the_library_is_provoked(void **state) {
  (void)state;
  for (unsigned code = 0; code <= SPATE_DOCTOR_NAMESPACE_FORMAT; code++) {
    bool provoked = code == SPATE_DOCTOR_TRANSFER_FAILED || code == SPATE_DOCTOR_CONTROLLER_BUSY ||
                    code == SPATE_DOCTOR_CONTROLLER_DEAD;
    for (unsigned i = 0; i < PROVOCATIONS; i++)
      provoked = provoked || provocations[i].code == code;
    if (!provoked) fail_msg("nothing provokes %s", spate_doctor_name(code));
  }
}

static void a_port_without_a_device_is_judged_alone(void **state) {
  (void)state;
  static const struct {
    void (*provoke)(struct facts *facts);
    enum spate_doctor_code code;
  } cases[] = {{slot_empty, SPATE_DOCTOR_SLOT_EMPTY},
               {link_down, SPATE_DOCTOR_LINK_DOWN},
               {link_training, SPATE_DOCTOR_LINK_TRAINING},
               {device_silent, SPATE_DOCTOR_DEVICE_SILENT}};
  static struct facts facts;
  struct report report;

  for (unsigned i = 0; i < 4; i++) {
    fill(&facts);
    cases[i].provoke(&facts);
    judge_port(&facts, &report);
    assert_int_equal(report.count, 1);
    assert_int_equal(report.findings[0].code, cases[i].code);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_is_wrong_with_healthy_facts),
      cmocka_unit_test(each_finding_is_provoked_by_its_facts_and_alone),
      cmocka_unit_test(every_finding_of_the_library_is_provoked),
      cmocka_unit_test(a_port_without_a_device_is_judged_alone),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
