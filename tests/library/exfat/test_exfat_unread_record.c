/* SPDX-License-Identifier: Apache-2.0 */
/* The device cannot read blocks of the only reservation record: what can be read is used, and what the record may name
 * is left alone. */
#include "exfat_fixture.h"

#include "exfat/internal.h"

#define RECORD_BYTES (UINT64_C(17) * 512)
#define KIB          UINT64_C(1024)

static struct spate_exfat_clip clips[2];

static uint8_t *slot_at(uint32_t slot) { return image.ram.memory + ((image.volume.record_lba + slot) << 9); }

static void lose_blocks(uint64_t first_lba, uint64_t last_lba) {
  ram_block_fault(&image.ram, (struct ram_fault){.ops = RAM_OP(SPATE_READ),
                                                 .first_lba = first_lba,
                                                 .last_lba = last_lba,
                                                 .times = RAM_ALWAYS,
                                                 .error = SPATE_E_MEDIA});
}

static void lose_slot(uint32_t slot) {
  const uint64_t lba = image.volume.record_lba + slot;
  lose_blocks(lba, lba);
}

/* A drive that moves a bad block to another place when it is written. */
static void read_again_when_written(void *context, struct ram_block *ram, const struct spate_io *io) {
  (void)context;
  if (io->op == SPATE_WRITE && io->lba <= ram->faults[0].first_lba && ram->faults[0].first_lba < io->lba + io->blocks)
    ram_block_clear_faults(ram);
}

static void nothing_to_see(void *context, struct ram_block *ram, const struct spate_io *io) {
  (void)context;
  (void)ram;
  (void)io;
}

static const struct ram_observer healing = {.taken = nothing_to_see, .over = read_again_when_written};

/* A volume with the record's file and a file. */
static void open_volume(void) {
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  assert_int_equal(image_mount(&image), SPATE_OK);
  put_file("whole", "recorded", 8);
}

/* The same after a power cut while two clips were open. Their records are in the slots 0 and 1. */
static void open_cut_volume(void) {
  open_volume();
  assert_int_equal(spate_exfat_arm(&image.volume, &clips[0], "clip 0", 30 * KIB), SPATE_OK);
  assert_int_equal(spate_exfat_arm(&image.volume, &clips[1], "clip 1", 20 * KIB), SPATE_OK);
  host_starts_again(&image.ram.block);
}

static void expect_readable(void) {
  struct spate_exfat_file file;
  char text[9] = "";
  size_t got;
  assert_int_equal(spate_exfat_open(&image.volume, "whole", &file), SPATE_OK);
  assert_int_equal(spate_exfat_read(&file, 0, text, 8, &got), SPATE_OK);
  assert_string_equal(text, "recorded");
}

static void expect_no_request_but_reads(void) {
  for (unsigned op = SPATE_WRITE; op < RAM_OPS; op++)
    assert_int_equal(image.ram.count[op], 0);
}

static void expect_recovered(uint64_t reclaimed_bytes) {
  ram_block_clear_faults(&image.ram);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.record_unread, 0);
  assert_int_equal(image.found.reclaimed_bytes, reclaimed_bytes);
  assert_whole(false);
}

static void a_volume_can_be_read_without_its_record(void **state) {
  (void)state;
  for (uint32_t slot = 0; slot <= EXFAT_RECORD_SLOTS; slot++) {
    open_cut_volume();
    if (slot < EXFAT_RECORD_SLOTS)
      lose_slot(slot);
    else
      lose_blocks(image.volume.record_lba, image.volume.record_lba + EXFAT_RECORD_SLOTS - 1);
    image.config.read_only = true;
    ram_block_clear_log(&image.ram);
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_true(image.found.dirty);
    assert_int_equal(image.found.record_unread, slot < EXFAT_RECORD_SLOTS ? 1 : EXFAT_RECORD_SLOTS);
    assert_int_equal(image.found.reservations, slot < EXFAT_RECORD_SLOTS ? 1 + (slot > 1) : 0);
    expect_readable();
    assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);
    expect_no_request_but_reads();
    image.config.read_only = false;
    expect_recovered(50 * KIB);
    image_close(&image);
  }
}

/* The up-case table has a wrong checksum, so that nothing may be written. Or the volume is mounted for reading. */
static void a_clean_volume_that_must_not_change_is_not_written(void **state) {
  (void)state;
  for (unsigned untrusted = 0; untrusted < 2; untrusted++) {
    open_volume();
    assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);
    uint8_t *upcase_entry = small_cluster(image.ram.memory, image.volume.root.first_cluster) + 32;
    assert_int_equal(upcase_entry[0], EXFAT_TYPE_UPCASE);
    upcase_entry[4] ^= (uint8_t)untrusted;
    image.config.read_only = untrusted == 0;
    lose_slot(0);
    ram_block_clear_log(&image.ram);
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_int_equal(image.found.record_unread, 1);
    expect_readable();
    assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);
    expect_no_request_but_reads();
    image_close(&image);
  }
}

/* A clean volume has nothing to recover: mount writes the block again, so that after the next power cut everything is
 * recovered. */
static void a_clean_volume_gets_the_slot_back(void **state) {
  (void)state;
  for (uint32_t slot = 0; slot < EXFAT_RECORD_SLOTS; slot++) {
    open_volume();
    assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);
    lose_slot(slot);
    image.ram.observer = &healing;
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_int_equal(image.found.record_unread, 1);
    assert_int_equal(image.found.reservations, 0);
    assert_int_equal(image.ram.fault_count, 0);
    assert_int_equal(slot_at(slot)[RECORD_CLEARED], 1);
    assert_int_equal(spate_exfat_mkdir(&image.volume, "d"), SPATE_OK);
    assert_int_equal(spate_exfat_arm(&image.volume, &clips[0], "clip", 30 * KIB), SPATE_OK);
    image.ram.observer = NULL;
    expect_recovered(30 * KIB);
    image_close(&image);
  }
}

static bool overlap(const struct spate_exfat_clip *one, const struct spate_exfat_clip *two) {
  return one->first_lba < two->first_lba + two->reserved_bytes / 512 &&
         two->first_lba < one->first_lba + one->reserved_bytes / 512;
}

/* Record, delete and unmount beside the two clips that were cut, and beside a slot that cannot be read. */
static void record_beside(const char *path, uint32_t unread) {
  struct spate_exfat_clip clip;
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_true(image.found.dirty);
  assert_int_equal(image.found.record_unread, 1);
  assert_int_equal(image.found.reclaimed_bytes, 0);
  expect_readable();
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, path, 100 * KIB), SPATE_OK);
  assert_false(overlap(&clip, &clips[0]) || overlap(&clip, &clips[1]));
  assert_true(clip.record > 1 && clip.record != unread);
  assert_int_equal(spate_exfat_close(&clip, 90 * KIB), SPATE_OK);
  assert_int_equal(image.ram.count[SPATE_TRIM], 0); /* others may have left the volume dirty */
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_E_CORRUPT);
}

/* The volume is dirty, and the slot may say why: nothing is freed, recording continues, and a mount that can read the
 * slot recovers everything. */
static void what_an_unread_slot_may_name_stays(void **state) {
  (void)state;
  for (uint32_t slot = 0; slot < EXFAT_RECORD_JOURNAL; slot++) {
    open_cut_volume();
    lose_slot(slot);
    record_beside("next", slot);
    record_beside("last", slot);
    expect_recovered(50 * KIB);
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_false(image.found.dirty);
    image_close(&image);
  }
}

/* The slot can be read again from the n-th try on. A mount that did not get its content does not recover, though it
 * could read the slot by then. */
static void a_slot_that_can_be_read_later_waits_for_a_mount(void **state) {
  (void)state;
  unsigned waited = 0;
  for (uint32_t times = 1; times < 8; times++) {
    open_cut_volume();
    lose_slot(0);
    image.ram.faults[0].times = times;
    image.config.cache_bytes = 5 * 512; /* blocks of the record do not stay in memory */
    assert_int_equal(image_mount(&image), SPATE_OK);
    if (image.found.record_unread > 0) {
      waited += image.ram.faults[0].times == 0;
      assert_int_equal(image.found.reclaimed_bytes, 0);
      put_file("beside", "x", 1);
      expect_recovered(50 * KIB);
    } else {
      assert_int_equal(image.found.reclaimed_bytes, 50 * KIB);
      assert_whole(false);
    }
    image_close(&image);
  }
  assert_true(waited > 0);
}

/* A PC has checked the volume, and marked it clean. */
static void the_slot_is_written_again_when_a_pc_has_checked_the_volume(void **state) {
  (void)state;
  open_cut_volume();
  lose_slot(1);
  record_beside("next", 1);
  image_start(&image)[106] &= (uint8_t)~2u;
  image.ram.observer = &healing;
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.record_unread, 1);
  assert_int_equal(image.found.reclaimed_bytes, 30 * KIB); /* what slot 1 named is the PC's to free */
  assert_int_equal(image.ram.fault_count, 0);
  assert_int_equal(spate_exfat_delete(&image.volume, "next"), SPATE_OK);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);
  image.ram.observer = NULL;
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.record_unread, 0);
  assert_int_equal(image.found.reservations, 0);
  assert_false(image.found.dirty);
  image_close(&image);
}

/* The slot of directory changes cannot be read: it may name one that is half done. */
static void no_directory_changes_beside_one_that_cannot_be_read(void **state) {
  (void)state;
  open_volume();
  assert_int_equal(spate_exfat_mkdir(&image.volume, "d"), SPATE_OK);
  uint64_t root_lba = spate_exfat_cluster_lba(&image.volume, image.volume.root.first_cluster);
  ram_block_fault(&image.ram, (struct ram_fault){.ops = RAM_OP(SPATE_WRITE),
                                                 .first_lba = root_lba,
                                                 .last_lba = root_lba + 1,
                                                 .times = RAM_ALWAYS,
                                                 .error = SPATE_E_MEDIA});
  assert_int_equal(spate_exfat_rename(&image.volume, "whole", "d/moved"), SPATE_E_MEDIA); /* both names are there */
  ram_block_clear_faults(&image.ram);
  lose_slot(EXFAT_RECORD_JOURNAL);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.record_unread, 1);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "e"), SPATE_E_CORRUPT);
  assert_int_equal(spate_exfat_delete(&image.volume, "whole"), SPATE_E_CORRUPT);
  assert_int_equal(spate_exfat_rename(&image.volume, "whole", "what"), SPATE_E_CORRUPT);
  put_file("beside", "x", 1);
  expect_recovered(0);
  assert_null(oracle_find(&oracle, "whole"));
  assert_non_null(oracle_find(&oracle, "d/moved"));
  assert_non_null(oracle_find(&oracle, "beside"));
  image_close(&image);
}

/* ---- where the record is cannot be known ---- */

static enum spate_error mount_own(bool read_only) {
  struct spate_exfat_config config = image.config;

  config.read_only = read_only;
  return spate_exfat_mount_own(&image.volume, &config, &image.found);
}

static void expect_no_change_is_possible(void) {
  struct spate_exfat_clip clip;
  ram_block_clear_log(&image.ram);
  image.config.read_only = true;
  assert_int_equal(image_mount(&image), SPATE_OK);
  expect_readable();
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);
  image.config.read_only = false;
  assert_int_equal(mount_own(false), SPATE_E_MEDIA); /* a program that only records could do nothing */
  assert_int_equal(image.found.record_unread, EXFAT_RECORD_SLOTS);
  assert_int_equal(mount_own(true), SPATE_OK);
  expect_readable();
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.record_unread, EXFAT_RECORD_SLOTS);
  expect_readable();
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "new", KIB), SPATE_E_MEDIA);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "new"), SPATE_E_MEDIA);
  assert_int_equal(spate_exfat_delete(&image.volume, "whole"), SPATE_E_MEDIA);
  assert_int_equal(spate_exfat_rename(&image.volume, "whole", "what"), SPATE_E_MEDIA);
  ram_block_clear_faults(&image.ram);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "new"), SPATE_E_MEDIA); /* the next mount has to recover first */
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_E_MEDIA);
  expect_no_request_but_reads();
}

/* A record that a PC has copied is linked by the FAT, and this block of the FAT cannot be read. */
static void a_record_whose_place_is_unknown_prevents_changes(void **state) {
  (void)state;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  (void)small_allocate(image.ram.memory, 300, 1); /* more than a block of the FAT */
  const uint32_t first = small_allocate(image.ram.memory, 9, 1);
  small_add(image.ram.memory, ".spate", 0x06, first, RECORD_BYTES, RECORD_BYTES, false);
  assert_int_equal(image_mount(&image), SPATE_OK);
  put_file("whole", "recorded", 8);
  assert_int_equal(spate_exfat_arm(&image.volume, &clips[0], "clip 0", 30 * KIB), SPATE_OK);
  const uint64_t fat_lba = image.volume.fat_lba + first * 4u / 512u;
  lose_blocks(fat_lba, fat_lba);
  expect_no_change_is_possible();
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.reclaimed_bytes, 30 * KIB);
  image_close(&image);
}

/* Two files can be the record, and blocks of both cannot be read. */
static void two_unread_records_prevent_changes(void **state) {
  (void)state;
  open_cut_volume();
  const uint32_t first = small_allocate(image.ram.memory, 9, 1);
  small_add(image.ram.memory, ".spate_2", 0x06, first, RECORD_BYTES, RECORD_BYTES, false);
  lose_slot(5);
  lose_blocks(spate_exfat_cluster_lba(&image.volume, first), spate_exfat_cluster_lba(&image.volume, first));
  expect_no_change_is_possible();
  expect_recovered(50 * KIB);
  image_close(&image);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_volume_can_be_read_without_its_record),
      cmocka_unit_test(a_clean_volume_that_must_not_change_is_not_written),
      cmocka_unit_test(a_clean_volume_gets_the_slot_back),
      cmocka_unit_test(what_an_unread_slot_may_name_stays),
      cmocka_unit_test(a_slot_that_can_be_read_later_waits_for_a_mount),
      cmocka_unit_test(the_slot_is_written_again_when_a_pc_has_checked_the_volume),
      cmocka_unit_test(no_directory_changes_beside_one_that_cannot_be_read),
      cmocka_unit_test(a_record_whose_place_is_unknown_prevents_changes),
      cmocka_unit_test(two_unread_records_prevent_changes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
