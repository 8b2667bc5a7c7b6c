/* SPDX-License-Identifier: Apache-2.0 */
/* A command to a drive of the kernel fails: the message has the reason of the failure, and not that of the close after
 * it. The test replaces the system calls. */
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int fake_open(const char *path, int flags) {
  (void)path;
  (void)flags;
  return 3;
}

static int fake_ioctl(int fd, unsigned long request, void *argument) {
  (void)fd;
  (void)request;
  (void)argument;
  errno = EACCES;
  return -1;
}

static int fake_close(int fd) {
  (void)fd;
  errno = EIO;
  return -1;
}

#define open(path, flags)            fake_open(path, flags)
#define ioctl(fd, request, argument) fake_ioctl(fd, request, argument)
#define close(fd)                    fake_close(fd)
#include "../../linux/command/target/admin.c"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static char why[ADMIN_WHY_BYTES];
static struct target node = {.name = "/dev/nvme0n1", .kind = TARGET_DEVICE};

static void test_a_format(void **state) {
  (void)state;
  assert_false(kernel_format(&node, SPATE_NVME_ERASE_USER, why));
  assert_non_null(strstr(why, "only root"));
}

static void test_a_page(void **state) {
  uint8_t page[PAGE_BYTES];

  (void)state;
  assert_false(admin_node_controller(node.name, page, why));
  assert_non_null(strstr(why, "only root"));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_format), cmocka_unit_test(test_a_page)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
