/* SPDX-License-Identifier: Apache-2.0 */
/* Volumes that others made, damaged, or changed behind our back. */
#include "exfat_fixture.h"

/* What stands behind the end marker on a volume of others must stay hidden when the directory fills up. */
static void test_garbage_behind_end(void **state) {
  (void)state;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 12);
  uint8_t *root = small_cluster(image.ram.memory, spate_get32(image.ram.memory + 96));
  memset(root + 96, 0x85, 4096 - 96);
  assert_int_equal(image_mount(&image), SPATE_OK);
  for (unsigned i = 0; i < 40; i++) {
    char path[64];
    (void)snprintf(path, sizeof path, "file number %u%.*s", i, (int)(i % 30), "_and_so_on_for_some_characters");
    put_file(path, NULL, 1);
    if (!oracle_read(&oracle, image.ram.memory, 4 * MIB) && strstr(oracle.fault, "behind the end") == NULL)
      fail_msg("%u: %s", i, oracle.fault);
    oracle_free(&oracle);
    assert_int_equal(oracle.file_count, i + 2);
  }
  image_close(&image);
}

static void test_foreign(void **state) {
  (void)state;
  struct spate_exfat_file file;
  struct spate_exfat_entry entry;
  uint8_t data[4096];
  size_t got;
  uint64_t lba;
  uint64_t blocks;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  uint32_t first = small_allocate(image.ram.memory, 5, 2);
  for (uint32_t i = 0; i < 5; i++)
    memset(small_cluster(image.ram.memory, first + 2 * i), (int)(0x10 + i), 1024);
  small_add(image.ram.memory, "chained", 0x20, first, 4500, 2100, false);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_open(&image.volume, "Chained", &file), SPATE_OK);
  assert_int_equal(spate_exfat_read(&file, 1000, data, sizeof data, &got), SPATE_OK);
  assert_int_equal(got, 3500);
  assert_int_equal(data[23], 0x10);
  assert_int_equal(data[24], 0x11);
  assert_int_equal(data[1099], 0x12);
  assert_int_equal(data[1100], 0); /* beyond the valid length */
  assert_int_equal(spate_exfat_extent(&file, 1024, &lba, &blocks), SPATE_OK);
  assert_int_equal(blocks, 2);
  assert_ptr_equal(image.ram.memory + (lba << 9), small_cluster(image.ram.memory, first + 2));
  assert_int_equal(spate_exfat_extent(&file, 2048, &lba, &blocks), SPATE_OK);
  assert_int_equal(blocks, 1);
  assert_int_equal(spate_exfat_extent(&file, 2560, &lba, &blocks), SPATE_OK);
  assert_int_equal(blocks, 0);
  assert_int_equal(spate_exfat_stat(&image.volume, "chained", &entry), SPATE_OK);
  assert_int_equal(entry.valid_bytes, 2100);
  assert_false(entry.contiguous);
  put_file("ours", "x", 1); /* makes the record's file */
  assert_whole(false);
  assert_non_null(oracle_find(&oracle, ".spate"));
  assert_int_equal(spate_exfat_delete(&image.volume, "chained"), SPATE_OK);
  assert_whole(false);
  image_close(&image);
}

/* A user's file of the record's name, or the record of a card that was copied file by file, is left alone: the record
 * goes under another name, and is found there again. */
static void test_record_name_taken(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  uint32_t copied = small_allocate(image.ram.memory, 9, 1);
  uint32_t scattered = small_allocate(image.ram.memory, 9, 2);
  small_add(image.ram.memory, ".SPATE", 0x20, copied, 17 * 512, 17 * 512, false);      /* its attributes are lost */
  small_add(image.ram.memory, ".spate_2", 0x06, scattered, 17 * 512, 17 * 512, false); /* it is in pieces */
  small_add(image.ram.memory, ".spate_3", 0x06, 0, 0, 0, false);                       /* it is empty */
  small_add(image.ram.memory, ".spate_30", 0x06, 0, 0, 0, false);                      /* this is no record's name */
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "a", 100 * 1024), SPATE_OK);
  assert_int_equal(image_mount(&image), SPATE_OK); /* as after a cut */
  assert_int_equal(image.found.reservations, 1);
  assert_int_equal(image.found.reclaimed_bytes, 100 * 1024);
  put_file("b", "x", 1);
  assert_whole(false);
  assert_int_equal(oracle_find(&oracle, ".spate_4")->bytes, 17 * 512);
  assert_null(oracle_find(&oracle, ".spate_5"));
  for (uint32_t i = 0; i < 9 * 1024; i++)
    assert_int_equal(small_cluster(image.ram.memory, copied)[i], 0);
  assert_int_equal(spate_exfat_delete(&image.volume, ".spate_4"), SPATE_E_IN_USE);
  assert_int_equal(spate_exfat_delete(&image.volume, ".spate"), SPATE_OK);
  assert_whole(false);
  image_close(&image);
}

/* All names of the record taken: what needs none still works. */
static void test_record_names_all_taken(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 12);
  small_add(image.ram.memory, ".spate", 0x20, 0, 0, 0, false);
  for (char name[] = ".spate_2"; name[7] <= '9'; name[7]++)
    small_add(image.ram.memory, name, 0x20, 0, 0, 0, false);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "a", 1), SPATE_E_EXISTS);
  assert_int_equal(spate_exfat_delete(&image.volume, ".spate_7"), SPATE_OK);
  put_file("a", "x", 1);
  assert_whole(false);
  assert_non_null(oracle_find(&oracle, ".spate_7"));
  image_close(&image);
}

/* ---- a volume that is full of what others wrote ---- */

/* Files of one cluster, and one of all the rest. */
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

/* There is no room for the record: deleting goes without it, and so does a rename by one write. */
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

static void test_boot(void **state) {
  (void)state;
  image_open(&image, 32 * MIB, 512, 8);
  image_format(&image);
  uint8_t *boot = image_start(&image);
  boot[600] ^= 1; /* the checksum of the main region is wrong */
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_true(image.found.backup_boot);
  put_file("f", "x", 1); /* repairs */
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_false(image.found.backup_boot);
  assert_true(image.found.dirty); /* nobody knows who damaged it: a checker's business */
  boot[106] = 0;
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_whole(false);
  boot[108] = 12;
  boot[12 * 512 + 108] = 12;
  assert_int_equal(image_mount(&image), SPATE_E_SECTOR_SIZE);
  boot[3] = 'N';
  boot[12 * 512 + 3] = 'N';
  assert_int_equal(image_mount(&image), SPATE_E_NOT_EXFAT);
  image_close(&image);
}

/* Each field of the boot sector that would lead outside, with a right checksum. */
static void test_boot_fields(void **state) {
  (void)state;
  static const struct {
    uint32_t at, bytes;
    uint64_t value;
  } lies[] = {{72, 8, 8193},       {72, 8, UINT64_MAX}, {72, 8, 100},        {80, 4, 23},   {80, 4, UINT32_MAX},
              {84, 4, 1},          {84, 4, UINT32_MAX}, {88, 4, 30},         {88, 4, 8192}, {88, 4, UINT32_MAX},
              {92, 4, 0},          {92, 4, 5000},       {92, 4, UINT32_MAX}, {96, 4, 0},    {96, 4, 1},
              {96, 4, 0x7fffffff}, {104, 2, 0x200},     {109, 1, 17},        {109, 1, 255}, {110, 1, 0},
              {110, 1, 3},         {11, 1, 1},          {63, 1, 1},          {510, 2, 0}};
  for (unsigned i = 0; i < sizeof lies / sizeof lies[0]; i++) {
    image_open(&image, 4 * MIB, 512, 0);
    small_format(image.ram.memory, 4 * MIB, 9, 10);
    uint64_t value = lies[i].value;
    for (uint32_t n = 0; n < lies[i].bytes; n++, value >>= 8)
      image.ram.memory[lies[i].at + n] = (uint8_t)value;
    small_checksum_boot(image.ram.memory);
    if (image_mount(&image) != SPATE_E_NOT_EXFAT) fail_msg("lie %u was believed", i);
    image_close(&image);
  }
}

/* Listing alone keeps the volume dirty: who repairs it is told where to look. */
static void test_damaged_set_listed(void **state) {
  (void)state;
  struct spate_exfat_directory directory;
  struct spate_exfat_clip clip;
  struct spate_exfat_entry entry;
  bool more = true;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  uint8_t *root = small_cluster(image.ram.memory, spate_get32(image.ram.memory + 96));
  root[small_add(image.ram.memory, "torn", 0x20, 0, 0, 0, false) + 70] ^= 1;
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 4096), SPATE_OK);
  image.volume.corrupt = false; /* arming met it, too */
  assert_int_equal(spate_exfat_list(&image.volume, "/", &directory), SPATE_OK);
  enum spate_error error = SPATE_OK;
  while (more && error == SPATE_OK)
    error = spate_exfat_list_next(&directory, &entry, &more);
  assert_int_equal(error, SPATE_E_CORRUPT);
  assert_int_equal(spate_exfat_close(&clip, 1), SPATE_OK);
  assert_int_equal(image.ram.count[SPATE_TRIM], 0);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_E_CORRUPT);
  image_close(&image);
}

/* A damaged entry set, met while a clip is open: listing says so and steps over it, and recording goes on beside it. A
 * name that is not found could be in it. The volume stays dirty, and nothing is trimmed. */
static void test_damaged_set(void **state) {
  (void)state;
  struct spate_exfat_directory directory;
  struct spate_exfat_clip clip;
  struct spate_exfat_clip next;
  struct spate_exfat_entry entry;
  unsigned damaged = 0;
  unsigned whole = 0;
  bool more = true;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  uint8_t *root = small_cluster(image.ram.memory, spate_get32(image.ram.memory + 96));
  uint32_t torn = small_add(image.ram.memory, "torn", 0x20, 0, 0, 0, false);
  uint32_t liar = small_add(image.ram.memory, "liar", 0x20, 1000, 100, 200, false); /* more valid than there is */
  small_add(image.ram.memory, "good", 0x20, 0, 0, 0, false);
  root[torn + 70] ^= 1;
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 4096), SPATE_OK);
  assert_int_equal(spate_exfat_list(&image.volume, "/", &directory), SPATE_OK);
  while (more) {
    enum spate_error error = spate_exfat_list_next(&directory, &entry, &more);
    if (error == SPATE_E_CORRUPT) damaged++;
    if (error == SPATE_OK && more) whole++;
  }
  assert_int_equal(damaged, 2);
  assert_int_equal(whole, 3);
  assert_int_equal(spate_exfat_stat(&image.volume, "other", &entry), SPATE_E_CORRUPT);
  assert_int_equal(spate_exfat_arm(&image.volume, &next, "next", 4096), SPATE_OK);
  assert_int_equal(spate_exfat_close(&clip, 1), SPATE_OK);
  assert_int_equal(spate_exfat_close(&next, 1), SPATE_OK);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "d"), SPATE_OK);
  assert_int_equal(spate_exfat_rename(&image.volume, "good", "d/better"), SPATE_OK);
  assert_int_equal(spate_exfat_delete(&image.volume, "d/better"), SPATE_OK);
  assert_int_equal(root[torn], 0x85); /* nobody took their slots */
  assert_int_equal(root[liar], 0x85);
  assert_int_equal(image.ram.count[SPATE_TRIM], 0);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_E_CORRUPT);
  assert_int_equal(image.ram.memory[106] & 2, 2);
  image_close(&image);
}

/* Where the bitmap itself cannot be believed, nothing new is written: a clip could be put over somebody's file. */
static void test_corrupt(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  small_add(image.ram.memory, "good", 0x20, 0, 0, 0, false);
  small_add(image.ram.memory, "liar", 0x20, 1000, 100, 100, true); /* the bitmap says that its cluster is free */
  assert_int_equal(image_mount(&image), SPATE_OK);
  put_file("f", "x", 1);
  image.ram.keep_log = true;
  assert_int_equal(spate_exfat_delete(&image.volume, "liar"), SPATE_E_CORRUPT);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 1), SPATE_E_CORRUPT);
  assert_int_equal(spate_exfat_delete(&image.volume, "good"), SPATE_E_CORRUPT);
  for (size_t i = 0; i < image.ram.log_count; i++)
    assert_int_equal(image.ram.log[i].op, SPATE_READ);
  image_close(&image);
}

/* Names cannot be compared by a table that is damaged: what is there can be read, and nothing is changed. */
static void test_upcase_checksum(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  struct spate_exfat_file file;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  small_add(image.ram.memory, "good", 0x20, 0, 0, 0, false);
  small_cluster(image.ram.memory, 3)[30] ^= 1;
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_open(&image.volume, "GOOD", &file), SPATE_OK);
  image.ram.keep_log = true;
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 1), SPATE_E_CORRUPT);
  assert_int_equal(spate_exfat_delete(&image.volume, "good"), SPATE_E_CORRUPT);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);
  for (size_t i = 0; i < image.ram.log_count; i++)
    assert_int_equal(image.ram.log[i].op, SPATE_READ);
  image_close(&image);
}

/* A contradiction that is met while a clip is open: the clip is closed, and the volume stays dirty. */
static void test_corrupt_meanwhile(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  struct spate_exfat_file file;
  uint8_t byte;
  size_t got;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  small_add(image.ram.memory, "broken", 0x20, 1000, 2048, 2048, false);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 4096), SPATE_OK);
  assert_int_equal(spate_exfat_open(&image.volume, "broken", &file), SPATE_OK);
  assert_int_equal(spate_exfat_read(&file, 1024, &byte, 1, &got), SPATE_E_CORRUPT);
  assert_int_equal(spate_exfat_close(&clip, 1), SPATE_OK);
  assert_int_equal(image.ram.count[SPATE_TRIM], 0);
  assert_int_equal(image.ram.memory[106] & 2, 2);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_E_CORRUPT);
  image_close(&image);
}

/* What a PC did between the cut and the mount wins: it gave some of the recorded clusters to another file. */
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

/* No owner can be ruled out while a part of the tree cannot be read: nothing is freed, and the record is kept. */
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

/* A directory tree that leads back to itself ends the walk, in bounded time. */
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

/* A directory of three clusters without a chain in the FAT gets one when it grows. */
static void test_contiguous_directory_grows(void **state) {
  (void)state;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  uint32_t first = small_allocate(image.ram.memory, 3, 1);
  uint8_t *fat = image.ram.memory + ((size_t)spate_get32(image.ram.memory + 80) << 9);
  memset(fat + 4 * (size_t)first, 0, 12);
  small_add(image.ram.memory, "dir", 0x10, first, 3072, 3072, true);
  assert_int_equal(image_mount(&image), SPATE_OK);
  for (unsigned i = 0; i < 40; i++) {
    char path[32];
    (void)snprintf(path, sizeof path, "dir/file %u", i);
    put_file(path, NULL, 1);
    assert_whole(false);
  }
  assert_int_equal(oracle_find(&oracle, "dir/file 39")->bytes, 1);
  image_close(&image);
}

/* Recovery leaves the volume marked dirty if it was so before the reservation was made. */
static void test_dirty_before_us(void **state) {
  (void)state;
  for (unsigned dirty = 0; dirty < 2; dirty++) {
    struct spate_exfat_clip clip;
    image_open(&image, 32 * MIB, 512, 0);
    image_format(&image);
    if (dirty) image_start(&image)[106] |= 2;
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 4 * MIB), SPATE_OK);
    assert_int_equal(image_start(&image)[106] & 2, 2);
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_int_equal(image.found.reservations, 1);
    assert_int_equal(image.found.reclaimed_bytes, 4 * MIB);
    assert_int_equal(image_start(&image)[106] & 2, dirty ? 2 : 0);
    image_close(&image);
  }
}

/* A change that needs no dirty flag repairs the main boot region all the same, and what made it bad stays said. */
static void test_repair_keeps_dirty(void **state) {
  (void)state;
  image_open(&image, 32 * MIB, 512, 0);
  image_format(&image);
  put_file("f", "x", 1);
  image_start(&image)[600] ^= 1;
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_rename(&image.volume, "f", "g"), SPATE_OK);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_false(image.found.backup_boot);
  assert_true(image.found.dirty);
  image_close(&image);
}

/* ClearToZero (specification, 3.1.13.4): cleared before the first change, and by no mount that changes nothing. */
static void test_clear_to_zero(void **state) {
  (void)state;
  for (unsigned cut = 0; cut < 2; cut++) {
    struct spate_exfat_clip clip;
    image_open(&image, 32 * MIB, 512, 0);
    image_format(&image);
    put_file("f", "x", 1);
    if (cut) assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", MIB), SPATE_OK);
    image_start(&image)[106] |= 8;
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_int_equal(image_start(&image)[106], cut ? 0 : 8); /* recovery is a change */
    if (!cut) assert_int_equal(spate_exfat_rename(&image.volume, "f", "g"), SPATE_OK);
    assert_int_equal(image_start(&image)[106], 0);
    image_close(&image);
  }
}

/* A cut between the record and the flag, or between the flag and the record: the volume is not left dirty. */
static void test_record_outlives_the_flag(void **state) {
  (void)state;
  for (uint32_t requests = 1; requests < 10; requests++) {
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
    assert_int_equal(error, requests < 9 ? SPATE_E_GONE : SPATE_OK);
    ram_block_clear_faults(&image.ram);
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_int_equal(image_start(&image)[106] & 2, 0);
    assert_int_equal(image.found.reservations, requests < 9 ? 1 : 0);
    assert_whole(false);
    image_close(&image);
  }
}

/* ---- files whose clusters cannot be theirs ---- */

static void expect_no_write(void) {
  for (size_t i = 0; i < image.ram.log_count; i++)
    assert_int_equal(image.ram.log[i].op, SPATE_READ);
  ram_block_clear_log(&image.ram);
}

static uint8_t *fat_entry(uint32_t cluster) {
  return image.ram.memory + ((size_t)spate_get32(image.ram.memory + 80) << 9) + 4 * (size_t)cluster;
}

static void open_small(void) {
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_mkdir(&image.volume, "d"), SPATE_OK); /* and the record's file, from cluster 5 on */
}

/* A damaged file that says it owns what the volume stands on, what is free, or what is being recorded stays. */
static void test_delete_refused(void **state) {
  (void)state;
  static const struct {
    uint32_t first, next; /* next 0: `clusters` in one run, else the FAT's entry of the first */
    uint32_t clusters;
  } lies[] = {{2, 0, 1},    {3, 0, 1},    {4, 0, 1},    {2, 0, 3},     {1000, 2, 2},          {1000, 3, 2},
              {1000, 4, 2}, {1000, 6, 2}, {2000, 0, 1}, {1000, 1, 2},  {1000, 2000, 2},       {1090, 0, 9},
              {999, 0, 3},  {6, 0, 1},    {1108, 0, 1}, {1000, 20, 3}, {1000, UINT32_MAX, 2}, {1000, 1147, 2}};
  for (unsigned i = 0; i < sizeof lies / sizeof lies[0]; i++) {
    struct spate_exfat_clip clip;
    open_small();
    memset(small_cluster(image.ram.memory, 2), 0xff, 137);                         /* full up to cluster 1097 ... */
    if (lies[i].first == 999) small_cluster(image.ram.memory, 2)[999 / 8] &= 0x7f; /* ... but for cluster 1001 */
    spate_put32(fat_entry(1000), lies[i].next);
    small_add(image.ram.memory, "liar", 0x20, lies[i].first, 1024 * lies[i].clusters, 0, lies[i].next == 0);
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 50 * 1024), SPATE_OK);
    assert_int_equal(clip.first_cluster, 1098);
    image.ram.keep_log = true;
    if (spate_exfat_delete(&image.volume, "liar") != SPATE_E_CORRUPT) fail_msg("lie %u was believed", i);
    expect_no_write();
    image_close(&image);
  }
}

/* Where others left the volume dirty, two files may share clusters: what is given back is not trimmed. */
static void test_no_trim_on_a_dirty_volume(void **state) {
  (void)state;
  for (unsigned dirty = 0; dirty < 2; dirty++) {
    struct spate_exfat_clip clip;
    open_small();
    put_file("f", "x", 1);
    image.ram.memory[106] |= (uint8_t)(dirty ? 2 : 0);
    assert_int_equal(image_mount(&image), SPATE_OK);
    image.ram.keep_log = true;
    ram_block_clear_log(&image.ram);
    assert_int_equal(spate_exfat_delete(&image.volume, "f"), SPATE_OK);
    assert_int_equal(spate_exfat_arm(&image.volume, &clip, "g", 4096), SPATE_OK);
    assert_int_equal(spate_exfat_close(&clip, 1), SPATE_OK);
    assert_int_equal(image.ram.count[SPATE_TRIM], dirty ? 0 : 2);
    image_close(&image);
  }
}

/* ---- a recovery that cannot be finished ---- */

/* A deletion that was cut in the middle. */
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

/* The chain of a file that was being deleted, reused by a PC: what can still be reached is freed. */
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

/* A clip of chunks whose directory a PC deleted: there is nothing to extend, and nothing wrong with the volume. */
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

/* Deeper than the walk goes. */
static void make_deep(void) {
  char path[256] = "d";
  for (size_t depth = 1; depth < 70; depth++) {
    memcpy(path + 2 * depth - 1, "/d", 3);
    assert_int_equal(spate_exfat_mkdir(&image.volume, path), SPATE_OK);
  }
}

/* A reservation that cannot be given back hinders no recording, however often it happens. */
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
    /* The last 15 of them are still remembered; the closed clip's slot is free again. */
    assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_E_CORRUPT);
    assert_int_equal(image_mount(&image), SPATE_OK);
  }
  image_close(&image);
}

/* A directory change that cannot be finished holds up directory changes, and no recording. */
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

/* Entries that systems may ignore, of types not known here: what they own is spared (specification, 6.3 and 6.4). */
static void test_benign_entries(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  open_small();
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 100 * 1024), SPATE_OK);
  uint8_t *entry = small_cluster(image.ram.memory, 4);
  while (*entry != 0)
    entry += 32;
  entry[0] = 0xa5;
  entry[32] = 0xa6;
  entry[32 + 4] = 3;
  spate_put32(entry + 32 + 20, clip.first_cluster + 10);
  spate_put64(entry + 32 + 24, 3 * 1024);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.reclaimed_bytes, 97 * 1024);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK);
  assert_int_equal(image.ram.memory[106] & 2, 0);
  image_close(&image);
}

/* The tree is read once for each window that a record touches, not for each there is. */
static void test_recovery_reads_the_tree_once(void **state) {
  (void)state;
  struct spate_exfat_clip clip;
  image_open(&image, 128 * MIB, 512, 0);
  small_format(image.ram.memory, 128 * MIB, 9, 9);
  image.config.bitmap_bytes = 4096; /* 8 windows */
  image.config.cache_bytes = 5 * 512;
  assert_int_equal(image_mount(&image), SPATE_OK);
  for (unsigned i = 0; i < 40; i++) {
    char path[32];
    (void)snprintf(path, sizeof path, "directory %u", i);
    assert_int_equal(spate_exfat_mkdir(&image.volume, path), SPATE_OK);
  }
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

/* ---- two FATs and two bitmaps (TexFAT) ---- */

/* The second is the active one; the first says otherwise everywhere. */
static void make_second_active(bool swapped, uint32_t *file_first) {
  uint8_t *memory = image.ram.memory;
  uint8_t *root = small_cluster(memory, 4);
  uint32_t first = small_allocate(memory, 3, 2);
  uint32_t second_bitmap = small_allocate(memory, 1, 1);
  for (uint32_t i = 0; i < 3; i++)
    memset(small_cluster(memory, first + 2 * i), (int)(0x10 + i), 1024);
  spate_put32(memory + 84, 16); /* two FATs in the place of one */
  spate_put32(memory + 92, 2000);
  memory[110] = 2;
  memory[106] = 1;
  memcpy(memory + (24 + 16) * 512, memory + 24 * 512, 16 * 512);
  spate_put32(fat_entry(first), first + 4);
  memcpy(small_cluster(memory, second_bitmap), small_cluster(memory, 2), 1024);
  memset(small_cluster(memory, second_bitmap), 0xff, 100);
  memset(small_cluster(memory, 2), 0, 1024);
  spate_put64(root + 24, 250);
  memcpy(root + 64, root, 32);
  uint8_t *entry = root + (swapped ? 0 : 64);
  entry[1] = 1;
  spate_put32(entry + 20, second_bitmap);
  small_add(memory, "chained", 0x20, first, 3072, 3072, false);
  small_checksum_boot(memory);
  *file_first = first;
}

/* The bitmaps' entries in either order. */
static void check_two_fats(bool swapped) {
  struct spate_exfat_file file;
  struct spate_exfat_info info;
  struct spate_exfat_clip clip;
  uint32_t first;
  uint64_t lba;
  uint64_t blocks;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  make_second_active(swapped, &first);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_exfat_open(&image.volume, "chained", &file), SPATE_OK);
  assert_int_equal(spate_exfat_extent(&file, 1024, &lba, &blocks), SPATE_OK);
  assert_ptr_equal(image.ram.memory + (lba << 9), small_cluster(image.ram.memory, first + 2));
  assert_int_equal(spate_exfat_info(&image.volume, &info), SPATE_OK);
  assert_int_equal(info.free_bytes, 1200 * 1024);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "clip", 1024), SPATE_OK);
  assert_true(clip.first_cluster >= 802);
  assert_int_equal(image.ram.memory[106], 3);

  /* The backup's ActiveFat may be of another time: nothing is written, not even what a cut left is repaired. */
  image.ram.memory[600] ^= 1;
  image.ram.keep_log = true;
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_true(image.found.backup_boot);
  assert_int_equal(image.found.reservations, 1);
  assert_int_equal(spate_exfat_arm(&image.volume, &clip, "other", 1024), SPATE_E_CORRUPT);
  assert_int_equal(spate_exfat_delete(&image.volume, "chained"), SPATE_E_CORRUPT);
  assert_int_equal(spate_exfat_unmount(&image.volume), SPATE_OK); /* there was nothing to do */
  expect_no_write();
  image_close(&image);
}

static void test_two_fats(void **state) {
  (void)state;
  check_two_fats(false);
  check_two_fats(true);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_garbage_behind_end),
      cmocka_unit_test(test_foreign),
      cmocka_unit_test(test_record_name_taken),
      cmocka_unit_test(test_record_names_all_taken),
      cmocka_unit_test(test_full_volume_is_cleared),
      cmocka_unit_test(test_checkerboard_is_cleared),
      cmocka_unit_test(test_boot),
      cmocka_unit_test(test_boot_fields),
      cmocka_unit_test(test_damaged_set_listed),
      cmocka_unit_test(test_damaged_set),
      cmocka_unit_test(test_corrupt),
      cmocka_unit_test(test_upcase_checksum),
      cmocka_unit_test(test_corrupt_meanwhile),
      cmocka_unit_test(test_recovery_spares_others),
      cmocka_unit_test(test_recovery_needs_the_tree),
      cmocka_unit_test(test_cycle),
      cmocka_unit_test(test_contiguous_directory_grows),
      cmocka_unit_test(test_dirty_before_us),
      cmocka_unit_test(test_repair_keeps_dirty),
      cmocka_unit_test(test_clear_to_zero),
      cmocka_unit_test(test_record_outlives_the_flag),
      cmocka_unit_test(test_delete_refused),
      cmocka_unit_test(test_no_trim_on_a_dirty_volume),
      cmocka_unit_test(test_recovery_of_a_broken_chain),
      cmocka_unit_test(test_recovery_without_the_directory),
      cmocka_unit_test(test_recording_goes_on),
      cmocka_unit_test(test_unfinished_change),
      cmocka_unit_test(test_benign_entries),
      cmocka_unit_test(test_recovery_reads_the_tree_once),
      cmocka_unit_test(test_two_fats),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
