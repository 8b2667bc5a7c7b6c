/* SPDX-License-Identifier: Apache-2.0 */
/* What the metadata cache reads: it reads ahead when a directory is scanned, and never beyond a cluster. */
#include "exfat_fixture.h"

#define FILES 120u /* 360 entries: 23 blocks */

/* A directory of many blocks: in separate clusters of one block each, or in one large cluster. */
static void open_directory(uint32_t cluster_shift, uint32_t cache_blocks) {
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, cluster_shift);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "d"), SPATE_OK);
  for (unsigned i = 0; i < FILES; i++) {
    char path[32];
    (void)snprintf(path, sizeof path, "d/%u", i);
    put_file(path, "x", 1);
  }
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);
  image.config.cache_bytes = cache_blocks * 512;
  assert_int_equal(image_mount(&image), SPATE_OK);
  ram_block_clear_log(&image.ram);
  image.ram.keep_log = true;
}

static void go_through(void) {
  struct spate_exfat_directory directory;
  struct spate_exfat_entry entry;
  unsigned count = 0;
  bool more = true;
  assert_int_equal(spate_exfat_list(&image.volume, "d", &directory), SPATE_OK);
  while (more) {
    assert_int_equal(spate_exfat_list_next(&directory, &entry, &more), SPATE_OK);
    count += more;
  }
  assert_int_equal(count, FILES);
}

/* A stream writes its clusters without the cache: none of them may be in the cache. */
static void no_read_goes_beyond_its_cluster(void **state) {
  (void)state;
  for (uint32_t cluster_shift = 9; cluster_shift <= 14; cluster_shift++) {
    open_directory(cluster_shift, 16);
    const uint64_t heap_lba = image.volume.heap_lba;
    go_through();
    for (size_t i = 0; i < image.ram.log_count; i++) {
      const struct ram_log_entry *read = &image.ram.log[i];
      uint64_t last = read->lba + read->blocks - 1;
      if (read->lba < heap_lba)
        assert_true(last < heap_lba);
      else
        assert_int_equal((read->lba - heap_lba) >> (cluster_shift - 9), (last - heap_lba) >> (cluster_shift - 9));
    }
    image_close(&image);
  }
}

static void a_directory_takes_a_read_for_many_blocks(void **state) {
  (void)state;
  open_directory(14, 16);
  go_through();
  assert_in_range(image.ram.count[SPATE_READ], 2, 23 / 8 + 4);
  image_close(&image);
}

/* The FAT's block is needed for each cluster, and stays cached, though the directory has many more blocks than the
 * cache. */
static void a_block_that_is_used_again_stays(void **state) {
  (void)state;
  open_directory(9, 4);
  go_through();
  uint64_t reads = 0;
  for (size_t i = 0; i < image.ram.log_count; i++)
    if (image.ram.log[i].lba < image.volume.heap_lba) reads++;
  assert_in_range(reads, 0, 3); /* at most the FAT blocks of these clusters */
  assert_in_range(image.ram.count[SPATE_READ], 20, 23 + 8);
  image_close(&image);
}

/* Memory beyond the largest number of cache blocks is neither used nor searched. */
static void the_largest_cache(void **state) {
  (void)state;
  static _Alignas(64) uint8_t cache[(SPATE_EXFAT_CACHE_BLOCKS_MAX + 4) * 512];
  static struct spate_exfat_block blocks[SPATE_EXFAT_CACHE_BLOCKS_MAX + 4];
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 9);
  image.config.cache = cache;
  image.config.cache_bytes = sizeof cache;
  image.config.cache_blocks = blocks;
  image.config.cache_block_count = SPATE_EXFAT_CACHE_BLOCKS_MAX + 4;
  memset(cache, 0x5a, sizeof cache);
  assert_int_equal(image_mount(&image), SPATE_OK);
  for (unsigned i = 0; i < 3 * SPATE_EXFAT_CACHE_BLOCKS_MAX; i++) {
    char path[32];
    (void)snprintf(path, sizeof path, "%u", i);
    assert_int_equal(spate_exfat_mkdir(&image.volume, path), SPATE_OK);
  }
  for (size_t at = (size_t)SPATE_EXFAT_CACHE_BLOCKS_MAX * 512; at < sizeof cache; at++)
    assert_int_equal(cache[at], 0x5a);
  assert_whole(false);
  image_close(&image);
}

/* As many blocks are used as are described. Less than the least number is refused before anything is touched. */
static void each_block_has_its_description(void **state) {
  (void)state;
  for (uint32_t count = 0; count <= SPATE_EXFAT_CACHE_BLOCKS_MIN + 2; count++) {
    const bool enough = count >= SPATE_EXFAT_CACHE_BLOCKS_MIN;
    image_open(&image, 4 * MIB, 512, 0);
    small_format(image.ram.memory, 4 * MIB, 9, 9);
    image.config.cache_blocks = count == 0 ? NULL : malloc(count * sizeof(struct spate_exfat_block)); /* no more */
    image.config.cache_block_count = count == 0 ? SPATE_EXFAT_CACHE_BLOCKS_MIN : count;
    assert_int_equal(image_mount(&image), enough ? SPATE_OK : SPATE_E_MEMORY);
    for (unsigned i = 0; i < 32 && enough; i++) {
      char path[32];
      (void)snprintf(path, sizeof path, "%u", i);
      assert_int_equal(spate_exfat_mkdir(&image.volume, path), SPATE_OK);
    }
    if (enough) {
      assert_int_equal(image.volume.block_count, count);
      assert_whole(false);
    } else {
      assert_int_equal(image.ram.events, 0);
    }
    free(image.config.cache_blocks);
    image_close(&image);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_read_goes_beyond_its_cluster),  cmocka_unit_test(a_directory_takes_a_read_for_many_blocks),
      cmocka_unit_test(a_block_that_is_used_again_stays), cmocka_unit_test(the_largest_cache),
      cmocka_unit_test(each_block_has_its_description),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
