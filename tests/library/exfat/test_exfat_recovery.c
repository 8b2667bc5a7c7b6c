/* SPDX-License-Identifier: Apache-2.0 */
/* Recovery on volumes that others changed since the cut, and recoveries that cannot be finished. */
#include "small_fixture.h"

/* A PC changed the volume between the cut and the mount: another file owns some of the recorded clusters now. Recovery
 * does not free them. */
static void test_recovery_spares_others(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 100 * 1024), SPATE_OK);
  small_add(image.ram.memory, "theirs", 0x20, clip.first_cluster + 10, 3000, 3000, true);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.reclaimed_bytes, 97 * 1024);
  assert_whole(false);
  image_close(&image);
}

/* While a part of the tree cannot be read, any cluster may have an owner: nothing is freed, and the record stays. */
static void test_recovery_needs_the_tree(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "d"), SPATE_OK);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "d/e"), SPATE_OK);
  assert_whole(false);
  uint64_t set = oracle_find(&oracle, "d/e")->set_offset;
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 100 * 1024), SPATE_OK);
  image.ram.memory[set + 70] ^= 1;
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.reservations, 1);
  assert_int_equal(image.found.reclaimed_bytes, 0);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_E_CORRUPT); /* it stays dirty */
  image.ram.memory[set + 70] ^= 1;
  ram_block_fault(&image.ram, (struct ram_fault){.ops = RAM_OP(SPATE_READ),
                                                 .first_lba = set >> 9,
                                                 .last_lba = set >> 9,
                                                 .times = RAM_ALWAYS,
                                                 .error = SPATE_E_MEDIA});
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.reclaimed_bytes, 0);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "x"), SPATE_OK);
  ram_block_clear_faults(&image.ram);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.reclaimed_bytes, 100 * 1024);
  assert_whole(false);
  image_close(&image);
}

/* A directory tree contains a cycle. The walk ends after a bounded number of reads. */
static void test_cycle(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  uint32_t root = spate_get32(image.ram.memory + 96);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 100 * 1024), SPATE_OK);
  for (char name[] = "a"; name[0] < 'g'; name[0]++)
    small_add(image.ram.memory, name, 0x10, root, 1024, 1024, true);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.reclaimed_bytes, 0);
  assert_int_equal(image.found.reservations, 1);
  image_close(&image);
}

/* A cut between record and dirty flag, at arming or at closing: the volume does not stay dirty. */
static void test_record_outlives_the_flag(void **state) {
  (void)state;
  for (uint32_t requests = 1; requests < 9; requests++) {
    struct spate_exfat_clip clip;
    image_open(&image, 32 * MIB, 512, 0);
    image_format(&image);
    ram_block_fault(&image.ram, (struct ram_fault){.ops = RAM_OP(SPATE_WRITE) | RAM_OP(SPATE_FLUSH),
                                                   .last_lba = UINT64_MAX,
                                                   .skip = requests,
                                                   .times = RAM_ALWAYS,
                                                   .error = SPATE_E_GONE});
    enum spate_error error = spate_exfat_arm(&image.volume, &clip, "clip", MIB);
    if (error == SPATE_OK) error = spate_exfat_close(&clip, 1);
    assert_int_equal(error, requests < 8 ? SPATE_E_GONE : SPATE_OK);
    ram_block_clear_faults(&image.ram);
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_int_equal(image_start(&image)[106] & 2, 0);
    assert_int_equal(image.found.reservations, requests < 8 ? 1 : 0);
    assert_whole(false);
    image_close(&image);
  }
}

/* A deletion that a power cut interrupts. */
static void cut_delete(const char *path) {
  ram_block_fault(&image.ram, (struct ram_fault){.ops = RAM_OP(SPATE_WRITE),
                                                 .first_lba = image.volume.heap_lba,
                                                 .last_lba = image.volume.heap_lba + 1,
                                                 .times = 1,
                                                 .error = SPATE_E_MEDIA});
  assert_int_equal(spate_exfat_delete(&image.volume, path), SPATE_E_MEDIA);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_E_MEDIA);
  ram_block_clear_faults(&image.ram);
}

/* A PC reused a part of the chain of a file that was being deleted: what can still be reached is freed. */
static void test_recovery_of_a_broken_chain(void **state) {
  (void)state;
  open_small();
  uint32_t first = small_allocate(image.ram.memory, 5, 2);
  small_add(image.ram.memory, "chained", 0x20, first, 4500, 4500, false);
  assert_int_equal(image_mount(&image), SPATE_OK);
  cut_delete("chained");
  spate_put32(fat_entry(first + 4), 0);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.reclaimed_bytes, 3 * 1024);
  put_file("f", "x", 1);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "x"), SPATE_OK);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);
  if (!oracle_read(&oracle, image.ram.memory, 4 * MIB)) fail_msg("%s", oracle.fault);
  oracle_free(&oracle);
  assert_int_equal(oracle.leaked, 2);
  assert_false(oracle.dirty);
  image_close(&image);
}

/* A PC deleted the directory of a clip of chunks: there is nothing to extend, and the volume is in order. */
static void test_recovery_without_the_directory(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  struct spate_exfat_chunks chunks = {.chunk_bytes = 512};
  open_small();
  uint32_t first = small_allocate(image.ram.memory, 2, 2);
  uint32_t set = small_add(image.ram.memory, "dir", 0x10, first, 2048, 2048, false);
  memset(small_cluster(image.ram.memory, first), 0xff, 1024); /* no room in the first cluster */
  image.config.salvage = spate_exfat_salvage;
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_arm_chunks(&image.volume, &clip, "dir/clip", 8192, &chunks), SPATE_OK);
  for (uint32_t i = 0; i < 3; i++)
    small_cluster(image.ram.memory, 4)[set + 32 * i] &= 0x7f;
  spate_put32(fat_entry(first), 0);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.reclaimed_bytes, 8192);
  put_file("f", "x", 1);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);
  assert_int_equal(image.ram.memory[106] & 2, 0);
  image_close(&image);
}

/* Directories nested deeper than the walk goes. */
static void make_deep(void) {
  char path[256] = "d";
  for (size_t depth = 1; depth < 70; depth++) {
    memcpy(path + 2 * depth - 1, "/d", 3);
    assert_int_equal(spate_exfat_mkdir(&image.volume, path), SPATE_OK);
  }
}

/* A reservation that cannot be freed does not prevent a recording, however often this happens. */
static void test_recording_goes_on(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  char name[32];
  open_small();
  make_deep();
  for (unsigned cut = 0; cut < 20; cut++) {
    (void)snprintf(name, sizeof name, "clip %u", cut);
    assert_int_equal(spate_exfat_arm(&image.volume, &clip, name, 10 * 1024), SPATE_OK);
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_int_equal(image.found.reclaimed_bytes, 0);
    assert_int_equal(image.found.reservations, cut < 15 ? cut + 1 : 16);
    put_file(cut & 1 ? "odd" : "even", "x", 1);
    assert_int_equal(spate_exfat_mkdir(&image.volume, "x"), SPATE_OK);
    assert_int_equal(spate_exfat_delete(&image.volume, "x"), SPATE_OK);
    assert_int_equal(spate_exfat_delete(&image.volume, cut & 1 ? "odd" : "even"), SPATE_OK);
    assert_int_equal(image.ram.memory[106] & 2, 2);
    /* The last 15 of them are still recorded; the slot of the closed clip is free again. */
    assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_E_CORRUPT);
    assert_int_equal(image_mount(&image), SPATE_OK);
  }
  image_close(&image);
}

/* A directory change that cannot be completed blocks further directory changes, but no recording. */
static void test_unfinished_change(void **state) {
  (void)state;
  open_small();
  make_deep();
  put_file("f", "x", 1);
  cut_delete("f");
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.reclaimed_bytes, 0);
  put_file("g", "x", 1);
  assert_int_equal(spate_exfat_delete(&image.volume, "g"), SPATE_E_CORRUPT);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "x"), SPATE_E_CORRUPT);
  assert_int_equal(spate_exfat_rename(&image.volume, "g", "i"), SPATE_E_CORRUPT);
  put_file("h", "x", 1);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_E_CORRUPT);
  image_close(&image);
}

/* ---- how often the tree is read ---- */

/* A volume of eight sections, with 40 directories. */
static void open_sections(uint32_t cache_blocks) {
  image_open(&image, 128 * MIB, 512, 0);
  small_format(image.ram.memory, 128 * MIB, 9, 9);
  image.config.bitmap_bytes = 4096;
  image.config.cache_bytes = cache_blocks * UINT64_C(512);
  assert_int_equal(image_mount(&image), SPATE_OK);
  for (unsigned i = 0; i < 40; i++) {
    char path[32];
    (void)snprintf(path, sizeof path, "directory %u", i);
    assert_int_equal(spate_exfat_mkdir(&image.volume, path), SPATE_OK);
  }
}

/* The tree is read once for each section that a record affects, not for every section. */
static void test_recovery_reads_the_tree_once(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  open_sections(5);
  put_file("most", NULL, 110 * MIB);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", MIB), SPATE_OK);
  assert_true(clip.first_cluster > 110 * 2048);
  ram_block_clear_log(&image.ram);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.reclaimed_bytes, MIB);
  assert_in_range(image.ram.count[SPATE_READ], 60, 400);
  assert_whole(false);
  image_close(&image);
}

/* Reads of a mount. */
static uint64_t reads_of_mount(void) {
  ram_block_clear_log(&image.ram);
  assert_int_equal(image_mount(&image), SPATE_OK);
  return image.ram.count[SPATE_READ];
}

/* A move names no clusters, and its directories must be met. */
static void test_a_move_costs_one_walk(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  open_sections(5);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);
  const uint64_t without = reads_of_mount();
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", MIB), SPATE_OK);
  const uint64_t walk = reads_of_mount() - without;
  assert_in_range(walk, 40, 300);
  put_file("directory 3/old", NULL, 0);
  assert_whole(false);
  const uint64_t target_lba = image.volume.heap_lba + oracle_find(&oracle, "directory 30")->first_cluster - 2;
  ram_block_fault(&image.ram, (struct ram_fault){.ops = RAM_OP(SPATE_WRITE), /* of the new set */
                                                 .first_lba = target_lba,
                                                 .last_lba = target_lba,
                                                 .times = RAM_ALWAYS,
                                                 .error = SPATE_E_MEDIA});
  assert_int_equal(spate_exfat_rename(&image.volume, "directory 3/old", "directory 30/a long name of a file"),
                   SPATE_E_MEDIA);
  ram_block_clear_faults(&image.ram);
  host_starts_again(&image.ram.block);
  assert_in_range(reads_of_mount() - without, walk - 20, walk + 50);
  assert_int_equal(image.found.reservations, 1);
  assert_whole(false);
  image_close(&image);
}

/* Two reservations in different sections, so that the tree is read twice: the move is finished once. */
static void test_a_move_beside_two_sections(void **state) {
  (void)state;
  struct spate_exfat_clip low;
  struct spate_exfat_clip high;
  open_sections(8);
  put_file("directory 3/old", NULL, 0);
  assert_whole(false);
  const uint64_t from_lba = image.volume.heap_lba + oracle_find(&oracle, "directory 3")->first_cluster - 2;
  assert_int_equal(spate_exfat_arm(&image.volume, &low, "low", MIB), SPATE_OK);
  put_file("most", NULL, 50 * MIB);
  assert_int_equal(spate_exfat_arm(&image.volume, &high, "high", MIB), SPATE_OK);
  ram_block_fault(&image.ram, (struct ram_fault){.ops = RAM_OP(SPATE_WRITE), /* of the old set */
                                                 .first_lba = from_lba,
                                                 .last_lba = from_lba,
                                                 .times = RAM_ALWAYS,
                                                 .error = SPATE_E_MEDIA});
  assert_int_equal(spate_exfat_rename(&image.volume, "directory 3/old", "directory 30/a long name of a file"),
                   SPATE_E_MEDIA);
  ram_block_clear_faults(&image.ram);
  host_starts_again(&image.ram.block);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.reclaimed_bytes, 2 * MIB);
  assert_whole(false);
  assert_null(oracle_find(&oracle, "directory 3/old"));
  assert_non_null(oracle_find(&oracle, "directory 30/a long name of a file"));
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.reservations, 0);
  image_close(&image);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_recovery_spares_others),
      cmocka_unit_test(test_recovery_needs_the_tree),
      cmocka_unit_test(test_cycle),
      cmocka_unit_test(test_record_outlives_the_flag),
      cmocka_unit_test(test_recovery_of_a_broken_chain),
      cmocka_unit_test(test_recovery_without_the_directory),
      cmocka_unit_test(test_recording_goes_on),
      cmocka_unit_test(test_unfinished_change),
      cmocka_unit_test(test_recovery_reads_the_tree_once),
      cmocka_unit_test(test_a_move_costs_one_walk),
      cmocka_unit_test(test_a_move_beside_two_sections),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
