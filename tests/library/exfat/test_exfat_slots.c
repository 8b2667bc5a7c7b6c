/* SPDX-License-Identifier: Apache-2.0 */
/* Where in a directory a new set is put: in one block if possible, and with as few writes as possible. */
#include "exfat_fixture.h"

static uint8_t *root_entry(uint32_t index) {
  return small_cluster(image.ram.memory, spate_get32(image.ram.memory + 96)) + 32 * (size_t)index;
}

/* `unused` entries after those of the bitmap and the table. The record's set comes after them. */
static void open_volume(uint32_t unused) {
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 13);
  for (uint32_t i = 0; i < unused; i++)
    root_entry(2 + i)[0] = 0xa5; /* occupied by a benign entry */
  assert_int_equal(image_mount(&image), SPATE_OK);
}

static uint64_t offset_of(const char *path) {
  assert_whole(false);
  return oracle_find(&oracle, path)->set_offset % 512;
}

/* A clip's whole set is written at once, up to the longest set that a block holds. */
static void a_clips_set_lies_in_one_block(void **state) {
  (void)state;
  static const uint32_t units[] = {1, 15, 16, 100, 195, 196, 210};
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
    for (uint32_t unused = 0; unused < 16; unused++) {
      char name[256];
      memset(name, 'n', sizeof name);
      name[units[i]] = '\0';
      open_volume(unused);
      put_file(name, "x", 1);
      assert_true(offset_of(name) + (2 + (units[i] + 14) / 15) * 32 <= 512);
      image_close(&image);
    }
}

/* In a set longer than a block, the file entry and the stream extension are in the same block. */
static void the_first_two_entries_of_a_set_lie_in_one_block(void **state) {
  (void)state;
  static const uint32_t units[] = {211, 240, 255};
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
    for (uint32_t unused = 0; unused < 16; unused++) {
      char name[256];
      memset(name, 'n', sizeof name);
      name[units[i]] = '\0';
      open_volume(unused);
      assert_int_equal(spate_exfat_mkdir(&image.volume, name), SPATE_OK);
      assert_true(offset_of(name) <= 512 - 64);
      image_close(&image);
    }
}

static uint64_t writes_of_a_new_file(const char *path) {
  uint64_t before = image.ram.count[SPATE_WRITE];
  put_file(path, NULL, 0);
  return image.ram.count[SPATE_WRITE] - before;
}

/* A gap takes the same writes, whether it is the last one before the end or not. */
static void a_gap_is_filled_by_the_set_alone(void **state) {
  (void)state;
  open_volume(0);
  for (char name[] = "a"; name[0] < 'f'; name[0]++)
    put_file(name, NULL, 0);
  assert_int_equal(spate_exfat_delete(&image.volume, "b"), SPATE_OK);
  uint64_t writes = writes_of_a_new_file("b");
  assert_int_equal(spate_exfat_delete(&image.volume, "e"), SPATE_OK);
  assert_int_equal(writes_of_a_new_file("e"), writes);
  assert_int_equal(writes_of_a_new_file("f"), writes);
  assert_whole(false);
  image_close(&image);
}

/* A full directory: its last gap ends where the directory ends. */
static void the_last_gap_of_a_full_directory_is_filled_by_the_set_alone(void **state) {
  (void)state;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  for (uint32_t i = 2; i <= 16; i++) /* so that sets of three fill both blocks */
    root_entry(i)[0] = i < 4 || i == 16 ? 0xa5 : 5;
  assert_int_equal(image_mount(&image), SPATE_OK);
  for (char name[] = "a"; name[0] < 'i'; name[0]++) /* one of the files is the record */
    put_file(name, NULL, 0);
  assert_int_equal(image.volume.root.bytes, 1024);
  assert_int_equal(spate_exfat_delete(&image.volume, "a"), SPATE_OK);
  uint64_t writes = writes_of_a_new_file("a");
  assert_int_equal(spate_exfat_delete(&image.volume, "h"), SPATE_OK);
  assert_int_equal(writes_of_a_new_file("h"), writes);
  assert_int_equal(image.volume.root.bytes, 1024);
  assert_whole(false);
  image_close(&image);
}

static void the_root_directory_is_no_file(void **state) {
  (void)state;
  struct spate_exfat_file file;
  struct spate_exfat_entry entry;
  open_volume(0);
  assert_int_equal(spate_exfat_open(&image.volume, "", &file), SPATE_E_IS_DIRECTORY);
  assert_int_equal(spate_exfat_open(&image.volume, "//", &file), SPATE_E_IS_DIRECTORY);
  assert_int_equal(spate_exfat_stat(&image.volume, "/", &entry), SPATE_OK);
  assert_true(entry.directory);
  image_close(&image);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_clips_set_lies_in_one_block),
      cmocka_unit_test(the_first_two_entries_of_a_set_lie_in_one_block),
      cmocka_unit_test(a_gap_is_filled_by_the_set_alone),
      cmocka_unit_test(the_last_gap_of_a_full_directory_is_filled_by_the_set_alone),
      cmocka_unit_test(the_root_directory_is_no_file),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
