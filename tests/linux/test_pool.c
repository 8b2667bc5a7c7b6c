/* SPDX-License-Identifier: Apache-2.0 */
/* DMA addresses for memory never overlap the registers of PCI functions. */
#include "../../linux/command/device/pool.c"
#include "../../linux/command/text/fail.c"
#include "../../linux/command/text/failure.c"
#include "../../linux/command/text/units.c"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct range gap(struct range range, const struct range *ranges, size_t count) {
  static struct taken taken;

  taken.count = count;
  memcpy(taken.ranges, ranges, count * sizeof *ranges);
  return longer_gap((struct range){0, 0}, range, &taken);
}

#define assert_range(got, from, to)                                                                                    \
  do {                                                                                                                 \
    const struct range found = got;                                                                                    \
    assert_int_equal(found.first, from);                                                                               \
    assert_int_equal(found.last, to);                                                                                  \
  } while (0)

static void registers_are_left_out(void **state) {
  /* A bridge's window, the registers of a drive behind it, and those of another drive; not in order. */
  const struct range taken[] = {{0x6000, 0x6fff}, {0x1000, 0x2fff}, {0x1000, 0x13ff}, {0x2800, 0x3fff}};

  (void)state;
  assert_range(gap((struct range){0, 0xffff}, taken, 4), 0x7000, 0xffff);
  assert_range(gap((struct range){0, 0x7fff}, taken, 4), 0x4000, 0x5fff);
  assert_range(gap((struct range){0, 0x2000}, taken, 4), 0, 0xfff);
  assert_range(gap((struct range){0x4000, 0x5fff}, taken, 4), 0x4000, 0x5fff);
  assert_range(gap((struct range){0x6000, UINT64_MAX}, taken, 4), 0x7000, UINT64_MAX);
  assert_range(gap((struct range){0x100, 0x200}, taken, 0), 0x100, 0x200);
}

static void without_free_addresses_there_is_no_gap(void **state) {
  const struct range taken[] = {{0, UINT64_MAX}};

  (void)state;
  assert_range(gap((struct range){0x1000, 0xffff}, taken, 1), 0, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(registers_are_left_out),
      cmocka_unit_test(without_free_addresses_there_is_no_gap),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
