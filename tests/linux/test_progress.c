/* SPDX-License-Identifier: Apache-2.0 */
/* The rate that the progress shows. */
#include "../../linux/command/text/json.c"
#include "../../linux/command/text/progress.c"
#include "../../linux/command/text/units.c"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define TB UINT64_C(1000000000000)

static void test_work_that_begins_again_has_no_rate(void **state) {
  (void)state;
  struct progress progress;
  char text[PROGRESS_TEXT_BYTES];
  progress_begin(&progress, "join", 2 * TB);
  progress.shown.tv_sec--; /* a second has passed */
  assert_true(progress_text(&progress, TB, NULL, 0, text));
  assert_non_null(strstr(text, "50 %  1.00 TB  "));
  progress.shown.tv_sec--;
  assert_true(progress_text(&progress, 0, NULL, 0, text));
  assert_non_null(strstr(text, "  0 B/s"));
  assert_null(strstr(text, " left"));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_work_that_begins_again_has_no_rate)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
