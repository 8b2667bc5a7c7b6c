/* SPDX-License-Identifier: Apache-2.0 */
/* The file of the reservation record: which file it is, that it begins empty, and which slots may be reused. */
#include "exfat_fixture.h"

#include "exfat/internal.h"

#define RECORD_BYTES (UINT64_C(17) * 512)

static void open_volume(void) {
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
}

/* Hidden, of the right size, in one run, but a file of others: its name only resembles the record's. */
static void a_file_of_another_name_is_never_written(void **state) {
  (void)state;
  static const char *const names[] = {"spate",    ".spat",    ".spatf",   "_spate",   ".spate2",  ".spate_0",
                                      ".spate_1", ".spate_a", ".spate-2", ".spbte_2", ".spate2_", ".spate_10"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    open_volume();
    uint32_t first = small_allocate(image.ram.memory, 9, 1);
    memset(small_cluster(image.ram.memory, first), 0x77, 9 * 1024);
    small_add(image.ram.memory, names[i], 0x06, first, RECORD_BYTES, RECORD_BYTES, true);
    assert_int_equal(image_mount(&image), SPATE_OK);
    put_file("f", "x", 1);
    assert_whole(false);
    assert_non_null(oracle_find(&oracle, ".spate"));
    for (uint32_t at = 0; at < 9 * 1024; at++)
      assert_int_equal(small_cluster(image.ram.memory, first)[at], 0x77);
    image_close(&image);
  }
}

/* The record is found again under each of its names in any case, and no second one is made. */
static void the_record_is_found_by_each_of_its_names(void **state) {
  (void)state;
  static const char *const names[] = {".spate", ".SPATE", ".sPaTe", ".spate_2", ".SPATE_9"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    for (unsigned run = 0; run < 2; run++) {
      open_volume();
      uint32_t first = small_allocate(image.ram.memory, 9, 1);
      small_add(image.ram.memory, names[i], 0x06, first, RECORD_BYTES, RECORD_BYTES, run != 0);
      assert_int_equal(image_mount(&image), SPATE_OK);
      put_file("f", "x", 1);
      assert_int_equal(image.volume.record_lba, spate_exfat_cluster_lba(&image.volume, first));
      assert_whole(false);
      assert_int_equal(oracle.file_count, 2);
      image_close(&image);
    }
}

/* A file of the record's name is not the record if it has another size, is visible, is a directory, or is
 * fragmented. */
static void what_cannot_be_the_record_is_not_taken_for_it(void **state) {
  (void)state;
  static const struct {
    uint16_t attributes;
    uint32_t step;
    uint64_t bytes;
  } others[] = {{0x06, 1, RECORD_BYTES - 1}, {0x06, 1, RECORD_BYTES + 1}, {0x06, 1, RECORD_BYTES - 512},
                {0x02, 1, RECORD_BYTES},     {0x04, 1, RECORD_BYTES},     {0x06, 2, RECORD_BYTES},
                {0x00, 1, RECORD_BYTES}};
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    open_volume();
    uint32_t first = small_allocate(image.ram.memory, (uint32_t)(others[i].bytes + 1023) / 1024, others[i].step);
    small_add(image.ram.memory, ".spate", others[i].attributes, first, others[i].bytes, others[i].bytes, false);
    assert_int_equal(image_mount(&image), SPATE_OK);
    put_file("f", "x", 1);
    assert_whole(false);
    assert_non_null(oracle_find(&oracle, ".spate_2"));
    image_close(&image);
  }
}

/* A second file of the record's name that cannot be read prevents neither the mount nor the use of the first. */
static void a_candidate_that_is_damaged_is_left_out(void **state) {
  (void)state;
  for (unsigned damage = 0; damage < 4; damage++) {
    open_volume();
    assert_int_equal(image_mount(&image), SPATE_OK);
    put_file("f", "x", 1);
    uint64_t lba = image.volume.record_lba;
    uint32_t first = small_allocate(image.ram.memory, 9, 1);
    small_add(image.ram.memory, ".spate_2", 0x06, first, RECORD_BYTES, RECORD_BYTES, false);
    uint8_t *fat = image.ram.memory + ((size_t)spate_get32(image.ram.memory + 80) << 9);
    if (damage < 2) spate_put32(fat + 4 * (size_t)(first + damage), damage); /* its chain breaks */
    if (damage == 2) {
      uint64_t other_lba = (uint64_t)(small_cluster(image.ram.memory, first) - image.ram.memory) >> 9;
      ram_block_fault(&image.ram, (struct ram_fault){RAM_OP(SPATE_READ), other_lba, other_lba + 17, 0, RAM_ALWAYS,
                                                     SPATE_E_MEDIA, 0x281});
    }
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_int_equal(image.volume.record_lba, lba);
    put_file("g", "x", 1);
    assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);
    ram_block_fault(&image.ram,
                    (struct ram_fault){RAM_OP(SPATE_READ), lba, lba + 17, 0, RAM_ALWAYS, SPATE_E_MEDIA, 0x281});
    /* Now the other file is needed. */
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_int_equal(image.found.record_unread, damage < 3 ? 17 : 0);
    assert_int_equal(spate_exfat_mkdir(&image.volume, "d"), damage == 2 ? SPATE_E_MEDIA : SPATE_OK);
    image_close(&image);
  }
}

/* The clusters held an old record of this volume: the new record's slots are empty all the same. */
static void a_new_record_remembers_nothing(void **state) {
  (void)state;
  uint8_t stale[512] = {0};
  struct spate_exfat_clip clip;
  struct exfat_record record;
  bool valid;
  open_volume();
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 4096), SPATE_OK);
  memcpy(stale, image.ram.memory + (image.volume.record_lba << 9), sizeof stale);
  image_close(&image);

  for (unsigned can_zero = 0; can_zero < 2; can_zero++) {
    open_volume();
    image.ram.block.can_zero = can_zero != 0;
    for (uint32_t cluster = 5; cluster < spate_get32(image.ram.memory + 92) + 2; cluster++)
      for (size_t i = 0; i < 2; i++)
        memcpy(small_cluster(image.ram.memory, cluster) + i * 512, stale, sizeof stale);
    assert_int_equal(image_mount(&image), SPATE_OK);
    put_file("f", NULL, 0);
    assert_whole(false);
    assert_non_null(oracle_find(&oracle, ".spate"));
    assert_int_equal(image_mount(&image), SPATE_OK);
    for (uint32_t slot = 0; slot < EXFAT_RECORD_SLOTS; slot++) {
      assert_int_equal(spate_exfat_record_read(&image.volume, slot, &record, &valid), SPATE_OK);
      assert_false(valid);
    }
    assert_int_equal(image.found.reservations, 0);
    image_close(&image);
  }
}

/* No change begins without the record's file, whichever request of its creation fails. The next change creates it. */
static void fail_while_it_is_made(unsigned ops) {
  for (uint32_t skip = 0;; skip++) {
    struct spate_exfat_clip clip;
    open_volume();
    image.ram.keep_log = true;
    image.config.cache_bytes = 5 * 512;
    small_add(image.ram.memory, "long", 0x20, small_allocate(image.ram.memory, 9, 256), 9 * 1024, 9 * 1024, false);
    assert_int_equal(image_mount(&image), SPATE_OK);
    struct spate_exfat_file file;
    uint8_t byte;
    size_t got;
    assert_int_equal(spate_exfat_open(&image.volume, "long", &file), SPATE_OK);
    assert_int_equal(spate_exfat_read(&file, 8 * 1024, &byte, 1, &got), SPATE_OK); /* nothing else is in the cache */
    ram_block_fault(
        &image.ram,
        (struct ram_fault){.ops = ops, .last_lba = UINT64_MAX, .skip = skip, .times = 1, .error = SPATE_E_MEDIA});
    enum spate_error error = spate_exfat_arm(&image.volume, &clip, "clip", 4096);
    if (image.ram.faults[0].times > 0) { /* fewer requests than that */
      assert_int_equal(error, SPATE_OK);
      image_close(&image);
      assert_true(skip > 2);
      return;
    }
    const uint64_t record_lba = image.volume.record_lba;
    if (error == SPATE_OK) { /* what a slot holds need not be read before it is written */
      const struct ram_log_entry *failed = image.ram.log;
      while (failed->error == SPATE_OK)
        failed++;
      assert_in_range(failed->lba, record_lba, record_lba + EXFAT_RECORD_SLOTS - 1);
      image_close(&image);
      continue;
    }
    assert_int_equal(error, SPATE_E_MEDIA);
    if (spate_exfat_arm(&image.volume, &clip, "again", 4096) == SPATE_OK) {
      assert_true(oracle_read(&oracle, image.ram.memory, 4 * MIB));
      oracle_free(&oracle);
      assert_non_null(oracle_find(&oracle, ".spate"));
    }
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_int_equal(spate_exfat_arm(&image.volume, &clip, "at last", 4096), SPATE_OK);
    image_close(&image);
  }
}

static void a_record_that_cannot_be_made_refuses_the_change(void **state) {
  (void)state;
  fail_while_it_is_made(RAM_OP(SPATE_WRITE) | RAM_OP(SPATE_ZERO));
  fail_while_it_is_made(RAM_OP(SPATE_READ));
}

/* The slot of a reservation that no mount could free may be reused, but only once. */
static void clips_that_are_open_together_have_slots_of_their_own(void **state) {
  (void)state;
  struct spate_exfat_clip clips[SPATE_EXFAT_CLIPS_MAX];
  char path[256] = "d";
  open_volume();
  image.config.cache_bytes = IMAGE_CACHE_BLOCKS * 512;
  assert_int_equal(image_mount(&image), SPATE_OK);
  for (size_t depth = 1; depth < 70; depth++) { /* deeper than the walk at mount follows */
    assert_int_equal(spate_exfat_mkdir(&image.volume, path), SPATE_OK);
    memcpy(path + 2 * depth - 1, "/d", 3);
  }
  for (unsigned cut = 0; cut < SPATE_EXFAT_CLIPS_MAX; cut++) {
    (void)snprintf(path, sizeof path, "clip %u", cut);
    assert_int_equal(spate_exfat_arm(&image.volume, &clips[0], path, 1024), SPATE_OK);
    assert_int_equal(image_mount(&image), SPATE_OK);
  }
  assert_int_equal(image.found.reservations, SPATE_EXFAT_CLIPS_MAX);
  for (unsigned i = 0; i < 8; i++) {
    (void)snprintf(path, sizeof path, "new %u", i);
    assert_int_equal(spate_exfat_arm(&image.volume, &clips[i], path, 1024), SPATE_OK);
    for (unsigned j = 0; j < i; j++)
      assert_int_not_equal(clips[i].record, clips[j].record);
  }
  image_close(&image);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_file_of_another_name_is_never_written),
      cmocka_unit_test(the_record_is_found_by_each_of_its_names),
      cmocka_unit_test(what_cannot_be_the_record_is_not_taken_for_it),
      cmocka_unit_test(a_candidate_that_is_damaged_is_left_out),
      cmocka_unit_test(a_new_record_remembers_nothing),
      cmocka_unit_test(a_record_that_cannot_be_made_refuses_the_change),
      cmocka_unit_test(clips_that_are_open_together_have_slots_of_their_own),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
