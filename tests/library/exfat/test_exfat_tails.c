/* SPDX-License-Identifier: Apache-2.0 */
/* Chains in the FAT that are longer than their file or directory. */
#include "exfat_fixture.h"

static uint8_t *bitmap_byte(uint32_t cluster) { return small_cluster(image.ram.memory, 2) + (cluster - 2) / 8; }

static bool is_allocated(uint32_t cluster) { return (*bitmap_byte(cluster) >> ((cluster - 2) & 7) & 1) != 0; }

static void open_small(void) {
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
}

static void read_volume(void) {
  if (!oracle_read(&oracle, image.ram.memory, image.ram.bytes)) fail_msg("%s", oracle.fault);
  oracle_free(&oracle);
  assert_int_equal(oracle.unallocated, 0);
  assert_int_equal(oracle.cross_linked, 0);
}

/* A file of 3 of the 8 clusters of its chain; returns the first. */
static uint32_t add_long(const char *name, uint32_t step) {
  uint32_t first = small_allocate(image.ram.memory, 8, step);
  small_add(image.ram.memory, name, 0x20, first, 3000, 3000, false);
  return first;
}

/* Reading stops at the length. */
static void test_read(void **state) {
  (void)state;
  struct spate_exfat_file file;
  uint8_t data[8192];
  size_t got;
  uint64_t lba;
  uint64_t blocks;
  open_small();
  uint32_t first = add_long("long", 2);
  for (uint32_t i = 0; i < 8; i++)
    memset(small_cluster(image.ram.memory, first + 2 * i), (int)(0x10 + i), 1024);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_open(&image.volume, "long", &file), SPATE_OK);
  assert_int_equal(spate_exfat_read(&file, 0, data, sizeof data, &got), SPATE_OK);
  assert_int_equal(got, 3000);
  assert_int_equal(data[2999], 0x12);
  assert_int_equal(spate_exfat_extent(&file, 2048, &lba, &blocks), SPATE_OK);
  assert_int_equal(blocks, 2);
  assert_int_equal(spate_exfat_extent(&file, 3072, &lba, &blocks), SPATE_OK);
  assert_int_equal(blocks, 0);
  image_close(&image);
}

/* The clusters past the length are deleted with the file. */
static void test_delete(void **state) {
  (void)state;
  for (uint32_t step = 1; step < 3; step++) {
    open_small();
    (void)add_long("long", step);
    small_add(image.ram.memory, "whole", 0x20, small_allocate(image.ram.memory, 3, step), 3000, 3000, false);
    assert_int_equal(image_mount(&image), SPATE_OK);
    delete_file("long");
    assert_whole(false);
    assert_int_equal(image.ram.count[SPATE_TRIM], step == 1 ? 1 : 8);
    delete_file("whole");
    assert_whole(false);
    assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);
    image_close(&image);
  }
}

/* The chain of a file of no bytes has more than half of the volume's clusters. */
static void test_long_empty(void **state) {
  (void)state;
  image_open(&image, 8 * MIB, 512, 0);
  small_format(image.ram.memory, 8 * MIB, 9, 9);
  small_add(image.ram.memory, "empty", 0x20, small_allocate(image.ram.memory, 9000, 1), 0, 0, false);
  assert_int_equal(image_mount(&image), SPATE_OK);
  delete_file("empty");
  assert_whole(false);
  image_close(&image);
}

/* The tail leads to its own start, to itself, into another file, into free clusters, into an open clip, outside the
 * volume, and into the volume's structures: only clusters that were the file's alone are freed. */
static void test_tails_that_lead_elsewhere(void **state) {
  (void)state;
  for (unsigned way = 0; way < 9; way++) {
    struct spate_exfat_clip clip;
    open_small();
    uint32_t first = add_long("long", 1);
    uint32_t other = small_allocate(image.ram.memory, 6, 1);
    small_add(image.ram.memory, "other", 0x20, other, 6000, 6000, false);
    memset(small_cluster(image.ram.memory, other), 0x77, 6 * 1024);
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 50 * 1024), SPATE_OK);
    const uint32_t to[] = {first, first + 4, other + 2, 3000, clip.first_cluster + 10, 1000000, 2, 4, first + 7};
    /* whether the cluster that it names has another owner */
    const bool others[] = {false, false, true, false, true, false, true, true, false};
    assert_int_equal(spate_exfat_discard(&clip), SPATE_OK);
    spate_put32(fat_entry(first + 7), to[way]);
    uint32_t trims = (uint32_t)image.ram.count[SPATE_TRIM];
    uint64_t clip_lba = clip.first_lba;
    assert_int_equal(image_mount(&image), SPATE_OK); /* so that the library does not have the FAT in its cache */
    assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 50 * 1024), SPATE_OK);
    assert_int_equal(clip.first_lba, clip_lba);
    delete_file("long");
    for (uint32_t i = 0; i < 8; i++)
      if (is_allocated(first + i)) fail_msg("way %u: cluster %u is lost", way, i);
    for (uint32_t i = 0; i < 6; i++)
      assert_true(is_allocated(other + i));
    assert_true(is_allocated(2) && is_allocated(4) && is_allocated(clip.first_cluster + 10));
    if ((image.ram.count[SPATE_TRIM] > trims) == others[way]) fail_msg("way %u: TRIMs", way);
    assert_int_equal(spate_exfat_close(&clip, 50 * 1024), SPATE_OK);
    read_volume();
    assert_int_equal(oracle.leaked, 0);
    assert_int_equal(spate_exfat_unmount(&image.volume), others[way] ? SPATE_E_CORRUPT : SPATE_OK);
    image_close(&image);
  }
}

/* A deletion was cut after its entry set was erased: the next mount frees the tail, too. */
static void test_recovery(void **state) {
  (void)state;
  open_small();
  (void)add_long("long", 2);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "d"), SPATE_OK);
  ram_block_fault(&image.ram, (struct ram_fault){.ops = RAM_OP(SPATE_WRITE),
                                                 .first_lba = image.volume.heap_lba,
                                                 .last_lba = image.volume.heap_lba + 1,
                                                 .times = 1,
                                                 .error = SPATE_E_MEDIA});
  assert_int_equal(spate_exfat_delete(&image.volume, "long"), SPATE_E_MEDIA);
  ram_block_clear_faults(&image.ram);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.reclaimed_bytes, 8 * 1024);
  assert_whole(false);
  image_close(&image);
}

/* A deletion was cut before that: the file is still there, with its whole chain. A PC that deletes it frees the
 * chain. */
static void test_recovery_of_what_is_still_there(void **state) {
  (void)state;
  open_small();
  uint32_t first = add_long("long", 2);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "d"), SPATE_OK);
  uint64_t root_lba = image.volume.heap_lba + (uint64_t)(spate_get32(image.ram.memory + 96) - 2) * 2;
  ram_block_fault(&image.ram, (struct ram_fault){.ops = RAM_OP(SPATE_WRITE),
                                                 .first_lba = root_lba,
                                                 .last_lba = root_lba + 1,
                                                 .times = 1,
                                                 .error = SPATE_E_MEDIA});
  assert_int_equal(spate_exfat_delete(&image.volume, "long"), SPATE_E_MEDIA);
  ram_block_clear_faults(&image.ram);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_true(image.found.dirty);
  assert_int_equal(image.found.reclaimed_bytes, 0);
  for (uint32_t i = 0; i < 8; i++)
    assert_true(is_allocated(first + 2 * i));
  delete_file("long");
  assert_whole(false);
  image_close(&image);
}

/* A directory of one cluster, whose chain has four. */
static uint32_t add_directory(void) {
  uint32_t first = small_allocate(image.ram.memory, 4, 2);
  small_add(image.ram.memory, "d", 0x10, first, 1024, 1024, false);
  return first;
}

/* A directory grows, and keeps the rest of its chain, which is deleted with it. */
static void test_directory_grows(void **state) {
  char path[32];
  (void)state;
  open_small();
  (void)add_directory();
  assert_int_equal(image_mount(&image), SPATE_OK);
  for (unsigned i = 0; i < 25; i++) {
    (void)snprintf(path, sizeof path, "d/file %u", i);
    put_file(path, "x", 1);
    read_volume();
    assert_int_equal(oracle.overlong, 1);
    assert_int_equal(oracle.leaked, 3);
  }
  for (unsigned i = 0; i < 25; i++) {
    (void)snprintf(path, sizeof path, "d/file %u", i);
    delete_file(path);
  }
  delete_file("d");
  assert_whole(false);
  image_close(&image);
}

/* A directory grows by the next cluster of its chain, if that is free: the chain ends there. */
static void test_directory_grows_into_its_tail(void **state) {
  char path[32];
  (void)state;
  open_small();
  uint32_t first = small_allocate(image.ram.memory, 1, 1);
  small_add(image.ram.memory, "d", 0x10, first, 1024, 1024, false);
  spate_put32(fat_entry(first), first + 10); /* after the record's file */
  assert_int_equal(image_mount(&image), SPATE_OK);
  for (unsigned i = 0; i < 11; i++) {
    (void)snprintf(path, sizeof path, "d/e%u", i);
    put_file(path, NULL, 0);
  }
  read_volume();
  assert_int_equal(oracle.overlong, 0);
  assert_int_equal(oracle_find(&oracle, "d")->bytes, 2048);
  assert_true(is_allocated(first + 10));
  assert_int_equal(oracle.leaked, 0);
  image_close(&image);
}

/* An empty directory that names a cluster: whose that is, nobody says. */
static void test_an_empty_directory_with_a_cluster(void **state) {
  (void)state;
  open_small();
  const uint32_t first = small_allocate(image.ram.memory, 1, 1);
  memset(small_cluster(image.ram.memory, first), 0x77, 1024);
  small_add(image.ram.memory, "d", 0x10, first, 0, 0, false);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "d/e"), SPATE_E_CORRUPT);
  assert_int_equal(spate_get32(fat_entry(first)), 0xffffffffu);
  for (unsigned i = 0; i < 1024; i++)
    assert_int_equal(small_cluster(image.ram.memory, first)[i], 0x77);
  image_close(&image);
}

/* The next cluster of the chain is free, but it is not the first free one: the chain ends at the new cluster. */
static void test_directory_grows_past_a_free_tail(void **state) {
  char path[32];
  (void)state;
  open_small();
  uint32_t first = small_allocate(image.ram.memory, 1, 1);
  small_add(image.ram.memory, "d", 0x10, first, 1024, 1024, false);
  spate_put32(fat_entry(first), first + 30);
  assert_int_equal(image_mount(&image), SPATE_OK);
  for (unsigned i = 0; i < 11; i++) {
    (void)snprintf(path, sizeof path, "d/e%u", i);
    put_file(path, NULL, 0);
  }
  assert_false(is_allocated(first + 30));
  assert_true(is_allocated(first + 10));
  assert_int_equal(spate_get32(fat_entry(first)), first + 10);
  assert_int_equal(spate_get32(fat_entry(first + 10)), 0xffffffffu);
  image_close(&image);
}

/* The device fails at every write of a growth: after the next mount the chain is the old one, or has grown. */
static void test_growth_that_is_cut(void **state) {
  char path[32];
  (void)state;
  for (unsigned writes = 0; writes < 12; writes++) {
    open_small();
    (void)add_directory();
    assert_int_equal(image_mount(&image), SPATE_OK);
    for (unsigned i = 0; i < 10; i++) {
      (void)snprintf(path, sizeof path, "d/file %u", i);
      put_file(path, "x", 1);
    }
    ram_block_fault(&image.ram, (struct ram_fault){.ops = RAM_OP(SPATE_WRITE),
                                                   .last_lba = UINT64_MAX,
                                                   .skip = writes,
                                                   .times = RAM_ALWAYS,
                                                   .error = SPATE_E_GONE});
    enum spate_error error = spate_exfat_mkdir(&image.volume, "d/eleven");
    assert_true(error == SPATE_OK || error == SPATE_E_GONE);
    ram_block_clear_faults(&image.ram);
    assert_int_equal(image_mount(&image), SPATE_OK);
    read_volume();
    assert_int_equal(oracle.overlong, 1);
    assert_int_equal(oracle.leaked, 3);
    error = spate_exfat_delete(&image.volume, "d/eleven");
    assert_true(error == SPATE_OK || error == SPATE_E_NOT_FOUND);
    for (unsigned i = 0; i < 10; i++) {
      (void)snprintf(path, sizeof path, "d/file %u", i);
      delete_file(path);
    }
    delete_file("d");
    assert_whole(false);
    image_close(&image);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_read),
      cmocka_unit_test(test_delete),
      cmocka_unit_test(test_long_empty),
      cmocka_unit_test(test_tails_that_lead_elsewhere),
      cmocka_unit_test(test_recovery),
      cmocka_unit_test(test_recovery_of_what_is_still_there),
      cmocka_unit_test(test_directory_grows),
      cmocka_unit_test(test_directory_grows_into_its_tail),
      cmocka_unit_test(test_an_empty_directory_with_a_cluster),
      cmocka_unit_test(test_directory_grows_past_a_free_tail),
      cmocka_unit_test(test_growth_that_is_cut),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
