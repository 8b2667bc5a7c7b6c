/* SPDX-License-Identifier: Apache-2.0 */
/* Parses and prints numbers with units. */
#include "../../linux/command/text/units.c"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static uint64_t bytes_of(const char *text) {
  uint64_t bytes;
  return units_bytes(text, &bytes) ? bytes : UINT64_MAX;
}

static void test_sizes(void **state) {
  (void)state;
  assert_int_equal(bytes_of("0"), 0);
  assert_int_equal(bytes_of("4096"), 4096);
  assert_int_equal(bytes_of("4096B"), 4096);
  assert_int_equal(bytes_of("8GiB"), UINT64_C(8) << 30);
  assert_int_equal(bytes_of("8gib"), UINT64_C(8) << 30);
  assert_int_equal(bytes_of("8 Gi"), UINT64_C(8) << 30);
  assert_int_equal(bytes_of("500MB"), 500000000);
  assert_int_equal(bytes_of("500m"), 500000000);
  assert_int_equal(bytes_of("1.5T"), UINT64_C(1500000000000));
  assert_int_equal(bytes_of("1KiB"), 1024);
  assert_int_equal(bytes_of("1k"), 1000);
}

static void test_invalid_sizes(void **state) {
  (void)state;
  static const char *const words[] = {"",       "GiB",  "8 apples", "8GiBs", "-1",    "+1",   "inf",  "nan",
                                      "8GiB/s", "1e30", "8 G B",    "8,5MB", "0x10z", "0x10", "0x1MB"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    uint64_t bytes = 7;
    assert_false(units_bytes(words[i], &bytes));
    assert_int_equal(bytes, 7);
  }
}

static void test_rates_and_times(void **state) {
  (void)state;
  double value;
  assert_true(units_rate("500MB/s", &value) && value == 5e8);
  assert_true(units_rate("2gb/s", &value) && value == 2e9);
  assert_true(units_rate("2000MB", &value) && value == 2e9);
  assert_true(units_rate("8Gbit/s", &value) && value == 1e9);
  assert_true(units_rate("8 Gbps", &value) && value == 1e9);
  assert_true(units_rate("800mbit", &value) && value == 1e8);
  assert_false(units_rate("8GBps", &value)); /* bytes, or bits? */
  assert_false(units_rate("fast", &value));
  assert_true(units_seconds("10s", &value) && value == 10);
  assert_true(units_seconds("500ms", &value) && value == 0.5);
  assert_false(units_seconds("0x10s", &value));
  assert_true(units_percent("90%", &value) && value == 90);
  assert_true(units_percent("2.5%", &value) && value == 2.5);
  assert_false(units_percent("nan%", &value));
  assert_false(units_percent("0x32%", &value));
  assert_false(units_percent(" 5%", &value));
  assert_false(units_percent("1.2.3%", &value));
  assert_false(units_percent(".%", &value));
  assert_false(units_percent("90", &value));
  assert_false(units_percent("%", &value));
  assert_true(units_seconds("2min", &value) && value == 120);
  assert_true(units_seconds("1.5h", &value) && value == 5400);
  assert_true(units_seconds("90", &value) && value == 90);
  assert_false(units_seconds("10 parsecs", &value));
}

/* What is printed can be typed. */
static void test_printed_units_can_be_typed(void **state) {
  (void)state;
  char text[UNITS_TEXT_BYTES], rate[UNITS_TEXT_BYTES + 2];
  for (unsigned shift = 0; shift < 63; shift++) {
    const uint64_t bytes = UINT64_C(1) << shift;
    double value;
    assert_true(bytes_of(units_text(bytes, text)) == bytes || shift > 53);
    const uint64_t again = bytes_of(units_decimal(bytes, text));
    assert_true(again >= bytes - bytes / 100 && again <= bytes + bytes / 100);
    (void)snprintf(rate, sizeof rate, "%s/s", text);
    assert_true(units_rate(rate, &value));
  }
}

static void assert_text(uint64_t bytes, const char *expected) {
  char text[UNITS_TEXT_BYTES];
  assert_string_equal(units_text(bytes, text), expected);
}

static void test_text(void **state) {
  (void)state;
  assert_text(0, "0 B");
  assert_text(999, "999 B");
  assert_text(1000, "1.00 kB");
  assert_text(1024, "1 KiB");
  assert_text(UINT64_C(8) << 30, "8 GiB");
  assert_text(UINT64_C(1) << 20, "1 MiB");
  assert_text(1499999999, "1.50 GB");
  assert_text(999499, "999 kB");
  assert_text(999500, "1.00 MB");
  assert_text(12345678, "12.3 MB");
  assert_text(UINT64_MAX, "18.4 EB");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sizes),
      cmocka_unit_test(test_invalid_sizes),
      cmocka_unit_test(test_printed_units_can_be_typed),
      cmocka_unit_test(test_rates_and_times),
      cmocka_unit_test(test_text),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
