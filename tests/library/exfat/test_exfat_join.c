/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a folder become one file: its contents, what is written for it, and where its entry set lies. */
#include "join_fixture.h"

#define PARTS 5u

static bool is_data(uint64_t lba) {
  const struct oracle_file *file = oracle_find(&oracle, "recording");
  const uint32_t shift = image.ram.block.block_shift;
  for (uint64_t at = 0; at < file->bytes; at += cluster_bytes()) {
    const uint64_t first = (uint64_t)(oracle_at(&oracle, file, at) - image.ram.memory) >> shift;
    if (lba >= first && lba < first + (cluster_bytes() >> shift)) return true;
  }
  return false;
}

/* Nothing is written to the clusters of the parts, and not much elsewhere. The links of the FAT are flushed once, all
 * else is durable at once. */
static void expect_few_writes(void) {
  assert_true(oracle_read(&oracle, image_start(&image), image.config.blocks << image.ram.block.block_shift));
  uint64_t blocks = 0;
  for (size_t i = 0; i < image.ram.log_count; i++) {
    const struct ram_log_entry *entry = &image.ram.log[i];
    if (entry->op == SPATE_READ || entry->op == SPATE_FLUSH) continue;
    assert_int_equal(entry->op, SPATE_WRITE);
    const bool fat = entry->lba >= image.volume.fat_lba && entry->lba < image.volume.heap_lba;
    assert_int_equal(entry->flags & SPATE_IO_FUA, fat ? 0 : SPATE_IO_FUA);
    assert_false(is_data(entry->lba));
    blocks += entry->blocks;
  }
  oracle_free(&oracle);
  assert_int_equal(image.ram.count[SPATE_FLUSH], 1);
  assert_true(blocks < PARTS * 2 + 10);
}

static void join_and_compare(uint32_t clusters, uint32_t short_bytes) {
  struct spate_exfat_info before;
  struct spate_exfat_info after;
  struct spate_exfat_entry folder;
  uint8_t first[32];
  uint8_t last[32];
  put_parts("recording", PARTS, clusters, short_bytes);
  OK(spate_exfat_info(&image.volume, &before));
  OK(spate_exfat_stat(&image.volume, "recording", &folder));
  memcpy(first, set_of("recording/part 00"), sizeof first);
  memcpy(last, set_of("recording/part 04"), sizeof last);
  ram_block_clear_log(&image.ram);
  image.ram.keep_log = true;
  OK(spate_exfat_join_begin(&image.volume, &join, "recording"));
  assert_int_equal(image.ram.count[SPATE_WRITE], 0);
  assert_int_equal(join.parts, PARTS);
  assert_int_equal(join.linked_bytes, 0);
  OK(work_all());
  assert_int_equal(join.linked_bytes, join.bytes);
  expect_few_writes();
  expect_joined("recording", PARTS, clusters, short_bytes);
  OK(spate_exfat_info(&image.volume, &after));
  assert_int_equal(after.free_bytes, before.free_bytes + folder.bytes);
  assert_whole(false);
  const uint8_t *set = set_of("recording");
  assert_int_equal(spate_get16(set + 4), 0x20);
  assert_memory_equal(set + 8, first + 8, 4);
  assert_memory_equal(set + 20, first + 20, 1);
  assert_memory_equal(set + 22, first + 22, 1);
  assert_memory_equal(set + 12, last + 12, 8);
  assert_memory_equal(set + 21, last + 21, 1);
  assert_memory_equal(set + 23, last + 23, 2);
  assert_int_equal(set[33], 1); /* the FAT links it */
  OK(image_mount(&image));
  assert_int_equal(image.found.reservations, 0);
  expect_joined("recording", PARTS, clusters, short_bytes);
  OK(spate_exfat_delete(&image.volume, "recording"));
  assert_whole(false);
}

static void blocks_of_512_bytes(void **state) {
  (void)state;
  for (uint32_t short_bytes = 0; short_bytes < 1024; short_bytes += 341) {
    open_small();
    join_and_compare(3, short_bytes);
    image_close(&image);
  }
}

static void blocks_of_4096_bytes(void **state) {
  (void)state;
  image_open(&image, 64 * MIB, 4096, 0);
  image.config.now = tick;
  image_format(&image);
  OK(image_mount(&image));
  put_file("first", "x", 1);
  join_and_compare(2, 100000);
  image_close(&image);
}

static void one_part(void **state) {
  (void)state;
  open_small();
  put_parts("recording", 1, 4, 700);
  join_all("recording");
  expect_joined("recording", 1, 4, 700);
  assert_whole(false);
  image_close(&image);
}

/* The last of some parts may be empty in its last cluster but for a byte, and a part may be one cluster. */
static void many_small_parts(void **state) {
  (void)state;
  open_small();
  put_parts("recording", 60, 1, 1023);
  join_all("recording");
  expect_joined("recording", 60, 1, 1023);
  assert_whole(false);
  image_close(&image);
}

/* The FAT entries of other files in the same blocks stay. */
static void other_chains_stay(void **state) {
  (void)state;
  image_open(&image, 4 * MIB, 512, 0);
  uint8_t *memory = image.ram.memory;
  small_format(memory, 4 * MIB, 9, 10);
  const uint32_t first = small_allocate(memory, 20, 3);
  small_add(memory, "chain", 0x20, first, UINT64_C(20) * 1024, UINT64_C(20) * 1024, false);
  OK(image_mount(&image));
  put_parts("recording", 4, 2, 0);
  join_all("recording");
  for (uint32_t i = 0; i < 19; i++)
    assert_int_equal(spate_get32(fat_entry(first + 3 * i)), first + 3 * i + 3);
  expect_joined("recording", 4, 2, 0);
  assert_whole(false);
  image_close(&image);
}

/* Of two FATs only the active one is written. */
static void two_fats(void **state) {
  (void)state;
  image_open(&image, 4 * MIB, 512, 0);
  uint8_t *memory = image.ram.memory;
  small_format_twice(memory, 4 * MIB, 9, 10);
  const size_t fat = (size_t)spate_get32(memory + 80) << 9;
  const size_t fat_bytes = (size_t)spate_get32(memory + 84) << 9;
  uint8_t *other = malloc(fat_bytes);
  assert_non_null(other);
  memcpy(other, memory + fat, fat_bytes);
  OK(image_mount(&image));
  put_parts("recording", 4, 2, 9);
  join_all("recording");
  expect_joined("recording", 4, 2, 9);
  assert_whole(false);
  assert_memory_equal(memory + fat, other, fat_bytes);
  free(other);
  image_close(&image);
}

/* ---- where the folder's entry set lies ---- */

static uint8_t *root_entry(uint32_t index) {
  return small_cluster(image.ram.memory, spate_get32(image.ram.memory + 96)) + 32 * (size_t)index;
}

/* At each place of a block: with the file entry last in a block, the set moves first. */
static void join_at(uint32_t at, const char *name) {
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 13);
  const uint32_t first = small_allocate(image.ram.memory, 1, 1);
  for (uint32_t i = 2; i < at; i++)
    root_entry(i)[0] = 5;
  small_add(image.ram.memory, name, 0x10, first, 8192, 8192, true);
  OK(image_mount(&image));
  for (uint32_t i = 0; i < 3; i++)
    put_part(name, i, 16384 - (i == 2 ? 77 : 0));
  const uint8_t *before = set_of(name);
  const bool moves = at % 16 == 15;
  ram_block_clear_log(&image.ram);
  join_all(name);
  if (!moves) assert_int_equal(image.ram.count[SPATE_WRITE], 3 + 6); /* also for a name in several blocks */
  expect_joined(name, 3, 2, 77);
  assert_whole(false);
  assert_int_equal(set_of(name) != before, moves);
  assert_true((set_of(name) - image.ram.memory) % 512 != 480);
  OK(image_mount(&image));
  assert_int_equal(image.found.reservations, 0);
  expect_joined(name, 3, 2, 77);
  image_close(&image);
}

static void wherever_the_set_lies(void **state) {
  (void)state;
  char long_name[256];
  memset(long_name, 'n', sizeof long_name);
  long_name[255] = '\0';
  for (uint32_t at = 2; at < 34; at++) {
    join_at(at, "recording");
    join_at(at, "a recording with a name of several entries");
    join_at(at, long_name);
  }
}

/* The checksum of an entry set has 16 bits. If the file's is the folder's by chance, recovery could not tell them
 * apart: then the file has no attribute "archive". */
static void equal_checksums(void **state) {
  (void)state;
  open_small();
  put_parts("recording", 2, 1, 0);
  uint8_t file[96];
  uint8_t *folder = set_of("recording");
  const uint16_t checksum = spate_get16(folder + 2);
  uint8_t *last = set_of("recording/part 01");
  uint8_t *first = set_of("recording/part 00");
  memcpy(file, folder, sizeof file);
  spate_put16(file + 4, 0x20);
  memcpy(file + 12, last + 12, 8);
  file[21] = last[21];
  memcpy(file + 23, last + 23, 2);
  file[33] = 1;
  memcpy(file + 52, first + 52, 4);
  spate_put64(file + 40, 2048);
  spate_put64(file + 56, 2048);
  memcpy(file + 8, first + 8, 4);
  file[22] = first[22];
  uint64_t random = 1;
  const uint32_t created = spate_get32(first + 8);
  do { /* earlier times of creation */
    spate_put32(file + 8, (uint32_t)ram_random(&random) % created);
    file[20] = (uint8_t)(ram_random(&random) % 200);
    spate_put32(file + 12, (uint32_t)ram_random(&random)); /* any time of modification */
    small_seal(file);
  } while (spate_get16(file + 2) != checksum);
  memcpy(first + 8, file + 8, 4);
  first[20] = file[20];
  memcpy(last + 12, file + 12, 4);
  small_seal(first);
  small_seal(last);
  OK(image_mount(&image));
  join_all("recording");
  expect_joined("recording", 2, 1, 0);
  assert_int_not_equal(spate_get16(set_of("recording") + 2), checksum);
  assert_int_equal(spate_get16(set_of("recording") + 4), 0);
  assert_memory_equal(set_of("recording") + 8, file + 8, 4);
  assert_whole(false);
  image_close(&image);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(blocks_of_512_bytes),   cmocka_unit_test(blocks_of_4096_bytes), cmocka_unit_test(one_part),
      cmocka_unit_test(many_small_parts),      cmocka_unit_test(other_chains_stay),    cmocka_unit_test(two_fats),
      cmocka_unit_test(wherever_the_set_lies), cmocka_unit_test(equal_checksums),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
