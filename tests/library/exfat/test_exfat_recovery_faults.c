/* SPDX-License-Identifier: Apache-2.0 */
/* A request of the recovery fails: nothing is lost, and the next mount completes the recovery. */
#include "exfat_fixture.h"

#define CHANGES (RAM_OP(SPATE_WRITE) | RAM_OP(SPATE_ZERO) | RAM_OP(SPATE_FLUSH))

static void fail_once(unsigned ops, uint32_t skip, uint64_t first_lba, uint64_t last_lba) {
  ram_block_fault(
      &image.ram,
      (struct ram_fault){
          .ops = ops, .first_lba = first_lba, .last_lba = last_lba, .skip = skip, .times = 1, .error = SPATE_E_MEDIA});
}

static uint32_t scattered; /* the first cluster of "chained" */

static void open_volume(void) {
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  scattered = small_allocate(image.ram.memory, 5, 2);
  small_add(image.ram.memory, "chained", 0x20, scattered, 5000, 5000, false);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "d"), SPATE_OK);
  put_file("old", "x", 1);
}

/* The machine stops at the n-th write to these blocks. */
static void stop_at(uint32_t skip, uint64_t first_lba, uint64_t last_lba) {
  ram_block_fault(&image.ram, (struct ram_fault){.ops = RAM_OP(SPATE_WRITE),
                                                 .first_lba = first_lba,
                                                 .last_lba = last_lba,
                                                 .skip = skip,
                                                 .times = RAM_ALWAYS,
                                                 .error = SPATE_E_MEDIA});
}

/* ---- the operations that are cut ---- */

static void cut_deletion(void) {
  stop_at(0, image.volume.heap_lba, image.volume.heap_lba + 1); /* the bitmap */
  assert_int_equal(spate_exfat_delete(&image.volume, "chained"), SPATE_E_MEDIA);
}
static void cut_move(void) {
  uint64_t root_lba = image.volume.heap_lba + 2 * (image.volume.root.first_cluster - UINT64_C(2));
  stop_at(0, root_lba, root_lba + 1); /* the old set */
  assert_int_equal(spate_exfat_rename(&image.volume, "old", "d/a name that is longer than the old one"), SPATE_E_MEDIA);
}
static void cut_mkdir(void) {
  uint64_t root_lba = image.volume.heap_lba + 2 * (image.volume.root.first_cluster - UINT64_C(2));
  stop_at(0, root_lba, root_lba + 1);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "e"), SPATE_E_MEDIA);
}

static void check_repaired(void) {
  ram_block_clear_faults(&image.ram);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_whole(false);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.reservations, 0);
  assert_false(image.found.dirty);
  put_file("new", "x", 1);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "made"), SPATE_OK);
  assert_int_equal(spate_exfat_delete(&image.volume, "new"), SPATE_OK);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);
  assert_whole(false);
}

/* Two reservations and a directory change. Every request of their recovery fails once. */
static void the_next_mount_completes_the_recovery(void **state) {
  (void)state;
  static void (*const cuts[])(void) = {cut_deletion, cut_move, cut_mkdir};
  for (unsigned reading = 0; reading < 2; reading++)
    for (size_t cut = 0; cut < sizeof cuts / sizeof cuts[0]; cut++)
      for (uint32_t skip = 0, requests = UINT32_MAX; skip < requests; skip++) {
        struct spate_exfat_clip clips[2];
        open_volume();
        assert_int_equal(spate_exfat_arm(&image.volume, &clips[0], "clip 0", 30 * 1024), SPATE_OK);
        assert_int_equal(spate_exfat_arm(&image.volume, &clips[1], "clip 1", 20 * 1024), SPATE_OK);
        cuts[cut]();
        ram_block_clear_faults(&image.ram);
        fail_once(reading ? RAM_OP(SPATE_READ) : CHANGES, skip, 0, UINT64_MAX);
        uint64_t before = image.ram.count[SPATE_READ];
        enum spate_error error = image_mount(&image);
        assert_true(error == SPATE_OK || error == SPATE_E_MEDIA);
        if (image.ram.faults[0].times > 0) requests = skip; /* the fault was not reached */
        assert_true(image.ram.count[SPATE_READ] - before < 200);
        check_repaired();
        image_close(&image);
      }
}

/* Only slots in use are cleared. */
static void a_recovery_of_one_reservation_writes_little(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  open_volume();
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 30 * 1024), SPATE_OK);
  ram_block_clear_log(&image.ram);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.reclaimed_bytes, 30 * 1024);
  assert_int_equal(image.ram.count[SPATE_WRITE], 3); /* bitmap, VolumeDirty, slot */
  assert_whole(false);
  image_close(&image);
}

/* The directory of a file that was being deleted is gone: the file's clusters are freed all the same. */
static void a_deletion_whose_directory_is_gone_is_finished(void **state) {
  (void)state;
  open_volume();
  uint32_t first = small_allocate(image.ram.memory, 2, 2);
  uint8_t *set = small_cluster(image.ram.memory, 4);
  while (*set != 0)
    set += 32;
  small_add(image.ram.memory, "dir", 0x10, first, 2048, 2048, false);
  memset(small_cluster(image.ram.memory, first), 0xa5, 1024); /* no room in the first cluster */
  for (uint32_t i = 0; i < 1024; i += 32)
    memset(small_cluster(image.ram.memory, first) + i + 1, 0, 31);
  assert_int_equal(image_mount(&image), SPATE_OK);
  put_file("dir/f", NULL, 7 * 1024);
  stop_at(0, image.volume.heap_lba, image.volume.heap_lba + 1);
  assert_int_equal(spate_exfat_delete(&image.volume, "dir/f"), SPATE_E_MEDIA);
  ram_block_clear_faults(&image.ram);
  for (uint32_t i = 0; i < 3; i++) /* as a PC deletes the directory */
    set[32 * i] &= 0x7f;
  spate_put32(image.ram.memory + ((size_t)spate_get32(image.ram.memory + 80) << 9) + 4 * (size_t)first, 0);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.reclaimed_bytes, 7 * 1024);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.reservations, 0);
  assert_false(image.found.dirty);
  image_close(&image);
}

/* The first block of a set of five entries from entry `start` on is erased: the rest is erased, too, though a damaged
 * set lies before it. */
static void erase_remains(size_t start) {
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 12);
  uint8_t *root = small_cluster(image.ram.memory, 4);
  small_add(image.ram.memory, "damaged", 0x20, 0, 0, 0, false);
  root[64 + 2] ^= 1;
  for (size_t i = 5; i < start; i++)
    root[32 * i] = 5;
  small_add(image.ram.memory, "over two blocks, by a few entries", 0x20, 0, 0, 0, false);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "d"), SPATE_OK); /* makes the record's file */
  uint64_t root_lba = image.volume.heap_lba + 16;
  assert_int_equal(root[32 * start], 0x85);
  stop_at(0, root_lba + 1, root_lba + 1);
  assert_int_equal(spate_exfat_delete(&image.volume, "over two blocks, by a few entries"), SPATE_E_MEDIA);
  assert_int_equal(root[32 * start], 0x05);
  assert_int_equal(root[16 * 32] & 0x80, 0x80);
  ram_block_clear_faults(&image.ram);
  assert_int_equal(image_mount(&image), SPATE_OK);
  for (size_t i = start; i < start + 5; i++)
    assert_int_equal(root[32 * i] & 0x80, 0);
  assert_int_equal(root[64], 0x85);
  image_close(&image);
}

static void remains_behind_a_damaged_set_are_erased(void **state) {
  (void)state;
  for (size_t start = 12; start < 16; start++)
    erase_remains(start);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_next_mount_completes_the_recovery),
      cmocka_unit_test(a_recovery_of_one_reservation_writes_little),
      cmocka_unit_test(a_deletion_whose_directory_is_gone_is_finished),
      cmocka_unit_test(remains_behind_a_damaged_set_are_erased),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
