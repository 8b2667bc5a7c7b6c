/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and extents of files of every layout, compared with the bytes that were written. */
#include "exfat_fixture.h"

#define BYTES       5000u
#define VALID_BYTES 4300u
#define CLUSTER     1024u
#define GUARD       0x5a

static uint8_t content[BYTES];

/* One run; every other cluster; two runs, the second before the first. */
enum shape { RUN, SCATTERED, TWO_RUNS, SHAPES };

static uint32_t cluster_of(enum shape shape, uint32_t index) {
  if (shape == TWO_RUNS) return index < 3 ? 320 + index : 300 + index;
  return 300 + (shape == SCATTERED ? 2 * index : index);
}

static void open_shape(enum shape shape, struct spate_exfat_file *file) {
  image_open(&image, 4 * MIB, 512, 8);
  uint8_t *start = image_start(&image);
  small_format(start, 4 * MIB - 8 * 512, 9, 10);
  for (uint32_t i = 0; i < BYTES; i++)
    content[i] = i < VALID_BYTES ? (uint8_t)(i * 31 + i / 251) : 0;
  for (uint32_t i = 0; i * CLUSTER < BYTES; i++) {
    uint8_t *fat = start + ((size_t)spate_get32(start + 80) << 9);
    uint8_t *cluster = small_cluster(start, cluster_of(shape, i));
    memset(cluster, 0xee, CLUSTER); /* also past the valid length */
    memcpy(cluster, content + (size_t)i * CLUSTER, BYTES - i * CLUSTER < CLUSTER ? BYTES - i * CLUSTER : CLUSTER);
    for (uint32_t at = 0; at < CLUSTER; at++)
      if (i * CLUSTER + at >= VALID_BYTES) cluster[at] = 0xee;
    if (shape != RUN)
      spate_put32(fat + 4 * (size_t)cluster_of(shape, i),
                  (i + 1) * CLUSTER < BYTES ? cluster_of(shape, i + 1) : UINT32_MAX);
  }
  small_add(start, "f", 0x20, cluster_of(shape, 0), BYTES, VALID_BYTES, shape == RUN);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_open(&image.volume, "f", file), SPATE_OK);
  assert_int_equal(file->valid_bytes, VALID_BYTES);
}

static void read_at(struct spate_exfat_file *file, uint64_t offset, size_t bytes) {
  static uint8_t data[BYTES + 600];
  size_t want = offset >= BYTES ? 0 : BYTES - offset < bytes ? BYTES - (size_t)offset : bytes;
  size_t got = 1;
  memset(data, GUARD, sizeof data);
  assert_int_equal(spate_exfat_read(file, offset, data, bytes, &got), SPATE_OK);
  assert_int_equal(got, want);
  if (want > 0) assert_memory_equal(data, content + offset, want);
  for (size_t i = want; i < sizeof data; i++)
    assert_int_equal(data[i], GUARD);
}

static void a_read_gives_exactly_the_bytes_asked_for(void **state) {
  (void)state;
  static const uint64_t offsets[] = {0,    1,    511,  512,  513,  1023, 1024, 2047, 2048, 3072,
                                     3600, 4095, 4096, 4299, 4300, 4301, 4608, 4999, 5000, 5001};
  static const size_t sizes[] = {0, 1, 2, 511, 512, 513, 1024, 1025, 2000, 4300, 4301, 5000, 5001, 5500};
  for (enum shape shape = RUN; shape < SHAPES; shape++) {
    struct spate_exfat_file file;
    open_shape(shape, &file);
    for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++)
      for (size_t j = 0; j < sizeof sizes / sizeof sizes[0]; j++)
        read_at(&file, offsets[i], sizes[j]);
    read_at(&file, UINT64_MAX, 100);
    image_close(&image);
  }
}

/* Bytes read before the error are delivered; bytes behind it are not counted. */
static void a_block_that_cannot_be_read_ends_the_read(void **state) {
  (void)state;
  static uint8_t data[BYTES];
  for (enum shape shape = RUN; shape < SHAPES; shape++)
    for (uint32_t bad = 0; bad < 9; bad++) {
      struct spate_exfat_file file;
      uint64_t lba;
      uint64_t blocks;
      size_t got = 0;
      open_shape(shape, &file);
      assert_int_equal(spate_exfat_extent(&file, bad * 512u, &lba, &blocks), SPATE_OK);
      ram_block_fault(
          &image.ram,
          (struct ram_fault){
              .ops = RAM_OP(SPATE_READ), .first_lba = lba, .last_lba = lba, .times = 1, .error = SPATE_E_MEDIA});
      assert_int_equal(spate_exfat_read(&file, 100, data, sizeof data, &got), SPATE_E_MEDIA);
      assert_int_equal(got, bad > 0 ? bad * 512 - 100 : 0);
      if (got > 0) assert_memory_equal(data, content + 100, got);
      image_close(&image);
    }
}

/* An extent ends with the run of clusters, or with the last valid byte. */
static void an_extent_goes_to_the_end_of_its_run(void **state) {
  (void)state;
  for (enum shape shape = RUN; shape < SHAPES; shape++) {
    struct spate_exfat_file file;
    uint64_t lba;
    uint64_t blocks;
    open_shape(shape, &file);
    for (uint32_t block = 0; block < 9; block++) {
      uint32_t index = block / 2;
      uint32_t end = index + 1;
      const uint8_t *at = small_cluster(image_start(&image), cluster_of(shape, index)) + block % 2 * 512u;
      while (end < 5 && cluster_of(shape, end) == cluster_of(shape, end - 1) + 1)
        end++;
      uint32_t end_block = end < 5 ? 2 * end : 9; /* 4300 bytes are nine blocks */
      assert_int_equal(spate_exfat_extent(&file, block * 512u, &lba, &blocks), SPATE_OK);
      assert_ptr_equal(image.ram.memory + (lba << 9), at);
      assert_int_equal(blocks, end_block - block);
    }
    assert_int_equal(spate_exfat_extent(&file, 9 * 512, &lba, &blocks), SPATE_OK);
    assert_int_equal(blocks, 0);
    for (uint64_t offset = 1; offset < 512; offset *= 2)
      assert_int_equal(spate_exfat_extent(&file, offset, &lba, &blocks), SPATE_E_INVALID);
    image_close(&image);
  }
}

/* The FAT is needed for each cluster of a chain but the first, and for no cluster of a run. */
static void a_fat_that_cannot_be_read_is_an_error_where_it_is_needed(void **state) {
  (void)state;
  for (enum shape shape = RUN; shape < SHAPES; shape++) {
    struct spate_exfat_file file;
    uint64_t lba;
    uint64_t blocks;
    uint8_t byte;
    size_t got;
    enum spate_error want = shape == RUN ? SPATE_OK : SPATE_E_MEDIA;
    open_shape(shape, &file);
    ram_block_fault(&image.ram, (struct ram_fault){.ops = RAM_OP(SPATE_READ),
                                                   .first_lba = image.volume.fat_lba + 300 * 4 / 512,
                                                   .last_lba = image.volume.heap_lba - 1,
                                                   .times = RAM_ALWAYS,
                                                   .error = SPATE_E_MEDIA});
    assert_int_equal(spate_exfat_read(&file, 1023, &byte, 1, &got), SPATE_OK);
    assert_int_equal(spate_exfat_read(&file, 1024, &byte, 1, &got), want);
    assert_int_equal(got, shape == RUN);
    assert_int_equal(spate_exfat_extent(&file, 0, &lba, &blocks), want);
    image_close(&image);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_read_gives_exactly_the_bytes_asked_for),
      cmocka_unit_test(a_block_that_cannot_be_read_ends_the_read),
      cmocka_unit_test(an_extent_goes_to_the_end_of_its_run),
      cmocka_unit_test(a_fat_that_cannot_be_read_is_an_error_where_it_is_needed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
