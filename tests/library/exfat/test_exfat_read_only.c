/* SPDX-License-Identifier: Apache-2.0 */
/* A volume mounted for reading: nothing is written, whatever its state, and everything can be read. */
#include "exfat_fixture.h"

static uint8_t *before;
static uint64_t bytes_before;

/* A file, and a clip that a power cut ended: its reservation remains, and the volume is dirty. */
static void open_cut_volume(void) {
  static struct spate_exfat_clip clip;
  static const char data[1000] = "recorded";

  image_open(&image, 32 * MIB, 512, 64);
  image_format(&image);
  put_file("whole", data, sizeof data);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "cut", 4 * MIB), SPATE_OK);
  ram_block_drop_pending(&image.ram);
  bytes_before = image.ram.block.blocks << image.ram.block.block_shift;
  before = malloc(bytes_before);
  assert_non_null(before);
  memcpy(before, image.ram.memory, bytes_before);
  ram_block_clear_log(&image.ram);
  image.config.read_only = true;
  assert_int_equal(image_mount(&image), SPATE_OK);
}

static void assert_untouched(void) {
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);
  for (unsigned op = SPATE_WRITE; op < RAM_OPS; op++)
    assert_int_equal(image.ram.count[op], 0);
  assert_memory_equal(image.ram.memory, before, bytes_before);
  free(before);
}

static void close_image(void) {
  image.config.read_only = false;
  image_close(&image);
}

static void test_reads(void **state) {
  (void)state;
  struct spate_exfat_file file;
  struct spate_exfat_info info;
  char text[9];
  size_t got;

  open_cut_volume();
  assert_true(image.found.dirty);
  assert_int_equal(image.found.reservations, 1);
  assert_int_equal(image.found.reclaimed_bytes, 0);
  assert_int_equal(spate_exfat_info(&image.volume, &info), SPATE_OK);
  assert_int_equal(spate_exfat_open(&image.volume, "whole", &file), SPATE_OK);
  assert_int_equal(spate_exfat_read(&file, 0, text, sizeof text, &got), SPATE_OK);
  assert_string_equal(text, "recorded");
  assert_untouched();
  close_image();
}

static void test_changes_are_refused(void **state) {
  (void)state;
  struct spate_exfat_clip clip;

  open_cut_volume();
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "new", MIB), SPATE_E_READ_ONLY);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "new"), SPATE_E_READ_ONLY);
  assert_int_equal(spate_exfat_delete(&image.volume, "whole"), SPATE_E_READ_ONLY);
  assert_int_equal(spate_exfat_rename(&image.volume, "whole", "other"), SPATE_E_READ_ONLY);
  assert_untouched();
  close_image();
}

static void test_a_later_mount_recovers(void **state) {
  (void)state;

  open_cut_volume();
  assert_untouched();
  image.config.read_only = false;
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.reservations, 1);
  assert_int_equal(image.found.reclaimed_bytes, 4 * MIB);
  assert_whole(false);
  close_image();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reads),
      cmocka_unit_test(test_changes_are_refused),
      cmocka_unit_test(test_a_later_mount_recovers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
