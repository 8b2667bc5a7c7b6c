/* SPDX-License-Identifier: Apache-2.0 */
/* The bus address of a driver's memory: u-dma-buf's files of sysfs, here in a folder of the test, and BARs. */
static char character_devices[64];
#define CHARACTER_DEVICES character_devices
#include "../../linux/command/device/bus_memory.c"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define ADDRESS UINT64_C(0x3f000000)
#define BYTES   UINT64_C(0x400000)

static void put_bytes(const char *name, const void *bytes, size_t count) {
  char path[128];

  (void)snprintf(path, sizeof path, "%s/1:3/%s", character_devices, name);
  FILE *file = fopen(path, "we");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, count, file), count);
  assert_int_equal(fclose(file), 0);
}

static void put(const char *name, const char *text) { put_bytes(name, text, strlen(text)); }

/* /dev/null, which is character device 1:3, stands for u-dma-buf. */
static int setup(void **state) {
  static int fd;
  char path[128];

  (void)snprintf(character_devices, sizeof character_devices, "/tmp/bus_memory_XXXXXX");
  assert_non_null(mkdtemp(character_devices));
  (void)snprintf(path, sizeof path, "%s/1:3", character_devices);
  assert_int_equal(mkdir(path, 0700), 0);
  fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  *state = &fd;
  return fd < 0;
}

static int teardown(void **state) {
  static const char *const names[] = {"1:3/phys_addr", "1:3/size", "1:3/resource", "1:3/config", "1:3", ""};
  char path[128];

  (void)close(*(int *)*state);
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    (void)snprintf(path, sizeof path, "%s/%s", character_devices, names[i]);
    (void)remove(path);
  }
  return 0;
}

static bool find(void **state, uint64_t offset_bytes, size_t bytes, uint64_t *address) {
  const char *why = NULL;
  const bool found = bus_memory_find(*(int *)*state, offset_bytes, bytes, address, &why);

  assert_true(found || why != NULL);
  return found;
}

static void test_the_address_of_a_range(void **state) {
  uint64_t address = 0;

  put("phys_addr", "0x000000003f000000\n");
  put("size", "4194304\n");
  assert_true(find(state, 0, BYTES, &address));
  assert_int_equal(address, ADDRESS);
  assert_true(find(state, 8192, BYTES - 8192, &address));
  assert_int_equal(address, ADDRESS + 8192);
}

static void test_a_range_outside_is_refused(void **state) {
  uint64_t address = 0;

  put("phys_addr", "0x3f000000\n");
  put("size", "4194304\n");
  assert_false(find(state, 8192, BYTES, &address));
  assert_false(find(state, BYTES + 4096, 0, &address));
  assert_false(find(state, UINT64_MAX - 4095, 8192, &address));
  assert_false(find(state, 512, 4096, &address));
}

static void test_a_driver_that_reports_no_address(void **state) {
  uint64_t address = 0;

  assert_false(find(state, 0, 4096, &address));
  put("phys_addr", "nonsense\n");
  put("size", "4194304\n");
  assert_false(find(state, 0, 4096, &address));
}

static void test_memory_that_is_not_contiguous(void **state) {
  FILE *file = tmpfile();
  uint64_t address = 0;
  const char *why;

  (void)state;
  assert_non_null(file);
  assert_false(bus_memory_find(fileno(file), 0, 4096, &address, &why));
  assert_non_null(strstr(why, "u-dma-buf"));
  (void)fclose(file);
}

static void test_which_files_are_bars(void **state) {
  const struct {
    const char *path;
    unsigned bar;
  } files[] = {{"/sys/devices/pci0000:00/0000:00:02.0/resource2", 2},
               {"/sys/devices/pci0000:00/0000:00:02.0/resource0_wc", 0},
               {"/sys/devices/pci0000:00/0000:00:02.0/resource", BARS},
               {"/sys/devices/pci0000:00/0000:00:02.0/resource6", BARS},
               {"/sys/devices/pci0000:00/0000:00:02.0/resource2_xy", BARS},
               {"/sys/devices/pci0000:00/0000:00:02.0/config", BARS},
               {"/tmp/resource2", BARS}};

  (void)state;
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s", files[i].path);
    assert_int_equal(bar_of(path), files[i].bar);
  }
}

/* BAR 2 has 64 bits. Its addresses for the processors and on the bus differ, as behind a host bridge that translates.
 * BAR 4 has 32 bits. */
#define BUS_ADDRESS    UINT64_C(0x1c0000000)
#define BUS_ADDRESS_32 UINT32_C(0xd0000000)

static void put_function(void) {
  const uint32_t config[16] = {
      [6] = (uint32_t)BUS_ADDRESS | 0xcu, [7] = BUS_ADDRESS >> 32, [8] = BUS_ADDRESS_32 | 0x8u, [9] = 0xe001u};

  put("resource", "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
                  "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
                  "0x0000000600000000 0x00000006003fffff 0x000000000014220c\n"
                  "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
                  "0x0000000610000000 0x0000000610000fff 0x0000000000042208\n"
                  "0x000000000000e000 0x000000000000e01f 0x0000000000040101\n");
  put_bytes("config", config, sizeof config);
}

/* The drive needs the address on the bus: at the processors' address there may be another device. */
static void test_the_address_of_a_bar_is_the_one_on_the_bus(void **state) {
  char folder[128];
  struct range range = {0, 0};

  (void)state;
  (void)snprintf(folder, sizeof folder, "%s/1:3", character_devices);
  assert_false(read_bar(folder, 2, &range));
  put_function();
  assert_true(read_bar(folder, 2, &range));
  assert_int_equal(range.address, BUS_ADDRESS);
  assert_int_equal(range.bytes, BYTES);
  assert_true(read_bar(folder, 4, &range));
  assert_int_equal(range.address, BUS_ADDRESS_32);
  assert_int_equal(range.bytes, 4096);
  assert_false(read_bar(folder, 0, &range)); /* not implemented */
  assert_false(read_bar(folder, 5, &range)); /* I/O ports, not memory */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_the_address_of_a_range, setup, teardown),
      cmocka_unit_test_setup_teardown(test_a_range_outside_is_refused, setup, teardown),
      cmocka_unit_test_setup_teardown(test_a_driver_that_reports_no_address, setup, teardown),
      cmocka_unit_test(test_memory_that_is_not_contiguous),
      cmocka_unit_test(test_which_files_are_bars),
      cmocka_unit_test_setup_teardown(test_the_address_of_a_bar_is_the_one_on_the_bus, setup, teardown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
