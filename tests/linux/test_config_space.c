/* SPDX-License-Identifier: Apache-2.0 */
/* The command register of a function. A file stands for its configuration space, at an offset as in VFIO's file. */
#include "../../linux/command/device/config_space.h"
#include "../../linux/command/device/device.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define OFFSET       UINT64_C(0x70000000000) /* VFIO_PCI_CONFIG_REGION_INDEX << 40 */
#define COMMAND      4u
#define BUS_MASTER   0x0004u
#define MEMORY_SPACE 0x0002u
#define HEADER_BYTES 64u

/* A function that answers, with bus mastering on. */
static int open_space(uint64_t offset_bytes) {
  const uint8_t header[HEADER_BYTES] = {0x4d, 0x14, 0x04, 0xa8, [COMMAND] = BUS_MASTER | MEMORY_SPACE};
  const int fd = memfd_create("config", MFD_CLOEXEC | MFD_ALLOW_SEALING);

  assert_true(fd >= 0);
  assert_int_equal(pwrite(fd, header, sizeof header, (off_t)offset_bytes), sizeof header);
  return fd;
}

static uint16_t command_of(int fd, uint64_t offset_bytes) {
  uint16_t command = 0;

  assert_int_equal(pread(fd, &command, sizeof command, (off_t)(offset_bytes + COMMAND)), sizeof command);
  return command;
}

static void test_a_drive_that_does_not_stop_is_kept_off_the_bus(void **state) {
  struct device device = {.config_fd = open_space(OFFSET), .config_offset_bytes = OFFSET};

  (void)state;
  assert_int_equal(device_isolate(&device), SPATE_OK);
  assert_int_equal(command_of(device.config_fd, OFFSET) & BUS_MASTER, 0);
  assert_int_equal(command_of(device.config_fd, OFFSET) & MEMORY_SPACE, MEMORY_SPACE);
  assert_true(config_space_on(device.config_fd, OFFSET)); /* as device_reattach() does */
  assert_int_equal(command_of(device.config_fd, OFFSET) & BUS_MASTER, BUS_MASTER);
  assert_int_equal(close(device.config_fd), 0);
}

/* Otherwise the drive could write to memory that is freed. */
static void test_a_drive_is_not_isolated_if_the_write_fails(void **state) {
  struct device device = {.config_fd = open_space(0)};

  (void)state;
  assert_int_equal(fcntl(device.config_fd, F_ADD_SEALS, F_SEAL_WRITE), 0);
  assert_int_equal(device_isolate(&device), SPATE_E_NO_DEVICE);
  assert_int_equal(command_of(device.config_fd, 0) & BUS_MASTER, BUS_MASTER);
  assert_int_equal(close(device.config_fd), 0);
}

/* A write that succeeds but changes nothing must not count: the bit is read back. A file that is opened for appending
 * stands for such a register. */
static void test_a_drive_is_not_isolated_if_the_bit_stays(void **state) {
  struct device device = {.config_fd = open_space(0)};

  (void)state;
  assert_int_equal(fcntl(device.config_fd, F_SETFL, O_APPEND), 0);
  assert_int_equal(device_isolate(&device), SPATE_E_NO_DEVICE);
  assert_int_equal(close(device.config_fd), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_drive_that_does_not_stop_is_kept_off_the_bus),
      cmocka_unit_test(test_a_drive_is_not_isolated_if_the_write_fails),
      cmocka_unit_test(test_a_drive_is_not_isolated_if_the_bit_stays),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
