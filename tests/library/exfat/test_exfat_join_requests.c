/* SPDX-License-Identifier: Apache-2.0 */
/* How many requests a join takes. Its links fill many blocks of the FAT: a write of each one, durable at once, took two
 * minutes for 2 TB in clusters of 128 KiB. */
#include "join_fixture.h"

#define PARTS          3u
#define PART_CLUSTERS  30000u
#define ENTRIES        128u                      /* of the FAT, in a block of 512 bytes */
#define STEP_BLOCKS    64u                       /* of the FAT, in a call */
#define REQUEST_BLOCKS (IMAGE_CACHE_BLOCKS / 2u) /* half of the memory */

/* A write of links is not durable by itself. */
static bool is_of_links(const struct ram_log_entry *entry) {
  return entry->op == SPATE_WRITE && entry->lba >= image.volume.fat_lba && entry->lba < image.volume.heap_lba;
}

struct totals {
  uint64_t requests, blocks, longest_blocks, fua, flushes, reads;
};

static struct totals count_requests(void) {
  struct totals totals = {.requests = 0};
  for (size_t i = 0; i < image.ram.log_count; i++) {
    const struct ram_log_entry *entry = &image.ram.log[i];
    totals.fua += (entry->flags & SPATE_IO_FUA) != 0;
    totals.flushes += entry->op == SPATE_FLUSH;
    totals.reads += entry->op == SPATE_READ;
    if (!is_of_links(entry)) continue;
    totals.requests++;
    totals.blocks += entry->blocks;
    if (entry->blocks > totals.longest_blocks) totals.longest_blocks = entry->blocks;
  }
  return totals;
}

static void open_many_clusters(uint32_t cache_blocks) {
  image_open(&image, 64 * MIB, 512, 0);
  small_format(image.ram.memory, 64 * MIB, 9, 9);
  OK(image_mount(&image));
  put_parts("recording", PARTS, PART_CLUSTERS, 100);
  image.config.cache_bytes = (size_t)cache_blocks * 512;
  OK(image_mount(&image));
  OK(spate_exfat_join_begin(&image.volume, &join, "recording"));
  image.ram.keep_log = true;
}

/* Whole blocks are written together and not read. Each end of a part may take a block that is read and written alone.
 */
static void few_requests(void **state) {
  (void)state;
  const uint64_t blocks = PARTS * PART_CLUSTERS / ENTRIES;
  for (uint32_t cache_blocks = IMAGE_CACHE_BLOCKS; cache_blocks >= SPATE_EXFAT_CACHE_BLOCKS_MIN; cache_blocks /= 2) {
    const uint32_t request_blocks = cache_blocks / 2;
    open_many_clusters(cache_blocks);
    ram_block_clear_log(&image.ram);
    OK(work_all());
    const struct totals totals = count_requests();
    assert_in_range(totals.blocks, blocks, blocks + 2 * PARTS);
    assert_in_range(totals.requests, 1, blocks / request_blocks + blocks / STEP_BLOCKS + 4 * PARTS);
    assert_int_equal(totals.longest_blocks, request_blocks);
    assert_in_range(totals.fua, 1, 8);
    assert_int_equal(totals.flushes, 1);
    assert_in_range(totals.reads, 1, 2 * PARTS + 40);
    expect_joined("recording", PARTS, PART_CLUSTERS, 100);
    assert_whole(false);
    image_close(&image);
  }
}

/* Each call writes at most 64 blocks of the FAT, each once. */
static void each_call_is_short(void **state) {
  (void)state;
  open_many_clusters(IMAGE_CACHE_BLOCKS);
  uint32_t calls = 0;
  uint64_t linked = 0;
  for (bool more = true; more; calls++) {
    ram_block_clear_log(&image.ram);
    OK(spate_exfat_join_work(&join, &more));
    assert_true(count_requests().blocks <= STEP_BLOCKS);
    assert_true(image.ram.count[SPATE_WRITE] <= STEP_BLOCKS / REQUEST_BLOCKS + 4 + 8);
    assert_true(join.linked_bytes >= linked);
    if (more) assert_true(join.linked_bytes > linked);
    linked = join.linked_bytes;
  }
  const uint32_t least = PARTS * PART_CLUSTERS / ENTRIES / STEP_BLOCKS;
  assert_in_range(calls, least, least + 2);
  struct spate_exfat_entry entry;
  OK(spate_exfat_stat(&image.volume, "recording", &entry));
  assert_int_equal(entry.bytes, UINT64_C(512) * PARTS * PART_CLUSTERS - 100);
  assert_whole(false);
  image_close(&image);
}

/* Open clips keep their blocks in memory. The links get what is left between these. */
static void beside_open_clips(void **state) {
  (void)state;
  static struct spate_exfat_clip clips[IMAGE_CACHE_BLOCKS];
  open_many_clusters(IMAGE_CACHE_BLOCKS);
  spate_exfat_join_cancel(&join);
  uint32_t open = 0;
  for (; open < IMAGE_CACHE_BLOCKS - SPATE_EXFAT_CACHE_BLOCKS_MIN; open++) {
    char path[32];
    (void)snprintf(path, sizeof path, "folder %u", open);
    OK(spate_exfat_mkdir(&image.volume, path));
    (void)snprintf(path, sizeof path, "folder %u/clip", open);
    OK(spate_exfat_arm(&image.volume, &clips[open], path, 5000));
  }
  join_all("recording");
  for (uint32_t i = 0; i < open; i++) {
    OK(image_publish(&image.ram.block, &clips[i], 100));
    OK(spate_exfat_close(&clips[i], 1000));
  }
  expect_joined("recording", PARTS, PART_CLUSTERS, 100);
  assert_whole(false);
  image_close(&image);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(few_requests),
      cmocka_unit_test(each_call_is_short),
      cmocka_unit_test(beside_open_clips),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
