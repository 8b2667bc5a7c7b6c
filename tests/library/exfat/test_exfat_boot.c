/* SPDX-License-Identifier: Apache-2.0 */
/* The two boot regions when the media fails: either replaces the other, and a failure of the repair is reported. */
#include "exfat_fixture.h"

#define REGION 12u /* blocks */

static void break_blocks(unsigned ops, uint64_t first_lba, uint64_t last_lba) {
  ram_block_fault(
      &image.ram,
      (struct ram_fault){
          .ops = ops, .first_lba = first_lba, .last_lba = last_lba, .times = RAM_ALWAYS, .error = SPATE_E_MEDIA});
}

/* With a file whose chain is spread over the FAT: no two links are in neighbouring blocks. */
static void open_volume(void) {
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  small_add(image.ram.memory, "long", 0x20, small_allocate(image.ram.memory, 9, 256), 9 * 1024, 9 * 1024, false);
}

/* Evicts everything that the cache held before. */
static void use_all_of_the_cache(void) {
  struct spate_exfat_file file;
  uint8_t byte;
  size_t got;
  assert_int_equal(spate_exfat_open(&image.volume, "long", &file), SPATE_OK);
  assert_int_equal(spate_exfat_read(&file, 8 * 1024, &byte, 1, &got), SPATE_OK);
}

static void each_block_of_the_main_region_may_be_unreadable(void **state) {
  (void)state;
  for (uint32_t bad = 0; bad < REGION; bad++) {
    open_volume();
    break_blocks(RAM_OP(SPATE_READ), bad, bad);
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_true(image.found.backup_boot);
    assert_true(image.found.dirty);
    ram_block_clear_faults(&image.ram);
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_false(image.found.backup_boot);
    break_blocks(RAM_OP(SPATE_READ), bad, bad);
    break_blocks(RAM_OP(SPATE_READ), REGION + bad, REGION + bad);
    assert_int_equal(image_mount(&image), SPATE_E_MEDIA);
    image_close(&image);
  }
}

/* The backup is read again block by block and copied over the main region, with the boot sector last. */
static void a_main_region_that_cannot_be_repaired_refuses_the_change(void **state) {
  (void)state;
  for (uint32_t bad = 0; bad < REGION; bad++)
    for (unsigned reading = 0; reading < 2; reading++) {
      struct spate_exfat_entry entry;
      open_volume();
      image.ram.memory[200] ^= 1;
      image.config.cache_bytes = 5 * 512;
      assert_int_equal(image_mount(&image), SPATE_OK);
      use_all_of_the_cache();
      if (reading)
        break_blocks(RAM_OP(SPATE_READ), REGION + bad, REGION + bad);
      else
        break_blocks(RAM_OP(SPATE_WRITE), bad, bad);
      if (spate_exfat_mkdir(&image.volume, "d") != SPATE_E_MEDIA) fail_msg("block %u", bad);
      ram_block_clear_faults(&image.ram);
      assert_int_equal(spate_exfat_stat(&image.volume, "d", &entry), SPATE_E_NOT_FOUND);
      assert_int_equal(image_mount(&image), SPATE_OK);
      assert_true(image.found.backup_boot); /* the boot sector comes last */
      assert_int_equal(spate_exfat_mkdir(&image.volume, "d"), SPATE_OK);
      assert_int_equal(image_mount(&image), SPATE_OK);
      assert_false(image.found.backup_boot);
      assert_memory_equal(image.ram.memory + 512, image.ram.memory + (REGION + 1) * 512, (REGION - 1) * 512);
      image_close(&image);
    }
}

/* VolumeDirty cannot be set where the boot sector cannot be read: then nothing is changed. */
static void a_boot_sector_that_cannot_be_read_refuses_the_change(void **state) {
  (void)state;
  struct spate_exfat_entry entry;
  open_volume();
  image.config.cache_bytes = 5 * 512;
  assert_int_equal(image_mount(&image), SPATE_OK);
  put_file("f", "x", 1); /* makes the record's file */
  assert_int_equal(image_mount(&image), SPATE_OK);
  use_all_of_the_cache();
  break_blocks(RAM_OP(SPATE_READ), 0, 0);
  assert_int_equal(spate_exfat_delete(&image.volume, "f"), SPATE_E_MEDIA);
  ram_block_clear_faults(&image.ram);
  assert_int_equal(spate_exfat_stat(&image.volume, "f", &entry), SPATE_OK);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_stat(&image.volume, "f", &entry), SPATE_OK);
  assert_whole(false);
  image_close(&image);
}

/* MediaFailure, and which FAT is active, are others' to change (3.1.13). */
static void other_flags_stay(void **state) {
  (void)state;
  open_volume();
  uint8_t *flags = image.ram.memory + 106;
  *flags |= 4;
  assert_int_equal(image_mount(&image), SPATE_OK);
  struct spate_exfat_clip clip;
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "f", 1), SPATE_OK);
  assert_int_equal(*flags, 2 | 4);
  assert_int_equal(spate_exfat_close(&clip, 1), SPATE_OK);
  assert_int_equal(*flags, 4);
  image_close(&image);
}

/* The root directory may be the heap's first cluster, or its last. */
static void the_root_directory_may_be_any_cluster(void **state) {
  (void)state;
  for (unsigned last = 0; last < 2; last++) {
    uint8_t swap[1024];
    open_volume();
    uint8_t *memory = image.ram.memory;
    uint32_t root = last ? spate_get32(memory + 92) + 1 : 2;
    uint8_t *from = small_cluster(memory, 4);
    uint8_t *to = small_cluster(memory, root);
    memcpy(swap, from, sizeof swap);
    memcpy(from, to, sizeof swap);
    memcpy(to, swap, sizeof swap);
    spate_put32(memory + 96, root);
    small_checksum_boot(memory);
    if (last) {
      spate_put32(memory + ((size_t)spate_get32(memory + 80) << 9) + 4 * (size_t)root, UINT32_MAX);
      small_cluster(memory, 2)[0] &= 0xfb; /* cluster 4 */
      small_cluster(memory, 2)[(root - 2) / 8] |= (uint8_t)(1u << (root - 2) % 8);
    } else {
      spate_put32(to + 20, 4); /* the bitmap is where the root directory was */
    }
    assert_int_equal(image_mount(&image), SPATE_OK);
    put_file("f", "x", 1);
    assert_whole(false);
    assert_non_null(oracle_find(&oracle, "f"));
    image_close(&image);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_block_of_the_main_region_may_be_unreadable),
      cmocka_unit_test(a_main_region_that_cannot_be_repaired_refuses_the_change),
      cmocka_unit_test(a_boot_sector_that_cannot_be_read_refuses_the_change),
      cmocka_unit_test(other_flags_stay),
      cmocka_unit_test(the_root_directory_may_be_any_cluster),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
