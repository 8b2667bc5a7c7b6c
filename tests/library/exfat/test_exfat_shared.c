/* SPDX-License-Identifier: Apache-2.0 */
/* Two files own the same clusters, as a crashed PC may leave them, on a volume that is marked clean. */
#include "shared_fixture.h"

#define OLD_BYTE 0x11 /* of the first file; each further file has the next value */
#define NEW_BYTE 0xee /* of a later recording */

static void fill_file(const char *name, int byte) {
  read_volume();
  const struct oracle_file *file = oracle_find(&oracle, name);
  assert_non_null(file);
  for (uint64_t at = 0; at < file->bytes; at += cluster_bytes())
    memset(image.ram.memory + (oracle_at(&oracle, file, at) - image.ram.memory), byte, cluster_bytes());
}

/* Record over everything that is free. */
static void record_all(void) {
  enum spate_error error = SPATE_OK;
  while (error == SPATE_OK) {
    struct spate_exfat_clip clip;
    char name[32];
    (void)snprintf(name, sizeof name, "new %u", recorded++);
    error = spate_exfat_arm(&image.volume, &clip, name, 0);
    if (error != SPATE_OK) break;
    memset(image.ram.memory + (clip.first_lba << 9), NEW_BYTE, clip.reserved_bytes);
    assert_int_equal(spate_exfat_close(&clip, clip.reserved_bytes), SPATE_OK);
  }
  assert_int_equal(error, SPATE_E_NO_SPACE);
}

/* The file is unchanged, according to the oracle, which reads the media, and to the library. */
static void expect_old(const char *name, const uint8_t *old, uint64_t bytes) {
  struct spate_exfat_file file;
  uint8_t *data = malloc(bytes);
  size_t got;
  assert_non_null(data);
  assert_int_equal(spate_exfat_open(&image.volume, name, &file), SPATE_OK);
  assert_int_equal(spate_exfat_read(&file, 0, data, bytes, &got), SPATE_OK);
  assert_int_equal(got, bytes);
  assert_memory_equal(data, old, bytes);
  const struct oracle_file *seen = oracle_find(&oracle, name);
  assert_non_null(seen);
  assert_int_equal(seen->bytes, bytes);
  for (uint64_t at = 0; at < bytes; at++)
    if (*oracle_at(&oracle, seen, at) != old[at]) fail_msg("%s: %llu", name, (unsigned long long)at);
  free(data);
}

static uint8_t *content_of(const char *name, uint64_t *bytes) {
  const struct oracle_file *file = oracle_find(&oracle, name);
  assert_non_null(file);
  *bytes = file->bytes;
  uint8_t *data = malloc(file->bytes);
  assert_non_null(data);
  for (uint64_t at = 0; at < file->bytes; at++)
    data[at] = *oracle_at(&oracle, file, at);
  return data;
}

/* Runs that overlap runs, and chains that overlap chains and runs, each in part. */
static const char *const overlapping[] = {"run one", "run two", "chain one", "chain two", "run three"};
#define OVERLAPPING (sizeof overlapping / sizeof overlapping[0])

static void make_overlapping(uint32_t clusters) {
  uint8_t *memory = image.ram.memory;
  uint32_t run = small_allocate(memory, 2 * clusters, 1);
  add("between", small_allocate(memory, 300, 1), 300, true); /* so that they are not adjacent */
  uint32_t chain = small_allocate(memory, clusters, 2);
  uint32_t other = small_allocate(memory, 2, 2);
  add("run one", run, clusters + clusters / 2, true);
  add("run two", run + clusters, clusters, true);
  add("chain one", chain, clusters, false);
  spate_put32(fat_entry(other + 2), chain + 2 * (clusters / 2)); /* into the middle of the other chain */
  add("chain two", other, 2 + clusters - clusters / 2, false);
  add("run three", chain, 1, true); /* the first cluster of a chain */
  for (unsigned i = 0; i < OVERLAPPING; i++)
    fill_file(overlapping[i], (int)(OLD_BYTE + i));
  read_volume();
  assert_int_equal(oracle.leaked, 0);
  assert_int_equal(oracle.cross_linked, clusters / 2 + (clusters - clusters / 2) + 1);
}

/* Delete the files in any order: clusters that others own stay, and at the end all are free. */
static void check_order(unsigned first, uint32_t clusters) {
  uint8_t *content[OVERLAPPING];
  uint64_t bytes[OVERLAPPING];
  make_overlapping(clusters);
  for (unsigned i = 0; i < OVERLAPPING; i++)
    content[i] = content_of(overlapping[i], &bytes[i]);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_false(image.found.dirty);
  for (unsigned i = 0; i < OVERLAPPING; i++) {
    delete_file(overlapping[(first + i) % OVERLAPPING]);
    record_all();
    read_volume();
    assert_int_equal(oracle.leaked, 0);
    for (unsigned left = i + 1; left < OVERLAPPING; left++) {
      unsigned index = (first + left) % OVERLAPPING;
      expect_old(overlapping[index], content[index], bytes[index]);
    }
  }
  assert_int_equal(oracle.cross_linked, 0);
  assert_true(oracle.dirty);
  assert_int_equal(image.ram.count[SPATE_TRIM], 0);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_E_CORRUPT); /* left to a checker */
  for (unsigned i = 0; i < OVERLAPPING; i++)
    free(content[i]);
}

static void test_shared_clusters_stay(void **state) {
  (void)state;
  for (unsigned first = 0; first < OVERLAPPING; first++) {
    open_volume(4 * MIB, 10);
    check_order(first, 10);
    image_close(&image);
  }
}

/* The bitmap is seen through a section of 32768 clusters; the runs or chains lie at its end. */
static void test_shared_over_sections(void **state) {
  (void)state;
  for (unsigned first = 0; first < OVERLAPPING; first++) {
    uint32_t before = first % 2 == 0 ? 32750 : 32700;
    open_volume(40 * MIB, 10);
    add("before", small_allocate(image.ram.memory, before, 1), before, true);
    image.config.bitmap_bytes = 4096;
    image.config.bitmap = aligned_alloc(4096, 4096); /* so that a write beyond it is detected */
    check_order(first, 20);
    free(image.config.bitmap);
    image_close(&image);
  }
}

/* A chain whose clusters lie so far apart that no section has two of them. Another file owns the first one, too. */
static void test_chain_over_sections(void **state) {
  (void)state;
  open_volume(120 * MIB, 10);
  image.config.bitmap_bytes = 4096; /* 32768 clusters */
  uint32_t chain = small_allocate(image.ram.memory, 3, 33000);
  add("chain", chain, 3, false);
  add("its first cluster", chain, 1, true);
  assert_int_equal(image_mount(&image), SPATE_OK);
  delete_file("chain");
  read_volume();
  assert_int_equal(oracle.leaked, 0);
  assert_int_equal(oracle.cross_linked, 0);
  assert_true(is_allocated(chain));
  image_close(&image);
}

/* There is no room for the record's file: a full volume of others on which all clusters have two owners. */
static void test_shared_on_a_full_volume(void **state) {
  uint64_t bytes;
  (void)state;
  open_volume(MIB, 12);
  uint32_t first = small_allocate(image.ram.memory, 1, 1);
  uint32_t clusters = spate_get32(image.ram.memory + 92) + 2 - first;
  (void)small_allocate(image.ram.memory, clusters - 1, 1);
  add("one", first, clusters, true);
  add("two", first + 20, clusters - 20, true);
  fill_file("one", OLD_BYTE);
  read_volume();
  uint8_t *two = content_of("two", &bytes);
  assert_int_equal(image_mount(&image), SPATE_OK);
  delete_file("one");
  record_all();
  read_volume();
  expect_old("two", two, bytes);
  delete_file("two");
  record_all();
  read_volume();
  assert_int_equal(oracle.leaked, 0);
  free(two);
  image_close(&image);
}

/* Another file claims the cluster of a clip's directory: the length still reaches the entry set. */
static void test_open_clip_in_a_shared_cluster(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  open_volume(4 * MIB, 10);
  uint32_t directory = small_allocate(image.ram.memory, 1, 1);
  small_add(image.ram.memory, "d", 0x10, directory, 1024, 1024, false);
  add("liar", directory, 1, true);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "d/clip", 20 * 1024), SPATE_OK);
  delete_file("liar");
  record_all();
  assert_int_equal(spate_exfat_close(&clip, 10000), SPATE_OK);
  read_volume();
  assert_int_equal(oracle_find(&oracle, "d/clip")->bytes, 10000);
  assert_int_equal(oracle.cross_linked, 0);
  image_close(&image);
}

/* Clusters of a vendor's entry after a name have an owner, too (specification, 7.9). */
static void test_shared_with_a_vendor(void **state) {
  (void)state;
  uint16_t sum = 0;
  open_volume(4 * MIB, 10);
  uint32_t first = small_allocate(image.ram.memory, 4, 1);
  add("run", first, 4, true);
  uint32_t at = small_add(image.ram.memory, "vendor", 0x20, 0, 0, 0, false);
  uint8_t *set = small_cluster(image.ram.memory, spate_get32(image.ram.memory + 96)) + at;
  set[1] = 3;
  set[96] = 0xe1;
  set[96 + 1] = 3; /* clusters, in one run */
  spate_put32(set + 96 + 20, first + 2);
  spate_put64(set + 96 + 24, 2048);
  for (uint32_t i = 0; i < 128; i++)
    if (i != 2 && i != 3) sum = (uint16_t)(((sum & 1u) << 15) + (sum >> 1) + set[i]);
  spate_put16(set + 2, sum);
  assert_int_equal(image_mount(&image), SPATE_OK);
  delete_file("run");
  assert_false(is_allocated(first) || is_allocated(first + 1));
  assert_true(is_allocated(first + 2) && is_allocated(first + 3));
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_E_CORRUPT);
  image_close(&image);
}

/* The clusters that an open clip has reserved and partly published have one owner. */
static void test_open_clip_is_no_damage(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  open_volume(4 * MIB, 10);
  add("old", small_allocate(image.ram.memory, 3, 2), 3, false);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 200 * 1024), SPATE_OK);
  assert_int_equal(image_publish(&image.ram.block, &clip, 150 * 1024), SPATE_OK);
  delete_file("old");
  assert_int_equal(spate_exfat_close(&clip, 150 * 1024), SPATE_OK);
  assert_whole(false);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);
  image_close(&image);
}

/* A file has clusters that the bitmap calls free, as after a PC's crash: the next clip gets them, and keeps them when
 * that file is deleted. */
static void test_a_file_over_free_clusters(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  open_volume(4 * MIB, 10);
  add("good", small_allocate(image.ram.memory, 1, 1), 1, true);
  assert_int_equal(image_mount(&image), SPATE_OK);
  /* this also makes the record's file */
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 10 * 1024), SPATE_OK);
  uint32_t first = clip.first_cluster;
  assert_int_equal(spate_exfat_discard(&clip), SPATE_OK);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);
  add("over free", first, 5, true);
  assert_int_equal(image_mount(&image), SPATE_OK);
  delete_file("good");
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 10 * 1024), SPATE_OK);
  assert_int_equal(clip.first_cluster, first);
  assert_int_equal(spate_exfat_close(&clip, 10 * 1024), SPATE_OK);
  uint64_t trims = image.ram.count[SPATE_TRIM];
  delete_file("over free");
  assert_int_equal(image.ram.count[SPATE_TRIM], trims);
  read_volume();
  assert_int_equal(oracle_find(&oracle, "clip")->bytes, 10 * 1024);
  assert_int_equal(oracle.leaked, 0);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_E_CORRUPT); /* left to a checker */
  image_close(&image);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_shared_clusters_stay),          cmocka_unit_test(test_shared_over_sections),
      cmocka_unit_test(test_chain_over_sections),           cmocka_unit_test(test_shared_on_a_full_volume),
      cmocka_unit_test(test_open_clip_in_a_shared_cluster), cmocka_unit_test(test_shared_with_a_vendor),
      cmocka_unit_test(test_open_clip_is_no_damage),        cmocka_unit_test(test_a_file_over_free_clusters),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
