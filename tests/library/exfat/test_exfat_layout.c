/* SPDX-License-Identifier: Apache-2.0 */
/* Where format puts structures, for every place on the media, and what it leaves of the old contents. */
#include "exfat_fixture.h"

static uint32_t fat(uint32_t cluster) {
  return spate_get32(image_start(&image) + ((size_t)spate_get32(image_start(&image) + 80) << 9) + 4 * (size_t)cluster);
}

/* Clusters begin at multiples of their size on the media, and this alignment costs no cluster. */
static void clusters_are_aligned_on_the_medium(void **state) {
  (void)state;
  const uint64_t cluster_blocks = MIB / 512;
  /* Every 16th place in a cluster, and each place near the one where the boot regions and the FAT (256 blocks and some)
   * end with a cluster. */
  for (uint64_t at = 0; at < cluster_blocks; at += at / 16 == (cluster_blocks - 260) / 16 ? 1 : 16) {
    const uint64_t first_lba = at % 7;
    const struct spate_exfat_format format = {
        .serial = 1, .cluster_bytes = 1u << 20, .media_lba = 10 * cluster_blocks + at - first_lba};
    image_open(&image, 8 * MIB, 512, first_lba);
    assert_int_equal(spate_exfat_format(&image.config, &format), SPATE_OK);
    const uint8_t *boot = image_start(&image);
    uint64_t fat_end = spate_get32(boot + 80) + spate_get32(boot + 84);
    uint64_t heap = spate_get32(boot + 88);
    uint64_t count = spate_get32(boot + 92);
    assert_int_equal(spate_get64(boot + 64), format.media_lba + first_lba);
    assert_int_equal((format.media_lba + first_lba + heap) % cluster_blocks, 0);
    assert_in_range(heap, fat_end, fat_end + cluster_blocks - 1);
    assert_int_equal(count, (image.config.blocks - heap) / cluster_blocks);
    assert_true(spate_get32(boot + 84) * 512u >= (count + 2) * 4);
    image_close(&image);
  }
}

/* Specification, 4.1: the media type, a word of ones, and the chains; everything else is zero. */
static void the_fat_holds_the_chains_and_nothing_else(void **state) {
  (void)state;
  image_open(&image, 64 * MIB, 512, 2048);
  memset(image.ram.memory, 0xb6, 4 * MIB);
  image_format(&image);
  assert_int_equal(fat(0), 0xfffffff8);
  assert_int_equal(fat(1), UINT32_MAX);
  for (uint32_t cluster = 2; cluster < 5; cluster++) /* bitmap, table, root directory: one cluster each */
    assert_int_equal(fat(cluster), UINT32_MAX);
  for (uint32_t cluster = 5; cluster < spate_get32(image_start(&image) + 84) * 128; cluster++)
    assert_int_equal(fat(cluster), 0);
  image_close(&image);
}

/* The last byte of the bitmap is alone in its block, or fills the block before. */
static void no_old_bit_is_left_in_the_bitmap(void **state) {
  (void)state;
  for (uint64_t clusters = 4095; clusters <= 4105; clusters++) {
    const struct spate_exfat_format format = {.serial = 1, .cluster_bytes = 1u << 20};
    image_open(&image, (clusters + 1) * MIB, 512, 0);
    image.ram.block.can_zero = false;
    memset(image.ram.memory + MIB, 0xff, MIB);
    assert_int_equal(spate_exfat_format(&image.config, &format), SPATE_OK);
    assert_int_equal(spate_get32(image.ram.memory + 92), clusters);
    const uint8_t *bits = image.ram.memory + MIB;
    assert_int_equal(bits[0], 0x0f);
    for (uint64_t i = 1; i < (clusters + 7) / 8; i++)
      assert_int_equal(bits[i], 0);
    const uint8_t *entry = image.ram.memory + 3 * MIB + 32;
    assert_int_equal(entry[0], 0x81);
    assert_int_equal(spate_get64(entry + 24), (clusters + 7) / 8);
    image_close(&image);
  }
}

/* Specification, 7.1 and 7.2: reserved bytes of the bitmap's and the table's entries are zeros, and so is the rest of
 * the directory's first block after the record's entry set. */
static void reserved_bytes_of_the_first_entries_are_zeros(void **state) {
  (void)state;
  static const uint8_t zeros[512];
  image_open(&image, 64 * MIB, 512, 0);
  memset(image.ram.memory, 0xb6, 4 * MIB);
  image_format(&image);
  const uint8_t *boot = image.ram.memory;
  const uint64_t cluster_bytes = UINT64_C(512) << boot[109];
  const uint64_t root = spate_get32(boot + 88) * UINT64_C(512) + (spate_get32(boot + 96) - 2) * cluster_bytes;
  const uint8_t *entries = image.ram.memory + root;
  assert_int_equal(entries[32], 0x81);
  assert_memory_equal(entries + 32 + 2, zeros, 18);
  assert_int_equal(entries[64], 0x82);
  assert_memory_equal(entries + 64 + 1, zeros, 3);
  assert_memory_equal(entries + 64 + 8, zeros, 12);
  const unsigned set = 1u + entries[96 + 1];
  assert_memory_equal(entries + 96 + 32 * set, zeros, 512 - 96 - 32 * set);
  image_close(&image);
}

/* Bitmaps of more than one cluster are linked to their end. Sparse memory makes the size cheap. */
static void a_long_bitmap_is_one_chain(void **state) {
  (void)state;
  const struct spate_exfat_format format = {.serial = 1, .cluster_bytes = 1u << 20};
  image_open(&image, UINT64_C(9) << 40, 4096, 0);
  assert_int_equal(spate_exfat_format(&image.config, &format), SPATE_OK);
  const uint8_t *boot = image.ram.memory;
  const uint8_t *entries = boot + ((size_t)spate_get32(boot + 80) << 12);
  uint32_t clusters = (spate_get32(boot + 92) / 8 + (1u << 20)) >> 20;
  assert_int_equal(clusters, 2);
  for (uint32_t i = 0; i < clusters; i++)
    assert_int_equal(spate_get32(entries + 4 * (i + 2)), i + 1 < clusters ? i + 3 : UINT32_MAX);
  assert_int_equal(spate_get32(entries + 4 * (clusters + 2)), UINT32_MAX); /* the table */
  assert_int_equal(spate_get32(entries + 4 * (clusters + 3)), UINT32_MAX); /* the root directory */
  assert_int_equal(spate_get32(boot + 96), clusters + 3);
  image_close(&image);
}

/* The smallest space for five clusters is enough, and one block less is too small. */
static void five_clusters_are_enough(void **state) {
  (void)state;
  const struct spate_exfat_format format = {.serial = 1, .cluster_bytes = 1u << 20};
  image_open(&image, 6 * MIB, 512, 0);
  assert_int_equal(spate_exfat_format(&image.config, &format), SPATE_OK);
  assert_int_equal(spate_get32(image.ram.memory + 92), 5);
  for (uint64_t blocks = 1; blocks < 6 * MIB / 512; blocks *= 3) {
    image.config.blocks = 6 * MIB / 512 - blocks;
    assert_int_equal(spate_exfat_format(&image.config, &format),
                     image.config.blocks < 24 ? SPATE_E_INVALID : SPATE_E_TOO_SMALL);
  }
  image_close(&image);
}

/* Specification, 3.1 to 3.4: how each block of both boot regions ends. */
static void both_boot_regions_are_whole(void **state) {
  (void)state;
  for (uint32_t block_bytes = 512; block_bytes <= 4096; block_bytes *= 8) {
    image_open(&image, 64 * MIB, block_bytes, 0);
    image_format(&image);
    assert_memory_equal(image.ram.memory, image.ram.memory + (size_t)12 * block_bytes, (size_t)12 * block_bytes);
    assert_int_equal(spate_get16(image.ram.memory + 510), 0xaa55);
    assert_memory_equal(image.ram.memory,
                        "\xeb\x76\x90"
                        "EXFAT   \0\0\0\0\0",
                        16);
    assert_int_equal(spate_get16(image.ram.memory + 104), 0x0100); /* the revision */
    assert_memory_equal(image.ram.memory + 110, "\x01\x80", 2);    /* one FAT; the first fixed disk */
    for (uint32_t at = 120; at < 510; at++)
      assert_int_equal(image.ram.memory[at], 0xf4); /* halt */
    for (uint32_t i = 1; i < 11; i++) {
      const uint8_t *block = image.ram.memory + (size_t)i * block_bytes;
      for (uint32_t at = 0; at + 4 < block_bytes; at++)
        assert_int_equal(block[at], 0);
      assert_int_equal(spate_get32(block + block_bytes - 4), i <= 8 ? 0xaa550000 : 0);
    }
    image_close(&image);
  }
}

/* No command zeroes more than 16 MiB: 32768 blocks of 512 bytes. */
static void zeroing_is_split(void **state) {
  (void)state;
  const struct spate_exfat_format format = {.serial = 1, .cluster_bytes = 32u << 20};
  uint64_t most = 0;
  image_open(&image, 512 * MIB, 512, 0);
  image.ram.keep_log = true;
  assert_int_equal(spate_exfat_format(&image.config, &format), SPATE_OK);
  for (size_t i = 0; i < image.ram.log_count; i++)
    if (image.ram.log[i].op == SPATE_ZERO && image.ram.log[i].blocks > most) most = image.ram.log[i].blocks;
  assert_int_equal(most, 32768);
  image_close(&image);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(clusters_are_aligned_on_the_medium),
      cmocka_unit_test(the_fat_holds_the_chains_and_nothing_else),
      cmocka_unit_test(no_old_bit_is_left_in_the_bitmap),
      cmocka_unit_test(reserved_bytes_of_the_first_entries_are_zeros),
      cmocka_unit_test(a_long_bitmap_is_one_chain),
      cmocka_unit_test(five_clusters_are_enough),
      cmocka_unit_test(both_boot_regions_are_whole),
      cmocka_unit_test(zeroing_is_split),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
