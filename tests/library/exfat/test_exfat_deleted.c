/* SPDX-License-Identifier: Apache-2.0 */
/* Deleted files: which files may be deleted, what is freed, and what handles to them return. */
#include "exfat_fixture.h"

static void open_small(void) {
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
}

/* Another clip gets the deleted file's clusters and its place in the directory: a handle must not read it. */
static void test_stale_file(void **state) {
  (void)state;
  struct spate_exfat_file file;
  struct spate_exfat_file other;
  char data[8];
  size_t got;
  uint64_t lba;
  uint64_t blocks;
  image_open(&image, 32 * MIB, 512, 0);
  image_format(&image);
  put_file("one", "first", 5);
  put_file("two", "other", 5);
  assert_int_equal(spate_exfat_open(&image.volume, "one", &file), SPATE_OK);
  assert_int_equal(spate_exfat_open(&image.volume, "two", &other), SPATE_OK);
  assert_int_equal(spate_exfat_check(&file), SPATE_OK);
  delete_file("one");
  put_file("one", "wrong", 5);
  assert_int_equal(spate_exfat_check(&file), SPATE_E_STALE);
  assert_int_equal(spate_exfat_read(&file, 0, data, sizeof data, &got), SPATE_E_STALE);
  assert_int_equal(got, 0);
  assert_int_equal(spate_exfat_extent(&file, 0, &lba, &blocks), SPATE_E_STALE);
  assert_int_equal(blocks, 0);
  assert_int_equal(spate_exfat_read(&other, 0, data, sizeof data, &got), SPATE_OK);
  assert_memory_equal(data, "other", 5);
  image_close(&image);
}

/* A handle that is used in between remains valid after any number of deletions. One that is not used gets STALE. */
static void test_many_deletions(void **state) {
  (void)state;
  struct spate_exfat_file used;
  struct spate_exfat_file unused;
  struct spate_exfat_file empty;
  char data[8];
  size_t got;
  image_open(&image, 32 * MIB, 512, 0);
  image_format(&image);
  put_file("one", "first", 5);
  put_file("none", NULL, 0);
  assert_int_equal(spate_exfat_open(&image.volume, "one", &used), SPATE_OK);
  assert_int_equal(spate_exfat_open(&image.volume, "one", &unused), SPATE_OK);
  assert_int_equal(spate_exfat_open(&image.volume, "none", &empty), SPATE_OK);
  for (unsigned i = 0; i < 40; i++) {
    put_file("two", "other", 5);
    delete_file("two");
    assert_int_equal(spate_exfat_read(&used, 0, data, sizeof data, &got), SPATE_OK);
    assert_int_equal(spate_exfat_check(&unused), SPATE_OK);
    if (i < 15) continue;
    assert_int_equal(spate_exfat_open(&image.volume, "one", &unused), SPATE_OK);
  }
  for (unsigned i = 0; i <= SPATE_EXFAT_DELETIONS_MAX; i++) {
    struct spate_exfat_file copy = unused;
    assert_int_equal(spate_exfat_check(&copy), SPATE_OK);
    put_file("two", "other", 5);
    delete_file("two");
  }
  assert_int_equal(spate_exfat_check(&unused), SPATE_E_STALE);
  assert_int_equal(spate_exfat_check(&empty), SPATE_OK); /* it has no clusters that another file could get */
  delete_file("one");
  for (unsigned i = 0; i < 40; i++) {
    put_file("two", "other", 5);
    delete_file("two");
    assert_int_equal(spate_exfat_check(&used), SPATE_E_STALE);
  }
  image_close(&image);
}

/* After a deletion that was refused, or failed before anything was erased, handles remain valid. */
static void test_refused_deletion(void **state) {
  (void)state;
  struct spate_exfat_file file;
  char data[8];
  size_t got;
  image_open(&image, 32 * MIB, 512, 0);
  image_format(&image);
  put_file("one", "first", 5);
  assert_int_equal(spate_exfat_open(&image.volume, "one", &file), SPATE_OK);
  struct ram_fault fault = {RAM_OP(SPATE_WRITE), 0, UINT64_MAX, 0, RAM_ALWAYS, SPATE_E_MEDIA, 0x281};
  ram_block_fault(&image.ram, fault);
  assert_int_equal(spate_exfat_delete(&image.volume, "one"), SPATE_E_MEDIA);
  ram_block_clear_faults(&image.ram);
  assert_int_equal(spate_exfat_read(&file, 0, data, sizeof data, &got), SPATE_OK);
  assert_memory_equal(data, "first", 5);
  image_close(&image);
}

static void test_stale_directory(void **state) {
  (void)state;
  struct spate_exfat_directory directory;
  struct spate_exfat_entry entry;
  bool more = true;
  open_small();
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "d"), SPATE_OK);
  assert_int_equal(spate_exfat_list(&image.volume, "d", &directory), SPATE_OK);
  delete_file("d");
  put_file("f", "x", 1);
  assert_int_equal(spate_exfat_list_next(&directory, &entry, &more), SPATE_E_STALE);
  assert_false(more);
  image_close(&image);
}

/* A file that a PC marked as read-only cannot be deleted. */
static void test_protected(void **state) {
  (void)state;
  struct spate_exfat_entry entry;
  open_small();
  small_add(image.ram.memory, "kept", 0x21, small_allocate(image.ram.memory, 1, 1), 100, 100, false);
  small_add(image.ram.memory, "folder", 0x11, small_allocate(image.ram.memory, 1, 1), 1024, 1024, false);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_delete(&image.volume, "kept"), SPATE_E_PROTECTED);
  assert_int_equal(spate_exfat_delete(&image.volume, "folder"), SPATE_E_PROTECTED);
  assert_int_equal(spate_exfat_rename(&image.volume, "kept", "kept too"), SPATE_OK);
  assert_int_equal(spate_exfat_stat(&image.volume, "kept too", &entry), SPATE_OK);
  assert_int_equal(entry.attributes, 0x21);
  assert_whole(false);
  image_close(&image);
}

/* Files of no bytes that nevertheless have clusters: some systems allocate ahead. */
static void test_clusters_of_empty_files(void **state) {
  (void)state;
  open_small();
  uint32_t looped = small_allocate(image.ram.memory, 3, 1);
  uint32_t single = small_allocate(image.ram.memory, 1, 1);
  uint32_t chained = small_allocate(image.ram.memory, 5, 2);
  uint8_t *fat = image.ram.memory + ((size_t)spate_get32(image.ram.memory + 80) << 9);
  spate_put32(fat + 4 * (looped + 2), looped);
  small_add(image.ram.memory, "chained", 0x20, chained, 0, 0, false);
  small_add(image.ram.memory, "looped", 0x20, looped, 0, 0, false);
  small_add(image.ram.memory, "single", 0x20, single, 0, 0, true);
  assert_int_equal(image_mount(&image), SPATE_OK);
  delete_file("chained");
  delete_file("looped");
  delete_file("single");
  assert_whole(false);
  image_close(&image);
}

/* A file whose chain leads back into itself: its clusters are freed once. The volume was damaged, and stays marked
 * dirty. */
static void test_looped_chain(void **state) {
  (void)state;
  struct spate_exfat_info before;
  struct spate_exfat_info after;
  open_small();
  uint32_t looped = small_allocate(image.ram.memory, 3, 2);
  uint8_t *fat = image.ram.memory + ((size_t)spate_get32(image.ram.memory + 80) << 9);
  spate_put32(fat + 4 * (looped + 4), looped + 2);
  small_add(image.ram.memory, "looped", 0x20, looped, 9 * 1024, 9 * 1024, false);
  assert_int_equal(image_mount(&image), SPATE_OK);
  put_file("f", "x", 1);
  assert_int_equal(spate_exfat_info(&image.volume, &before), SPATE_OK);
  delete_file("looped");
  assert_int_equal(spate_exfat_info(&image.volume, &after), SPATE_OK);
  assert_int_equal(after.free_bytes, before.free_bytes + 3 * 1024);
  assert_whole(true);
  assert_int_equal(oracle.leaked, 0);
  image_close(&image);
}

static struct spate_exfat_time now;

static void tell(void *context, struct spate_exfat_time *time) {
  (void)context;
  *time = now;
}

/* A clock that was never set, or that is far off: the nearest time that exFAT can store is used. */
static void test_times_out_of_range(void **state) {
  (void)state;
  static const struct {
    struct spate_exfat_time told, kept;
  } times[] = {
      {{.year = 1970, .month = 1, .day = 1}, {.year = 1980, .month = 1, .day = 1}},
      {{.year = 1979, .month = 12, .day = 31, .hour = 23}, {.year = 1980, .month = 1, .day = 1}},
      {{.year = 2108, .month = 2, .day = 3, .hour = 4}, {2107, 12, 31, 23, 59, 59, 99, 0, false}},
      {{.year = 65535, .month = 1, .day = 1}, {2107, 12, 31, 23, 59, 59, 99, 0, false}},
      {{.year = 2026}, {.year = 2026, .month = 1, .day = 1}},
      {{2026, 13, 32, 24, 60, 60, 100, 0, false}, {2026, 12, 31, 23, 59, 59, 99, 0, false}},
      {{2107, 12, 31, 23, 59, 59, 99, 0, false}, {2107, 12, 31, 23, 59, 59, 99, 0, false}},
  };
  for (unsigned i = 0; i < sizeof times / sizeof times[0]; i++) {
    struct spate_exfat_entry entry;
    open_small();
    image.config.now = tell;
    now = times[i].told;
    assert_int_equal(image_mount(&image), SPATE_OK);
    put_file("f", "x", 1);
    assert_int_equal(spate_exfat_stat(&image.volume, "f", &entry), SPATE_OK);
    assert_memory_equal(&entry.modified, &times[i].kept, sizeof entry.modified);
    image_close(&image);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_stale_file),       cmocka_unit_test(test_many_deletions),
      cmocka_unit_test(test_refused_deletion), cmocka_unit_test(test_stale_directory),
      cmocka_unit_test(test_protected),        cmocka_unit_test(test_clusters_of_empty_files),
      cmocka_unit_test(test_looped_chain),     cmocka_unit_test(test_times_out_of_range),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
