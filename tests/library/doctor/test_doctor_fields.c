/* SPDX-License-Identifier: Apache-2.0 */
/* The fields that the doctor reads from a function. A fault is reported once, with its own numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../../../src/doctor/internal.h"
#include <cmocka.h>

#define EXPRESS 0x70u

static uint32_t config[1024];

static uint32_t read_config(const void *context, unsigned offset) { return ((const uint32_t *)context)[offset / 4u]; }

static struct spate_doctor_function read_function(void) {
  const struct spate_doctor_space space = {.read = read_config, .context = config, .bytes = sizeof config};
  struct spate_doctor_function function;

  spate_doctor_function_read(&function, (struct spate_pcie_address){.bus = 1}, &space);
  return function;
}

static void fill(uint32_t header_type) {
  memset(config, 0, sizeof config);
  config[0x00 / 4] = 0x00101b36;
  config[0x04 / 4] = 0x00100406;
  config[0x0c / 4] = header_type;
  config[0x34 / 4] = EXPRESS;
  config[EXPRESS / 4] = 0x00020010;
}

/* Payloads of 128 to 4096 bytes; two codes are reserved. Neighbouring bits do not matter. */
static void payloads_are_whole_fields(void **state) {
  static const uint16_t bytes[] = {128, 256, 512, 1024, 2048, 4096, 4096, 4096};
  (void)state;
  for (uint32_t beside = 0; beside < 2; beside++) {
    for (uint32_t code = 0; code < 8; code++) {
      fill(0);
      config[(EXPRESS + 4) / 4] = code | (beside ? 0xfffffff8u : 0);
      config[(EXPRESS + 8) / 4] = (7 - code) << 5 | code << 12 | (beside ? 0xffff8f1fu : 0);
      const struct spate_doctor_function function = read_function();
      assert_int_equal(function.payload_bytes_max, bytes[code]);
      assert_int_equal(function.payload_bytes, bytes[7 - code]);
      assert_int_equal(function.read_request_code, code);
      assert_int_equal(function.errors.device_status, beside ? 0xf : 0);
    }
  }
}

static void bar_0_is_an_address_in_memory(void **state) {
  static const struct {
    uint32_t low, high;
    uint64_t address;
  } cases[] = {{0xe0000004, 0x12, UINT64_C(0x12e0000000)},
               {0xe000000c, 0x12, UINT64_C(0x12e0000000)},
               {0xe0000000, 0x12, 0xe0000000}, /* 32 bits: the next register is another BAR */
               {0xe0000008, 0x12, 0xe0000000},
               {0x0000e001, 0x12, 0}, /* I/O space */
               {0x0000e005, 0x12, 0},
               {0x00000004, 0, 0}};
  (void)state;
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    fill(0);
    config[0x10 / 4] = cases[i].low;
    config[0x14 / 4] = cases[i].high;
    assert_true(read_function().bar0 == cases[i].address);
  }
}

static void windows_reach_from_base_to_limit(void **state) {
  static const struct {
    uint32_t memory, prefetch, base_upper, limit_upper;
    uint64_t memory_base, memory_bytes, prefetch_base, prefetch_bytes;
  } cases[] = {
      {0xe010e000, 0xf010f001, 0x20, 0x20, 0xe0000000, 0x200000, UINT64_C(0x20f0000000), 0x200000},
      {0xe000e000, 0xf000f001, 0x20, 0x21, 0xe0000000, 0x100000, UINT64_C(0x20f0000000), UINT64_C(0x100100000)},
      {0xe000e010, 0xf010f000, 0x20, 0x20, 0, 0, 0xf0000000, 0x200000}, /* closed; 32 bits */
      {0x0000fff0, 0x00000000, 0x20, 0x20, 0, 0, 0, 0},                 /* closed; none */
      {0xfff00000, 0xfff1fff1, 1, 0, 0, UINT64_C(0x100000000), 0, 0},   /* all; closed by its upper half */
  };
  (void)state;
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    fill(0x00010000);
    config[0x20 / 4] = cases[i].memory;
    config[0x24 / 4] = cases[i].prefetch;
    config[0x28 / 4] = cases[i].base_upper;
    config[0x2c / 4] = cases[i].limit_upper;
    const struct spate_doctor_function bridge = read_function();
    assert_true(bridge.memory.bytes == cases[i].memory_bytes);
    assert_true(bridge.prefetchable.bytes == cases[i].prefetch_bytes);
    if (bridge.memory.bytes != 0) assert_true(bridge.memory.bus_address == cases[i].memory_base);
    if (bridge.prefetchable.bytes != 0) assert_true(bridge.prefetchable.bus_address == cases[i].prefetch_base);
  }
}

/* Its link may come up while the other registers are read. What they say then is half of the story. */
static void nothing_is_read_of_a_function_that_was_silent(void **state) {
  static const uint32_t ids[] = {UINT32_MAX, 0};
  (void)state;
  for (unsigned i = 0; i < 2 * 2; i++) {
    fill(i < 2 ? 0 : 0x00010000);
    config[0x00 / 4] = ids[i % 2];
    config[0x08 / 4] = 0x01080200;
    config[0x10 / 4] = 0xe0000000;
    config[0x20 / 4] = 0xf010e000;
    const struct spate_doctor_function function = read_function();
    assert_true(function.silent && function.header_known);
    assert_false(function.bridge || function.errors.known || function.power_known);
    assert_int_equal(function.vendor_id | function.device_id | function.command, 0);
    assert_int_equal(function.class_code, 0);
    assert_true(function.bar0 == 0 && function.memory.bytes == 0);
    assert_int_equal(function.kind, SPATE_DOCTOR_KIND_UNKNOWN);
    assert_int_equal(function.payload_bytes, 0);
  }
}

/* ---- findings ---- */

static struct spate_doctor_finding report[8];
static unsigned heard_count;

static void add_finding(void *context, const struct spate_doctor_finding *finding) {
  (void)context;
  assert_true(heard_count < sizeof report / sizeof report[0]);
  report[heard_count++] = *finding;
}

/* Neither of two bridges above the drive forwards the drive's range: this is one fault, of the bridge next to the
 * drive. */
static void a_bar_outside_the_windows_is_reported_once(void **state) {
  static const struct spate_pcie_window elsewhere = {.bus_address = 0xe0000000, .bytes = 0x100000};
  const struct spate_doctor_function bridge = {
      .header_known = true, .bridge = true, .command = 6, .subordinate_bus = 9, .memory = elsewhere};
  struct spate_doctor_function path[3] = {bridge, bridge, {.header_known = true, .command = 6, .class_code = 0x010802}};
  struct spate_doctor doctor = {.found = add_finding};
  (void)state;
  for (unsigned i = 0; i < 3; i++) {
    path[i].address.bus = (uint8_t)i;
    path[i].secondary_bus = (uint8_t)(i + 1);
  }
  path[2].bar0_bytes = 0x4000;
  path[2].bar0 = 0xf0000000;
  heard_count = 0;
  spate_doctor_judge_path(&doctor, path, 3, true);
  assert_int_equal(heard_count, 1);
  assert_int_equal(report[0].code, SPATE_DOCTOR_BAR_OUTSIDE_WINDOW);
  assert_ptr_equal(report[0].function, &path[1]);
  assert_int_equal(report[0].numbers[0], 0xf0000000);

  path[2].bar0_bytes = 0x200000; /* larger than either window */
  heard_count = 0;
  spate_doctor_judge_path(&doctor, path, 3, true);
  assert_int_equal(heard_count, 1);
  assert_int_equal(report[0].code, SPATE_DOCTOR_APERTURE_SMALL);
  assert_ptr_equal(report[0].function, &path[1]);
}

/* A warning that has no limit prints the temperature alone. */
static void a_temperature_warning_has_one_number(void **state) {
  static const struct spate_nvme_identity identity = {.serial = "1"};
  static const struct spate_nvme_health health = {
      .temperature_c = 50, .critical_warning = 2, .spare_percent = 100, .spare_threshold_percent = 10};
  struct spate_doctor doctor = {.found = add_finding};
  (void)state;
  heard_count = 0;
  spate_doctor_judge_drive(&doctor, &(struct spate_doctor_drive){.identity = &identity, .health = &health});
  assert_int_equal(heard_count, 1);
  assert_int_equal(report[0].code, SPATE_DOCTOR_TEMPERATURE_WARNING);
  assert_int_equal(report[0].numbers[0], 50);
  for (unsigned i = 1; i < SPATE_DOCTOR_NUMBERS; i++)
    assert_int_equal(report[0].numbers[i], 0);
}

/* Below zero there is no number to print. */
static void a_temperature_below_zero_is_none(void **state) {
  static const struct spate_nvme_identity identity = {.serial = "1"};
  static const struct spate_nvme_health health = {
      .temperature_c = -5, .critical_warning = 2, .spare_percent = 100, .spare_threshold_percent = 10};
  struct spate_doctor doctor = {.found = add_finding};
  (void)state;
  heard_count = 0;
  spate_doctor_judge_drive(&doctor, &(struct spate_doctor_drive){.identity = &identity, .health = &health});
  assert_int_equal(heard_count, 1);
  assert_int_equal(report[0].code, SPATE_DOCTOR_TEMPERATURE_WARNING);
  assert_int_equal(report[0].numbers[0], 0);
}

/* The tables of both guides have gaps. */
static void a_number_in_a_gap_is_no_state(void **state) {
  static const struct {
    enum spate_doctor_ltssm numbers;
    uint8_t state;
    bool known;
  } cases[] = {{SPATE_DOCTOR_LTSSM_PG213, 0x0e, true},  {SPATE_DOCTOR_LTSSM_PG213, 0x0f, false},
               {SPATE_DOCTOR_LTSSM_PG213, 0x1a, true},  {SPATE_DOCTOR_LTSSM_PG213, 0x1b, false},
               {SPATE_DOCTOR_LTSSM_PG213, 0x1f, false}, {SPATE_DOCTOR_LTSSM_PG213, 0x2c, false},
               {SPATE_DOCTOR_LTSSM_PG054, 0x34, true},  {SPATE_DOCTOR_LTSSM_PG054, 0x35, false}};
  (void)state;
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++)
    assert_int_equal(strcmp(spate_doctor_ltssm_name(cases[i].numbers, cases[i].state), "unknown") != 0, cases[i].known);
}

/* Speeds have four bits, widths six. */
static void links_are_whole_fields(void **state) {
  (void)state;
  for (unsigned bit = 0; bit < 6; bit++) {
    fill(0);
    config[(EXPRESS + 0x0c) / 4] = (bit < 4 ? 1u << bit : 0) | 1u << (4 + bit);
    config[(EXPRESS + 0x10) / 4] = (bit < 4 ? 1u << (16 + bit) : 0) | 1u << (20 + bit);
    const struct spate_pcie_link link = read_function().link;
    assert_int_equal(link.speed, bit < 4 ? 1u << bit : 0);
    assert_int_equal(link.speed_max, bit < 4 ? 1u << bit : 0);
    assert_int_equal(link.width, 1u << bit);
    assert_int_equal(link.width_max, 1u << bit);
  }
}

/* The bridge is set for more than it can do. That the drive is set for less than both can do is no fault beside that.
 */
static void an_unsupported_payload_is_one_fault(void **state) {
  const struct spate_doctor_function path[2] = {
      {.header_known = true, .bridge = true, .payload_bytes = 512, .payload_bytes_max = 256},
      {.header_known = true, .payload_bytes = 128, .payload_bytes_max = 512, .read_request_code = 0}};
  struct spate_doctor doctor = {.found = add_finding};
  (void)state;
  heard_count = 0;
  spate_doctor_judge_payload(&doctor, path, 2);
  assert_int_equal(heard_count, 1);
  assert_int_equal(report[0].code, SPATE_DOCTOR_PAYLOAD_UNSUPPORTED);
}

/* A finding about a namespace has its number alone. */
static void a_namespace_has_one_number(void **state) {
  static const struct spate_nvme_namespace namespaces[2] = {{.nsid = 3, .metadata = true, .block_bytes = 512},
                                                            {.nsid = 4, .block_bytes = 1024}};
  struct spate_doctor doctor = {.found = add_finding};
  (void)state;
  heard_count = 0;
  spate_doctor_judge_namespaces(&doctor, namespaces, 2);
  assert_int_equal(heard_count, 2);
  for (unsigned i = 0; i < 2; i++) {
    assert_int_equal(report[i].numbers[0], namespaces[i].nsid);
    for (unsigned j = 1; j < SPATE_DOCTOR_NUMBERS; j++)
      assert_int_equal(report[i].numbers[j], 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(payloads_are_whole_fields),
      cmocka_unit_test(bar_0_is_an_address_in_memory),
      cmocka_unit_test(windows_reach_from_base_to_limit),
      cmocka_unit_test(nothing_is_read_of_a_function_that_was_silent),
      cmocka_unit_test(a_bar_outside_the_windows_is_reported_once),
      cmocka_unit_test(a_temperature_warning_has_one_number),
      cmocka_unit_test(a_temperature_below_zero_is_none),
      cmocka_unit_test(a_number_in_a_gap_is_no_state),
      cmocka_unit_test(links_are_whole_fields),
      cmocka_unit_test(an_unsupported_payload_is_one_fault),
      cmocka_unit_test(a_namespace_has_one_number),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
