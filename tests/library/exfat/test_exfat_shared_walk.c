/* SPDX-License-Identifier: Apache-2.0 */
/* The walk of the tree that looks for clusters with two owners: how often it is made, and what it finds. */
#include "shared_fixture.h"

/* Directories of 1 KiB with one file each. */
static void make_tree(unsigned directories) {
  for (unsigned i = 0; i < directories; i++) {
    char path[64];
    (void)snprintf(path, sizeof path, "directory %u", i);
    assert_int_equal(spate_exfat_mkdir(&image.volume, path), SPATE_OK);
    (void)snprintf(path, sizeof path, "directory %u/file", i);
    put_file(path, "x", 1);
  }
}

static uint64_t reads_of_deletion(const char *path) {
  uint64_t before = image.ram.count[SPATE_READ];
  delete_file(path);
  return image.ram.count[SPATE_READ] - before;
}

/* The tree is walked before the first deletion and not again in this mount, also not for files recorded since. */
static void test_the_tree_is_walked_once(void **state) {
  (void)state;
  open_volume(4 * MIB, 10);
  image.config.cache_bytes = 6 * 512;
  assert_int_equal(image_mount(&image), SPATE_OK);
  make_tree(60);
  put_file("one", "x", 1);
  put_file("two", "x", 1);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_in_range(reads_of_deletion("one"), 60, 400);
  assert_in_range(reads_of_deletion("two"), 0, 40);
  for (unsigned i = 0; i < 5; i++) {
    put_file("three", "x", 1);
    assert_in_range(reads_of_deletion("three"), 0, 40);
  }
  assert_in_range(reads_of_deletion("directory 7/file"), 0, 40);
  assert_true(image.ram.count[SPATE_TRIM] > 7);
  assert_whole(false);
  image_close(&image);
}

/* Where the bitmap is seen through a section, a deletion checks the areas of its file, each once. */
static void test_each_area_is_walked_once(void **state) {
  (void)state;
  open_volume(64 * MIB, 9);
  image.config.bitmap_bytes = 4096; /* four sections */
  image.config.cache_bytes = 6 * 512;
  assert_int_equal(image_mount(&image), SPATE_OK);
  make_tree(60);
  put_file("near", "x", 1);
  put_file("between", NULL, 10 * MIB);
  put_file("in the same", "x", 1);
  put_file("over two", NULL, 20 * MIB);
  put_file("far", "x", 1);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_in_range(reads_of_deletion("near"), 60, 400);
  assert_in_range(reads_of_deletion("in the same"), 0, 40);
  uint64_t one = reads_of_deletion("far");
  assert_in_range(one, 60, 400);
  assert_in_range(reads_of_deletion("directory 7/file"), 0, 40);
  assert_in_range(reads_of_deletion("over two"), 0, one * 3 / 2); /* the first part of it is known */
  assert_whole(false);
  image_close(&image);
}

/* More sections than areas can be remembered: each area then consists of several sections. */
static void test_more_sections_than_areas(void **state) {
  (void)state;
  open_volume(1200 * MIB, 9);
  uint8_t *memory = image.ram.memory;
  image.config.bitmap_bytes = 4096;
  (void)small_allocate(memory, 6 * 32768, 1); /* clusters without an owner, which does not matter here */
  uint32_t early = small_allocate(memory, 1, 1);
  (void)small_allocate(memory, 64 * 32768, 1);
  uint32_t late = small_allocate(memory, 10, 1);
  add("early", early, 1, true);
  add("one", late, 10, true);
  add("two", late + 5, 5, true);
  assert_int_equal(image_mount(&image), SPATE_OK);
  delete_file("early");
  delete_file("one");
  assert_false(is_allocated(early) || is_allocated(late + 4));
  assert_true(is_allocated(late + 5) && is_allocated(late + 9));
  image_close(&image);
}

/* Below the range in which clusters have two owners only the first deletion walks the tree. */
static void test_before_the_range(void **state) {
  (void)state;
  open_volume(4 * MIB, 10);
  uint8_t *memory = image.ram.memory;
  image.config.cache_bytes = 6 * 512;
  add("early", small_allocate(memory, 1, 1), 1, true);
  add("early, too", small_allocate(memory, 1, 1), 1, true);
  add("between", small_allocate(memory, 200, 1), 200, true);
  uint32_t first = small_allocate(memory, 4, 1);
  add("one", first, 4, true);
  add("two", first, 4, true);
  assert_int_equal(image_mount(&image), SPATE_OK);
  make_tree(60);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_in_range(reads_of_deletion("early"), 60, 400);
  assert_in_range(reads_of_deletion("early, too"), 0, 40);
  assert_in_range(reads_of_deletion("one"), 60, 400);
  image_close(&image);
}

/* A section as large as the bitmap, which is no power of two, covers everything at once. */
static void test_a_section_of_the_bitmaps_size(void **state) {
  (void)state;
  open_volume(48 * MIB, 9);
  uint32_t bitmap_bytes = (spate_get32(image.ram.memory + 92) + 7) / 8;
  size_t section_bytes = (bitmap_bytes + 511u) & ~511u;
  image.config.bitmap = aligned_alloc(4096, 16384);
  image.config.bitmap_bytes = section_bytes;
  image.config.cache_bytes = 6 * 512;
  assert_in_range(bitmap_bytes, 8193, 16383 - 512);
  assert_int_equal(image_mount(&image), SPATE_OK);
  make_tree(60);
  put_file("near", "x", 1);
  put_file("between", NULL, 36 * MIB);
  put_file("far", "x", 1);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_in_range(reads_of_deletion("near"), 60, 400);
  assert_in_range(reads_of_deletion("far"), 0, 40);
  free(image.config.bitmap);
  image_close(&image);
}

/* Whole blocks of the bitmap: more than the cache reads ahead while clusters are freed. Its copies become stale. */
static void test_bitmap_after_a_walk(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  open_volume(256 * MIB, 12);
  uint8_t *memory = image.ram.memory;
  uint32_t one = small_allocate(memory, 5000, 1); /* more than a block's bits */
  uint32_t between = small_allocate(memory, 12400 - (one + 5000), 1);
  uint32_t other = small_allocate(memory, 10, 1);
  add("one", one, 5000, true);
  add("one, too", one, 1, true);
  add("between", between, 12400 - (one + 5000), true);
  add("other", other, 10, true);
  add("other, too", other, 1, true);
  assert_int_equal(image_mount(&image), SPATE_OK);
  delete_file("one");
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 6000 * 4096), SPATE_OK);
  uint32_t first = clip.first_cluster;
  assert_int_equal(spate_exfat_close(&clip, 6000 * 4096), SPATE_OK);
  delete_file("other");
  for (uint32_t i = 0; i < 6000; i++)
    if (!is_allocated(first + i)) fail_msg("cluster %u of the clip is free", i);
  read_volume();
  assert_int_equal(oracle.leaked, 0);
  image_close(&image);
}

/* ---- contents that a walk finds ---- */

/* A directory that is full to its last entry ends there, without an end marker. That is no damage. */
static void test_full_directory(void **state) {
  (void)state;
  open_volume(4 * MIB, 10);
  uint8_t *memory = image.ram.memory;
  uint32_t directory = small_allocate(memory, 1, 1);
  small_add(memory, "d", 0x10, directory, 1024, 1024, true);
  add("good", small_allocate(memory, 1, 1), 1, true);
  assert_int_equal(image_mount(&image), SPATE_OK);
  for (unsigned i = 0; i < 8; i++) { /* four entries each of 32 */
    char path[64];
    (void)snprintf(path, sizeof path, "d/a name of two entries %u", i);
    put_file(path, NULL, 0);
  }
  struct spate_exfat_entry entry;
  assert_int_equal(spate_exfat_stat(&image.volume, "d", &entry), SPATE_OK);
  assert_int_equal(entry.bytes, 1024); /* it did not grow */
  assert_int_not_equal(small_cluster(memory, directory)[31 * 32], 0);
  delete_file("good");
  assert_whole(false);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);
  image_close(&image);
}

/* Damage elsewhere does not prevent deletions: the walk skips it, and the volume stays dirty. */
static void test_damage_is_skipped(void **state) {
  (void)state;
  for (unsigned damage = 0; damage < 6; damage++) {
    open_volume(4 * MIB, 10);
    uint8_t *memory = image.ram.memory;
    uint32_t root = spate_get32(memory + 96);
    uint32_t broken = small_allocate(memory, 3, 2);
    uint32_t at = small_add(memory, "damaged", damage == 3 ? 0x10 : 0x20, broken, 3000, 3000, false);
    uint8_t *set = small_cluster(memory, root) + at;
    if (damage == 0) set[70] ^= 1;                      /* a set with a wrong checksum */
    if (damage == 1) spate_put32(fat_entry(broken), 0); /* a chain that breaks, ... */
    if (damage == 3) spate_put32(fat_entry(broken), 1); /* ... of a directory */
    if (damage == 3) memset(small_cluster(memory, broken), 5, 1024);
    if (damage == 2) small_add(memory, "liar", 0x20, broken, UINT64_C(1) << 40, 1, true);
    if (damage == 4) small_add(memory, "itself", 0x10, root, 1024, 1024, true);
    if (damage == 5) set[0] = 0x87; /* a critical entry of an unknown type */
    uint32_t first = small_allocate(memory, 4, 1);
    add("good", first, 4, true);
    assert_int_equal(image_mount(&image), SPATE_OK);
    delete_file("good");
    assert_false(is_allocated(first));
    assert_false(is_allocated(first + 3));
    assert_true(is_allocated(broken));
    assert_int_equal(image.ram.count[SPATE_TRIM], 0);
    if (spate_exfat_unmount(&image.volume) != SPATE_E_CORRUPT) fail_msg("damage %u was not noticed", damage);
    image_close(&image);
  }
}

/* A directory that cannot be read now may be readable later: nothing is changed. */
static void test_unreadable_directory(void **state) {
  (void)state;
  open_volume(4 * MIB, 10);
  uint32_t directory = small_allocate(image.ram.memory, 1, 1);
  small_add(image.ram.memory, "d", 0x10, directory, 1024, 1024, true);
  add("good", small_allocate(image.ram.memory, 1, 1), 1, true);
  assert_int_equal(image_mount(&image), SPATE_OK);
  put_file("f", "x", 1);
  uint64_t lba = (uint64_t)(small_cluster(image.ram.memory, directory) - image.ram.memory) >> 9;
  ram_block_fault(&image.ram, (struct ram_fault){RAM_OP(SPATE_READ), lba, lba, 0, RAM_ALWAYS, SPATE_E_MEDIA, 0x281});
  uint64_t writes = image.ram.count[SPATE_WRITE];
  assert_int_equal(spate_exfat_delete(&image.volume, "good"), SPATE_E_MEDIA);
  assert_int_equal(image.ram.count[SPATE_WRITE], writes);
  ram_block_clear_faults(&image.ram);
  delete_file("good");
  assert_whole(false);
  image_close(&image);
}

/* Directories that contain each other many times, but not themselves: the walk ends. */
static void test_walk_is_bounded(void **state) {
  (void)state;
  open_volume(4 * MIB, 10);
  uint8_t *memory = image.ram.memory;
  uint32_t root = spate_get32(memory + 96);
  uint8_t *entries = small_cluster(memory, root);
  uint32_t first = small_allocate(memory, 20, 1);
  for (uint32_t level = 0; level < 20; level++) {
    /* The sets are made in the root directory, and then moved to their directory. */
    uint8_t sets[10 * 96];
    for (uint32_t i = 0; i < 10; i++) {
      char name[] = {(char)('a' + i), '\0'};
      uint32_t at = small_add(memory, name, 0x10, first + level, 1024, 1024, true);
      memcpy(sets + (size_t)i * 96, entries + at, 96);
      if (level > 0 || i > 0) memset(entries + at, 0, 96); /* the root gets one of them */
    }
    if (level > 0) memcpy(small_cluster(memory, first + level - 1), sets, sizeof sets);
  }
  add("good", small_allocate(memory, 1, 1), 1, true);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_delete(&image.volume, "good"), SPATE_E_CORRUPT);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK); /* nothing was changed */
  image_close(&image);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_tree_is_walked_once),  cmocka_unit_test(test_each_area_is_walked_once),
      cmocka_unit_test(test_more_sections_than_areas), cmocka_unit_test(test_damage_is_skipped),
      cmocka_unit_test(test_unreadable_directory),     cmocka_unit_test(test_walk_is_bounded),
      cmocka_unit_test(test_bitmap_after_a_walk),      cmocka_unit_test(test_a_section_of_the_bitmaps_size),
      cmocka_unit_test(test_before_the_range),         cmocka_unit_test(test_full_directory),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
