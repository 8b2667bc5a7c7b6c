/* SPDX-License-Identifier: Apache-2.0 */
/* A command that erases all of a drive's namespaces at once is refused if the drive has others, because the user has
 * confirmed only one. The test replaces the library's driver. */
#include <spate/nvme.h>

static struct {
  struct spate_nvme_identity identity;
  unsigned namespaces;
  unsigned formatted, sanitized;
  uint32_t formatted_nsid;
} drive;

static const struct spate_nvme_identity *fake_identity(const struct spate_nvme *controller) {
  (void)controller;
  return &drive.identity;
}

static enum spate_error fake_namespaces(struct spate_nvme *controller, uint32_t *nsids, unsigned max, unsigned *count) {
  (void)controller;
  for (unsigned i = 0; i < max && i < drive.namespaces; i++)
    nsids[i] = i + 1u;
  *count = drive.namespaces;
  return drive.namespaces == 0 ? SPATE_E_NO_NAMESPACE : SPATE_OK;
}

static enum spate_error fake_namespace(struct spate_nvme *controller, uint32_t nsid,
                                       struct spate_nvme_namespace *found) {
  (void)controller;
  (void)nsid;
  *found = (struct spate_nvme_namespace){.block_bytes = 512};
  return SPATE_OK;
}

static enum spate_error fake_format(struct spate_nvme *controller, uint32_t nsid, uint32_t block_bytes,
                                    enum spate_nvme_erase erase, uint32_t timeout_ms) {
  (void)controller;
  (void)block_bytes;
  (void)erase;
  (void)timeout_ms;
  drive.formatted++;
  drive.formatted_nsid = nsid;
  return SPATE_OK;
}

static enum spate_error fake_sanitize(struct spate_nvme *controller, enum spate_nvme_sanitize_action action) {
  (void)controller;
  (void)action;
  drive.sanitized++;
  return SPATE_OK;
}

#define spate_nvme_identity(controller)                      fake_identity(controller)
#define spate_nvme_namespaces(controller, nsids, max, count) fake_namespaces(controller, nsids, max, count)
#define spate_nvme_namespace(controller, nsid, found)        fake_namespace(controller, nsid, found)
#define spate_nvme_format                                    fake_format
#define spate_nvme_sanitize(controller, action)              fake_sanitize(controller, action)
#include "../../linux/command/target/admin.c"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct spate_nvme controller;
static char why[ADMIN_WHY_BYTES];

static struct target drive_with(unsigned namespaces, bool formats_all, uint32_t nsid) {
  drive.identity.formats_all = formats_all;
  drive.namespaces = namespaces;
  drive.formatted = drive.sanitized = 0;
  why[0] = '\0';
  return (struct target){.name = "vfio:0000:01:00.0", .kind = TARGET_DRIVE, .nvme = &controller, .nsid = nsid};
}

static void test_a_sanitize_that_would_take_another_namespace(void **state) {
  struct target target = drive_with(2, false, 0);

  (void)state;
  assert_false(admin_sanitize(&target, SPATE_NVME_SANITIZE_BLOCK, why));
  assert_non_null(strstr(why, "all of the drive's 2 namespaces"));
  target = drive_with(2, false, 2);
  assert_false(admin_sanitize(&target, SPATE_NVME_SANITIZE_BLOCK, why));
  assert_int_equal(drive.sanitized, 0);
  for (unsigned namespaces = 0; namespaces <= 1; namespaces++) {
    target = drive_with(namespaces, false, 0);
    assert_true(admin_sanitize(&target, SPATE_NVME_SANITIZE_BLOCK, why));
    assert_int_equal(drive.sanitized, 1);
  }
}

static void test_a_format_that_would_take_another_namespace(void **state) {
  struct target target = drive_with(2, true, 1);

  (void)state;
  assert_false(admin_format(&target, SPATE_NVME_ERASE_USER, why));
  assert_non_null(strstr(why, "all of its 2 namespaces"));
  assert_int_equal(drive.formatted, 0);
  target = drive_with(1, true, 0);
  assert_true(admin_format(&target, SPATE_NVME_ERASE_USER, why));
  assert_int_equal(drive.formatted, 1);
}

static void test_a_format_takes_the_namespace_that_was_named(void **state) {
  struct target target = drive_with(3, false, 2);

  (void)state;
  assert_true(admin_format(&target, SPATE_NVME_ERASE_USER, why));
  assert_int_equal(drive.formatted_nsid, 2);
  target = drive_with(3, false, 0);
  assert_true(admin_format(&target, SPATE_NVME_ERASE_USER, why));
  assert_int_equal(drive.formatted_nsid, 1); /* the first, as with every command */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_sanitize_that_would_take_another_namespace),
      cmocka_unit_test(test_a_format_that_would_take_another_namespace),
      cmocka_unit_test(test_a_format_takes_the_namespace_that_was_named),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
