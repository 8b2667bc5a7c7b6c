/* SPDX-License-Identifier: Apache-2.0 */
/* A folder with parts, and what becomes of it. Included by one test program each. */
#ifndef JOIN_FIXTURE_H
#define JOIN_FIXTURE_H

#include "exfat_fixture.h"

#define GIVES(error, call) assert_int_equal(call, error)
#define OK(call)           GIVES(SPATE_OK, call)

static struct spate_exfat_join join;
static uint32_t clock_s;

/* Each call is two seconds later, and has another offset from UTC. */
static inline void tick(void *context, struct spate_exfat_time *time) {
  (void)context;
  clock_s += 2;
  const uint32_t quarters = clock_s / 2 % 3;
  const uint32_t local_s = clock_s + quarters * 900;
  *time = (struct spate_exfat_time){.year = 2026, .month = 11, .day = 27, .hour = (uint8_t)(local_s / 3600 % 24)};
  time->minute = (uint8_t)(local_s / 60 % 60);
  time->second = (uint8_t)(local_s % 60);
  time->utc_quarters = (int8_t)quarters;
  time->utc_known = true;
}

/* A directory change was cut, and a program that only records has left it to the next mount. */
static inline void hold_journal(void) {
  ram_block_fault(
      &image.ram,
      (struct ram_fault){
          .ops = RAM_OP(SPATE_WRITE), .last_lba = UINT64_MAX, .skip = 2, .times = 1, .error = SPATE_E_MEDIA});
  GIVES(SPATE_E_MEDIA, spate_exfat_mkdir(&image.volume, "cut"));
  host_starts_again(&image.ram.block);
  OK(spate_exfat_mount_own(&image.volume, &image.config, &image.found));
}

static inline uint32_t cluster_bytes(void) { return image.volume.cluster_mask + 1; }

/* 512-byte blocks, clusters of 1 KiB, and the record's file. */
static inline void open_small(void) {
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  image.config.now = tick;
  OK(image_mount(&image));
  OK(spate_exfat_mkdir(&image.volume, "d"));
}

static inline void fill_part(uint8_t *data, uint64_t bytes, uint32_t number) {
  for (uint64_t i = 0; i < bytes; i++)
    data[i] = (uint8_t)(number * 37 + i * 11 + (i >> 8));
}

/* A part of that many bytes. */
static inline void put_part(const char *folder, uint32_t number, uint64_t bytes) {
  char path[600];
  uint8_t *data = malloc(bytes);
  assert_non_null(data);
  fill_part(data, bytes, number);
  (void)snprintf(path, sizeof path, "%s/part %02u", folder, number);
  put_file(path, data, bytes);
  free(data);
}

/* `parts` of `clusters` each, with another file between each two; the last one ends `short_bytes` before its end. */
static inline void put_parts(const char *folder, uint32_t parts, uint32_t clusters, uint32_t short_bytes) {
  char path[32];
  OK(spate_exfat_mkdir(&image.volume, folder));
  for (uint32_t i = 0; i < parts; i++) {
    put_part(folder, i, (uint64_t)clusters * cluster_bytes() - (i + 1 == parts ? short_bytes : 0));
    if (i == 0) continue;
    (void)snprintf(path, sizeof path, "between %u", i);
    put_file(path, NULL, 1);
  }
}

/* The file has all parts of put_parts(). */
static inline void expect_joined(const char *path, uint32_t parts, uint32_t clusters, uint32_t short_bytes) {
  const uint64_t part_bytes = (uint64_t)clusters * cluster_bytes();
  uint8_t *wanted = malloc(part_bytes);
  uint8_t *got = malloc(part_bytes);
  struct spate_exfat_entry entry;
  struct spate_exfat_file file;
  assert_non_null(wanted);
  assert_non_null(got);
  OK(spate_exfat_stat(&image.volume, path, &entry));
  assert_false(entry.directory);
  assert_int_equal(entry.bytes, parts * part_bytes - short_bytes);
  assert_int_equal(entry.valid_bytes, entry.bytes);
  OK(spate_exfat_open(&image.volume, path, &file));
  for (uint32_t i = 0; i < parts; i++) {
    size_t read_bytes;
    const uint64_t bytes = i + 1 == parts ? part_bytes - short_bytes : part_bytes;
    fill_part(wanted, bytes, i);
    OK(spate_exfat_read(&file, i * part_bytes, got, part_bytes, &read_bytes));
    assert_int_equal(read_bytes, bytes);
    assert_memory_equal(got, wanted, bytes);
  }
  free(wanted);
  free(got);
}

/* The folder has all its parts. */
static inline void expect_parts(const char *folder, uint32_t parts) {
  struct spate_exfat_entry entry;
  char path[600];
  OK(spate_exfat_stat(&image.volume, folder, &entry));
  assert_true(entry.directory);
  for (uint32_t i = 0; i < parts; i++) {
    (void)snprintf(path, sizeof path, "%s/part %02u", folder, i);
    OK(spate_exfat_stat(&image.volume, path, &entry));
  }
}

/* Work until the join ends. */
static inline enum spate_error work_all(void) {
  bool more = true;
  enum spate_error error = SPATE_OK;
  while (error == SPATE_OK && more)
    error = spate_exfat_join_work(&join, &more);
  if (error != SPATE_OK) assert_false(more);
  return error;
}

static inline void join_all(const char *path) {
  OK(spate_exfat_join_begin(&image.volume, &join, path));
  OK(work_all());
  assert_int_equal(join.linked_bytes, join.bytes);
}

/* The bytes of a set on the media. */
static inline uint8_t *set_of(const char *path) {
  const uint64_t bytes = image.config.blocks << image.ram.block.block_shift;
  (void)oracle_read(&oracle, image_start(&image), bytes);
  const struct oracle_file *file = oracle_find(&oracle, path);
  oracle_free(&oracle);
  assert_non_null(file);
  return image_start(&image) + file->set_offset;
}

#endif
