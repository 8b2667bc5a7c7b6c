/* SPDX-License-Identifier: Apache-2.0 */
/* A PC that changes a small volume between a cut and the mount, by raw writes into the image, and operations that are
 * cut. Included by one test program each. */
#ifndef FOREIGN_FIXTURE_H
#define FOREIGN_FIXTURE_H

#include "small_fixture.h"

#define CLUSTER   1024u
#define BLOCK     512u
#define ENTRY     32u
#define SET       (3u * ENTRY) /* of a short name */
#define LONG_NAME "a name of more than fifteen units"

/* ---- a PC ---- */

static inline uint8_t *memory(void) { return image.ram.memory; }
static inline uint8_t *cluster_at(uint32_t cluster) { return small_cluster(memory(), cluster); }

static inline void mark(uint32_t cluster, bool used) {
  uint8_t *byte = cluster_at(2) + (cluster - 2) / 8; /* the bitmap is the heap's first cluster */
  const uint8_t bit = (uint8_t)(1u << ((cluster - 2) % 8));
  *byte = (uint8_t)(used ? *byte | bit : *byte & ~bit);
}

static inline bool is_marked(uint32_t cluster) {
  return (cluster_at(2)[(cluster - 2) / 8] >> ((cluster - 2) % 8) & 1) != 0;
}

/* The entry set of that path. */
static inline uint8_t *set_of(const char *path) {
  (void)oracle_read(&oracle, memory(), 4 * MIB);
  oracle_free(&oracle);
  const struct oracle_file *file = oracle_find(&oracle, path);
  assert_non_null(file);
  return memory() + file->set_offset;
}

static inline uint32_t first_of(const char *path) { return spate_get32(set_of(path) + 52); }

static inline void unuse(uint8_t *set) {
  for (uint32_t i = 0, entries = set[1] + 1u; i < entries; i++)
    set[i * ENTRY] &= 0x7f;
}

/* Delete a directory of one cluster as many systems do: what is in it stays as it is. */
static inline uint32_t delete_folder(const char *path) {
  uint8_t *set = set_of(path);
  const uint32_t first = spate_get32(set + 52);
  unuse(set);
  mark(first, false);
  return first;
}

/* A file over this cluster, which is free. Its contents are what is there. */
static inline void add_file(uint32_t cluster, bool contiguous) {
  assert_false(is_marked(cluster));
  mark(cluster, true);
  small_add(memory(), "VIDEO", 0x20, cluster, CLUSTER, CLUSTER, contiguous);
}

static inline void fill_random(uint8_t *to, uint32_t bytes, uint64_t seed) {
  for (uint32_t i = 0; i < bytes; i++)
    to[i] = (uint8_t)ram_random(&seed);
}

static inline void set_clean(bool clean) {
  if (clean) memory()[106] &= (uint8_t)~2u;
}

/* ---- operations that are cut ---- */

/* A small volume with "folder", and an empty file in it. */
static inline uint32_t open_folder(void) {
  open_small();
  assert_int_equal(spate_exfat_mkdir(&image.volume, "folder"), SPATE_OK);
  put_file("folder/old", NULL, 0);
  return first_of("folder");
}

/* The machine stops at the n-th write to this cluster. */
static inline void stop_at_write(uint32_t cluster, uint32_t skip) {
  const uint64_t lba = (uint64_t)(cluster_at(cluster) - memory()) / BLOCK;
  ram_block_fault(&image.ram, (struct ram_fault){.ops = RAM_OP(SPATE_WRITE),
                                                 .first_lba = lba,
                                                 .last_lba = lba + CLUSTER / BLOCK - 1,
                                                 .skip = skip,
                                                 .times = RAM_ALWAYS,
                                                 .error = SPATE_E_MEDIA});
}

static inline void rename_old(void) {
  assert_int_equal(spate_exfat_rename(&image.volume, "folder/old", "folder/" LONG_NAME), SPATE_E_MEDIA);
}
static inline void delete_old(void) {
  assert_int_equal(spate_exfat_delete(&image.volume, "folder/old"), SPATE_E_MEDIA);
}
static inline void make_new(void) { assert_int_equal(spate_exfat_mkdir(&image.volume, "folder/new"), SPATE_E_MEDIA); }

static inline void cut(void (*operation)(void), uint32_t cluster, uint32_t skip) {
  stop_at_write(cluster, skip);
  operation();
  ram_block_clear_faults(&image.ram);
  host_starts_again(&image.ram.block);
}

/* Nothing is left to be recovered, and directories can be changed again. */
static inline void check_resolved(void) {
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.reservations, 0);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "made later"), SPATE_OK);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);
}

/* ---- a directory of two clusters ---- */

/* "folder", of two clusters in one run. There is room in the second one only. */
static inline uint32_t open_long_folder(void) {
  open_small();
  const uint32_t folder = small_allocate(memory(), 2, 1);
  small_add(memory(), "folder", 0x10, folder, UINT64_C(2) * CLUSTER, UINT64_C(2) * CLUSTER, true);
  memset(cluster_at(folder), 0, CLUSTER);
  memset(cluster_at(folder + 1), 0, CLUSTER);
  for (uint32_t at = 0; at < CLUSTER; at += ENTRY)
    cluster_at(folder)[at] = 0xa0; /* entries that may be ignored */
  assert_int_equal(image_mount(&image), SPATE_OK);
  return folder;
}

/* Give the folder another second cluster, with the same contents, and free the one that it had. */
static inline uint32_t replace_second_cluster(uint32_t folder) {
  const uint32_t moved = small_allocate(memory(), 1, 1);
  memcpy(cluster_at(moved), cluster_at(folder + 1), CLUSTER);
  uint8_t *set = set_of("folder");
  set[33] &= (uint8_t)~2u;
  small_seal(set);
  spate_put32(fat_entry(folder), moved);
  spate_put32(fat_entry(moved), UINT32_MAX);
  mark(folder + 1, false);
  return moved;
}

#endif
