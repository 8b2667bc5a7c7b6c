/* SPDX-License-Identifier: Apache-2.0 */
/* Deletions on volumes that other systems have filled completely. */
#include "small_fixture.h"

/* Files of one cluster each, and one file of all the rest. */
static void open_full(void) {
  uint8_t *memory;
  image_open(&image, MIB, 512, 0);
  memory = image.ram.memory;
  small_format(memory, MIB, 9, 12);
  for (unsigned i = 0; i < 30; i++) {
    char name[32];
    (void)snprintf(name, sizeof name, "file %02u", i);
    small_add(memory, name, 0x20, small_allocate(memory, 1, 1), 4000, 4000, false);
  }
  uint32_t first = small_allocate(memory, 1, 1);
  uint32_t clusters = spate_get32(memory + 92) + 2 - first;
  (void)small_allocate(memory, clusters - 1, 1);
  small_add(memory, "rest", 0x20, first, clusters * 4096ull, clusters * 4096ull, true);
  assert_int_equal(image_mount(&image), SPATE_OK);
}

/* There is no room for the file of the reservation record. Deletions do without it, and so does a rename by a single
 * write. */
static void test_full_volume_is_cleared(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  open_full();
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "a", 1), SPATE_E_NO_SPACE);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "a"), SPATE_E_NO_SPACE);
  assert_int_equal(spate_exfat_rename(&image.volume, "file 10", "file ten"), SPATE_OK);
  assert_int_equal(spate_exfat_rename(&image.volume, "file 11", "a name that does not fit where the old one is"),
                   SPATE_E_NO_SPACE);
  image.ram.keep_log = true;
  ram_block_clear_log(&image.ram);
  assert_int_equal(spate_exfat_delete(&image.volume, "file 20"), SPATE_OK);
  assert_int_equal(image.ram.log[image.ram.log_count - 1].op, SPATE_TRIM);
  assert_whole(false);
  assert_null(oracle_find(&oracle, ".spate"));
  assert_int_equal(spate_exfat_delete(&image.volume, "rest"), SPATE_OK);
  put_file("a", "x", 1); /* with the record */
  assert_whole(false);
  assert_non_null(oracle_find(&oracle, ".spate"));
  assert_int_equal(spate_exfat_rename(&image.volume, "file 11", "a name that does not fit where the old one is"),
                   SPATE_OK);
  assert_whole(false);
  image_close(&image);
}

/* Without the record nobody can finish it later: the volume stays dirty. */
static void test_a_deletion_that_fails_is_not_forgotten(void **state) {
  (void)state;
  open_full();
  ram_block_fault(&image.ram, (struct ram_fault){.ops = RAM_OP(SPATE_WRITE),
                                                 .first_lba = image.volume.heap_lba,
                                                 .last_lba = image.volume.heap_lba, /* the bitmap */
                                                 .times = RAM_ALWAYS,
                                                 .error = SPATE_E_MEDIA});
  assert_int_equal(spate_exfat_delete(&image.volume, "rest"), SPATE_E_MEDIA);
  assert_int_equal(image.ram.memory[106] & 2, 2);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_E_MEDIA);
  assert_int_equal(image.ram.memory[106] & 2, 2);
  image_close(&image);
}

static void test_checkerboard_is_cleared(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  image_open(&image, MIB, 512, 0);
  small_format(image.ram.memory, MIB, 9, 12);
  uint32_t count = spate_get32(image.ram.memory + 92);
  for (uint32_t i = 0; i < 40; i++) {
    char name[32];
    (void)snprintf(name, sizeof name, "file %u", i);
    small_add(image.ram.memory, name, 0x20, small_allocate(image.ram.memory, 1, 1), 4000, 4000, true);
  }
  uint32_t first = small_allocate(image.ram.memory, 1, 1);
  uint32_t clusters = (count + 2 - first + 1) / 2;
  small_cluster(image.ram.memory, 2)[(first - 2) / 8] &= (uint8_t) ~(1u << ((first - 2) & 7));
  small_add(image.ram.memory, "every second", 0x20, small_allocate(image.ram.memory, clusters, 2), clusters * 4096ull,
            clusters * 4096ull, false);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "a", 1), SPATE_E_FRAGMENTED);
  assert_int_equal(spate_exfat_rename(&image.volume, "file 5", "a name that does not fit where the old one is"),
                   SPATE_E_FRAGMENTED);
  assert_int_equal(spate_exfat_rename(&image.volume, "file 5", "file five"), SPATE_OK);
  for (uint32_t i = 10; i < 13; i++) {
    char name[32];
    (void)snprintf(name, sizeof name, "file %u", i);
    assert_int_equal(spate_exfat_delete(&image.volume, name), SPATE_OK);
    assert_whole(false);
  }
  put_file("a", "x", 1);
  assert_whole(false);
  image_close(&image);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_full_volume_is_cleared),
      cmocka_unit_test(test_a_deletion_that_fails_is_not_forgotten),
      cmocka_unit_test(test_checkerboard_is_cleared),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
