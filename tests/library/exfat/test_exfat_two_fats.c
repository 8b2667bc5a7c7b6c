/* SPDX-License-Identifier: Apache-2.0 */
/* Volumes with two FATs and two bitmaps (TexFAT). */
#include "small_fixture.h"

/* The second FAT and bitmap are active; the contents of the first differ everywhere. */
static void make_second_active(bool swapped, uint32_t *file_first) {
  uint8_t *memory = image.ram.memory;
  uint8_t *root = small_cluster(memory, 4);
  uint32_t first = small_allocate(memory, 3, 2);
  uint32_t second_bitmap = small_allocate(memory, 1, 1);
  for (uint32_t i = 0; i < 3; i++)
    memset(small_cluster(memory, first + 2 * i), (int)(0x10 + i), 1024);
  spate_put32(memory + 84, 16); /* two FATs in the space of one */
  spate_put32(memory + 92, 2000);
  memory[110] = 2;
  memory[106] = 1;
  memcpy(memory + (24 + 16) * 512, memory + 24 * 512, 16 * 512);
  spate_put32(fat_entry(first), first + 4);
  memcpy(small_cluster(memory, second_bitmap), small_cluster(memory, 2), 1024);
  memset(small_cluster(memory, second_bitmap), 0xff, 100);
  memset(small_cluster(memory, 2), 0, 1024);
  spate_put64(root + 24, 250);
  memcpy(root + 64, root, 32);
  uint8_t *entry = root + (swapped ? 0 : 64);
  entry[1] = 1;
  spate_put32(entry + 20, second_bitmap);
  small_add(memory, "chained", 0x20, first, 3072, 3072, false);
  small_checksum_boot(memory);
  *file_first = first;
}

/* The entries of the two bitmaps, in either order. */
static void check_two_fats(bool swapped) {
  struct spate_exfat_file file;
  struct spate_exfat_info info;
  struct spate_exfat_clip clip;
  uint32_t first;
  uint64_t lba;
  uint64_t blocks;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  make_second_active(swapped, &first);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_open(&image.volume, "chained", &file), SPATE_OK);
  assert_int_equal(spate_exfat_extent(&file, 1024, &lba, &blocks), SPATE_OK);
  assert_ptr_equal(image.ram.memory + (lba << 9), small_cluster(image.ram.memory, first + 2));
  assert_int_equal(spate_exfat_info(&image.volume, &info), SPATE_OK);
  assert_int_equal(info.free_bytes, 1200 * 1024);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 1024), SPATE_OK);
  assert_true(clip.first_cluster >= 802);
  assert_int_equal(image.ram.memory[106], 3);

  /* The backup's ActiveFat may be outdated: nothing is written, not even to repair what a cut left. */
  image.ram.memory[200] ^= 1;
  image.ram.keep_log = true;
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_true(image.found.backup_boot);
  assert_int_equal(image.found.read_only, SPATE_EXFAT_TWO_FATS);
  assert_int_equal(image.found.reservations, 1);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "other", 1024), SPATE_E_READ_ONLY);
  assert_int_equal(spate_exfat_delete(&image.volume, "chained"), SPATE_E_READ_ONLY);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK); /* there was nothing to do */
  expect_no_write();
  image_close(&image);
}

static void test_two_fats(void **state) {
  (void)state;
  check_two_fats(false);
  check_two_fats(true);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_two_fats),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
