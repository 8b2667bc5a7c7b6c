/* SPDX-License-Identifier: Apache-2.0 */
/* After a failed request the library uses what the drive holds. A new cluster counts as empty, whatever it held. */
#include "exfat_fixture.h"

static void fail_once(unsigned ops, uint64_t first_lba, uint64_t last_lba) {
  ram_block_fault(
      &image.ram,
      (struct ram_fault){
          .ops = RAM_OP(ops), .first_lba = first_lba, .last_lba = last_lba, .times = 1, .error = SPATE_E_MEDIA});
}

static enum spate_error stat_file(unsigned number) {
  struct spate_exfat_entry entry;
  char name[32];
  (void)snprintf(name, sizeof name, "FILE %u", number);
  return spate_exfat_stat(&image.volume, name, &entry);
}

#define FILES       80u /* 240 entries: in each of the root directory's 16 blocks there are some */
#define ROOT_BLOCKS 16u

/* A failed read may leave anything in memory: the cache block's old contents are gone. */
static void a_failed_read_does_not_return_old_contents(void **state) {
  (void)state;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 13);
  for (unsigned i = 0; i < FILES; i++) {
    char name[32];
    (void)snprintf(name, sizeof name, "file %u", i);
    small_add(image.ram.memory, name, 0x20, 0, 0, 0, false);
  }
  for (image.config.cache_bytes = 4 * 512; image.config.cache_bytes <= 16 * 512; image.config.cache_bytes += 2 * 512)
    for (unsigned bad = 0; bad < ROOT_BLOCKS; bad++) {
      assert_int_equal(image_mount(&image), SPATE_OK);
      assert_int_equal(stat_file(FILES - 1), SPATE_OK); /* the whole directory has passed through the cache */
      uint64_t root_lba = image.volume.heap_lba + (uint64_t)(image.volume.root.first_cluster - 2) * ROOT_BLOCKS;
      fail_once(SPATE_READ, root_lba + bad, root_lba + bad);
      enum spate_error error = stat_file(5 * bad + 2); /* in that block, or just after it */
      assert_true(error == SPATE_OK || error == SPATE_E_MEDIA);
      ram_block_clear_faults(&image.ram);
      for (unsigned i = 0; i < FILES; i += 3)
        if (stat_file(i) != SPATE_OK) fail_msg("file %u is gone after block %u could not be read", i, bad);
    }
  image_close(&image);
}

/* A deletion whose bitmap write failed has freed nothing: free space is what the drive's bitmap shows. */
static void free_space_after_a_failed_write_is_the_drives(void **state) {
  (void)state;
  struct spate_exfat_info before;
  struct spate_exfat_info after;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  assert_int_equal(image_mount(&image), SPATE_OK);
  put_file("f", NULL, 100 * 1024);
  assert_int_equal(spate_exfat_info(&image.volume, &before), SPATE_OK);
  fail_once(SPATE_WRITE, image.volume.heap_lba, image.volume.heap_lba + 1);
  assert_int_equal(spate_exfat_delete(&image.volume, "f"), SPATE_E_MEDIA);
  assert_int_equal(spate_exfat_info(&image.volume, &after), SPATE_OK);
  assert_int_equal(after.free_bytes, before.free_bytes);
  assert_int_equal(after.longest_free_bytes, before.longest_free_bytes);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.reclaimed_bytes, 100 * 1024);
  assert_whole(false);
  image_close(&image);
}

/* What is past the end of an odd directory has to be cleared before it grows. As long as that fails, it takes
 * nothing.
 */
static void a_directory_that_cannot_be_cleared_takes_no_cluster(void **state) {
  (void)state;
  struct spate_exfat_info before;
  struct spate_exfat_info after;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 13);
  const uint32_t first = small_allocate(image.ram.memory, 1, 1);
  small_add(image.ram.memory, "d", 0x10, first, 160, 160, true);
  assert_int_equal(image_mount(&image), SPATE_OK);
  put_file("d/a", NULL, 0);
  assert_int_equal(spate_exfat_info(&image.volume, &before), SPATE_OK);
  const uint64_t lba = image.volume.heap_lba + (uint64_t)(first - 2) * 16;
  fail_once(SPATE_WRITE, lba, lba + 15);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "d/e"), SPATE_E_MEDIA);
  assert_int_equal(spate_exfat_info(&image.volume, &after), SPATE_OK);
  assert_int_equal(after.free_bytes, before.free_bytes);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "d/e"), SPATE_OK);
  assert_whole(false);
  image_close(&image);
}

/* ---- clusters with old contents ---- */

/* All free clusters look like directories with files. */
static void fill_free_clusters(uint32_t cluster_shift) {
  uint8_t *set = small_cluster(image.ram.memory, spate_get32(image.ram.memory + 96));
  uint8_t *bitmap = small_cluster(image.ram.memory, 2);
  uint8_t stale[96];
  while (*set != 0)
    set += 32;
  small_add(image.ram.memory, "stale", 0x20, 0, 0, 0, false);
  memcpy(stale, set, sizeof stale);
  memset(set, 0, sizeof stale);
  for (uint32_t at = 0; at < spate_get32(image.ram.memory + 92); at++)
    for (size_t i = 0; (bitmap[at / 8] >> at % 8 & 1) == 0 && (i + 1) * 96 <= (size_t)1 << cluster_shift; i++)
      memcpy(small_cluster(image.ram.memory, at + 2) + i * 96, stale, sizeof stale);
}

static uint32_t count_files(const char *path) {
  struct spate_exfat_directory directory;
  struct spate_exfat_entry entry;
  uint32_t count = 0;
  bool more = true;
  assert_int_equal(spate_exfat_list(&image.volume, path, &directory), SPATE_OK);
  while (more) {
    assert_int_equal(spate_exfat_list_next(&directory, &entry, &more), SPATE_OK);
    if (!more) continue;
    assert_string_not_equal(entry.name, "stale");
    count++;
  }
  return count;
}

/* A new directory, a directory that grows, the root directory, and the record's file. */
static void grow_over_stale_clusters(uint32_t cluster_shift, bool can_zero) {
  uint32_t files = (uint32_t)(3u << cluster_shift) / 96; /* two clusters and more */
  char path[32];
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, cluster_shift);
  fill_free_clusters(cluster_shift);
  image.ram.block.can_zero = can_zero;
  image.ram.trim_fill = -1;
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "d"), SPATE_OK);
  assert_int_equal(count_files("d"), 0);
  for (uint32_t i = 0; i < files; i++) {
    (void)snprintf(path, sizeof path, "d/%u", i);
    put_file(path, NULL, 0);
    put_file(path + 2, NULL, 0);
    if (i % 7 != 0 && i + 1 < files) continue;
    assert_int_equal(count_files("d"), i + 1);
    assert_int_equal(count_files(""), i + 3);
    assert_whole(false);
    assert_int_equal(oracle.file_count, 2 * (i + 1) + 2);
  }
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.reservations, 0);
  image_close(&image);
}

static void old_contents_of_clusters_are_in_no_directory(void **state) {
  (void)state;
  for (uint32_t cluster_shift = 9; cluster_shift <= 12; cluster_shift += 3)
    for (unsigned can_zero = 0; can_zero < 2; can_zero++)
      grow_over_stale_clusters(cluster_shift, can_zero != 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_failed_read_does_not_return_old_contents),
      cmocka_unit_test(free_space_after_a_failed_write_is_the_drives),
      cmocka_unit_test(a_directory_that_cannot_be_cleared_takes_no_cluster),
      cmocka_unit_test(old_contents_of_clusters_are_in_no_directory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
