/* SPDX-License-Identifier: Apache-2.0 */
/* What format writes and what it refuses, for each size and block size, and over old contents. */
#include "exfat_fixture.h"

static void test_format(void **state) {
  (void)state;
  for (uint32_t block_bytes = 512; block_bytes <= 4096; block_bytes *= 8) {
    for (uint64_t first_lba = 0; first_lba <= 2048; first_lba += 2048 / 3) {
      image_open(&image, 64 * MIB, block_bytes, first_lba);
      image_format(&image);
      assert_whole(false);
      assert_int_equal((uintptr_t)(image_start(&image) + oracle.heap - image.ram.memory) % MIB, 0);
      struct spate_exfat_info info;
      assert_int_equal(spate_exfat_info(&image.volume, &info), SPATE_OK);
      assert_string_equal(info.label, "TEST");
      assert_int_equal(info.free_bytes, info.bytes - 4 * MIB);
      assert_int_equal(info.longest_free_bytes, info.free_bytes);
      assert_int_equal(info.cluster_bytes, MIB);
      image_close(&image);
    }
  }
}

/* A power cut leaves the old volume, none, or the new one: the boot regions are gone first, and come last, the main one
 * after its backup. Between these there is a flush. */
static void test_format_order(void **state) {
  (void)state;
  char order[16] = "";
  size_t length = 0;
  struct spate_exfat_format format = {.label = "TEST", .serial = 1};
  image_open(&image, 64 * MIB, 512, 0);
  image.ram.keep_log = true;
  assert_int_equal(spate_exfat_format(&image.config, &format), SPATE_OK);
  for (size_t i = 0; i < image.ram.log_count; i++) {
    const struct ram_log_entry *entry = &image.ram.log[i];
    if (entry->op == SPATE_READ) continue;
    const char kind = (char)(entry->op == SPATE_FLUSH ? 'F' : entry->lba < 12 ? 'm' : entry->lba < 24 ? 'b' : 'h');
    if (length > 0 && order[length - 1] == kind) continue;
    assert_true(length < sizeof order - 1);
    order[length++] = kind;
  }
  assert_string_equal(order, "mFhFbFmF");
  image_close(&image);
}

static void test_format_refuses(void **state) {
  (void)state;
  struct spate_exfat_format format = {.cluster_bytes = 3u << 20};
  image_open(&image, 64 * MIB, 512, 0);
  image.ram.memory[0] = 0x55;
  assert_int_equal(spate_exfat_format(&image.config, &format), SPATE_E_INVALID);
  format.cluster_bytes = 64u << 20;
  assert_int_equal(spate_exfat_format(&image.config, &format), SPATE_E_INVALID);
  format.cluster_bytes = 16u << 20;
  assert_int_equal(spate_exfat_format(&image.config, &format), SPATE_E_TOO_SMALL);
  format.cluster_bytes = 0;
  format.label = "twelve chars";
  assert_int_equal(spate_exfat_format(&image.config, &format), SPATE_E_NAME_LONG);
  format.label = "\xff";
  assert_int_equal(spate_exfat_format(&image.config, &format), SPATE_E_NAME);
  image.config.cache_bytes = 3 * 512;
  format.label = NULL;
  assert_int_equal(spate_exfat_format(&image.config, &format), SPATE_E_MEMORY);
  assert_int_equal(image.ram.memory[0], 0x55); /* nothing was written */
  image.config.cache_bytes = 8 * 512;
  image.config.cache_blocks = NULL; /* only mounted volumes have blocks in memory */
  image.config.cache_block_count = 0;
  assert_int_equal(spate_exfat_format(&image.config, &format), SPATE_OK);
  image_close(&image);
}

/* Is there a plan for a volume of so many blocks? The device refuses all requests, so that nothing is written. */
static bool is_planned(uint64_t blocks, uint32_t cluster_bytes) {
  struct spate_exfat_format format = {.cluster_bytes = cluster_bytes};
  image.ram.block.blocks = blocks;
  image.config.blocks = blocks;
  enum spate_error error = spate_exfat_format(&image.config, &format);
  assert_true(error == SPATE_E_MEDIA || error == SPATE_E_INVALID);
  return error == SPATE_E_MEDIA;
}

/* A volume has at most 2^32 − 11 clusters. A count of more would not fit into 32 bits. */
static void test_format_most_clusters(void **state) {
  (void)state;
  image_open(&image, 4 * MIB, 512, 0);
  ram_block_fault(
      &image.ram,
      (struct ram_fault){.ops = RAM_ANY_OP, .last_lba = UINT64_MAX, .times = RAM_ALWAYS, .error = SPATE_E_MEDIA});
  for (uint32_t shift = 21; shift <= 25; shift++) {
    const uint64_t count = 0xfffffff5;
    const uint64_t start_bytes = (128 << 10) + (count + 2 + 0x10000) * 4; /* boot regions and FAT, up to the heap */
    const uint64_t start_clusters = (start_bytes >> shift) + 1;
    const uint64_t cluster_blocks = UINT64_C(1) << (shift - 9);
    assert_true(is_planned((start_clusters + count) * cluster_blocks, 1u << shift));
    assert_false(is_planned((start_clusters + count + 1) * cluster_blocks, 1u << shift));
    assert_false(is_planned((start_clusters + (UINT64_C(1) << 32) + 100) * cluster_blocks, 1u << shift));
  }
  image_close(&image);
}

/* Volumes of the sizes at which a default changes; sparse memory makes them cheap. */
static void test_format_sizes(void **state) {
  (void)state;
  static const struct {
    uint64_t gib;
    uint32_t cluster_mib;
  } sizes[] = {{1, 1}, {256, 1}, {257, 4}, {4096, 4}, {4097, 32}};
  for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    struct spate_exfat_format format = {.serial = 1};
    image_open(&image, sizes[i].gib << 30, 4096, 256);
    assert_int_equal(spate_exfat_format(&image.config, &format), SPATE_OK);
    assert_int_equal(image_mount(&image), SPATE_OK);
    struct spate_exfat_info info;
    assert_int_equal(spate_exfat_info(&image.volume, &info), SPATE_OK);
    assert_int_equal(info.cluster_bytes, sizes[i].cluster_mib * MIB);
    assert_true(info.bytes > (sizes[i].gib << 30) / 100 * 99);
    assert_int_equal((uintptr_t)((image.volume.heap_lba << 12) % info.cluster_bytes), 0);
    image_close(&image);
  }
}

/* Without Write Zeroes, over old contents. */
static void test_format_over_garbage(void **state) {
  (void)state;
  image_open(&image, 32 * MIB, 512, 0);
  memset(image.ram.memory, 0xb6, 32 * MIB);
  image.ram.block.can_zero = false;
  image_format(&image);
  assert_whole(false);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "d"), SPATE_OK);
  assert_whole(false);
  put_file("d/f", "garbage", 7);
  assert_whole(false);
  image_close(&image);
}

static void test_upcase_table(void **state) {
  (void)state;
  image_open(&image, 32 * MIB, 512, 0);
  image_format(&image);
  assert_whole(false);
  const uint8_t *entry = image_start(&image) + oracle.heap + (oracle.root - 2) * oracle.cluster_bytes + 64;
  assert_int_equal(entry[0], 0x82);
  assert_memory_equal(entry + 4, "\x0d\xd3\x19\xe6", 4); /* the checksum of the recommended table */
  assert_memory_equal(entry + 24, "\xcc\x16\0\0", 4);
  image_close(&image);
}

/* Its bitmap alone has seven clusters: with the others, more bits than a byte has are set. */
static void the_clusters_of_a_large_volume_are_its_own(void **state) {
  (void)state;
  image_open(&image, UINT64_C(52) << 40, 4096, 0);
  image_format(&image);
  assert_int_equal(image.found.read_only, SPATE_EXFAT_WRITABLE); /* none of them is free in the bitmap */
  put_file("f", "x", 1);
  image_close(&image);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_clusters_of_a_large_volume_are_its_own),
      cmocka_unit_test(test_format),
      cmocka_unit_test(test_format_order),
      cmocka_unit_test(test_format_refuses),
      cmocka_unit_test(test_format_sizes),
      cmocka_unit_test(test_format_most_clusters),
      cmocka_unit_test(test_format_over_garbage),
      cmocka_unit_test(test_upcase_table),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
