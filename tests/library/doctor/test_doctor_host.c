/* SPDX-License-Identifier: Apache-2.0 */
/* The doctor on a board: it reads the facts of the enumerated functions through the host bridge. */
#include "../pcie/pcie_fixture.h"

#include <spate/doctor.h>

static enum spate_doctor_code codes[32];
static unsigned code_count;

static void add_finding(void *context, const struct spate_doctor_finding *finding) {
  (void)context;
  assert_true(code_count < 32);
  codes[code_count++] = finding->code;
}

static struct spate_doctor_function path[SPATE_DOCTOR_PATH_MAX];

static unsigned examine(unsigned n) {
  struct spate_doctor doctor = {.found = add_finding};
  struct spate_pcie_device *device = NULL;

  const enum spate_error error = spate_pcie_find(&host, NVME, n, &device);
  assert_true(error == SPATE_OK || error == SPATE_E_WINDOW);
  const unsigned count = spate_doctor_host_read(&host, device, path);
  code_count = 0;
  spate_doctor_judge_path(&doctor, path, count, true);
  return count;
}

static void enumerated_functions_are_in_order(void **state) {
  a_switch_gets_nested_bus_numbers_and_windows(state);
  for (unsigned n = 0; n < 4; n++) {
    const unsigned count = examine(n);
    assert_int_equal(count, n < 3 ? 4 : 2); /* three below the switch, and one at a port */
    assert_int_equal(path[0].kind, SPATE_DOCTOR_ROOT_PORT);
    assert_int_equal(path[count - 1u].kind, SPATE_DOCTOR_ENDPOINT);
    assert_int_equal(code_count, 0);
  }
}

static void lost_functions_are_found(void **state) {
  a_switch_gets_nested_bus_numbers_and_windows(state);
  struct spate_pcie_device *device;
  assert_int_equal(spate_pcie_find(&host, NVME, 0, &device), SPATE_OK);
  const struct spate_pcie_address at = device->address;
  host.ops->config_write(&host, at, 0x04, 0);
  (void)examine(0);
  assert_int_equal(code_count, 2);
  assert_int_equal(codes[0], SPATE_DOCTOR_MEMORY_OFF);
  assert_int_equal(codes[1], SPATE_DOCTOR_BUS_MASTER_OFF);

  for (unsigned i = 0; i < fake.count; i++)
    if (!is_bridge(&fake.functions[i])) fake.functions[i].removed = true;
  (void)examine(0);
  assert_int_equal(code_count, 1);
  assert_int_equal(codes[0], SPATE_DOCTOR_FUNCTION_SILENT);
}

/* The state after power-on: the fake functions have all bits of Device Status set. */
static void errors_before_are_found(void **state) {
  struct spate_doctor doctor = {.found = add_finding};

  a_switch_gets_nested_bus_numbers_and_windows(state);
  const unsigned count = examine(0);
  spate_doctor_judge_errors_before(&doctor, path, count);
  assert_int_equal(code_count, 3 * count);
  assert_int_equal(codes[0], SPATE_DOCTOR_CORRECTED_BEFORE);
  assert_int_equal(codes[1], SPATE_DOCTOR_UNCORRECTED_BEFORE); /* a fatal error; an unsupported request is not one */
  assert_int_equal(codes[2], SPATE_DOCTOR_UNSUPPORTED_BEFORE);
  code_count = 0;
  spate_doctor_judge_errors_during(&doctor, path, path, count);
  assert_int_equal(code_count, 0);
}

/* A host window that has no room for BAR 0. */
static void a_bar_without_a_place_is_found(void **state) {
  (void)state;
  fake_reset();
  struct fake_function *drive = fake_endpoint(fake_bridge(NULL, 0, FAKE_ROOT_PORT), 0, 0, NVME);
  fake_bar(drive, 0, 8 * MIB, BAR_64);
  assert_int_equal(enumerate_with(4 * MIB, 0), SPATE_OK);
  (void)examine(0);
  assert_int_equal(code_count, 1);
  assert_int_equal(codes[0], SPATE_DOCTOR_APERTURE_SMALL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(enumerated_functions_are_in_order),
      cmocka_unit_test(lost_functions_are_found),
      cmocka_unit_test(errors_before_are_found),
      cmocka_unit_test(a_bar_without_a_place_is_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
