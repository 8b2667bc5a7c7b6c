/* SPDX-License-Identifier: Apache-2.0 */
/* Names and paths: which are valid, which are equal, and what each operation answers to a path. */
#include "exfat_fixture.h"

static void test_names(void **state) {
  (void)state;
  static const char *const bad[] = {
      "",         "/",     ".",   "..", "c/..", "dot.",  "space ", "a:b",      "a*",           "que?",
      "a\\b",     "\"q\"", "l<",  "g>", "p|",   "tab\t", "\x1f",   "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
      "\xe2\x82", "\x80",  "\xff"};
  struct spate_exfat_clip clip;
  image_open(&image, 32 * MIB, 512, 0);
  image_format(&image);
  put_file("a", NULL, 0);
  assert_int_equal(spate_exfat_delete(&image.volume, "a"), SPATE_OK);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "a"), SPATE_OK);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "c"), SPATE_OK);
  for (unsigned i = 2; i < sizeof bad / sizeof bad[0]; i++) {
    assert_int_equal(spate_exfat_arm(&image.volume, &clip, bad[i], 1), SPATE_E_NAME);
    assert_int_equal(spate_exfat_mkdir(&image.volume, bad[i]), SPATE_E_NAME);
    assert_int_equal(spate_exfat_rename(&image.volume, "a", bad[i]), SPATE_E_NAME);
  }
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "", 1), SPATE_E_NAME);
  char name[300];
  memset(name, 'n', sizeof name);
  name[211] = '\0';
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, name, 1), SPATE_E_NAME_LONG);
  name[210] = '\0';
  put_file(name, "x", 1);
  memset(name, 'm', sizeof name);
  name[256] = '\0';
  assert_int_equal(spate_exfat_mkdir(&image.volume, name), SPATE_E_NAME_LONG);
  name[255] = '\0';
  assert_int_equal(spate_exfat_mkdir(&image.volume, name), SPATE_OK);
  assert_whole(false);
  /* 127 surrogate pairs are 254 units */
  char wide[127 * 4 + 1];
  for (unsigned i = 0; i < 127; i++)
    memcpy(wide + 4 * i, "\xf0\x9f\x8e\xac", 5);
  assert_int_equal(spate_exfat_mkdir(&image.volume, wide), SPATE_OK);
  struct spate_exfat_entry entry;
  assert_int_equal(spate_exfat_stat(&image.volume, wide, &entry), SPATE_OK);
  assert_string_equal(entry.name, wide);
  assert_whole(false);
  image_close(&image);
}

static void test_case(void **state) {
  (void)state;
  struct spate_exfat_entry entry;
  struct spate_exfat_clip clip;
  image_open(&image, 32 * MIB, 512, 0);
  image_format(&image);
  put_file("Größe Ωmega ßtraße", "x", 1);
  assert_int_equal(spate_exfat_stat(&image.volume, "GRÖSSE ΩMEGA SSTRASSE", &entry), SPATE_E_NOT_FOUND);
  assert_int_equal(spate_exfat_stat(&image.volume, "gRÖßE ωMEGA ßTRAßE", &entry), SPATE_OK);
  assert_string_equal(entry.name, "Größe Ωmega ßtraße");
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "GRÖßE ωmega ßtraße", 1), SPATE_E_EXISTS);
  assert_int_equal(spate_exfat_rename(&image.volume, "größe ωmega ßtraße", "GRÖßE"), SPATE_OK);
  assert_int_equal(spate_exfat_rename(&image.volume, "größe", "größe"), SPATE_OK);
  assert_int_equal(spate_exfat_stat(&image.volume, "GRÖßE", &entry), SPATE_OK);
  assert_string_equal(entry.name, "größe");
  assert_whole(false);
  image_close(&image);
}

static void test_paths(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  struct spate_exfat_file file;
  struct spate_exfat_directory directory;
  struct spate_exfat_entry entry;
  image_open(&image, 32 * MIB, 512, 0);
  image_format(&image);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "/day 1"), SPATE_OK);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "day 1/Cam A/"), SPATE_OK);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "day 1/cam a"), SPATE_E_EXISTS);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "day 2/cam a"), SPATE_E_NOT_FOUND);
  put_file("//day 1//CAM A/take", "data", 4);
  assert_whole(false);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "day 1/cam a/take/more", 1), SPATE_E_NOT_DIRECTORY);
  assert_int_equal(spate_exfat_open(&image.volume, "day 1", &file), SPATE_E_IS_DIRECTORY);
  assert_int_equal(spate_exfat_open(&image.volume, "/", &file), SPATE_E_IS_DIRECTORY);
  assert_int_equal(spate_exfat_open(&image.volume, "day 1/none", &file), SPATE_E_NOT_FOUND);
  assert_int_equal(spate_exfat_list(&image.volume, "day 1/cam a/take", &directory), SPATE_E_NOT_DIRECTORY);
  assert_int_equal(spate_exfat_delete(&image.volume, "day 1"), SPATE_E_NOT_EMPTY);
  assert_int_equal(spate_exfat_delete(&image.volume, "/"), SPATE_E_INVALID);
  assert_int_equal(spate_exfat_rename(&image.volume, "/", "x"), SPATE_E_INVALID);
  assert_int_equal(spate_exfat_rename(&image.volume, "day 1", "day 1/cam a/x"), SPATE_E_INVALID);
  assert_int_equal(spate_exfat_rename(&image.volume, "day 1", "day 1/x"), SPATE_E_INVALID);
  assert_int_equal(spate_exfat_rename(&image.volume, "day 1/cam a", "day 1/cam b"), SPATE_OK);
  assert_int_equal(spate_exfat_rename(&image.volume, "day 1/cam b/take", "take 2"), SPATE_OK);
  assert_int_equal(spate_exfat_rename(&image.volume, "take 2", "day 1"), SPATE_E_EXISTS);
  assert_int_equal(spate_exfat_stat(&image.volume, "", &entry), SPATE_OK);
  assert_true(entry.directory);
  size_t got;
  char data[8] = "";
  assert_int_equal(spate_exfat_open(&image.volume, "take 2", &file), SPATE_OK);
  assert_int_equal(spate_exfat_read(&file, 1, data, sizeof data, &got), SPATE_OK);
  assert_int_equal(got, 3);
  assert_memory_equal(data, "ata", 3);
  assert_whole(false);
  assert_int_equal(spate_exfat_delete(&image.volume, "day 1/cam b"), SPATE_OK);
  assert_int_equal(spate_exfat_delete(&image.volume, "day 1"), SPATE_OK);
  assert_int_equal(spate_exfat_delete(&image.volume, "take 2"), SPATE_OK);
  assert_int_equal(spate_exfat_delete(&image.volume, ".spate"), SPATE_E_IN_USE);
  assert_int_equal(spate_exfat_rename(&image.volume, ".spate", "x"), SPATE_E_IN_USE);
  assert_whole(false);
  assert_int_equal(oracle.file_count, 1);
  image_close(&image);
}

static void test_in_use(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  image_open(&image, 32 * MIB, 512, 0);
  image_format(&image);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "d"), SPATE_OK);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "d/clip", MIB), SPATE_OK);
  assert_int_equal(spate_exfat_delete(&image.volume, "d/clip"), SPATE_E_IN_USE);
  assert_int_equal(spate_exfat_rename(&image.volume, "d/clip", "x"), SPATE_E_IN_USE);
  assert_int_equal(spate_exfat_delete(&image.volume, "d"), SPATE_E_IN_USE);
  assert_int_equal(spate_exfat_rename(&image.volume, "d", "e"), SPATE_E_IN_USE);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "f"), SPATE_OK);
  assert_whole(true);
  assert_int_equal(spate_exfat_close(&clip, 10), SPATE_OK);
  assert_int_equal(spate_exfat_rename(&image.volume, "d", "e"), SPATE_OK);
  assert_whole(false);
  image_close(&image);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_case),
      cmocka_unit_test(test_paths),
      cmocka_unit_test(test_in_use),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
