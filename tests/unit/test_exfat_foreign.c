/* SPDX-License-Identifier: Apache-2.0 */
/* Volumes that others made, damaged, or changed behind our back. */
#include "exfat_fixture.h"

/* What stands behind the end marker on a volume of others must stay hidden when the directory fills up. */
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
    if (!oracle_read(&oracle, image.ram.memory, 4 * MIB) && strstr(oracle.fault, "behind the end") == NULL)
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

/* A user's file of the record's name is left alone, and nothing is written without a record. */
static void test_record_name_taken(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 15);
  small_add(image.ram.memory, ".SPATE", 0x20, small_allocate(image.ram.memory, 1, 1), 17 * 512, 17 * 512, false);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "a", 1), SPATE_E_EXISTS);
  assert_whole(false);
  image_close(&image);
}

static void test_boot(void **state) {
  (void)state;
  image_open(&image, 32 * MIB, 512, 8);
  image_format(&image);
  uint8_t *boot = image_start(&image);
  boot[600] ^= 1; /* the checksum of the main region is wrong */
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_true(image.found.backup_boot);
  put_file("f", "x", 1); /* repairs */
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_false(image.found.backup_boot);
  assert_true(image.found.dirty); /* nobody knows who damaged it: a checker's business */
  boot[106] = 0;
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_whole(false);
  boot[108] = 12;
  boot[12 * 512 + 108] = 12;
  assert_int_equal(image_mount(&image), SPATE_E_SECTOR_SIZE);
  boot[3] = 'N';
  boot[12 * 512 + 3] = 'N';
  assert_int_equal(image_mount(&image), SPATE_E_NOT_EXFAT);
  image_close(&image);
}

/* Each field of the boot sector that would lead outside, with a right checksum. */
static void test_boot_fields(void **state) {
  (void)state;
  static const struct {
    uint32_t at, bytes;
    uint64_t value;
  } lies[] = {{72, 8, 8193},       {72, 8, UINT64_MAX}, {72, 8, 100},        {80, 4, 23},   {80, 4, UINT32_MAX},
              {84, 4, 1},          {84, 4, UINT32_MAX}, {88, 4, 30},         {88, 4, 8192}, {88, 4, UINT32_MAX},
              {92, 4, 0},          {92, 4, 5000},       {92, 4, UINT32_MAX}, {96, 4, 0},    {96, 4, 1},
              {96, 4, 0x7fffffff}, {104, 2, 0x200},     {109, 1, 17},        {109, 1, 255}, {110, 1, 0},
              {110, 1, 3},         {11, 1, 1},          {63, 1, 1},          {510, 2, 0}};
  for (unsigned i = 0; i < sizeof lies / sizeof lies[0]; i++) {
    image_open(&image, 4 * MIB, 512, 0);
    small_format(image.ram.memory, 4 * MIB, 9, 10);
    uint64_t value = lies[i].value;
    for (uint32_t n = 0; n < lies[i].bytes; n++, value >>= 8)
      image.ram.memory[lies[i].at + n] = (uint8_t)value;
    small_checksum_boot(image.ram.memory);
    if (image_mount(&image) != SPATE_E_NOT_EXFAT) fail_msg("lie %u was believed", i);
    image_close(&image);
  }
}

/* What was found to contradict itself is read as far as possible, and not written to. */
static void test_corrupt(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  struct spate_exfat_entry entry;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  uint8_t *root = small_cluster(image.ram.memory, spate_get32(image.ram.memory + 96));
  uint32_t torn = small_add(image.ram.memory, "torn", 0x20, 0, 0, 0, false);
  small_add(image.ram.memory, "good", 0x20, 0, 0, 0, false);
  root[torn + 70] ^= 1;
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_stat(&image.volume, "good", &entry), SPATE_OK);
  assert_int_equal(spate_exfat_stat(&image.volume, "other", &entry), SPATE_E_CORRUPT);
  image.ram.keep_log = true;
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 1), SPATE_E_CORRUPT);
  assert_int_equal(spate_exfat_delete(&image.volume, "good"), SPATE_E_CORRUPT);
  for (size_t i = 0; i < image.ram.log_count; i++)
    assert_int_equal(image.ram.log[i].op, SPATE_READ);
  image_close(&image);
}

/* What a PC did between the cut and the mount wins: it gave some of the recorded clusters to another file. */
static void test_recovery_spares_others(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 100 * 1024), SPATE_OK);
  small_add(image.ram.memory, "theirs", 0x20, clip.first_cluster + 10, 3000, 3000, true);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.reclaimed_bytes, 97 * 1024);
  assert_whole(false);
  image_close(&image);
}

/* No owner can be ruled out while a part of the tree cannot be read: nothing is freed, and the record is kept. */
static void test_recovery_needs_the_tree(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "d"), SPATE_OK);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "d/e"), SPATE_OK);
  assert_whole(false);
  uint64_t set = oracle_find(&oracle, "d/e")->set_offset;
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 100 * 1024), SPATE_OK);
  image.ram.memory[set + 70] ^= 1;
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.reservations, 1);
  assert_int_equal(image.found.reclaimed_bytes, 0);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "x"), SPATE_E_CORRUPT);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);
  image.ram.memory[set + 70] ^= 1;
  ram_block_fault(&image.ram, (struct ram_fault){.ops = RAM_OP(SPATE_READ),
                                                 .first_lba = set >> 9,
                                                 .last_lba = set >> 9,
                                                 .times = RAM_ALWAYS,
                                                 .error = SPATE_E_MEDIA});
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.reclaimed_bytes, 0);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "x"), SPATE_E_MEDIA);
  ram_block_clear_faults(&image.ram);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.reclaimed_bytes, 100 * 1024);
  assert_whole(false);
  image_close(&image);
}

/* A directory tree that leads back to itself ends the walk, in bounded time. */
static void test_cycle(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  uint32_t root = spate_get32(image.ram.memory + 96);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 100 * 1024), SPATE_OK);
  for (char name[] = "a"; name[0] < 'g'; name[0]++)
    small_add(image.ram.memory, name, 0x10, root, 1024, 1024, true);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.reclaimed_bytes, 0);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "x"), SPATE_E_CORRUPT);
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_garbage_behind_end),
      cmocka_unit_test(test_foreign),
      cmocka_unit_test(test_record_name_taken),
      cmocka_unit_test(test_boot),
      cmocka_unit_test(test_boot_fields),
      cmocka_unit_test(test_corrupt),
      cmocka_unit_test(test_recovery_spares_others),
      cmocka_unit_test(test_recovery_needs_the_tree),
      cmocka_unit_test(test_cycle),
      cmocka_unit_test(test_contiguous_directory_grows),
      cmocka_unit_test(test_dirty_before_us),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
