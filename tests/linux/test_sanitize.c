/* SPDX-License-Identifier: Apache-2.0 */
/* spate erase --sanitize on a simulated drive of the kernel's driver: the command that it sends, its wait for the end,
 * and its message if the sanitize fails. */
#include "../../linux/command/subcommands/sanitize.c"
#include "../../linux/command/text/json.c"
#include "../../linux/command/text/progress.c"
#include "../../linux/command/text/units.c"

#include <setjmp.h>
#include <stdarg.h>

/* ---- fail() returns to the test ---- */

static jmp_buf ended;
static enum exit_status end_status;
static char end_text[1024];

void fail(enum exit_status status, const char *format, ...) {
  va_list arguments;

  va_start(arguments, format);
  (void)vsnprintf(end_text, sizeof end_text, format, arguments);
  va_end(arguments);
  end_status = status;
  longjmp(ended, 1);
}

#include <cmocka.h> /* after fail(), because it defines a macro of that name */

/* ---- the drive ---- */

static struct {
  uint8_t capabilities, state, action, ends_as;
  unsigned looks; /* how often the status is read before the sanitize ends */
  unsigned started[8], looked;
} drive;

bool admin_identity(struct target *target, struct spate_nvme_identity *identity, char *why) {
  (void)target;
  (void)why;
  *identity = (struct spate_nvme_identity){.sanitize = drive.capabilities};
  return true;
}

bool admin_sanitize(struct target *target, enum spate_nvme_sanitize_action action, char *why) {
  (void)target;
  (void)why;
  drive.started[action]++;
  if (action == SPATE_NVME_SANITIZE_EXIT) return true;
  drive.action = (uint8_t)action;
  drive.state = SPATE_NVME_SANITIZE_RUNNING;
  return true;
}

bool admin_sanitize_status(struct target *target, struct spate_nvme_sanitize_status *status, char *why) {
  (void)target;
  (void)why;
  drive.looked++;
  if (drive.state == SPATE_NVME_SANITIZE_RUNNING && drive.looks-- == 0) drive.state = drive.ends_as;
  *status = (struct spate_nvme_sanitize_status){.state = drive.state, .action = drive.action};
  return true;
}

/* EXIT_DONE if sanitize_drive() returned. */
static enum exit_status sanitized(const char *word) {
  struct target target = {.name = "/dev/nvme0n1"};
  unsigned action = 0;

  end_text[0] = '\0';
  end_status = EXIT_DONE;
  assert_true(word == NULL || sanitize_action(word, &action));
  if (setjmp(ended) == 0) sanitize_drive(&target, action, UINT64_C(1) << 40);
  return end_status;
}

static enum exit_status shown(void) {
  struct target target = {.name = "/dev/nvme0n1"};

  end_status = EXIT_DONE;
  if (setjmp(ended) == 0) sanitize_show(&target, UINT64_C(1) << 40);
  return end_status;
}

static int setup(void **state) {
  (void)state;
  memset(&drive, 0, sizeof drive);
  drive.capabilities = SPATE_NVME_CAN_SANITIZE_CRYPTO | SPATE_NVME_CAN_SANITIZE_BLOCK;
  drive.ends_as = SPATE_NVME_SANITIZE_DONE;
  drive.looks = 2;
  return 0;
}

/* ---- tests ---- */

static void test_it_chooses_the_best_method_and_waits_for_the_end(void **state) {
  (void)state;
  assert_int_equal(sanitized(NULL), EXIT_DONE);
  assert_int_equal(drive.started[SPATE_NVME_SANITIZE_BLOCK], 1);
  assert_int_equal(drive.looked, 4); /* before the start, twice while it runs, at the end */
  drive.looks = 0;
  drive.capabilities = SPATE_NVME_CAN_SANITIZE_OVERWRITE;
  drive.ends_as = SPATE_NVME_SANITIZE_DONE_DEALLOCATED;
  assert_int_equal(sanitized(NULL), EXIT_DONE);
  assert_int_equal(drive.started[SPATE_NVME_SANITIZE_OVERWRITE], 1);
}

static void test_it_waits_for_a_sanitize_that_is_running(void **state) {
  (void)state;
  drive.state = SPATE_NVME_SANITIZE_RUNNING;
  drive.action = SPATE_NVME_SANITIZE_CRYPTO;
  assert_int_equal(sanitized(NULL), EXIT_DONE);
  assert_int_equal(drive.started[SPATE_NVME_SANITIZE_BLOCK], 0);
}

static void test_refusals(void **state) {
  (void)state;
  assert_int_equal(sanitized("overwrite"), EXIT_REFUSED);
  assert_non_null(strstr(end_text, "It supports: block, crypto"));
  assert_int_equal(sanitized("exit"), EXIT_REFUSED);
  drive.capabilities = 0;
  assert_int_equal(sanitized(NULL), EXIT_REFUSED);
  assert_non_null(strstr(end_text, "does not support Sanitize"));
  for (unsigned i = 0; i < 8; i++)
    assert_int_equal(drive.started[i], 0);
  unsigned action;
  assert_false(sanitize_action("shred", &action));
}

static void test_a_failure_says_what_to_do(void **state) {
  (void)state;
  drive.ends_as = SPATE_NVME_SANITIZE_FAILED;
  assert_int_equal(sanitized("crypto"), EXIT_FAILED);
  assert_non_null(strstr(end_text, "crypto erase failed"));
  assert_non_null(strstr(end_text, "spate erase /dev/nvme0n1 --sanitize once more"));
  assert_non_null(strstr(end_text, "--method exit"));
  assert_int_equal(sanitized("exit"), EXIT_DONE);
  assert_int_equal(drive.started[SPATE_NVME_SANITIZE_EXIT], 1);
  drive.looks = 0;
  drive.ends_as = SPATE_NVME_SANITIZE_NEVER; /* a drive that forgets its sanitize has not completed it */
  assert_int_equal(sanitized(NULL), EXIT_FAILED);
}

/* --status must not erase what was recorded since the last sanitize. */
static void test_status_starts_nothing(void **state) {
  static const uint8_t ends[] = {SPATE_NVME_SANITIZE_NEVER, SPATE_NVME_SANITIZE_DONE, SPATE_NVME_SANITIZE_RUNNING};

  (void)state;
  for (size_t i = 0; i < sizeof ends; i++) {
    drive.state = ends[i];
    assert_int_equal(shown(), EXIT_DONE);
  }
  assert_int_equal(drive.state, SPATE_NVME_SANITIZE_DONE); /* it waited for the one that was running */
  drive.state = SPATE_NVME_SANITIZE_FAILED;
  assert_int_equal(shown(), EXIT_FAILED);
  assert_non_null(strstr(end_text, "--method exit"));
  drive.capabilities = 0;
  assert_int_equal(shown(), EXIT_REFUSED);
  for (unsigned i = 0; i < 8; i++)
    assert_int_equal(drive.started[i], 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_status_starts_nothing, setup),
      cmocka_unit_test_setup(test_it_chooses_the_best_method_and_waits_for_the_end, setup),
      cmocka_unit_test_setup(test_it_waits_for_a_sanitize_that_is_running, setup),
      cmocka_unit_test_setup(test_refusals, setup), cmocka_unit_test_setup(test_a_failure_says_what_to_do, setup)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
