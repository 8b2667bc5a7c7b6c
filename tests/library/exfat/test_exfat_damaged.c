/* SPDX-License-Identifier: Apache-2.0 */
/* Damaged volumes: what can still be used, what is refused, and what a change repairs. */
#include "small_fixture.h"

static void test_boot(void **state) {
  (void)state;
  image_open(&image, 32 * MIB, 512, 8);
  image_format(&image);
  uint8_t *boot = image_start(&image);
  boot[200] ^= 1; /* the checksum of the main region is wrong */
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_true(image.found.backup_boot);
  put_file("f", "x", 1); /* repairs the main region */
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_false(image.found.backup_boot);
  assert_true(image.found.dirty); /* the cause of the damage is unknown: only a checker may mark the volume clean */
  boot[106] = 0;
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_whole(false);
  boot[3] = 'N';
  boot[12 * 512 + 3] = 'N';
  assert_int_equal(image_mount(&image), SPATE_E_NOT_EXFAT);
  image_close(&image);
}

/* Each field of the boot sector with a value that would lead outside the volume, and a correct checksum. */
static void test_boot_fields(void **state) {
  (void)state;
  static const struct {
    uint32_t at, bytes;
    uint64_t value;
  } wrong[] = {{72, 8, 100},  {80, 4, 23},         {80, 4, UINT32_MAX}, {84, 4, 1},    {84, 4, UINT32_MAX}, {88, 4, 30},
               {88, 4, 8192}, {88, 4, UINT32_MAX}, {92, 4, 0},          {92, 4, 5000}, {92, 4, UINT32_MAX}, {96, 4, 0},
               {96, 4, 1},    {96, 4, 0x7fffffff}, {104, 2, 0x200},     {109, 1, 17},  {109, 1, 255},       {110, 1, 0},
               {110, 1, 3},   {11, 1, 1},          {63, 1, 1},          {510, 2, 0}};
  for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    image_open(&image, 4 * MIB, 512, 0);
    small_format(image.ram.memory, 4 * MIB, 9, 10);
    uint64_t value = wrong[i].value;
    for (uint32_t n = 0; n < wrong[i].bytes; n++, value >>= 8)
      image.ram.memory[wrong[i].at + n] = (uint8_t)value;
    small_checksum_boot(image.ram.memory);
    if (image_mount(&image) != SPATE_E_NOT_EXFAT) fail_msg("wrong value %u was accepted", i);
    image_close(&image);
  }
}

/* A change that needs no dirty flag repairs the main boot region as well, and the report of the damage stays. */
static void test_repair_keeps_dirty(void **state) {
  (void)state;
  image_open(&image, 32 * MIB, 512, 0);
  image_format(&image);
  put_file("f", "x", 1);
  image_start(&image)[200] ^= 1;
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_rename(&image.volume, "f", "g"), SPATE_OK);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_false(image.found.backup_boot);
  assert_true(image.found.dirty);
  image_close(&image);
}

/* Listing alone keeps the volume dirty: the listing shows where the damage is. */
static void test_damaged_set_listed(void **state) {
  (void)state;
  struct spate_exfat_directory directory;
  struct spate_exfat_clip clip;
  struct spate_exfat_entry entry;
  bool more = true;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  uint8_t *root = small_cluster(image.ram.memory, spate_get32(image.ram.memory + 96));
  root[small_add(image.ram.memory, "torn", 0x20, 0, 0, 0, false) + 70] ^= 1;
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 4096), SPATE_OK);
  image.volume.corrupt = false; /* arming has noticed the damage, too */
  assert_int_equal(spate_exfat_list(&image.volume, "/", &directory), SPATE_OK);
  enum spate_error error = SPATE_OK;
  while (more && error == SPATE_OK)
    error = spate_exfat_list_next(&directory, &entry, &more);
  assert_int_equal(error, SPATE_E_CORRUPT);
  assert_int_equal(spate_exfat_close(&clip, 1), SPATE_OK);
  assert_int_equal(image.ram.count[SPATE_TRIM], 0);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_E_CORRUPT);
  image_close(&image);
}

/* A damaged entry set, found while a clip is open: listing reports it and continues, and recording continues. A name
 * that is not found could be in this set. The volume stays dirty, and nothing is trimmed. */
static void test_damaged_set(void **state) {
  (void)state;
  struct spate_exfat_directory directory;
  struct spate_exfat_clip clip;
  struct spate_exfat_clip next;
  struct spate_exfat_entry entry;
  unsigned damaged = 0;
  unsigned whole = 0;
  bool more = true;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  uint8_t *root = small_cluster(image.ram.memory, spate_get32(image.ram.memory + 96));
  uint32_t torn = small_add(image.ram.memory, "torn", 0x20, 0, 0, 0, false);
  /* more valid bytes than its length */
  uint32_t liar = small_add(image.ram.memory, "liar", 0x20, 1000, 100, 200, false);
  small_add(image.ram.memory, "good", 0x20, 0, 0, 0, false);
  root[torn + 70] ^= 1;
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 4096), SPATE_OK);
  assert_int_equal(spate_exfat_list(&image.volume, "/", &directory), SPATE_OK);
  while (more) {
    enum spate_error error = spate_exfat_list_next(&directory, &entry, &more);
    if (error == SPATE_E_CORRUPT) damaged++;
    if (error == SPATE_OK && more) whole++;
  }
  assert_int_equal(damaged, 2);
  assert_int_equal(whole, 3);
  assert_int_equal(spate_exfat_stat(&image.volume, "other", &entry), SPATE_E_CORRUPT);
  assert_int_equal(spate_exfat_arm(&image.volume, &next, "next", 4096), SPATE_OK);
  assert_int_equal(spate_exfat_close(&clip, 1), SPATE_OK);
  assert_int_equal(spate_exfat_close(&next, 1), SPATE_OK);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "d"), SPATE_OK);
  assert_int_equal(spate_exfat_rename(&image.volume, "good", "d/better"), SPATE_OK);
  assert_int_equal(spate_exfat_delete(&image.volume, "d/better"), SPATE_OK);
  assert_int_equal(root[torn], 0x85); /* its entries were not reused */
  assert_int_equal(root[liar], 0x85);
  assert_int_equal(image.ram.count[SPATE_TRIM], 0);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_E_CORRUPT);
  assert_int_equal(image.ram.memory[106] & 2, 2);
  image_close(&image);
}

/* If the bitmap itself is damaged, nothing new is written: a clip could overwrite a file. */
static void test_corrupt(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  small_add(image.ram.memory, "good", 0x20, 0, 0, 0, false);
  small_add(image.ram.memory, "liar", 0x20, 1000, 100, 100, true); /* the bitmap calls its cluster free */
  assert_int_equal(image_mount(&image), SPATE_OK);
  put_file("f", "x", 1);
  image.ram.keep_log = true;
  assert_int_equal(spate_exfat_delete(&image.volume, "liar"), SPATE_E_CORRUPT);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 1), SPATE_E_CORRUPT);
  assert_int_equal(spate_exfat_delete(&image.volume, "good"), SPATE_E_CORRUPT);
  for (size_t i = 0; i < image.ram.log_count; i++)
    assert_int_equal(image.ram.log[i].op, SPATE_READ);
  image_close(&image);
}

/* With a damaged up-case table, names cannot be compared: existing files can be read, and nothing is changed. */
static void test_upcase_checksum(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  struct spate_exfat_file file;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  small_add(image.ram.memory, "good", 0x20, 0, 0, 0, false);
  small_cluster(image.ram.memory, 3)[30] ^= 1;
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_open(&image.volume, "GOOD", &file), SPATE_OK);
  image.ram.keep_log = true;
  assert_int_equal(image.found.read_only, SPATE_EXFAT_UPCASE);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 1), SPATE_E_READ_ONLY);
  assert_int_equal(spate_exfat_delete(&image.volume, "good"), SPATE_E_READ_ONLY);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);
  for (size_t i = 0; i < image.ram.log_count; i++)
    assert_int_equal(image.ram.log[i].op, SPATE_READ);
  image_close(&image);
}

#define BITMAP_CLUSTERS 2u
#define UPCASE_CLUSTER  4u
#define ROOT_CLUSTER    5u

static void set_fat(uint32_t cluster, uint32_t next) {
  spate_put32(image.ram.memory + (spate_get32(image.ram.memory + 80) << 9) + 4u * cluster, next);
}

/* A volume of 512-byte clusters: two clusters of bitmap (2, 3), one of up-case table (4), and a root directory of three
 * (5, 8, 9), with a file. */
static void open_fragmented_root(void) {
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 9);
  assert_int_equal(spate_get32(image.ram.memory + 96), ROOT_CLUSTER);
  small_add(image.ram.memory, "good", 0x20, small_allocate(image.ram.memory, 2, 1), 1024, 1024, true);
  assert_int_equal(small_allocate(image.ram.memory, 2, 1), 8);
  set_fat(ROOT_CLUSTER, 8);
  image.ram.keep_log = true;
}

static void mark(uint32_t cluster, bool allocated) {
  uint8_t *byte = &small_cluster(image.ram.memory, 2)[(cluster - 2u) / 8u];
  const uint8_t bit = (uint8_t)(1u << ((cluster - 2u) & 7u));

  *byte = (uint8_t)(allocated ? *byte | bit : *byte & ~bit);
}

static void expect_read_only(void) {
  struct spate_exfat_clip clip;
  struct spate_exfat_file file;

  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.read_only, SPATE_EXFAT_SYSTEM_FREE);
  assert_int_equal(spate_exfat_open(&image.volume, "GOOD", &file), SPATE_OK);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 1), SPATE_E_READ_ONLY);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "d"), SPATE_E_READ_ONLY);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);
  for (size_t i = 0; i < image.ram.log_count; i++)
    assert_int_equal(image.ram.log[i].op, SPATE_READ);
}

/* The next file would overwrite the root directory, the bitmap or the up-case table. */
static void test_system_clusters_that_are_free(void **state) {
  (void)state;
  static const uint32_t clusters[] = {BITMAP_CLUSTERS, BITMAP_CLUSTERS + 1u, UPCASE_CLUSTER, ROOT_CLUSTER, 8, 9};

  for (unsigned i = 0; i <= sizeof clusters / sizeof clusters[0]; i++) {
    open_fragmented_root();
    for (unsigned j = 0; j < sizeof clusters / sizeof clusters[0]; j++)
      if (i == j || i == sizeof clusters / sizeof clusters[0]) mark(clusters[j], false);
    expect_read_only();
    image_close(&image);
  }
}

/* A block of the bitmap cannot be read, or its chain is broken: the volume's files still can. */
static void test_a_bitmap_that_cannot_be_read(void **state) {
  (void)state;
  for (unsigned broken = 0; broken < 2; broken++) {
    open_fragmented_root();
    const uint64_t lba = image.config.first_lba +
                         (uint64_t)(small_cluster(image.ram.memory, BITMAP_CLUSTERS) - image_start(&image)) / 512u;
    if (broken != 0)
      set_fat(BITMAP_CLUSTERS, 0);
    else
      ram_block_fault(&image.ram, (struct ram_fault){.ops = RAM_OP(SPATE_READ),
                                                     .first_lba = lba,
                                                     .last_lba = lba,
                                                     .times = RAM_ALWAYS,
                                                     .error = SPATE_E_MEDIA});
    for (unsigned read_only = 0; read_only < 2; read_only++) {
      struct spate_exfat_clip clip;
      image.config.read_only = read_only != 0;
      assert_int_equal(image_mount(&image), SPATE_OK);
      assert_int_equal(image.found.read_only, SPATE_EXFAT_BITMAP_UNREAD);
      assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 512), SPATE_E_READ_ONLY);
    }
    image.config.read_only = false;
    image_close(&image);
  }
}

/* The bitmap's own cluster is free, and whether the table's is cannot be read: what is known is told. */
static void test_a_free_bitmap_that_cannot_be_read(void **state) {
  (void)state;
  const uint32_t far = 4096 + 100;
  open_fragmented_root();
  uint8_t *entry = small_cluster(image.ram.memory, ROOT_CLUSTER);
  while (entry[0] != 0x82)
    entry += 32;
  memcpy(small_cluster(image.ram.memory, far), small_cluster(image.ram.memory, UPCASE_CLUSTER), 512);
  spate_put32(entry + 20, far);
  set_fat(far, UINT32_MAX);
  mark(far, true);
  mark(UPCASE_CLUSTER, false);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.read_only, SPATE_EXFAT_WRITABLE);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);
  mark(BITMAP_CLUSTERS, false);
  const uint64_t lba = image.config.first_lba +
                       (uint64_t)(small_cluster(image.ram.memory, BITMAP_CLUSTERS + 1u) - image_start(&image)) / 512u;
  ram_block_fault(
      &image.ram,
      (struct ram_fault){
          .ops = RAM_OP(SPATE_READ), .first_lba = lba, .last_lba = lba, .times = RAM_ALWAYS, .error = SPATE_E_MEDIA});
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.read_only, SPATE_EXFAT_SYSTEM_FREE);
  image_close(&image);
}

/* What is not damage: a bitmap entry that states more than the bitmap needs, and a second entry for the same FAT. */
static void test_system_entries_that_others_write(void **state) {
  (void)state;

  for (unsigned second = 0; second < 2; second++) {
    open_fragmented_root();
    uint8_t *root = small_cluster(image.ram.memory, ROOT_CLUSTER);
    if (second != 0) {
      memcpy(small_cluster(image.ram.memory, 8), root, 32); /* in the root's second cluster: a bitmap of zeros */
      spate_put32(small_cluster(image.ram.memory, 8) + 20, 1000);
      memset(root + 5u * 32u, 0x05, 512 - 5u * 32u); /* unused entries up to it */
      mark(1000, true);
      mark(1001, true);
      set_fat(1000, 1001);
      set_fat(1001, UINT32_MAX);
    } else {
      spate_put64(root + 24, 1536); /* three clusters: the third is free, and is the bitmap's only by its entry */
      set_fat(3, 20);
      set_fat(20, UINT32_MAX);
    }
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_int_equal(image.found.read_only, SPATE_EXFAT_WRITABLE);
    assert_int_equal(spate_exfat_mkdir(&image.volume, "d"), SPATE_OK);
    assert_int_equal(spate_exfat_delete(&image.volume, "good"), SPATE_OK);
    assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);
    image_close(&image);
  }
}

/* Damage is found while a clip is open. The clip can be closed, and the volume stays dirty. */
static void test_corrupt_meanwhile(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  struct spate_exfat_file file;
  uint8_t byte;
  size_t got;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  small_add(image.ram.memory, "broken", 0x20, 1000, 2048, 2048, false);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 4096), SPATE_OK);
  assert_int_equal(spate_exfat_open(&image.volume, "broken", &file), SPATE_OK);
  assert_int_equal(spate_exfat_read(&file, 1024, &byte, 1, &got), SPATE_E_CORRUPT);
  assert_int_equal(spate_exfat_close(&clip, 1), SPATE_OK);
  assert_int_equal(image.ram.count[SPATE_TRIM], 0);
  assert_int_equal(image.ram.memory[106] & 2, 2);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_E_CORRUPT);
  image_close(&image);
}

/* A damaged file that claims the volume's own structures, free clusters, or an open clip's clusters is not deleted. */
static void test_delete_refused(void **state) {
  (void)state;
  static const struct {
    uint32_t first, next; /* next 0: `clusters` in one run; otherwise the FAT entry of the first */
    uint32_t clusters;
  } wrong[] = {{2, 0, 1},    {3, 0, 1},    {4, 0, 1},    {2, 0, 3},     {1000, 2, 2},          {1000, 3, 2},
               {1000, 4, 2}, {1000, 6, 2}, {2000, 0, 1}, {1000, 1, 2},  {1000, 2000, 2},       {1090, 0, 9},
               {999, 0, 3},  {6, 0, 1},    {1108, 0, 1}, {1000, 20, 3}, {1000, UINT32_MAX, 2}, {1000, 1147, 2}};
  for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    struct spate_exfat_clip clip;
    open_small();
    memset(small_cluster(image.ram.memory, 2), 0xff, 137);                          /* full up to cluster 1097 ... */
    if (wrong[i].first == 999) small_cluster(image.ram.memory, 2)[999 / 8] &= 0x7f; /* ... except cluster 1001 */
    spate_put32(fat_entry(1000), wrong[i].next);
    small_add(image.ram.memory, "liar", 0x20, wrong[i].first, 1024 * wrong[i].clusters, 0, wrong[i].next == 0);
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 50 * 1024), SPATE_OK);
    assert_int_equal(clip.first_cluster, 1098);
    image.ram.keep_log = true;
    if (spate_exfat_delete(&image.volume, "liar") != SPATE_E_CORRUPT) fail_msg("wrong value %u was accepted", i);
    expect_no_write();
    image_close(&image);
  }
}

/* On a volume that others left dirty, two files may share clusters: freed clusters are not trimmed. */
static void test_no_trim_on_a_dirty_volume(void **state) {
  (void)state;
  for (unsigned dirty = 0; dirty < 2; dirty++) {
    struct spate_exfat_clip clip;
    open_small();
    put_file("f", "x", 1);
    image.ram.memory[106] |= (uint8_t)(dirty ? 2 : 0);
    assert_int_equal(image_mount(&image), SPATE_OK);
    image.ram.keep_log = true;
    ram_block_clear_log(&image.ram);
    assert_int_equal(spate_exfat_delete(&image.volume, "f"), SPATE_OK);
    assert_int_equal(spate_exfat_arm(&image.volume, &clip, "g", 4096), SPATE_OK);
    assert_int_equal(spate_exfat_close(&clip, 1), SPATE_OK);
    assert_int_equal(image.ram.count[SPATE_TRIM], dirty ? 0 : 2);
    image_close(&image);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_boot),
      cmocka_unit_test(test_boot_fields),
      cmocka_unit_test(test_damaged_set_listed),
      cmocka_unit_test(test_damaged_set),
      cmocka_unit_test(test_corrupt),
      cmocka_unit_test(test_upcase_checksum),
      cmocka_unit_test(test_system_clusters_that_are_free),
      cmocka_unit_test(test_a_bitmap_that_cannot_be_read),
      cmocka_unit_test(test_a_free_bitmap_that_cannot_be_read),
      cmocka_unit_test(test_system_entries_that_others_write),
      cmocka_unit_test(test_corrupt_meanwhile),
      cmocka_unit_test(test_repair_keeps_dirty),
      cmocka_unit_test(test_delete_refused),
      cmocka_unit_test(test_no_trim_on_a_dirty_volume),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
