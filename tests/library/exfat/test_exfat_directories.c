/* SPDX-License-Identifier: Apache-2.0 */
/* Directories with many entries, for each size of a cluster: they grow, their holes are reused, and a listing is
 * complete. */
#include "exfat_fixture.h"

/* A large directory is read several blocks at a time. A block that cannot be read hides only its own entries. */
static void test_large_directory(void **state) {
  (void)state;
  struct spate_exfat_directory directory;
  struct spate_exfat_entry entry;
  struct spate_exfat_clip clip;
  bool more = true;
  unsigned seen = 0;
  image_open(&image, 64 * MIB, 512, 0);
  image_format(&image);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "d"), SPATE_OK);
  for (unsigned i = 0; i < 500; i++) {
    char path[32];
    (void)snprintf(path, sizeof path, "d/file %u", i);
    put_file(path, NULL, 0);
  }
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "d/clip", MIB), SPATE_OK); /* its block stays in the cache */
  assert_int_equal(image_publish(&image.ram.block, &clip, 1000), SPATE_OK);
  ram_block_clear_log(&image.ram);
  assert_int_equal(spate_exfat_list(&image.volume, "d", &directory), SPATE_OK);
  while (more) {
    assert_int_equal(spate_exfat_list_next(&directory, &entry, &more), SPATE_OK);
    seen += more;
    if (more && strcmp(entry.name, "clip") == 0) assert_int_equal(entry.bytes, 1000);
  }
  assert_int_equal(seen, 501);
  assert_in_range(image.ram.count[SPATE_READ], 5, 30); /* of 95 blocks */
  assert_int_equal(spate_exfat_close(&clip, 1000), SPATE_OK);
  assert_whole(false);

  uint64_t bad_lba = (oracle_find(&oracle, "d/file 100")->set_offset >> 9) + 1;
  ram_block_fault(&image.ram, (struct ram_fault){.ops = RAM_OP(SPATE_READ),
                                                 .first_lba = bad_lba,
                                                 .last_lba = bad_lba,
                                                 .times = RAM_ALWAYS,
                                                 .error = SPATE_E_MEDIA});
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_stat(&image.volume, "d/file 99", &entry), SPATE_OK);
  assert_int_equal(spate_exfat_stat(&image.volume, "d/file 400", &entry), SPATE_E_MEDIA);
  image_close(&image);
}

#define PATH_BYTES 64u

/* Two thirds are in "dir", the others in the root directory. Names are of many lengths. */
static void old_path(char path[PATH_BYTES], unsigned i) {
  (void)snprintf(path, PATH_BYTES, "%s%u%.*s", i % 3 ? "dir/" : "", i, (int)(i % 37),
                 "_a_name_of_some_length_or_other_than_that");
}

/* Hundreds of entries with clusters of every size; holes are reused, and directories have to grow. */
static void fill_directory(uint32_t block_shift, uint32_t cluster_shift, unsigned count) {
  char path[PATH_BYTES];
  image_open(&image, 4 * MIB, 1u << block_shift, 0);
  small_format(image.ram.memory, 4 * MIB, block_shift, cluster_shift);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "dir"), SPATE_OK);
  assert_whole(false);
  for (unsigned i = 0; i < count; i++) {
    old_path(path, i);
    put_file(path, NULL, 1);
  }
  assert_whole(false);
  assert_int_equal(oracle.file_count, count + 2);
  for (unsigned i = 0; i < count; i += 2) {
    old_path(path, i);
    assert_int_equal(spate_exfat_delete(&image.volume, path), SPATE_OK);
  }
  for (unsigned i = 0; i < count; i += 2) {
    (void)snprintf(path, sizeof path, "%snew%u", i % 3 ? "" : "dir/", i);
    assert_int_equal(spate_exfat_mkdir(&image.volume, path), SPATE_OK);
  }
  assert_whole(false);
  assert_int_equal(oracle.file_count, count + 2);
  struct spate_exfat_directory directory;
  struct spate_exfat_entry entry;
  unsigned seen = 0;
  bool more = true;
  assert_int_equal(spate_exfat_list(&image.volume, "DIR", &directory), SPATE_OK);
  while (assert_int_equal(spate_exfat_list_next(&directory, &entry, &more), SPATE_OK), more)
    seen++;
  unsigned expected = 0;
  for (uint32_t i = 0; i < oracle.file_count; i++)
    expected += strncmp(oracle.files[i].path, "dir/", 4) == 0;
  assert_int_equal(seen, expected);
  image_close(&image);
}

static void test_directories(void **state) {
  (void)state;
  fill_directory(9, 9, 300);
  fill_directory(9, 12, 300);
  fill_directory(12, 12, 200);
  fill_directory(9, 15, 30);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_large_directory),
      cmocka_unit_test(test_directories),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
