/* SPDX-License-Identifier: Apache-2.0 */
/* What mount and format require of the caller, and what mount requires of a volume's structures. */
#include "exfat_fixture.h"

/* ---- the caller ---- */

struct wrong_config {
  enum spate_error error;
  uint64_t first_lba, blocks;
  size_t cache_offset, cache_bytes, bitmap_offset, bitmap_bytes;
};

#define BLOCKS      UINT64_C(65536)
#define GOOD_MEMORY 0, 16 * 512, 0, 8192

static const struct wrong_config configs[] = {
    {SPATE_OK, 0, BLOCKS, GOOD_MEMORY},
    {SPATE_OK, 100, BLOCKS - 100, GOOD_MEMORY},
    {SPATE_OK, 0, BLOCKS, 64, 4 * 512, 64, 4096},
    {SPATE_E_INVALID, 0, BLOCKS + 1, GOOD_MEMORY},
    {SPATE_E_INVALID, 100, BLOCKS - 99, GOOD_MEMORY},
    {SPATE_E_INVALID, BLOCKS, 1, GOOD_MEMORY},
    {SPATE_E_INVALID, BLOCKS + 1, 8192, GOOD_MEMORY},
    {SPATE_E_INVALID, UINT64_MAX, 8192, GOOD_MEMORY},
    {SPATE_E_INVALID, 0, 23, GOOD_MEMORY},
    {SPATE_E_MEMORY, 0, BLOCKS, 0, 4 * 512 - 1, 0, 8192},
    {SPATE_E_MEMORY, 0, BLOCKS, 0, 3 * 512, 0, 8192},
    {SPATE_E_MEMORY, 0, BLOCKS, 0, 5 * 512 + 256, 0, 8192},
    {SPATE_E_MEMORY, 0, BLOCKS, 1, 4 * 512, 0, 8192},
    {SPATE_E_MEMORY, 0, BLOCKS, 32, 4 * 512, 0, 8192},
    {SPATE_E_MEMORY, 0, BLOCKS, 0, 4 * 512, 0, 4095},
    {SPATE_E_MEMORY, 0, BLOCKS, 0, 4 * 512, 0, 2048},
    {SPATE_E_MEMORY, 0, BLOCKS, 0, 4 * 512, 0, 4096 + 256},
    {SPATE_E_MEMORY, 0, BLOCKS, 0, 4 * 512, 32, 4096},
};

static void memory_and_place_are_checked_before_anything_is_touched(void **state) {
  (void)state;
  const struct spate_exfat_format format = {.serial = 1};
  for (size_t i = 0; i < sizeof configs / sizeof configs[0]; i++) {
    const struct wrong_config *wrong = &configs[i];
    image_open(&image, BLOCKS * 512, 512, wrong->first_lba < BLOCKS ? wrong->first_lba : 0);
    image.config.first_lba = wrong->first_lba;
    image.config.blocks = wrong->blocks;
    image.config.cache = image.cache + wrong->cache_offset;
    image.config.cache_bytes = wrong->cache_bytes;
    image.config.bitmap = image.bitmap + wrong->bitmap_offset;
    image.config.bitmap_bytes = wrong->bitmap_bytes;
    if (spate_exfat_format(&image.config, &format) != wrong->error) fail_msg("format, case %zu", i);
    if (image_mount(&image) != wrong->error) fail_msg("mount, case %zu", i);
    if (wrong->error != SPATE_OK) assert_int_equal(image.ram.events, 0);
    image_close(&image);
  }
}

/* A sector that is smaller than the device's block gives another error than one that exFAT does not permit. */
static void a_volume_for_smaller_blocks_is_reported_as_such(void **state) {
  (void)state;
  image_open(&image, 4 * MIB, 4096, 0);
  small_format(image.ram.memory, 4 * MIB, 12, 13);
  for (unsigned shift = 0; shift < 256; shift++) {
    enum spate_error want = shift >= 9 && shift <= 11 ? SPATE_E_SECTOR_SIZE : SPATE_E_NOT_EXFAT;
    if (shift == 12) want = SPATE_OK;
    image.ram.memory[108] = image.ram.memory[12 * 4096 + 108] = (uint8_t)shift;
    assert_int_equal(image_mount(&image), want);
  }
  image_close(&image);
}

/* Clusters of 32 MiB are the largest (specification, 3.1.15); sparse memory makes the volume cheap. */
static void a_cluster_may_be_32_mib_and_no_more(void **state) {
  (void)state;
  for (uint32_t block_shift = 9; block_shift <= 12; block_shift += 3)
    for (uint32_t cluster_shift = 24; cluster_shift <= 27; cluster_shift++) {
      image_open(&image, 1024 * MIB, 1u << block_shift, 0);
      small_format(image.ram.memory, 1024 * MIB, block_shift, cluster_shift);
      assert_int_equal(image_mount(&image), cluster_shift <= 25 ? SPATE_OK : SPATE_E_NOT_EXFAT);
      image_close(&image);
    }
}

static void an_unmounted_volume_is_reported(void **state) {
  (void)state;
  struct spate_exfat_file file;
  uint8_t byte;
  size_t got = 1;
  uint64_t bytes = 0;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  small_add(image.ram.memory, "f", 0x20, 100, 1000, 1000, true);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_open(&image.volume, "f", &file), SPATE_OK);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);
  assert_int_equal(spate_exfat_read(&file, 0, &byte, 1, &got), SPATE_E_NOT_MOUNTED);
  assert_int_equal(got, 0);
  assert_int_equal(spate_exfat_longest_free(&image.volume, 1, &bytes), SPATE_E_NOT_MOUNTED);
  image_close(&image);
}

/* ---- the root directory's entries of the bitmap and the up-case table ---- */

enum { BITMAP, UPCASE };
#define COUNT       spate_get32(image.ram.memory + 92)
#define TABLE_BYTES 60u

static uint8_t *system_entry(unsigned which) {
  return small_cluster(image.ram.memory, spate_get32(image.ram.memory + 96)) + 32 * which;
}

/* Whether the volume can be written; it can be read in any case. */
static unsigned mount_with(unsigned which, uint32_t first, uint64_t bytes) {
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  assert_int_equal(spate_get64(system_entry(UPCASE) + 24), TABLE_BYTES);
  spate_put32(system_entry(which) + 20, first);
  spate_put64(system_entry(which) + 24, bytes);
  assert_int_equal(image_mount(&image), SPATE_OK);
  const unsigned why = image.found.read_only;
  image_close(&image);
  return why;
}

static void bitmap_and_table_are_as_long_as_they_must_be(void **state) {
  (void)state;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  const uint64_t need = (COUNT + 7) / 8;
  const uint32_t end = COUNT + 2;
  image_close(&image);
  assert_int_equal(mount_with(BITMAP, 2, need), SPATE_EXFAT_WRITABLE);
  assert_int_equal(mount_with(BITMAP, 2, need + 1), SPATE_EXFAT_WRITABLE);
  assert_int_equal(mount_with(BITMAP, 2, need - 1), SPATE_EXFAT_NO_BITMAP);
  assert_int_equal(mount_with(BITMAP, 2, 0), SPATE_EXFAT_NO_BITMAP);
  assert_int_equal(mount_with(BITMAP, 2, UINT64_C(1) << 32), SPATE_EXFAT_NO_BITMAP);
  assert_int_equal(mount_with(BITMAP, 0, need), SPATE_EXFAT_NO_BITMAP);
  assert_int_equal(mount_with(BITMAP, end, need), SPATE_EXFAT_NO_BITMAP);
  assert_int_equal(mount_with(UPCASE, 3, TABLE_BYTES), SPATE_EXFAT_WRITABLE);
  assert_int_equal(mount_with(UPCASE, 3, 2), SPATE_EXFAT_UPCASE); /* its checksum is wrong */
  assert_int_equal(mount_with(UPCASE, 3, 1), SPATE_EXFAT_UPCASE);
  assert_int_equal(mount_with(UPCASE, 3, 0), SPATE_EXFAT_UPCASE);
  assert_int_equal(mount_with(UPCASE, 3, (UINT64_C(128) << 10) + 1), SPATE_EXFAT_UPCASE);
  assert_int_equal(mount_with(UPCASE, 1, TABLE_BYTES), SPATE_EXFAT_UPCASE);
}

/* The longest table has one word for each UTF-16 code unit. */
static void a_table_of_every_unit_is_read(void **state) {
  (void)state;
  struct spate_exfat_entry entry;
  uint32_t sum = 0;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  uint32_t first = small_allocate(image.ram.memory, 128, 1);
  uint8_t *table = small_cluster(image.ram.memory, first);
  for (uint32_t unit = 0; unit < 65536; unit++)
    spate_put16(table + 2 * (size_t)unit, (uint16_t)(unit >= 'a' && unit <= 'z' ? unit - 32 : unit));
  spate_put16(table + 2 * 0xfffeu, 0x1234); /* the last but one: the last word cannot begin a run */
  for (uint32_t i = 0; i < 128 * 1024; i++)
    sum = ((sum & 1u) << 31) + (sum >> 1) + table[i];
  small_cluster(image.ram.memory, 2)[0] &= 0xfd; /* frees the cluster of the short table */
  spate_put32(system_entry(UPCASE) + 4, sum);
  spate_put32(system_entry(UPCASE) + 20, first);
  spate_put64(system_entry(UPCASE) + 24, 128 * 1024);
  assert_int_equal(image_mount(&image), SPATE_OK);
  put_file("\xe1\x88\xb4", "x", 1);                                                    /* U+1234 */
  assert_int_equal(spate_exfat_stat(&image.volume, "\xef\xbf\xbe", &entry), SPATE_OK); /* U+FFFE */
  assert_int_equal(spate_exfat_stat(&image.volume, "\xef\xbf\xbf", &entry), SPATE_E_NOT_FOUND);
  assert_whole(false);
  image_close(&image);
}

/* Its files can be read, and nothing is free. Without the table only the case of ASCII letters is known. */
static void a_volume_without_bitmap_or_table_is_read(void **state) {
  (void)state;
  static const char umlaut[] = "\xc3\xa4\xc3\xb6"; /* in small letters: its hash is that of the large ones */
  for (unsigned which = BITMAP; which <= UPCASE; which++) {
    struct spate_exfat_info info;
    struct spate_exfat_clip clip;
    struct spate_exfat_entry found;
    image_open(&image, 32 * MIB, 512, 0);
    image_format(&image);
    assert_int_equal(image_mount(&image), SPATE_OK);
    put_file("good", "x", 1);
    put_file(umlaut, "x", 1);
    assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);
    uint8_t *entry = small_cluster(image.ram.memory, spate_get32(image.ram.memory + 96));
    while (entry[0] != 0x81 + which)
      entry += 32;
    entry[0] &= 0x7f;
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_int_equal(image.found.read_only, which == BITMAP ? SPATE_EXFAT_NO_BITMAP : SPATE_EXFAT_UPCASE);
    assert_int_equal(spate_exfat_stat(&image.volume, "GOOD", &found), SPATE_OK);
    assert_int_equal(spate_exfat_stat(&image.volume, umlaut, &found), SPATE_OK);
    assert_int_equal(spate_exfat_info(&image.volume, &info), SPATE_OK);
    assert_true((info.free_bytes == 0) == (which == BITMAP));
    assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 1), SPATE_E_READ_ONLY);
    image.config.read_only = true; /* asked for: the reason is told all the same */
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_int_equal(image.found.read_only, which == BITMAP ? SPATE_EXFAT_NO_BITMAP : SPATE_EXFAT_UPCASE);
    image_close(&image);
  }
}

static void entries_behind_the_end_of_the_root_are_not_read(void **state) {
  (void)state;
  for (unsigned which = BITMAP; which <= UPCASE; which++) {
    image_open(&image, 4 * MIB, 512, 0);
    small_format(image.ram.memory, 4 * MIB, 9, 10);
    memcpy(system_entry(3), system_entry(which), 32);
    spate_put32(system_entry(3) + 20, 1);
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_int_equal(image.found.read_only, SPATE_EXFAT_WRITABLE);
    image_close(&image);
  }
}

static void a_medium_error_while_mounting_is_reported(void **state) {
  (void)state;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  assert_int_equal(image_mount(&image), SPATE_OK);
  const uint64_t heap_lba = image.volume.heap_lba;
  const uint64_t needed[] = {24, heap_lba + 4}; /* the FAT, the root directory */
  for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
    ram_block_fault(&image.ram, (struct ram_fault){.ops = RAM_OP(SPATE_READ),
                                                   .first_lba = needed[i],
                                                   .last_lba = needed[i],
                                                   .times = RAM_ALWAYS,
                                                   .error = SPATE_E_MEDIA});
    if (image_mount(&image) != SPATE_E_MEDIA) fail_msg("block %u", (unsigned)needed[i]);
    ram_block_clear_faults(&image.ram);
  }
  ram_block_fault(&image.ram, (struct ram_fault){.ops = RAM_OP(SPATE_READ),
                                                 .first_lba = heap_lba + 2,
                                                 .last_lba = heap_lba + 2,
                                                 .times = RAM_ALWAYS,
                                                 .error = SPATE_E_MEDIA});
  assert_int_equal(image_mount(&image), SPATE_OK); /* the files can be read without the table */
  assert_int_equal(image.found.read_only, SPATE_EXFAT_UPCASE);
  image_close(&image);
}

/* ---- volumes that are not as long as they say, and sectors that are not the device's blocks ---- */

static uint8_t pattern[9000];

/* With the files "near", in two pieces; "far", in the last cluster; and around the end of what is there: "edge" in the
 * last cluster that is there as a whole, "behind" in the next one. */
static void open_cut(uint64_t bytes_there, uint32_t block_bytes, uint32_t sector_shift) {
  for (unsigned i = 0; i < sizeof pattern; i++)
    pattern[i] = (uint8_t)(i * 7u + i / 256u);
  image_open(&image, 4 * MIB, block_bytes, 0);
  uint8_t *memory = image.ram.memory;
  small_format(memory, 4 * MIB, sector_shift, 13);
  const uint64_t heap_bytes = (uint64_t)spate_get32(memory + 88) << sector_shift;
  const uint32_t last = spate_get32(memory + 92) + 1, behind = (uint32_t)((bytes_there - heap_bytes) / 8192) + 2;
  const uint32_t near = small_allocate(memory, 2, 3);
  memcpy(small_cluster(memory, near), pattern, 8192);
  memcpy(small_cluster(memory, near + 3), pattern + 8192, sizeof pattern - 8192);
  memcpy(small_cluster(memory, last), pattern, 8192);
  small_add(memory, "near", 0x20, near, sizeof pattern, sizeof pattern, false);
  small_add(memory, "far", 0x20, last, 8192, 8192, true);
  small_add(memory, "edge", 0x20, behind - 1, 8192, 8192, true);
  small_add(memory, "behind", 0x20, behind, 1, 1, true);
  image.config.blocks = bytes_there / block_bytes;
  image.ram.keep_log = true;
}

static void expect_contents(const char *name, size_t bytes) {
  struct spate_exfat_file file;
  static uint8_t data[sizeof pattern];
  size_t got;
  assert_int_equal(spate_exfat_open(&image.volume, name, &file), SPATE_OK);
  assert_int_equal(spate_exfat_read(&file, 0, data, sizeof data, &got), SPATE_OK);
  assert_int_equal(got, bytes);
  assert_memory_equal(data, pattern, bytes);
}

static void put_and_check(uint64_t bytes_there, uint32_t block_bytes, uint32_t sector_shift, unsigned want) {
  struct spate_exfat_file file;
  struct spate_exfat_clip clip;
  open_cut(bytes_there, block_bytes, sector_shift);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.read_only, want);
  expect_contents("near", sizeof pattern);
  assert_int_equal(spate_exfat_open(&image.volume, "edge", &file), SPATE_OK);
  assert_int_equal(spate_exfat_open(&image.volume, "behind", &file), SPATE_E_CORRUPT);
  if (bytes_there < 4 * MIB)
    assert_int_equal(spate_exfat_open(&image.volume, "far", &file), SPATE_E_CORRUPT);
  else
    expect_contents("far", 8192);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 1), SPATE_E_READ_ONLY);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "d"), SPATE_E_READ_ONLY);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);
  for (size_t i = 0; i < image.ram.log_count; i++) {
    assert_int_equal(image.ram.log[i].op, SPATE_READ);
    assert_true(image.ram.log[i].lba + image.ram.log[i].blocks <= image.config.blocks);
  }
  image_close(&image);
}

static void a_volume_longer_than_its_partition_is_read(void **state) {
  (void)state;
  put_and_check(3 * MIB + 512, 512, 9, SPATE_EXFAT_TOO_LONG);
  put_and_check(2 * MIB, 512, 9, SPATE_EXFAT_TOO_LONG);
  put_and_check(2 * MIB, 4096, 12, SPATE_EXFAT_TOO_LONG);
  put_and_check(2 * MIB, 512, 12, SPATE_EXFAT_TOO_LONG);
}

static void a_volume_of_larger_sectors_is_read(void **state) {
  (void)state;
  for (uint32_t shift = 10; shift <= 12; shift++)
    put_and_check(4 * MIB, 512, shift, SPATE_EXFAT_SECTORS);
}

/* Its main boot sector is damaged: the backup is 12 of its own sectors behind it. */
static void the_backup_of_a_volume_of_larger_sectors_is_found(void **state) {
  (void)state;
  for (uint32_t shift = 9; shift <= 12; shift++) {
    image_open(&image, 4 * MIB, 512, 0);
    small_format(image.ram.memory, 4 * MIB, shift, 13);
    image.ram.memory[200] ^= 1;
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_true(image.found.backup_boot);
    assert_int_equal(image.found.read_only, shift == 9 ? SPATE_EXFAT_WRITABLE : SPATE_EXFAT_SECTORS);
    image_close(&image);
  }
}

/* Formatters of other file systems, arrays and swap leave exFAT's backup boot region where it was, and some the boot
 * sector, too. What follows the boot sector tells them from damage. */
static void a_backup_alone_is_only_read(void **state) {
  (void)state;
  static const struct {
    const char *name;  /* bytes 3 to 10 */
    uint8_t signature; /* 55h: whole */
    bool overwritten;  /* what follows the first sector */
    enum spate_error error;
    uint8_t why;
  } cases[] = {
      {"MSDOS5.0", 0x55, true, SPATE_E_NOT_EXFAT, 0}, /* FAT */
      {"NTFS    ", 0x55, true, SPATE_E_NOT_EXFAT, 0},
      {"EXFAU   ", 0x55, false, SPATE_OK, SPATE_EXFAT_WRITABLE}, /* a bit has flipped */
      {"EXFAT   ", 0x54, false, SPATE_OK, SPATE_EXFAT_WRITABLE},
      {"EXFAT   ", 0x55, true, SPATE_OK, SPATE_EXFAT_ONLY_BACKUP},        /* mkswap, mdadm */
      {"\0\0\0\0\0\0\0", 0x55, false, SPATE_OK, SPATE_EXFAT_ONLY_BACKUP}, /* wipefs */
      {"\0\0\0\0\0\0\0", 0, true, SPATE_OK, SPATE_EXFAT_ONLY_BACKUP},
  };
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    image_open(&image, 4 * MIB, 512, 0);
    small_format(image.ram.memory, 4 * MIB, 9, 10);
    memcpy(image.ram.memory + 3, cases[i].name, 8);
    image.ram.memory[510] = cases[i].signature;
    image.ram.memory[8 * 512] = cases[i].overwritten;
    assert_int_equal(image_mount(&image), cases[i].error);
    if (cases[i].error == SPATE_OK) {
      assert_int_equal(image.found.read_only, cases[i].why);
      assert_int_equal(spate_exfat_mkdir(&image.volume, "d"), cases[i].why != 0 ? SPATE_E_READ_ONLY : SPATE_OK);
    }
    image_close(&image);
  }
}

/* No other file system begins with zeros and leaves the rest. */
static void a_blank_main_region_is_repaired(void **state) {
  (void)state;
  static const uint32_t blank_bytes[] = {512, 12 * 512, 3 * 512};
  for (unsigned i = 0; i < 3; i++) {
    image_open(&image, 4 * MIB, 512, 0);
    small_format(image.ram.memory, 4 * MIB, 9, 10);
    image.ram.memory[2 * 512] = image.ram.memory[3 * 512] = 1;
    small_checksum_boot(image.ram.memory);
    memset(image.ram.memory, 0, blank_bytes[i]);
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_int_equal(image.found.read_only, i < 2 ? SPATE_EXFAT_WRITABLE : SPATE_EXFAT_ONLY_BACKUP);
    image_close(&image);
  }
}

static void a_bitmap_that_cannot_be_read_is_an_error(void **state) {
  (void)state;
  struct spate_exfat_info info;
  struct spate_exfat_clip clip;
  uint64_t bytes = 0;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  assert_int_equal(image_mount(&image), SPATE_OK);
  ram_block_fault(&image.ram, (struct ram_fault){.ops = RAM_OP(SPATE_READ),
                                                 .first_lba = image.volume.heap_lba,
                                                 .last_lba = image.volume.heap_lba + 1,
                                                 .times = RAM_ALWAYS,
                                                 .error = SPATE_E_MEDIA});
  assert_int_equal(spate_exfat_longest_free(&image.volume, 1, &bytes), SPATE_E_MEDIA);
  assert_int_equal(spate_exfat_info(&image.volume, &info), SPATE_E_MEDIA);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 0), SPATE_E_MEDIA);
  image_close(&image);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(memory_and_place_are_checked_before_anything_is_touched),
      cmocka_unit_test(a_volume_for_smaller_blocks_is_reported_as_such),
      cmocka_unit_test(a_cluster_may_be_32_mib_and_no_more),
      cmocka_unit_test(an_unmounted_volume_is_reported),
      cmocka_unit_test(bitmap_and_table_are_as_long_as_they_must_be),
      cmocka_unit_test(a_table_of_every_unit_is_read),
      cmocka_unit_test(a_volume_without_bitmap_or_table_is_read),
      cmocka_unit_test(entries_behind_the_end_of_the_root_are_not_read),
      cmocka_unit_test(a_volume_longer_than_its_partition_is_read),
      cmocka_unit_test(a_volume_of_larger_sectors_is_read),
      cmocka_unit_test(the_backup_of_a_volume_of_larger_sectors_is_found),
      cmocka_unit_test(a_backup_alone_is_only_read),
      cmocka_unit_test(a_blank_main_region_is_repaired),
      cmocka_unit_test(a_medium_error_while_mounting_is_reported),
      cmocka_unit_test(a_bitmap_that_cannot_be_read_is_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
