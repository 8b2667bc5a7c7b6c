/* SPDX-License-Identifier: Apache-2.0 */
/* The volume without faults, and its answers to operations that it cannot do. */
#include "exfat_fixture.h"

static void publish(struct spate_exfat_clip *clip, uint64_t bytes) {
  assert_int_equal(image_publish(&image.ram.block, clip, bytes), SPATE_OK);
  assert_int_equal(clip->published_bytes, bytes);
}

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

static void test_clip(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  struct spate_exfat_entry entry;
  struct spate_exfat_file file;
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
  assert_int_equal(spate_exfat_publish(&clip, 4 * MIB), SPATE_E_INVALID);
  assert_int_equal(spate_exfat_publish(&clip, 12 * MIB), SPATE_E_INVALID);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_E_IN_USE);
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
      assert_int_equal(spate_exfat_publish(&clips[i], 1000 + i), SPATE_E_BUSY);
    for (unsigned i = 0; i < count; i++)
      assert_int_equal(image_publish(&image.ram.block, &clips[i], 1000 + i), SPATE_OK);
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

static void test_names(void **state) {
  (void)state;
  static const char *const bad[] = {
      "",         "/",     ".",   "..", "c/..", "dot.",  "space ", "a:b",      "a*",           "que?",
      "a\\b",     "\"q\"", "l<",  "g>", "p|",   "tab\t", "\x1f",   "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
      "\xe2\x82", "\x80",  "\xff"};
  struct spate_exfat_clip clip;
  image_open(&image, 32 * MIB, 512, 0);
  image_format(&image);
  put_file("a", NULL, 0);
  assert_int_equal(spate_exfat_delete(&image.volume, "a"), SPATE_OK);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "a"), SPATE_OK);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "c"), SPATE_OK);
  for (unsigned i = 2; i < sizeof bad / sizeof bad[0]; i++) {
    assert_int_equal(spate_exfat_arm(&image.volume, &clip, bad[i], 1), SPATE_E_NAME);
    assert_int_equal(spate_exfat_mkdir(&image.volume, bad[i]), SPATE_E_NAME);
    assert_int_equal(spate_exfat_rename(&image.volume, "a", bad[i]), SPATE_E_NAME);
  }
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "", 1), SPATE_E_NAME);
  char name[300];
  memset(name, 'n', sizeof name);
  name[211] = '\0';
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, name, 1), SPATE_E_NAME_LONG);
  name[210] = '\0';
  put_file(name, "x", 1);
  memset(name, 'm', sizeof name);
  name[256] = '\0';
  assert_int_equal(spate_exfat_mkdir(&image.volume, name), SPATE_E_NAME_LONG);
  name[255] = '\0';
  assert_int_equal(spate_exfat_mkdir(&image.volume, name), SPATE_OK);
  assert_whole(false);
  /* 127 surrogate pairs are 254 units */
  char wide[127 * 4 + 1];
  for (unsigned i = 0; i < 127; i++)
    memcpy(wide + 4 * i, "\xf0\x9f\x8e\xac", 5);
  assert_int_equal(spate_exfat_mkdir(&image.volume, wide), SPATE_OK);
  struct spate_exfat_entry entry;
  assert_int_equal(spate_exfat_stat(&image.volume, wide, &entry), SPATE_OK);
  assert_string_equal(entry.name, wide);
  assert_whole(false);
  image_close(&image);
}

static void test_case(void **state) {
  (void)state;
  struct spate_exfat_entry entry;
  struct spate_exfat_clip clip;
  image_open(&image, 32 * MIB, 512, 0);
  image_format(&image);
  put_file("Größe Ωmega ßtraße", "x", 1);
  assert_int_equal(spate_exfat_stat(&image.volume, "GRÖSSE ΩMEGA SSTRASSE", &entry), SPATE_E_NOT_FOUND);
  assert_int_equal(spate_exfat_stat(&image.volume, "gRÖßE ωMEGA ßTRAßE", &entry), SPATE_OK);
  assert_string_equal(entry.name, "Größe Ωmega ßtraße");
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "GRÖßE ωmega ßtraße", 1), SPATE_E_EXISTS);
  assert_int_equal(spate_exfat_rename(&image.volume, "größe ωmega ßtraße", "GRÖßE"), SPATE_OK);
  assert_int_equal(spate_exfat_rename(&image.volume, "größe", "größe"), SPATE_OK);
  assert_int_equal(spate_exfat_stat(&image.volume, "GRÖßE", &entry), SPATE_OK);
  assert_string_equal(entry.name, "größe");
  assert_whole(false);
  image_close(&image);
}

static void test_paths(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  struct spate_exfat_file file;
  struct spate_exfat_directory directory;
  struct spate_exfat_entry entry;
  image_open(&image, 32 * MIB, 512, 0);
  image_format(&image);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "/day 1"), SPATE_OK);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "day 1/Cam A/"), SPATE_OK);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "day 1/cam a"), SPATE_E_EXISTS);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "day 2/cam a"), SPATE_E_NOT_FOUND);
  put_file("//day 1//CAM A/take", "data", 4);
  assert_whole(false);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "day 1/cam a/take/more", 1), SPATE_E_NOT_DIRECTORY);
  assert_int_equal(spate_exfat_open(&image.volume, "day 1", &file), SPATE_E_IS_DIRECTORY);
  assert_int_equal(spate_exfat_open(&image.volume, "/", &file), SPATE_E_IS_DIRECTORY);
  assert_int_equal(spate_exfat_open(&image.volume, "day 1/none", &file), SPATE_E_NOT_FOUND);
  assert_int_equal(spate_exfat_list(&image.volume, "day 1/cam a/take", &directory), SPATE_E_NOT_DIRECTORY);
  assert_int_equal(spate_exfat_delete(&image.volume, "day 1"), SPATE_E_NOT_EMPTY);
  assert_int_equal(spate_exfat_delete(&image.volume, "/"), SPATE_E_INVALID);
  assert_int_equal(spate_exfat_rename(&image.volume, "/", "x"), SPATE_E_INVALID);
  assert_int_equal(spate_exfat_rename(&image.volume, "day 1", "day 1/cam a/x"), SPATE_E_INVALID);
  assert_int_equal(spate_exfat_rename(&image.volume, "day 1", "day 1/x"), SPATE_E_INVALID);
  assert_int_equal(spate_exfat_rename(&image.volume, "day 1/cam a", "day 1/cam b"), SPATE_OK);
  assert_int_equal(spate_exfat_rename(&image.volume, "day 1/cam b/take", "take 2"), SPATE_OK);
  assert_int_equal(spate_exfat_rename(&image.volume, "take 2", "day 1"), SPATE_E_EXISTS);
  assert_int_equal(spate_exfat_stat(&image.volume, "", &entry), SPATE_OK);
  assert_true(entry.directory);
  size_t got;
  char data[8] = "";
  assert_int_equal(spate_exfat_open(&image.volume, "take 2", &file), SPATE_OK);
  assert_int_equal(spate_exfat_read(&file, 1, data, sizeof data, &got), SPATE_OK);
  assert_int_equal(got, 3);
  assert_memory_equal(data, "ata", 3);
  assert_whole(false);
  assert_int_equal(spate_exfat_delete(&image.volume, "day 1/cam b"), SPATE_OK);
  assert_int_equal(spate_exfat_delete(&image.volume, "day 1"), SPATE_OK);
  assert_int_equal(spate_exfat_delete(&image.volume, "take 2"), SPATE_OK);
  assert_int_equal(spate_exfat_delete(&image.volume, ".spate"), SPATE_E_IN_USE);
  assert_int_equal(spate_exfat_rename(&image.volume, ".spate", "x"), SPATE_E_IN_USE);
  assert_whole(false);
  assert_int_equal(oracle.file_count, 1);
  image_close(&image);
}

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
  publish(&clip, 1000);
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

static void test_in_use(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  image_open(&image, 32 * MIB, 512, 0);
  image_format(&image);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "d"), SPATE_OK);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "d/clip", MIB), SPATE_OK);
  assert_int_equal(spate_exfat_delete(&image.volume, "d/clip"), SPATE_E_IN_USE);
  assert_int_equal(spate_exfat_rename(&image.volume, "d/clip", "x"), SPATE_E_IN_USE);
  assert_int_equal(spate_exfat_delete(&image.volume, "d"), SPATE_E_IN_USE);
  assert_int_equal(spate_exfat_rename(&image.volume, "d", "e"), SPATE_E_IN_USE);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "f"), SPATE_OK);
  assert_whole(true);
  assert_int_equal(spate_exfat_close(&clip, 10), SPATE_OK);
  assert_int_equal(spate_exfat_rename(&image.volume, "d", "e"), SPATE_OK);
  assert_whole(false);
  image_close(&image);
}

/* Hundreds of entries with clusters of every size; holes are reused, and directories have to grow. */
static void fill_directory(uint32_t block_shift, uint32_t cluster_shift, unsigned count) {
  char path[64];
  image_open(&image, 4 * MIB, 1u << block_shift, 0);
  small_format(image.ram.memory, 4 * MIB, block_shift, cluster_shift);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "dir"), SPATE_OK);
  assert_whole(false);
  for (unsigned i = 0; i < count; i++) {
    (void)snprintf(path, sizeof path, "%s%u%.*s", i % 3 ? "dir/" : "", i, (int)(i % 37),
                   "_a_name_of_some_length_or_other_than_that");
    put_file(path, NULL, 1);
  }
  assert_whole(false);
  assert_int_equal(oracle.file_count, count + 2);
  for (unsigned i = 0; i < count; i += 2) {
    (void)snprintf(path, sizeof path, "%s%u%.*s", i % 3 ? "dir/" : "", i, (int)(i % 37),
                   "_a_name_of_some_length_or_other_than_that");
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

static void fixed_time(void *context, struct spate_exfat_time *time) {
  *time = *(const struct spate_exfat_time *)context;
}

static void test_time(void **state) {
  (void)state;
  struct spate_exfat_time when = {.year = 2025,
                                  .month = 12,
                                  .day = 31,
                                  .hour = 23,
                                  .minute = 59,
                                  .second = 59,
                                  .centisecond = 99,
                                  .utc_quarters = -14,
                                  .utc_known = true};
  struct spate_exfat_entry entry;
  image_open(&image, 32 * MIB, 512, 0);
  image.config.now = fixed_time;
  image.config.now_context = &when;
  image_format(&image);
  put_file("f", "x", 1);
  assert_int_equal(spate_exfat_stat(&image.volume, "f", &entry), SPATE_OK);
  assert_memory_equal(&entry.modified, &when, sizeof when);
  assert_whole(false);
  const uint8_t *set = image_start(&image) + oracle_find(&oracle, "f")->set_offset;
  assert_int_equal(spate_get32(set + 8), (45u << 25) | (12u << 21) | (31u << 16) | (23u << 11) | (59u << 5) | 29u);
  assert_int_equal(set[20], 199);
  assert_int_equal(set[22], 0x80 | 0x72);
  image_close(&image);
}

/* A window smaller than the bitmap: 4 KiB of a 64 KiB bitmap. */
static void test_small_window(void **state) {
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
  assert_int_equal(image_mount(&image), SPATE_OK); /* a cut: recovery passes all windows */
  assert_int_equal(image.found.reservations, 1);
  assert_int_equal(image.found.reclaimed_bytes, half);
  assert_int_equal(spate_exfat_info(&image.volume, &info), SPATE_OK);
  assert_int_equal(info.free_bytes, info.bytes - (UINT64_C(40) << 30) - 5 * MIB);
  assert_whole(false);
  image_close(&image);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_format),
      cmocka_unit_test(test_format_refuses),
      cmocka_unit_test(test_format_sizes),
      cmocka_unit_test(test_format_over_garbage),
      cmocka_unit_test(test_upcase_table),
      cmocka_unit_test(test_clip),
      cmocka_unit_test(test_many_clips),
      cmocka_unit_test(test_cache_room),
      cmocka_unit_test(test_space),
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_case),
      cmocka_unit_test(test_paths),
      cmocka_unit_test(test_large_directory),
      cmocka_unit_test(test_in_use),
      cmocka_unit_test(test_directories),
      cmocka_unit_test(test_time),
      cmocka_unit_test(test_small_window),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
