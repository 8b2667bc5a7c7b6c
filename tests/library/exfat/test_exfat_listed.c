/* SPDX-License-Identifier: Apache-2.0 */
/* What a walk gives can be opened without its name; free runs; names that no path could have. */
#include "exfat_fixture.h"

#define BYTES (4 * MIB)

static void begin(uint32_t cluster_shift) {
  image_open(&image, BYTES, 512, 0);
  small_format(image.ram.memory, BYTES, 9, cluster_shift);
}

static void expect_same_file(const struct spate_exfat_entry *entry) {
  struct spate_exfat_file by_entry, by_name;
  assert_int_equal(spate_exfat_open_entry(&image.volume, entry, &by_entry), SPATE_OK);
  assert_int_equal(spate_exfat_open(&image.volume, entry->name, &by_name), SPATE_OK);
  assert_true(by_entry.bytes == by_name.bytes && by_entry.valid_bytes == by_name.valid_bytes);
  for (uint64_t at = 0; at < by_name.valid_bytes; at += 512) {
    uint64_t lbas[2], blocks[2];
    assert_int_equal(spate_exfat_extent(&by_entry, at, &lbas[0], &blocks[0]), SPATE_OK);
    assert_int_equal(spate_exfat_extent(&by_name, at, &lbas[1], &blocks[1]), SPATE_OK);
    assert_memory_equal(&lbas[0], &lbas[1], sizeof lbas[0]);
    assert_memory_equal(&blocks[0], &blocks[1], sizeof blocks[0]);
  }
}

static void expect_first(const struct spate_exfat_entry *directory, const char *name) {
  struct spate_exfat_directory listing;
  struct spate_exfat_entry entry;
  bool more = false;
  assert_int_equal(spate_exfat_list_entry(&image.volume, directory, &listing), SPATE_OK);
  assert_int_equal(spate_exfat_list_next(&listing, &entry, &more), SPATE_OK);
  assert_true(more);
  assert_string_equal(entry.name, name);
}

/* Each entry of the root directory, opened by its entry and by its name, has the same clusters and contents. */
static void an_entry_is_opened_as_by_its_name(void **state) {
  (void)state;
  struct spate_exfat_directory root, none;
  struct spate_exfat_entry entry;
  unsigned files = 0, directories = 0;
  bool more = true;
  begin(9);
  small_add(image.ram.memory, "linked", 0x20, small_allocate(image.ram.memory, 6, 3), 3000, 2000, false);
  small_add(image.ram.memory, "empty", 0x20, 0, 0, 0, false);
  assert_int_equal(image_mount(&image), SPATE_OK);
  put_file("contiguous", "abc", 3);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "d"), SPATE_OK);
  put_file("d/below", "xyz", 3);
  assert_int_equal(spate_exfat_list(&image.volume, "", &root), SPATE_OK);
  for (;;) {
    assert_int_equal(spate_exfat_list_next(&root, &entry, &more), SPATE_OK);
    if (!more) break;
    directories += entry.directory;
    files += !entry.directory;
    if (entry.directory) {
      expect_first(&entry, "below");
      continue;
    }
    expect_same_file(&entry);
    assert_int_equal(spate_exfat_list_entry(&image.volume, &entry, &none), SPATE_E_NOT_DIRECTORY);
  }
  assert_int_equal(files, 4); /* with the record */
  assert_int_equal(directories, 1);
  assert_int_equal(spate_exfat_stat(&image.volume, "", &entry), SPATE_OK);
  expect_first(&entry, "linked");
  image_close(&image);
}

/* An entry with impossible clusters, and one whose file was deleted since. */
static void an_entry_that_is_not_true_is_refused(void **state) {
  (void)state;
  struct spate_exfat_entry entry;
  struct spate_exfat_file file;
  uint64_t lba, blocks;
  begin(9);
  assert_int_equal(image_mount(&image), SPATE_OK);
  put_file("a", "abc", 3);
  assert_int_equal(spate_exfat_stat(&image.volume, "a", &entry), SPATE_OK);
  struct spate_exfat_entry wrong = entry;
  wrong.first_cluster = UINT32_MAX;
  assert_int_equal(spate_exfat_open_entry(&image.volume, &wrong, &file), SPATE_E_CORRUPT);
  wrong = entry;
  wrong.bytes = UINT64_MAX;
  assert_int_equal(spate_exfat_open_entry(&image.volume, &wrong, &file), SPATE_E_CORRUPT);
  assert_int_equal(spate_exfat_delete(&image.volume, "a"), SPATE_OK);
  assert_int_equal(spate_exfat_open_entry(&image.volume, &entry, &file), SPATE_OK);
  assert_int_equal(spate_exfat_extent(&file, 0, &lba, &blocks), SPATE_E_STALE);
  image_close(&image);
}

static bool is_free(uint32_t index) { return (small_cluster(image.ram.memory, 2)[index / 8] >> (index % 8) & 1) == 0; }

/* Compares all runs with the bits, for bitmaps of many shapes, larger than the section on them and smaller. */
static void free_runs_are_those_of_the_bitmap(void **state) {
  (void)state;
  uint64_t random = 1;
  for (unsigned shape = 0; shape < 120; shape++) {
    const uint32_t cluster_shift = 9 + shape % 3 * 2;
    const uint64_t bytes = cluster_shift == 9 ? 48 * MIB : BYTES; /* 12 KiB of bitmap */
    const uint32_t cluster_blocks = 1u << (cluster_shift - 9);
    image_open(&image, bytes, 512, 0);
    small_format(image.ram.memory, bytes, 9, cluster_shift);
    const uint32_t count = spate_get32(image.ram.memory + 92);
    uint8_t *bits = small_cluster(image.ram.memory, 2);
    for (uint32_t i = 64; i < count; i++) {
      const bool used = ram_random(&random) % (1 + shape * shape) == 0;
      bits[i / 8] = (uint8_t)(used ? bits[i / 8] | 1u << i % 8 : bits[i / 8] & ~(1u << i % 8));
    }
    assert_int_equal(image_mount(&image), SPATE_OK);
    const uint64_t heap = spate_get32(image.ram.memory + 88);
    uint64_t lba = 0, blocks = 0;
    uint32_t index = 0;
    for (;;) {
      /* Anywhere in the last cluster of the run before, or at its end: the same run follows. */
      const uint64_t back = lba == 0 ? 0 : ram_random(&random) % cluster_blocks;
      assert_int_equal(spate_exfat_free_run(&image.volume, lba + blocks - back, &lba, &blocks), SPATE_OK);
      while (index < count && !is_free(index))
        index++;
      if (blocks == 0) break;
      assert_true(lba == heap + (uint64_t)index * cluster_blocks && blocks % cluster_blocks == 0);
      for (uint64_t i = 0; i < blocks; i += cluster_blocks)
        assert_true(is_free(index++));
      assert_true(index == count || !is_free(index));
    }
    assert_int_equal(index, count);
    assert_int_equal(spate_exfat_free_run(&image.volume, UINT64_MAX, &lba, &blocks), SPATE_OK);
    assert_true(blocks == 0);
    image_close(&image);
  }
}

/* A character that cannot be shown is shown as U+FFFD, which finds the file, unless several are shown alike. A file
 * that has U+FFFD itself is found first. */
static void what_is_shown_finds_the_file(void **state) {
  (void)state;
  static const char *const names[] = {"a:b", "q?", "star*", "\x01x", "tab\tx", "\x02y", "\x03z", "\x7fz"};
  static const char *const shown[] = {"a:b", "q?", "star*", "\xef\xbf\xbdx", "tab\xef\xbf\xbdx", "\xef\xbf\xbdy"};
  static const char twin[] = "\xef\xbf\xbdY", twins[] = "\xef\xbf\xbdz";
  struct spate_exfat_entry entry;
  struct spate_exfat_clip clip;
  begin(12);
  for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
    small_add(image.ram.memory, names[i], 0x20, 0, 0, 0, false);
  assert_int_equal(image_mount(&image), SPATE_OK);
  for (unsigned i = 0; i < sizeof shown / sizeof shown[0]; i++) {
    assert_int_equal(spate_exfat_stat(&image.volume, shown[i], &entry), SPATE_OK);
    assert_string_equal(entry.name, shown[i]);
    assert_int_equal(spate_exfat_mkdir(&image.volume, names[i]), SPATE_E_NAME);
    assert_int_equal(spate_exfat_arm(&image.volume, &clip, names[i], 512), SPATE_E_NAME);
  }
  assert_int_equal(spate_exfat_stat(&image.volume, "no:ne", &entry), SPATE_E_NAME); /* nor could it be made */
  assert_int_equal(spate_exfat_mkdir(&image.volume, twin), SPATE_OK);
  assert_int_equal(spate_exfat_stat(&image.volume, shown[5], &entry), SPATE_OK);
  assert_true(entry.directory);
  assert_int_equal(spate_exfat_rename(&image.volume, shown[5], "\xef\xbf\xbdy"), SPATE_OK); /* of another case */
  assert_int_equal(spate_exfat_delete(&image.volume, twin), SPATE_OK);
  assert_int_equal(spate_exfat_stat(&image.volume, twin, &entry), SPATE_OK); /* now the other one */
  assert_false(entry.directory);
  assert_int_equal(spate_exfat_delete(&image.volume, twins), SPATE_E_NAME); /* which one? */
  assert_int_equal(spate_exfat_stat(&image.volume, twins, &entry), SPATE_E_NAME);
  assert_int_equal(spate_exfat_rename(&image.volume, twins, "z"), SPATE_E_NAME);
  assert_int_equal(spate_exfat_rename(&image.volume, "a:b", "a b"), SPATE_OK);
  assert_whole(false);
  image_close(&image);
}

/* An impossible length: the name is told all the same. */
static void a_set_with_impossible_clusters_has_its_name(void **state) {
  (void)state;
  struct spate_exfat_directory root;
  struct spate_exfat_entry entry;
  bool more = true;
  unsigned named = 0;
  begin(12);
  small_add(image.ram.memory, "wrong", 0x20, 0xfffffff0, 100, 100, true);
  small_add(image.ram.memory, "right", 0x20, 0, 0, 0, false);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_stat(&image.volume, "wrong", &entry), SPATE_E_CORRUPT);
  assert_string_equal(entry.name, "wrong");
  assert_int_equal(spate_exfat_stat(&image.volume, "none", &entry), SPATE_E_NOT_FOUND);
  assert_string_equal(entry.name, "");
  assert_int_equal(spate_exfat_list(&image.volume, "", &root), SPATE_OK);
  while (more) {
    const enum spate_error error = spate_exfat_list_next(&root, &entry, &more);
    assert_int_equal(error, strcmp(entry.name, "wrong") == 0 ? SPATE_E_CORRUPT : SPATE_OK);
    named += entry.name[0] != '\0';
  }
  assert_int_equal(named, 2);
  image_close(&image);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_entry_is_opened_as_by_its_name),
      cmocka_unit_test(an_entry_that_is_not_true_is_refused),
      cmocka_unit_test(free_runs_are_those_of_the_bitmap),
      cmocka_unit_test(what_is_shown_finds_the_file),
      cmocka_unit_test(a_set_with_impossible_clusters_has_its_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
