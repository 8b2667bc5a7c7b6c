/* SPDX-License-Identifier: Apache-2.0 */
/* What the doctor concludes from configuration space, registers and log pages: each finding has facts that provoke it,
 * and healthy facts provoke none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <spate/doctor.h>

/* A root port, and a drive below it, as configuration space shows them. */
enum { PORT, DRIVE, FUNCTIONS };
enum { POWER = 0x40, EXPRESS = 0x70, AER = 0x100 };

struct facts {
  uint32_t config[FUNCTIONS][1024], config_after[FUNCTIONS][1024];
  uint64_t bar0_bytes, counted_after;
  bool in_use;
  struct spate_doctor_registers registers;
  struct spate_nvme_identity identity;
  struct spate_nvme_health health;
  struct spate_nvme_throttling throttling, throttling_after;
  struct spate_nvme_namespace namespace;
  unsigned namespaces;
};

static uint32_t *at(struct facts *facts, unsigned function, unsigned offset) {
  return &facts->config[function][offset / 4u];
}

static void set(struct facts *facts, unsigned function, unsigned offset, uint32_t clear, uint32_t bits) {
  *at(facts, function, offset) = (*at(facts, function, offset) & ~clear) | bits;
}

/* 16 GT/s and four lanes at both ends, payloads of 256 bytes, reads of 512. */
static void fill_function(struct facts *facts, unsigned function, uint32_t express_type) {
  set(facts, function, 0x00, 0, 0x00101b36);
  set(facts, function, 0x04, 0, 0x00100406);
  set(facts, function, 0x34, 0, POWER);
  set(facts, function, POWER, 0, 0x00037001);
  set(facts, function, EXPRESS, 0, 0x00020010 | express_type << 20);
  set(facts, function, EXPRESS + 0x04, 0, 1);
  set(facts, function, EXPRESS + 0x08, 0, 1u << 5 | 2u << 12);
  set(facts, function, EXPRESS + 0x0c, 0, 0x00100000 | 4u << 4 | 4u);
  set(facts, function, EXPRESS + 0x10, 0, (0x2000u | 4u << 4 | 4u) << 16);
  set(facts, function, EXPRESS + 0x30, 0, 4);
  set(facts, function, AER, 0, 0x00020001);
}

static void fill(struct facts *facts) {
  *facts = (struct facts){
      .bar0_bytes = 0x4000,
      .in_use = true,
      .registers = {.capabilities = UINT64_C(1) << 37, .configuration = 0x00460001, .status = 1},
      .identity = {.warning_temperature_k = 343, .critical_temperature_k = 373},
      .health = {.temperature_c = 50, .spare_percent = 100, .spare_threshold_percent = 10},
      .namespace = {.nsid = 1, .blocks = 1000, .block_bytes = 512},
      .namespaces = 1,
  };
  fill_function(facts, PORT, 0x4);
  fill_function(facts, DRIVE, 0x0);
  set(facts, PORT, 0x08, 0, 0x06040000);
  set(facts, PORT, 0x0c, 0, 0x00010000);
  set(facts, PORT, 0x18, 0, 0x00010100);
  set(facts, PORT, 0x20, 0, 0xe010e000);
  set(facts, PORT, EXPRESS, 0, 0x01000000);        /* a slot */
  set(facts, PORT, EXPRESS + 0x18, 0, 0x00400000); /* something in it */
  set(facts, DRIVE, 0x08, 0, 0x01080200);
  set(facts, DRIVE, 0x10, 0, 0xe0000004);
}

/* ---- the findings reported ---- */

struct heard {
  struct spate_doctor_finding findings[64];
  unsigned count;
};

static void hear(void *context, const struct spate_doctor_finding *finding) {
  struct heard *heard = context;
  char text[SPATE_DOCTOR_SENTENCE_BYTES];

  assert_true(heard->count < 64);
  heard->findings[heard->count++] = *finding;
  (void)spate_doctor_problem(text, sizeof text, finding->code, finding);
  assert_null(strpbrk(text, "{}"));
  (void)spate_doctor_advice(text, sizeof text, finding->code, finding);
  assert_null(strpbrk(text, "{}"));
}

static uint32_t read_config(const void *context, unsigned offset) {
  assert_true(offset % 4 == 0 && offset < 4096);
  return ((const uint32_t *)context)[offset / 4u];
}

static struct spate_doctor_space space_of(const uint32_t *config, unsigned bytes) {
  return (struct spate_doctor_space){.read = read_config, .context = config, .bytes = bytes};
}

static void read_path(const struct facts *facts, const uint32_t config[FUNCTIONS][1024],
                      struct spate_doctor_function path[FUNCTIONS]) {
  for (unsigned i = 0; i < FUNCTIONS; i++) {
    const struct spate_doctor_space space = space_of(config[i], 4096);
    spate_doctor_function_read(&path[i], (struct spate_pcie_address){.bus = (uint8_t)i}, &space);
  }
  path[DRIVE].bar0_bytes = facts->bar0_bytes;
}

/* Every judgement, in the order in which a doctor makes them. */
static enum spate_doctor_severity judge(const struct facts *facts, struct heard *heard) {
  static struct spate_doctor_function path[FUNCTIONS], after[FUNCTIONS];
  struct spate_doctor doctor = {.found = hear, .context = heard};

  heard->count = 0;
  read_path(facts, facts->config, path);
  read_path(facts, facts->config_after, after);
  after[DRIVE].errors.corrected_count = facts->counted_after;
  spate_doctor_judge_path(&doctor, path, FUNCTIONS, facts->in_use);
  spate_doctor_judge_errors_before(&doctor, path, FUNCTIONS);
  spate_doctor_judge_errors_during(&doctor, path, after, FUNCTIONS);
  spate_doctor_judge_registers(&doctor, &facts->registers, facts->in_use);
  spate_doctor_judge_drive(&doctor, &(struct spate_doctor_drive){.identity = &facts->identity,
                                                                 .health = &facts->health,
                                                                 .throttling = &facts->throttling,
                                                                 .throttling_after = &facts->throttling_after});
  spate_doctor_judge_namespaces(&doctor, &facts->namespace, facts->namespaces);
  return doctor.worst;
}

static void nothing_is_wrong_with_healthy_facts(void **state) {
  (void)state;
  static struct facts facts;
  struct heard heard;

  fill(&facts);
  memcpy(facts.config_after, facts.config, sizeof facts.config);
  assert_int_equal(judge(&facts, &heard), SPATE_DOCTOR_NOTE);
  assert_int_equal(heard.count, 0);
}

/* ---- facts that provoke each finding ---- */

#define EACH_OF(facts, function) for (unsigned function = 0; function < FUNCTIONS; function++)

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
static void power_state(struct facts *facts) { set(facts, DRIVE, POWER + 4, 3, 3); }
static void bus_numbers(struct facts *facts) { set(facts, PORT, 0x18, 0xffff00, 0x020200); }
static void bus_numbers_reversed(struct facts *facts) { set(facts, PORT, 0x18, 0xff0000, 0); }
static void memory_off(struct facts *facts) { set(facts, DRIVE, 0x04, 0x2, 0); }
static void bus_master_off(struct facts *facts) { set(facts, PORT, 0x04, 0x4, 0); }
static void bar_unassigned(struct facts *facts) { set(facts, DRIVE, 0x10, 0xfffffff0, 0); }
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
    {SPATE_DOCTOR_LINK_SLOW, link_slow, "2.5 GT/s, and both ends can do 16 GT/s"},
    {SPATE_DOCTOR_LINK_SPEED_LIMITED, link_speed_limited, "2.5 GT/s because"},
    {SPATE_DOCTOR_LINK_NARROW, link_narrow, "1 lanes, and both ends can do 4"},
    {SPATE_DOCTOR_PORT_SLOWER, port_slower, "64 GT/s"},
    {SPATE_DOCTOR_PORT_NARROWER, port_narrower, "4 lanes at most, and what is below it 8"},
    {SPATE_DOCTOR_PAYLOAD_UNSUPPORTED, payload_unsupported, "512 bytes, and this function supports 256 bytes"},
    {SPATE_DOCTOR_PAYLOAD_MISMATCH, payload_mismatch, "128 bytes here and to 256 bytes above"},
    {SPATE_DOCTOR_PAYLOAD_SMALL, payload_small, "128 bytes, and every function on the path supports 256 bytes"},
    {SPATE_DOCTOR_READ_REQUEST_RESERVED, read_request_reserved, "code 7"},
    {SPATE_DOCTOR_READ_REQUEST_SMALL, read_request_small, "128 bytes"},
    {SPATE_DOCTOR_ASPM_ON, aspm_on, "L1 (ASPM)"},
    {SPATE_DOCTOR_FUNCTION_SILENT, function_silent, "all ones"},
    {SPATE_DOCTOR_FUNCTION_SILENT, function_of_zeros, "zeros"},
    {SPATE_DOCTOR_WRONG_CLASS, wrong_class, "0x10601,"},
    {SPATE_DOCTOR_POWER_STATE, power_state, "D3,"},
    {SPATE_DOCTOR_BUS_NUMBERS, bus_numbers, "buses 2 to 2, and the next function is on bus 1"},
    {SPATE_DOCTOR_BUS_NUMBERS, bus_numbers_reversed, "buses 1 to 0"},
    {SPATE_DOCTOR_MEMORY_OFF, memory_off, "bit 1"},
    {SPATE_DOCTOR_BUS_MASTER_OFF, bus_master_off, "bit 2"},
    {SPATE_DOCTOR_BAR_UNASSIGNED, bar_unassigned, "no address"},
    {SPATE_DOCTOR_APERTURE_SMALL, aperture_small, "2 MiB, and the drive's BAR 0 needs 4 MiB"},
    {SPATE_DOCTOR_BAR_OUTSIDE_WINDOW, bar_outside_window, "0x1e0000000"},
    {SPATE_DOCTOR_CORRECTED_BEFORE, corrected_before, "receiver error, bad TLP"},
    {SPATE_DOCTOR_UNCORRECTED_BEFORE, uncorrected_before, "completion timeout"},
    {SPATE_DOCTOR_UNSUPPORTED_BEFORE, unsupported_before, "unsupported"},
    {SPATE_DOCTOR_CORRECTED_DURING, corrected_during, "kind not known), 3 at"},
    {SPATE_DOCTOR_UNCORRECTED_DURING, uncorrected_during, "malformed TLP), 1 at"},
    {SPATE_DOCTOR_REGISTERS_GONE, registers_gone, "all ones"},
    {SPATE_DOCTOR_CONTROLLER_FATAL, controller_fatal, "status 0x3"},
    {SPATE_DOCTOR_CONTROLLER_NOT_READY, controller_not_ready, "CC.EN 1, CSTS 0x0"},
    {SPATE_DOCTOR_CONTROLLER_SHUT_DOWN, controller_shut_down, "0x9"},
    {SPATE_DOCTOR_COMMAND_SET, command_set, "CAP.CSS"},
    {SPATE_DOCTOR_PAGE_SIZE, page_size, "64 KiB"},
    {SPATE_DOCTOR_SPARE_LOW, spare_low, "9 % of the spare blocks are left, and the drive's threshold is 10 %"},
    {SPATE_DOCTOR_UNRELIABLE, unreliable, "not reliable"},
    {SPATE_DOCTOR_READ_ONLY, read_only, "reads only"},
    {SPATE_DOCTOR_BACKUP_FAILED, backup_failed, "backup"},
    {SPATE_DOCTOR_WORN, worn, "100 %"},
    {SPATE_DOCTOR_WEARING, wearing, "99 %"},
    {SPATE_DOCTOR_MEDIA_ERRORS, media_errors, "1 errors"},
    {SPATE_DOCTOR_TOO_HOT, too_hot, "100 C, and its critical limit is 100 C"},
    {SPATE_DOCTOR_HOT, hot, "99 C, and its warning limit is 70 C"},
    {SPATE_DOCTOR_TEMPERATURE_WARNING, temperature_warning, "50 C"},
    {SPATE_DOCTOR_THROTTLED, throttled, "during the transfer"},
    {SPATE_DOCTOR_THROTTLED_BEFORE, throttled_before, "1 times"},
    {SPATE_DOCTOR_NO_NAMESPACE, no_namespace, "no active"},
    {SPATE_DOCTOR_NAMESPACE_METADATA, namespace_metadata, "Namespace 1"},
    {SPATE_DOCTOR_NAMESPACE_FORMAT, namespace_format, "Namespace 1"},
    {SPATE_DOCTOR_DEVICE_SILENT, device_silent, "no device below it answers"},
};

#define PROVOCATIONS (sizeof provocations / sizeof provocations[0])

static void judge_port(const struct facts *facts, struct heard *heard) {
  static struct spate_doctor_function path[FUNCTIONS];
  struct spate_doctor doctor = {.found = hear, .context = heard};

  heard->count = 0;
  read_path(facts, facts->config, path);
  spate_doctor_judge_port(&doctor, &path[PORT]);
}

static void each_finding_is_provoked_by_its_facts_and_alone(void **state) {
  (void)state;
  static struct facts facts;
  char text[SPATE_DOCTOR_SENTENCE_BYTES];
  struct heard heard;

  for (unsigned i = 0; i < PROVOCATIONS; i++) {
    const struct provocation *each = &provocations[i];
    fill(&facts);
    memcpy(facts.config_after, facts.config, sizeof facts.config);
    each->provoke(&facts);
    if (each->code == SPATE_DOCTOR_DEVICE_SILENT)
      judge_port(&facts, &heard);
    else
      assert_int_equal(judge(&facts, &heard), spate_doctor_severity_of(each->code));
    if (heard.count != 1 || heard.findings[0].code != each->code)
      fail_msg("%s: %u findings, the first %s", spate_doctor_name(each->code), heard.count,
               heard.count == 0 ? "-" : spate_doctor_name(heard.findings[0].code));
    (void)spate_doctor_problem(text, sizeof text, each->code, &heard.findings[0]);
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

/* ---- special cases of single findings ---- */

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
  struct heard heard;

  for (unsigned i = 0; i < 4; i++) {
    fill(&facts);
    cases[i].provoke(&facts);
    judge_port(&facts, &heard);
    assert_int_equal(heard.count, 1);
    assert_int_equal(heard.findings[0].code, cases[i].code);
  }
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

/* ---- texts ---- */

static void check_sentence(const char *name, const char *text) {
  const size_t length = strlen(text);

  if (length < 12 || length + 1 >= SPATE_DOCTOR_SENTENCE_BYTES || text[length - 1] != '.')
    fail_msg("%s: \"%s\" is no sentence", name, text);
  if (strpbrk(text, "{}") != NULL) fail_msg("%s: \"%s\" has a place that was not filled", name, text);
  if (strstr(text, "  ") != NULL) fail_msg("%s: \"%s\" has two blanks", name, text);
  for (const char *at_text = text; *at_text != '\0'; at_text++)
    if (*at_text < ' ' || *at_text > '~') fail_msg("%s: \"%s\" is not plain text", name, text);
}

static void every_finding_has_texts(void **state) {
  (void)state;
  char text[SPATE_DOCTOR_SENTENCE_BYTES];

  for (unsigned code = 0; code < SPATE_DOCTOR_COUNT; code++) {
    const struct spate_doctor_finding finding = {
        .code = (enum spate_doctor_code)code, .numbers = {1, 2, 3, 4}, .name = "a name"};
    const char *name = spate_doctor_name(finding.code);
    assert_non_null(name);
    assert_string_not_equal(name, "UNKNOWN");
    for (unsigned other = 0; other < code; other++)
      assert_string_not_equal(name, spate_doctor_name(other));
    assert_string_not_equal(spate_doctor_severity_name(spate_doctor_severity_of(finding.code)), "unknown");
    for (unsigned with = 0; with < 2; with++) {
      check_sentence(name, spate_doctor_problem(text, sizeof text, finding.code, with ? &finding : NULL));
      check_sentence(name, spate_doctor_advice(text, sizeof text, finding.code, with ? &finding : NULL));
    }
  }
  assert_string_equal(spate_doctor_name(SPATE_DOCTOR_COUNT), "UNKNOWN");
  assert_string_equal(spate_doctor_severity_name((enum spate_doctor_severity)9), "unknown");
}

static void sentences_are_cut_where_there_is_no_room(void **state) {
  (void)state;
  char text[8] = "1234567";

  (void)spate_doctor_problem(text, 4, SPATE_DOCTOR_LINK_DOWN, NULL);
  assert_string_equal(text, "The");
  assert_int_equal(text[4], '5');
  (void)spate_doctor_problem(text, 0, SPATE_DOCTOR_LINK_DOWN, NULL);
  assert_string_equal(text, "The");
}

/* ---- arbitrary input ---- */

static uint32_t random_state;

static uint32_t random32(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 17;
  return random_state ^= random_state << 5;
}

static unsigned reads;

static uint32_t count_reads(const void *context, unsigned offset) {
  reads++;
  return read_config(context, offset);
}

/* Random registers with capability lists that lead anywhere, also in loops. */
static void random_config(uint32_t *config) {
  for (unsigned i = 0; i < 1024; i++)
    config[i] = random32() % 4 == 0 ? random32() : 0;
  if (random32() % 2 == 0) return;
  config[1] |= 0x00100000;
  config[0x34 / 4] = 0x40 + random32() % 0xc0;
  for (unsigned i = 0x40 / 4; i < 0x100 / 4; i++)
    config[i] = (config[i] & 0xffff0000) | (random32() % 2 ? 0x10 : 0x01) | (0x40 + random32() % 0xc0) << 8;
  for (unsigned i = 0x100 / 4; i < 1024; i++)
    config[i] = (config[i] & 0xf0000) | (random32() % 900 == 0 ? 1 : 7) | (0x100 + random32() % 0xf00) << 20;
}

static void any_register_contents_are_survived(void **state) {
  (void)state;
  static struct facts facts;
  struct heard heard;

  for (uint32_t seed = 1; seed <= 20000; seed++) {
    random_state = seed * 2654435761u;
    fill(&facts);
    for (unsigned i = 0; i < FUNCTIONS; i++) {
      if (random32() % 4 != 0) random_config(facts.config[i]);
      random_config(facts.config_after[i]);
    }
    uint32_t *bytes = (uint32_t *)(void *)&facts.registers;
    for (unsigned i = 0; i < sizeof facts.registers / 4; i++)
      bytes[i] = random32();
    facts.health.temperature_c = (int16_t)random32();
    facts.health.critical_warning = (uint8_t)random32();
    facts.identity.critical_temperature_k = random32() & 0xffff;
    facts.identity.warning_temperature_k = random32() & 0xffff;
    facts.bar0_bytes = (uint64_t)random32() << (random32() % 33);
    (void)judge(&facts, &heard);

    struct spate_doctor_function function;
    struct spate_doctor_space space = space_of(facts.config[DRIVE], random32() % 4097);
    space.read = count_reads;
    reads = 0;
    spate_doctor_function_read(&function, (struct spate_pcie_address){.bus = 1}, &space);
    assert_in_range(reads, 0, 700);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_is_wrong_with_healthy_facts),
      cmocka_unit_test(each_finding_is_provoked_by_its_facts_and_alone),
      cmocka_unit_test(every_finding_of_the_library_is_provoked),
      cmocka_unit_test(a_drive_without_a_driver_need_not_work),
      cmocka_unit_test(a_drive_without_a_driver_may_sleep),
      cmocka_unit_test(small_requests_suit_a_small_payload_below_a_larger_one),
      cmocka_unit_test(a_port_without_a_device_is_judged_alone),
      cmocka_unit_test(a_window_above_4_gib_reaches_a_bar_there),
      cmocka_unit_test(a_bridge_without_a_prefetchable_window_has_none),
      cmocka_unit_test(errors_from_before_a_transfer_are_not_reported_again),
      cmocka_unit_test(a_fatal_error_after_an_unsupported_request_is_reported),
      cmocka_unit_test(inside_a_switch_there_is_no_link),
      cmocka_unit_test(unknown_facts_are_not_judged),
      cmocka_unit_test(every_finding_has_texts),
      cmocka_unit_test(sentences_are_cut_where_there_is_no_room),
      cmocka_unit_test(any_register_contents_are_survived),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
