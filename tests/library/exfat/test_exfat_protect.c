/* SPDX-License-Identifier: Apache-2.0 */
/* Protected files, deletions without TRIM, and the search before the first deletion. */
#include "join_fixture.h"

static uint16_t attributes_of(const char *path) {
  struct spate_exfat_entry entry;
  OK(spate_exfat_stat(&image.volume, path, &entry));
  return entry.attributes;
}

static void a_protected_file_stays(void **state) {
  (void)state;
  open_small();
  put_file("file", "x", 1);
  put_file("d/file", "x", 1);
  static const char *const paths[] = {"file", "d/file", "d"};
  for (unsigned i = 0; i < 3; i++) {
    const uint16_t before = attributes_of(paths[i]);
    ram_block_clear_log(&image.ram);
    OK(spate_exfat_protect(&image.volume, paths[i], true));
    assert_int_equal(image.ram.count[SPATE_WRITE], 1);
    assert_int_equal(image.ram.fua_count, 1);
    assert_int_equal(attributes_of(paths[i]), before | 1);
    assert_whole(false);
    ram_block_clear_log(&image.ram);
    OK(spate_exfat_protect(&image.volume, paths[i], true)); /* it is already */
    assert_int_equal(image.ram.count[SPATE_WRITE], 0);
    GIVES(SPATE_E_PROTECTED, spate_exfat_delete(&image.volume, paths[i]));
    GIVES(SPATE_E_PROTECTED, spate_exfat_delete_untrimmed(&image.volume, paths[i]));
  }
  OK(image_mount(&image));
  for (unsigned i = 0; i < 3; i++) {
    GIVES(SPATE_E_PROTECTED, spate_exfat_delete(&image.volume, paths[i]));
    OK(spate_exfat_protect(&image.volume, paths[i], false));
    OK(spate_exfat_delete(&image.volume, paths[i]));
  }
  assert_whole(false);
  image_close(&image);
}

/* Wherever the set lies, also with a name over two blocks. */
static void wherever_the_set_lies(void **state) {
  (void)state;
  char name[256];
  memset(name, 'n', sizeof name);
  name[255] = '\0';
  for (uint32_t at = 2; at < 20; at++) {
    image_open(&image, 4 * MIB, 512, 0);
    small_format(image.ram.memory, 4 * MIB, 9, 13);
    for (uint32_t i = 2; i < at; i++)
      small_cluster(image.ram.memory, spate_get32(image.ram.memory + 96))[32 * (size_t)i] = 5;
    small_add(image.ram.memory, name, 0x20, 0, 0, 0, false);
    OK(image_mount(&image));
    OK(spate_exfat_mkdir(&image.volume, "d")); /* this also makes the record's file */
    ram_block_clear_log(&image.ram);
    OK(spate_exfat_protect(&image.volume, name, true));
    assert_int_equal(image.ram.count[SPATE_WRITE], 1);
    assert_int_equal(attributes_of(name), 0x21);
    assert_whole(false);
    image_close(&image);
  }
}

static void not_protected(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  open_small();
  GIVES(SPATE_E_INVALID, spate_exfat_protect(&image.volume, "", true));
  GIVES(SPATE_E_NOT_FOUND, spate_exfat_protect(&image.volume, "none", true));
  GIVES(SPATE_E_IN_USE, spate_exfat_protect(&image.volume, ".spate", true)); /* the record */
  OK(spate_exfat_arm(&image.volume, &clip, "clip", 1000));
  GIVES(SPATE_E_IN_USE, spate_exfat_protect(&image.volume, "clip", true));
  OK(spate_exfat_close(&clip, 1000));
  OK(spate_exfat_protect(&image.volume, "clip", true));
  ram_block_fault(
      &image.ram,
      (struct ram_fault){.ops = RAM_OP(SPATE_WRITE), .last_lba = UINT64_MAX, .times = 1, .error = SPATE_E_MEDIA});
  GIVES(SPATE_E_MEDIA, spate_exfat_protect(&image.volume, "clip", false));
  assert_int_equal(attributes_of("clip"), 0x21);
  OK(spate_exfat_protect(&image.volume, "clip", false));
  assert_whole(false);
  image_close(&image);
}

static void a_journal_that_is_held(void **state) {
  (void)state;
  open_small();
  put_file("file", "x", 1);
  hold_journal();
  GIVES(SPATE_E_CORRUPT, spate_exfat_protect(&image.volume, "file", true));
  OK(image_mount(&image));
  OK(spate_exfat_protect(&image.volume, "file", true));
  assert_whole(false);
  image_close(&image);
}

static void without_trim(void **state) {
  (void)state;
  struct spate_exfat_info before;
  struct spate_exfat_info after;
  open_small();
  OK(spate_exfat_info(&image.volume, &before));
  put_file("one", NULL, 5000);
  put_file("two", NULL, 5000);
  ram_block_clear_log(&image.ram);
  OK(spate_exfat_delete_untrimmed(&image.volume, "one"));
  assert_int_equal(image.ram.count[SPATE_TRIM], 0);
  OK(spate_exfat_delete(&image.volume, "two"));
  assert_int_equal(image.ram.count[SPATE_TRIM], 1);
  GIVES(SPATE_E_NOT_FOUND, spate_exfat_delete_untrimmed(&image.volume, "one"));
  OK(spate_exfat_info(&image.volume, &after));
  assert_int_equal(after.free_bytes, before.free_bytes);
  assert_whole(false);
  image_close(&image);
}

/* The search reads every entry set. After it, a deletion reads much less; also where the section has a part of the
 * bitmap only. */
static uint64_t reads_of_a_deletion(bool prepared, size_t section_bytes) {
  char path[32];
  image_open(&image, 32 * MIB, 512, 0);
  small_format(image.ram.memory, 32 * MIB, 9, 9);
  image.config.bitmap_bytes = section_bytes;
  OK(image_mount(&image));
  OK(spate_exfat_mkdir(&image.volume, "d"));
  for (uint32_t i = 0; i < 300; i++) {
    (void)snprintf(path, sizeof path, "d/%u", i);
    put_file(path, NULL, 60000);
  }
  OK(image_mount(&image));
  if (prepared) {
    ram_block_clear_log(&image.ram);
    OK(spate_exfat_prepare_deletions(&image.volume));
    assert_int_equal(image.ram.count[SPATE_WRITE], 0);
  }
  uint64_t reads = 0;
  for (uint32_t i = 0; i < 300; i += 100) {
    (void)snprintf(path, sizeof path, "d/%u", i);
    ram_block_clear_log(&image.ram);
    OK(spate_exfat_delete(&image.volume, path));
    reads += image.ram.count[SPATE_READ];
  }
  assert_whole(false);
  image_close(&image);
  return reads;
}

static void the_search_comes_first(void **state) {
  (void)state;
  for (size_t section_bytes = 4096; section_bytes <= 8192; section_bytes += 4096) {
    const uint64_t unprepared = reads_of_a_deletion(false, section_bytes);
    const uint64_t prepared = reads_of_a_deletion(true, section_bytes);
    assert_true(prepared + 20 < unprepared);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_protected_file_stays), cmocka_unit_test(wherever_the_set_lies),
      cmocka_unit_test(not_protected),          cmocka_unit_test(a_journal_that_is_held),
      cmocka_unit_test(without_trim),           cmocka_unit_test(the_search_comes_first),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
