/* SPDX-License-Identifier: Apache-2.0 */
/* Volumes mounted with spate_exfat_mount_own(): what it leaves as it is, what it refuses, and that spate_exfat_mount()
 * does the rest later. */
#include "small_fixture.h"

#define CLUSTER_BYTES 1024u
#define DIRTY         2u

static enum spate_error mount_own(void) {
  host_starts_again(&image.ram.block);
  return spate_exfat_mount_own(&image.volume, &image.config, &image.found);
}

/* What spate_exfat_mount() recovers: `reservations` of `bytes` in all. Then the volume is whole and clean. */
static void expect_recovered(uint32_t reservations, uint64_t bytes) {
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.reservations, reservations);
  assert_int_equal(image.found.reclaimed_bytes, bytes);
  assert_whole(false);
}

static void a_clean_volume_is_used_as_ever(void **state) {
  (void)state;
  open_small();
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);
  assert_int_equal(mount_own(), SPATE_OK);
  put_file("d/clip", "data", 4);
  assert_whole(false);
  assert_int_equal(oracle_find(&oracle, "d/clip")->bytes, 4);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);
  expect_recovered(0, 0);
  image_close(&image);
}

/* Clips are recorded beside what a cut left. It stays allocated, and the volume stays dirty, until another mount. */
static void what_a_cut_left_stays(void **state) {
  (void)state;
  struct spate_exfat_clip cut;
  open_small();
  assert_int_equal(spate_exfat_arm(&image.volume, &cut, "cut", 100 * CLUSTER_BYTES), SPATE_OK);
  assert_int_equal(image_publish(&image.ram.block, &cut, 3 * CLUSTER_BYTES), SPATE_OK);
  assert_int_equal(mount_own(), SPATE_OK);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_E_CORRUPT); /* although nothing was changed */
  assert_int_equal(mount_own(), SPATE_OK);
  assert_int_equal(image.found.reservations, 1);
  assert_int_equal(image.found.reclaimed_bytes, 0);
  struct spate_exfat_clip clip;
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", CLUSTER_BYTES), SPATE_OK);
  assert_true(clip.first_cluster >= cut.first_cluster + 100 || clip.first_cluster < cut.first_cluster);
  assert_int_equal(spate_exfat_close(&clip, CLUSTER_BYTES), SPATE_OK);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_E_CORRUPT);
  assert_int_equal(image_start(&image)[106] & DIRTY, DIRTY);
  expect_recovered(1, 97 * CLUSTER_BYTES);
  assert_int_equal(oracle_find(&oracle, "cut")->bytes, 3 * CLUSTER_BYTES);
  assert_int_equal(oracle_find(&oracle, "clip")->bytes, CLUSTER_BYTES);
  image_close(&image);
}

/* The volume was dirty before this library recorded on it: what a cut left is another matter, and stays as well. */
static void what_a_cut_left_on_a_dirty_volume_stays(void **state) {
  (void)state;
  struct spate_exfat_clip cut;
  open_small();
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);
  image_start(&image)[106] |= DIRTY;
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_arm(&image.volume, &cut, "cut", 10 * CLUSTER_BYTES), SPATE_OK);
  assert_int_equal(mount_own(), SPATE_OK);
  assert_int_equal(image.found.reservations, 1);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_E_CORRUPT);
  /* Nor can the other mount recover it, as long as it cannot read all directories. */
  assert_true(oracle_read(&oracle, image.ram.memory, image.ram.bytes));
  const uint32_t cluster = spate_get32(image.ram.memory + oracle_find(&oracle, "d")->set_offset + 52);
  oracle_free(&oracle);
  const uint64_t lba = image.volume.heap_lba + (cluster - 2u) * (CLUSTER_BYTES / 512u);
  ram_block_fault(
      &image.ram,
      (struct ram_fault){
          .ops = RAM_OP(SPATE_READ), .first_lba = lba, .last_lba = lba, .times = RAM_ALWAYS, .error = SPATE_E_MEDIA});
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.reclaimed_bytes, 0);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_E_CORRUPT);
  assert_int_equal(image_start(&image)[106] & DIRTY, DIRTY);
  image_close(&image);
}

/* Each cut leaves one reservation. None of them is overwritten when all slots are in use: nothing can be armed then. */
static void the_record_fills_up_and_keeps_all(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  char name[] = "a";
  image_open(&image, 32 * MIB, 512, 0);
  image_format(&image);
  for (uint32_t cuts = 0; cuts < SPATE_EXFAT_CLIPS_MAX; cuts++, name[0]++) {
    assert_int_equal(mount_own(), SPATE_OK);
    assert_int_equal(image.found.reservations, cuts);
    assert_int_equal(spate_exfat_arm(&image.volume, &clip, name, MIB), SPATE_OK);
  }
  assert_int_equal(mount_own(), SPATE_OK);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "full", 1), SPATE_E_FULL);
  expect_recovered(SPATE_EXFAT_CLIPS_MAX, SPATE_EXFAT_CLIPS_MAX * MIB);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "full", 1), SPATE_OK);
  image_close(&image);
}

/* A PC deleted the file and gave its clusters to another one, while the record still names them. */
static void clusters_that_a_pc_gave_away_are_spared(void **state) {
  (void)state;
  struct spate_exfat_clip cut;
  open_small();
  assert_int_equal(spate_exfat_arm(&image.volume, &cut, "cut", 20 * CLUSTER_BYTES), SPATE_OK);
  small_add(image.ram.memory, "theirs", 0x20, cut.first_cluster, 8 * CLUSTER_BYTES, 8 * CLUSTER_BYTES, true);
  memset(small_cluster(image.ram.memory, cut.first_cluster), 0x77, 8 * CLUSTER_BYTES);
  assert_int_equal(mount_own(), SPATE_OK);
  put_file("clip", "data", 4);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_E_CORRUPT);
  expect_recovered(1, 12 * CLUSTER_BYTES);
  for (uint32_t at = 0; at < 8 * CLUSTER_BYTES; at++)
    assert_int_equal(small_cluster(image.ram.memory, cut.first_cluster)[at], 0x77);
  image_close(&image);
}

static void a_volume_without_the_record_is_refused(void **state) {
  (void)state;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  ram_block_clear_log(&image.ram);
  assert_int_equal(mount_own(), SPATE_E_UNSUPPORTED);
  expect_no_write();
  assert_int_equal(spate_exfat_mkdir(&image.volume, "d"), SPATE_E_NOT_MOUNTED);
  assert_int_equal(image_mount(&image), SPATE_OK);
  put_file("once", "data", 4);
  assert_int_equal(mount_own(), SPATE_OK);
  image_close(&image);
}

static void a_volume_without_its_main_boot_region_is_refused(void **state) {
  (void)state;
  open_small();
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);
  image.ram.memory[200] ^= 1;
  ram_block_clear_log(&image.ram);
  assert_int_equal(mount_own(), SPATE_E_NOT_EXFAT);
  expect_no_write();
  assert_int_equal(image_mount(&image), SPATE_OK);
  put_file("repaired", "data", 4);
  assert_int_equal(mount_own(), SPATE_OK);
  image_close(&image);
}

/* Each file takes three entries of 32 bytes. */
static void a_full_directory_does_not_grow(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  char name[] = "aa";
  enum spate_error error = SPATE_OK;
  open_small();
  assert_int_equal(mount_own(), SPATE_OK);
  while (error == SPATE_OK) {
    error = spate_exfat_arm(&image.volume, &clip, name, CLUSTER_BYTES);
    if (error == SPATE_OK) error = spate_exfat_close(&clip, 1);
    if (error == SPATE_OK && ++name[1] > 'z') {
      name[0]++;
      name[1] = 'a';
    }
  }
  assert_int_equal(error, SPATE_E_NO_SPACE);
  assert_whole(false);
  assert_int_equal(image_mount(&image), SPATE_OK);
  put_file(name, "data", 4);
  assert_whole(false);
  image_close(&image);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_clean_volume_is_used_as_ever),
      cmocka_unit_test(what_a_cut_left_stays),
      cmocka_unit_test(what_a_cut_left_on_a_dirty_volume_stays),
      cmocka_unit_test(the_record_fills_up_and_keeps_all),
      cmocka_unit_test(clusters_that_a_pc_gave_away_are_spared),
      cmocka_unit_test(a_volume_without_the_record_is_refused),
      cmocka_unit_test(a_volume_without_its_main_boot_region_is_refused),
      cmocka_unit_test(a_full_directory_does_not_grow),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
