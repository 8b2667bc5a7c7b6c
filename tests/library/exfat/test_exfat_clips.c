/* SPDX-License-Identifier: Apache-2.0 */
/* Clips from arming to closing: one, as many as there are slots, and until the cache or the volume has no room. */
#include "exfat_fixture.h"

static enum spate_error refuse(struct spate_block *block, struct spate_io *io) {
  (void)block;
  (void)io;
  return SPATE_E_GONE;
}

static void publish(struct spate_exfat_clip *clip, uint64_t bytes) {
  assert_int_equal(image_publish(&image.ram.block, clip, bytes), SPATE_OK);
  assert_int_equal(clip->published_bytes, bytes);
}

static void test_clip(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  struct spate_exfat_entry entry;
  struct spate_exfat_file file;
  struct image_published published = {.calls = 0};
  uint64_t lba;
  uint64_t blocks;
  image_open(&image, 64 * MIB, 512, 2048);
  image_format(&image);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "/take.mov", 10 * MIB + 1), SPATE_OK);
  assert_int_equal(clip.reserved_bytes, 11 * MIB);
  assert_int_equal((clip.first_lba << 9) % MIB, 0);
  assert_whole(true);
  assert_int_equal(spate_exfat_stat(&image.volume, "TAKE.MOV", &entry), SPATE_OK);
  assert_int_equal(entry.bytes, 0);
  publish(&clip, 1000);
  publish(&clip, 5 * MIB);
  assert_whole(true);
  assert_int_equal(spate_exfat_publish(&clip, 4 * MIB, image_published, &published), SPATE_E_INVALID);
  assert_int_equal(spate_exfat_publish(&clip, 12 * MIB, image_published, &published), SPATE_E_INVALID);
  assert_int_equal(spate_exfat_publish(&clip, 5 * MIB, NULL, NULL), SPATE_E_INVALID);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_E_IN_USE);
  assert_int_equal(spate_exfat_close(&clip, 12 * MIB), SPATE_E_INVALID);
  assert_int_equal(spate_exfat_close(&clip, 4 * MIB), SPATE_E_INVALID);
  assert_int_equal(spate_exfat_close(&clip, 6 * MIB + 100), SPATE_OK);
  assert_whole(false);
  assert_int_equal(spate_exfat_close(&clip, 6 * MIB + 100), SPATE_E_INVALID);
  assert_int_equal(spate_exfat_open(&image.volume, "take.mov", &file), SPATE_OK);
  assert_int_equal(file.bytes, 6 * MIB + 100);
  assert_int_equal(spate_exfat_extent(&file, MIB, &lba, &blocks), SPATE_OK);
  assert_int_equal(lba, clip.first_lba + 2048);
  assert_int_equal(blocks, 5 * 2048 + 1);
  assert_int_equal(spate_exfat_extent(&file, 7 * MIB, &lba, &blocks), SPATE_OK);
  assert_int_equal(blocks, 0);
  assert_int_equal(spate_exfat_extent(&file, 100, &lba, &blocks), SPATE_E_INVALID);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);
  image_close(&image);
}

/* All clips at once, in one directory block and several: armed and published in turn, closed in another order. */
static void test_many_clips(void **state) {
  (void)state;
  for (uint32_t block_bytes = 512; block_bytes <= 4096; block_bytes *= 8) {
    struct spate_exfat_clip clips[SPATE_EXFAT_CLIPS_MAX + 1];
    struct image_published published = {.calls = 0};
    char path[32];
    image_open(&image, 64 * MIB, block_bytes, 0);
    image.config.cache_bytes = 12 * block_bytes;
    image_format(&image);
    unsigned count = SPATE_EXFAT_CLIPS_MAX;
    for (unsigned i = 0; i < count; i++) {
      (void)snprintf(path, sizeof path, "stream%u_with_a_longer_name.bin", i);
      assert_int_equal(spate_exfat_arm(&image.volume, &clips[i], path, MIB * (1 + i % 2)), SPATE_OK);
    }
    assert_int_equal(spate_exfat_arm(&image.volume, &clips[count], "more", 1), SPATE_E_FULL);
    for (unsigned i = 0; i < count; i++)
      assert_int_equal(spate_exfat_publish(&clips[i], 1000 + i, image_published, &published), SPATE_OK);
    while (published.calls < count)
      spate_block_poll(&image.ram.block, 1);
    assert_int_equal(published.error, SPATE_OK);
    assert_whole(true);
    for (unsigned i = 0; i < count; i++) {
      unsigned n = (i * 7) % count;
      assert_int_equal(clips[n].published_bytes, 1000 + n);
      assert_int_equal(spate_exfat_close(&clips[n], 2000 + n), SPATE_OK);
    }
    assert_whole(false);
    for (unsigned i = 0; i < count; i++) {
      (void)snprintf(path, sizeof path, "stream%u_with_a_longer_name.bin", i);
      assert_int_equal(oracle_find(&oracle, path)->bytes, 2000 + i);
    }
    image_close(&image);
  }
}

/* With the smallest number of cache blocks there is room for a single clip. */
static void test_cache_room(void **state) {
  (void)state;
  struct spate_exfat_clip clips[2];
  image_open(&image, 32 * MIB, 512, 0);
  image.config.cache_bytes = SPATE_EXFAT_CACHE_BLOCKS_MIN * 512;
  image_format(&image);
  assert_int_equal(spate_exfat_arm(&image.volume, &clips[0], "a", 1), SPATE_E_FULL);
  image.config.cache_bytes += 512;
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_arm(&image.volume, &clips[0], "a", 1), SPATE_OK);
  assert_int_equal(spate_exfat_arm(&image.volume, &clips[1], "b", 1), SPATE_E_FULL);
  assert_int_equal(spate_exfat_close(&clips[0], 0), SPATE_OK);
  assert_int_equal(spate_exfat_arm(&image.volume, &clips[1], "b", 1), SPATE_OK);
  assert_int_equal(spate_exfat_close(&clips[1], 0), SPATE_OK);
  assert_whole(false);
  image_close(&image);
}

static void test_space(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  struct spate_exfat_info info;
  image_open(&image, 32 * MIB, 512, 0);
  image_format(&image);
  assert_int_equal(spate_exfat_info(&image.volume, &info), SPATE_OK);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "big", info.free_bytes + 1), SPATE_E_NO_SPACE);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "big", UINT64_MAX), SPATE_E_NO_SPACE);
  assert_whole(false);
  for (unsigned i = 0; i < 6; i++) {
    char path[8];
    (void)snprintf(path, sizeof path, "f%u", i);
    put_file(path, NULL, 4 * MIB);
  }
  assert_int_equal(spate_exfat_delete(&image.volume, "f1"), SPATE_OK);
  assert_int_equal(spate_exfat_delete(&image.volume, "f3"), SPATE_OK);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "big", 5 * MIB), SPATE_E_FRAGMENTED);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "big", 0), SPATE_OK);
  assert_int_equal(clip.reserved_bytes, 4 * MIB);
  assert_int_equal(spate_exfat_close(&clip, MIB), SPATE_OK);
  assert_whole(false);
  while (spate_exfat_arm(&image.volume, &clip, "last", 0) == SPATE_OK) {
    assert_int_equal(spate_exfat_close(&clip, clip.reserved_bytes), SPATE_OK);
    assert_int_equal(spate_exfat_rename(&image.volume, "last", (char[]){'l', (char)('0' + oracle.file_count), 0}),
                     SPATE_OK);
    assert_whole(false);
  }
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "none", 0), SPATE_E_NO_SPACE);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "none"), SPATE_E_NO_SPACE);
  assert_whole(false);
  image_close(&image);
}

/* A section smaller than the bitmap: 4 KiB of a 64 KiB bitmap. */
static void test_small_section(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  struct spate_exfat_info info;
  image_open(&image, UINT64_C(512) << 30, 4096, 0);
  image.config.bitmap_bytes = 4096;
  image_format(&image);
  uint64_t half = (UINT64_C(256) << 30) + 5 * MIB;
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "half", half), SPATE_OK);
  assert_int_equal(spate_exfat_info(&image.volume, &info), SPATE_OK);
  assert_int_equal(info.free_bytes, info.bytes - half - 4 * MIB);
  assert_int_equal(spate_exfat_close(&clip, (UINT64_C(40) << 30) + 1), SPATE_OK);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "lost", half), SPATE_OK);
  assert_int_equal(image_mount(&image), SPATE_OK); /* a cut: recovery passes all sections */
  assert_int_equal(image.found.reservations, 1);
  assert_int_equal(image.found.reclaimed_bytes, half);
  assert_int_equal(spate_exfat_info(&image.volume, &info), SPATE_OK);
  assert_int_equal(info.free_bytes, info.bytes - (UINT64_C(40) << 30) - 5 * MIB);
  assert_whole(false);
  image_close(&image);
}

/* A part of the bitmap that could not be read is read again, and is not taken for the part that was read before. */
static void test_section_that_cannot_be_read(void **state) {
  (void)state;
  struct spate_exfat_info info;
  image_open(&image, UINT64_C(512) << 30, 4096, 0);
  image.config.bitmap_bytes = 4096;
  image_format(&image);
  put_file("first", NULL, UINT64_C(200) << 30);
  put_file("next", NULL, UINT64_C(100) << 30);
  assert_int_equal(spate_exfat_info(&image.volume, &info), SPATE_OK);
  ram_block_fault(&image.ram, (struct ram_fault){.ops = RAM_OP(SPATE_READ),
                                                 .first_lba = image.volume.heap_lba + 6,
                                                 .last_lba = image.volume.heap_lba + 6,
                                                 .times = 1,
                                                 .error = SPATE_E_MEDIA});
  assert_int_equal(spate_exfat_delete(&image.volume, "next"), SPATE_E_MEDIA);
  assert_int_equal(spate_exfat_delete(&image.volume, "next"), SPATE_OK);
  assert_whole(false);
  image_close(&image);
}

/* More than 65536 clusters, of one file: all are freed with it. */
static void test_a_file_of_many_clusters(void **state) {
  (void)state;
  const uint32_t clusters = 70000;
  image_open(&image, 64 * MIB, 512, 0);
  small_format(image.ram.memory, 64 * MIB, 9, 9);
  const uint32_t first = small_allocate(image.ram.memory, clusters, 1);
  small_add(image.ram.memory, "f", 0x20, first, clusters * 512ull, clusters * 512ull, true);
  assert_int_equal(image_mount(&image), SPATE_OK);
  delete_file("f");
  assert_whole(false);
  image_close(&image);
}

/* A file of 2^32 blocks that begins before the record's is seen to have its blocks, too: nothing is freed. */
static void test_a_file_of_many_blocks(void **state) {
  (void)state;
  const struct spate_exfat_format format = {.serial = 1, .cluster_bytes = 32u * (uint32_t)MIB};
  const uint64_t bytes = UINT64_C(1) << (32 + 9);
  image_open(&image, bytes + 1024 * MIB, 512, 0);
  assert_int_equal(spate_exfat_format(&image.config, &format), SPATE_OK);
  assert_int_equal(image_mount(&image), SPATE_OK);
  const uint32_t first =
      (uint32_t)((image.volume.record_lba - image.volume.heap_lba) >> image.volume.cluster_blocks_shift) + 1;
  uint8_t *bits = small_cluster(image.ram.memory, image.volume.bitmap.first_cluster);
  for (uint32_t at = first - 2; at < first - 2 + (uint32_t)(bytes / format.cluster_bytes); at++)
    bits[at / 8] |= (uint8_t)(1u << at % 8);
  (void)small_add(image.ram.memory, "f", 0x20, first, bytes, bytes, true);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_delete(&image.volume, "f"), SPATE_E_CORRUPT);
  assert_int_equal(bits[(first - 2) / 8] >> (first - 2) % 8 & 1, 1);
  image_close(&image);
}

/* The device refuses a length's write. The caller is told, and asks again: until then it does not count as published,
 * although the write of another clip, whose entry set is in the same block, may take it along. */
static void test_a_refused_length_is_not_published(void **state) {
  (void)state;
  struct image_published published = {.calls = 0};
  struct spate_exfat_clip clips[2];
  image_open(&image, 64 * MIB, 512, 0);
  image_format(&image);
  assert_int_equal(spate_exfat_arm(&image.volume, &clips[0], "a", MIB), SPATE_OK);
  assert_int_equal(spate_exfat_arm(&image.volume, &clips[1], "b", MIB), SPATE_OK);
  assert_ptr_equal(clips[0].block, clips[1].block);
  publish(&clips[0], 1000);
  const struct spate_block_ops *ops = image.ram.block.ops;
  const struct spate_block_ops refusing = {refuse, ops->kick, ops->poll};
  image.ram.block.ops = &refusing;
  assert_int_equal(spate_exfat_publish(&clips[0], 2000, image_published, &published), SPATE_E_GONE);
  assert_int_equal(published.calls, 0);
  image.ram.block.ops = ops;
  publish(&clips[1], 500);
  assert_int_equal(clips[0].published_bytes, 1000);
  publish(&clips[0], 2000);
  assert_int_equal(spate_exfat_close(&clips[0], 2000), SPATE_OK);
  assert_int_equal(spate_exfat_close(&clips[1], 500), SPATE_OK);
  assert_whole(false);
  image_close(&image);
}

/* What was published is taken back: its blocks were destroyed, or it is in the next clip. */
static void test_a_clip_ends_before_what_was_published(void **state) {
  (void)state;
  struct spate_exfat_entry entry;
  static const uint64_t ends[] = {5 * MIB, 4 * MIB + 1, MIB, 1, 0};
  for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
    struct spate_exfat_clip clip;
    image_open(&image, 64 * MIB, 512, 0);
    image_format(&image);
    assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 8 * MIB), SPATE_OK);
    publish(&clip, 5 * MIB);
    spate_exfat_take_back(&clip, ends[i]);
    assert_int_equal(ends[i] == 0 ? spate_exfat_discard(&clip) : spate_exfat_close(&clip, ends[i]), SPATE_OK);
    assert_whole(false);
    assert_int_equal(spate_exfat_stat(&image.volume, "clip", &entry), ends[i] == 0 ? SPATE_E_NOT_FOUND : SPATE_OK);
    if (ends[i] > 0) assert_int_equal(entry.bytes, ends[i]);
    image_close(&image);
  }
}

static void no_call_takes_a_clip_that_was_not_armed(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  struct image_published published = {.calls = 0};
  image_open(&image, 32 * MIB, 512, 0);
  image_format(&image);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", UINT64_MAX), SPATE_E_NO_SPACE);
  assert_int_equal(spate_exfat_publish(&clip, 0, image_published, &published), SPATE_E_INVALID);
  assert_int_equal(spate_exfat_discard(&clip), SPATE_E_INVALID);
  assert_int_equal(spate_exfat_close(&clip, 0), SPATE_E_INVALID);
  assert_int_equal(published.calls, 0);
  assert_whole(false);
  image_close(&image);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_clip),
      cmocka_unit_test(no_call_takes_a_clip_that_was_not_armed),
      cmocka_unit_test(test_a_clip_ends_before_what_was_published),
      cmocka_unit_test(test_many_clips),
      cmocka_unit_test(test_cache_room),
      cmocka_unit_test(test_space),
      cmocka_unit_test(test_small_section),
      cmocka_unit_test(test_a_refused_length_is_not_published),
      cmocka_unit_test(test_section_that_cannot_be_read),
      cmocka_unit_test(test_a_file_of_many_clusters),
      cmocka_unit_test(test_a_file_of_many_blocks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
