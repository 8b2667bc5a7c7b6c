/* SPDX-License-Identifier: Apache-2.0 */
/* Volumes that others made: their structures stay as they are, and the reservation record finds its place. */
#include "small_fixture.h"

/* Entries after the end marker on a volume of others must stay hidden when the directory fills up. */
static void test_garbage_behind_end(void **state) {
  (void)state;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 12);
  uint8_t *root = small_cluster(image.ram.memory, spate_get32(image.ram.memory + 96));
  memset(root + 96, 0x85, 4096 - 96);
  assert_int_equal(image_mount(&image), SPATE_OK);
  for (unsigned i = 0; i < 40; i++) {
    char path[64];
    (void)snprintf(path, sizeof path, "file number %u%.*s", i, (int)(i % 30), "_and_so_on_for_some_characters");
    put_file(path, NULL, 1);
    if (!oracle_read(&oracle, image.ram.memory, 4 * MIB) && strstr(oracle.fault, "past the end") == NULL)
      fail_msg("%u: %s", i, oracle.fault);
    oracle_free(&oracle);
    assert_int_equal(oracle.file_count, i + 2);
  }
  image_close(&image);
}

static void test_foreign(void **state) {
  (void)state;
  struct spate_exfat_file file;
  struct spate_exfat_entry entry;
  uint8_t data[4096];
  size_t got;
  uint64_t lba;
  uint64_t blocks;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  uint32_t first = small_allocate(image.ram.memory, 5, 2);
  for (uint32_t i = 0; i < 5; i++)
    memset(small_cluster(image.ram.memory, first + 2 * i), (int)(0x10 + i), 1024);
  small_add(image.ram.memory, "chained", 0x20, first, 4500, 2100, false);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_open(&image.volume, "Chained", &file), SPATE_OK);
  assert_int_equal(spate_exfat_read(&file, 1000, data, sizeof data, &got), SPATE_OK);
  assert_int_equal(got, 3500);
  assert_int_equal(data[23], 0x10);
  assert_int_equal(data[24], 0x11);
  assert_int_equal(data[1099], 0x12);
  assert_int_equal(data[1100], 0); /* beyond the valid length */
  assert_int_equal(spate_exfat_extent(&file, 1024, &lba, &blocks), SPATE_OK);
  assert_int_equal(blocks, 2);
  assert_ptr_equal(image.ram.memory + (lba << 9), small_cluster(image.ram.memory, first + 2));
  assert_int_equal(spate_exfat_extent(&file, 2048, &lba, &blocks), SPATE_OK);
  assert_int_equal(blocks, 1);
  assert_int_equal(spate_exfat_extent(&file, 2560, &lba, &blocks), SPATE_OK);
  assert_int_equal(blocks, 0);
  assert_int_equal(spate_exfat_stat(&image.volume, "chained", &entry), SPATE_OK);
  assert_int_equal(entry.valid_bytes, 2100);
  assert_false(entry.contiguous);
  put_file("ours", "x", 1); /* makes the record's file */
  assert_whole(false);
  assert_non_null(oracle_find(&oracle, ".spate"));
  assert_int_equal(spate_exfat_delete(&image.volume, "chained"), SPATE_OK);
  assert_whole(false);
  image_close(&image);
}

/* A user's file that has the record's name, or the record of a card that was copied file by file, stays as it is. The
 * record gets another name, and is found again under it. */
static void test_record_name_taken(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  uint32_t copied = small_allocate(image.ram.memory, 9, 1);
  uint32_t scattered = small_allocate(image.ram.memory, 9, 2);
  small_add(image.ram.memory, ".SPATE", 0x20, copied, 17 * 512, 17 * 512, false); /* its attributes were lost */
  /* its clusters are not contiguous */
  small_add(image.ram.memory, ".spate_2", 0x06, scattered, 17 * 512, 17 * 512, false);
  small_add(image.ram.memory, ".spate_3", 0x06, 0, 0, 0, false);  /* it is empty */
  small_add(image.ram.memory, ".spate_30", 0x06, 0, 0, 0, false); /* not a name of the record */
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "a", 100 * 1024), SPATE_OK);
  assert_int_equal(image_mount(&image), SPATE_OK); /* as after a cut */
  assert_int_equal(image.found.reservations, 1);
  assert_int_equal(image.found.reclaimed_bytes, 100 * 1024);
  put_file("b", "x", 1);
  assert_whole(false);
  assert_int_equal(oracle_find(&oracle, ".spate_4")->bytes, 17 * 512);
  assert_null(oracle_find(&oracle, ".spate_5"));
  for (uint32_t i = 0; i < 9 * 1024; i++)
    assert_int_equal(small_cluster(image.ram.memory, copied)[i], 0);
  assert_int_equal(spate_exfat_delete(&image.volume, ".spate_4"), SPATE_E_IN_USE);
  assert_int_equal(spate_exfat_delete(&image.volume, ".spate"), SPATE_OK);
  assert_whole(false);
  image_close(&image);
}

/* All names of the record are in use: operations that need no record still work. */
static void test_record_names_all_taken(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 12);
  small_add(image.ram.memory, ".spate", 0x20, 0, 0, 0, false);
  for (char name[] = ".spate_2"; name[7] <= '9'; name[7]++)
    small_add(image.ram.memory, name, 0x20, 0, 0, 0, false);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "a", 1), SPATE_E_EXISTS);
  assert_int_equal(spate_exfat_delete(&image.volume, ".spate_7"), SPATE_OK);
  put_file("a", "x", 1);
  assert_whole(false);
  assert_non_null(oracle_find(&oracle, ".spate_7"));
  image_close(&image);
}

/* A directory of three clusters without a chain in the FAT gets one when it grows. */
static void test_contiguous_directory_grows(void **state) {
  (void)state;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  uint32_t first = small_allocate(image.ram.memory, 3, 1);
  uint8_t *fat = image.ram.memory + ((size_t)spate_get32(image.ram.memory + 80) << 9);
  memset(fat + 4 * (size_t)first, 0, 12);
  small_add(image.ram.memory, "dir", 0x10, first, 3072, 3072, true);
  assert_int_equal(image_mount(&image), SPATE_OK);
  for (unsigned i = 0; i < 40; i++) {
    char path[32];
    (void)snprintf(path, sizeof path, "dir/file %u", i);
    put_file(path, NULL, 1);
    assert_whole(false);
  }
  assert_int_equal(oracle_find(&oracle, "dir/file 39")->bytes, 1);
  image_close(&image);
}

/* Recovery leaves the volume marked dirty if it was so before the reservation was made. */
static void test_dirty_before_us(void **state) {
  (void)state;
  for (unsigned dirty = 0; dirty < 2; dirty++) {
    struct spate_exfat_clip clip;
    image_open(&image, 32 * MIB, 512, 0);
    image_format(&image);
    if (dirty) image_start(&image)[106] |= 2;
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 4 * MIB), SPATE_OK);
    assert_int_equal(image_start(&image)[106] & 2, 2);
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_int_equal(image.found.reservations, 1);
    assert_int_equal(image.found.reclaimed_bytes, 4 * MIB);
    assert_int_equal(image_start(&image)[106] & 2, dirty ? 2 : 0);
    image_close(&image);
  }
}

/* ClearToZero (specification, 3.1.13.4) is cleared before the first change, and not by a mount that changes nothing. */
static void test_clear_to_zero(void **state) {
  (void)state;
  for (unsigned cut = 0; cut < 2; cut++) {
    struct spate_exfat_clip clip;
    image_open(&image, 32 * MIB, 512, 0);
    image_format(&image);
    put_file("f", "x", 1);
    if (cut) assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", MIB), SPATE_OK);
    image_start(&image)[106] |= 8;
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_int_equal(image_start(&image)[106], cut ? 0 : 8); /* recovery counts as a change */
    if (!cut) assert_int_equal(spate_exfat_rename(&image.volume, "f", "g"), SPATE_OK);
    assert_int_equal(image_start(&image)[106], 0);
    image_close(&image);
  }
}

/* Benign entries of unknown types, which systems may ignore: their clusters are not freed (specification, 6.3 and
 * 6.4). */
static void test_benign_entries(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  open_small();
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 100 * 1024), SPATE_OK);
  uint8_t *entry = small_cluster(image.ram.memory, 4);
  while (*entry != 0)
    entry += 32;
  entry[0] = 0xa5;
  entry[32] = 0xa6;
  entry[32 + 4] = 3;
  spate_put32(entry + 32 + 20, clip.first_cluster + 10);
  spate_put64(entry + 32 + 24, 3 * 1024);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.reclaimed_bytes, 97 * 1024);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);
  assert_int_equal(image.ram.memory[106] & 2, 0);
  image_close(&image);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_garbage_behind_end),
      cmocka_unit_test(test_foreign),
      cmocka_unit_test(test_record_name_taken),
      cmocka_unit_test(test_record_names_all_taken),
      cmocka_unit_test(test_contiguous_directory_grows),
      cmocka_unit_test(test_dirty_before_us),
      cmocka_unit_test(test_clear_to_zero),
      cmocka_unit_test(test_benign_entries),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
