/* SPDX-License-Identifier: Apache-2.0 */
/* What happens while a folder is being joined: other changes, refused changes, failed requests, handles. */
#include "join_fixture.h"

#define PARTS 4u

static struct spate_exfat_clip clip;

static void begin_join(void) {
  open_small();
  put_parts("recording", PARTS, 2, 10);
  OK(spate_exfat_mkdir(&image.volume, "recording 2"));
  put_part("recording 2", 0, 2048);
  OK(spate_exfat_join_begin(&image.volume, &join, "recording"));
}

static void the_folder_is_in_use(void **state) {
  (void)state;
  struct spate_exfat_join other;
  begin_join();
  struct spate_exfat *volume = &image.volume;
  GIVES(SPATE_E_IN_USE, spate_exfat_delete(volume, "recording"));
  GIVES(SPATE_E_IN_USE, spate_exfat_delete(volume, "recording/part 01"));
  GIVES(SPATE_E_IN_USE, spate_exfat_delete_untrimmed(volume, "recording/part 01"));
  GIVES(SPATE_E_IN_USE, spate_exfat_rename(volume, "recording", "other"));
  GIVES(SPATE_E_IN_USE, spate_exfat_rename(volume, "recording/part 01", "recording/other"));
  GIVES(SPATE_E_IN_USE, spate_exfat_rename(volume, "recording/part 01", "other"));
  GIVES(SPATE_E_IN_USE, spate_exfat_rename(volume, "between 1", "recording/other"));
  GIVES(SPATE_E_IN_USE, spate_exfat_rename(volume, "d", "e")); /* a directory: the path must stay */
  GIVES(SPATE_E_IN_USE, spate_exfat_mkdir(volume, "recording/d"));
  GIVES(SPATE_E_IN_USE, spate_exfat_arm(volume, &clip, "recording/clip", 1000));
  GIVES(SPATE_E_IN_USE, spate_exfat_protect(volume, "recording", true));
  GIVES(SPATE_E_IN_USE, spate_exfat_protect(volume, "recording/part 00", true));
  GIVES(SPATE_E_IN_USE, spate_exfat_join_begin(volume, &other, "recording 2"));
  GIVES(SPATE_E_IN_USE, spate_exfat_join_begin(volume, &other, "recording"));
  OK(work_all());
  expect_joined("recording", PARTS, 2, 10);
  OK(spate_exfat_rename(volume, "recording", "other"));
  OK(spate_exfat_protect(volume, "other", true));
  join_all("recording 2");
  OK(spate_exfat_rename(volume, "d", "e"));
  assert_whole(false);
  image_close(&image);
}

static void cancelled(void **state) {
  (void)state;
  bool more;
  begin_join();
  spate_exfat_join_cancel(&join);
  spate_exfat_join_cancel(&join); /* no join any more */
  GIVES(SPATE_E_INVALID, spate_exfat_join_work(&join, &more));
  OK(spate_exfat_rename(&image.volume, "recording", "other"));
  expect_parts("other", PARTS);
  join_all("other");
  expect_joined("other", PARTS, 2, 10);
  assert_whole(false);
  image_close(&image);
}

static void unmounted(void **state) {
  (void)state;
  bool more;
  for (unsigned again = 0; again < 2; again++) {
    begin_join();
    OK(spate_exfat_unmount(&image.volume));
    if (again != 0) OK(image_mount(&image));
    GIVES(again != 0 ? SPATE_E_STALE : SPATE_E_NOT_MOUNTED, spate_exfat_join_work(&join, &more));
    assert_false(more);
    GIVES(SPATE_E_INVALID, spate_exfat_join_work(&join, &more));
    if (again == 0) OK(image_mount(&image));
    expect_parts("recording", PARTS);
    assert_whole(false);
    join_all("recording");
    expect_joined("recording", PARTS, 2, 10);
    image_close(&image);
  }
}

/* A volume with parts that need several calls, and changes of other files between these. */
static void other_changes(void **state) {
  (void)state;
  image_open(&image, 64 * MIB, 512, 0);
  small_format(image.ram.memory, 64 * MIB, 9, 9);
  OK(image_mount(&image));
  put_parts("recording", 6, 8000, 100);
  put_file("gone", NULL, 100000);
  OK(spate_exfat_join_begin(&image.volume, &join, "recording"));
  uint32_t calls = 0;
  for (bool more = true; more; calls++) {
    char path[64];
    OK(spate_exfat_join_work(&join, &more));
    assert_true(more || calls >= 4);
    (void)snprintf(path, sizeof path, "while it is joined %u", calls);
    OK(spate_exfat_arm(&image.volume, &clip, path, 300000));
    if (calls == 1) OK(spate_exfat_delete(&image.volume, "gone"));
    if (calls == 2) OK(spate_exfat_rename(&image.volume, "between 2", "a longer name than it had before"));
    OK(image_publish(&image.ram.block, &clip, 1000));
    OK(spate_exfat_close(&clip, 100000));
    if (calls == 3) OK(spate_exfat_mkdir(&image.volume, "directory"));
  }
  expect_joined("recording", 6, 8000, 100);
  assert_whole(false);
  image_close(&image);
}

/* With an open clip beside the folder, whose lengths are published meanwhile. */
static void a_clip_beside(void **state) {
  (void)state;
  begin_join();
  OK(spate_exfat_arm(&image.volume, &clip, "clip", 10000));
  for (bool more = true; more;) {
    OK(spate_exfat_join_work(&join, &more));
    OK(image_publish(&image.ram.block, &clip, clip.published_bytes + 512));
  }
  assert_whole(true);
  OK(spate_exfat_close(&clip, 5000));
  expect_joined("recording", PARTS, 2, 10);
  assert_whole(false);
  OK(spate_exfat_mkdir(&image.volume, "e"));
  put_part("e", 0, 2048);
  OK(spate_exfat_arm(&image.volume, &clip, "e/clip", 10000));
  GIVES(SPATE_E_IN_USE, spate_exfat_join_begin(&image.volume, &join, "e"));
  OK(spate_exfat_close(&clip, 5000));
  join_all("e");
  assert_whole(false);
  image_close(&image);
}

/* ---- handles ---- */

static void handles_are_stale(void **state) {
  (void)state;
  struct spate_exfat_file files[PARTS];
  struct spate_exfat_file other;
  struct spate_exfat_directory folder;
  struct spate_exfat_entry entry;
  char path[32];
  bool more;
  size_t got;
  uint8_t byte;
  begin_join();
  for (uint32_t i = 0; i < PARTS; i++) {
    (void)snprintf(path, sizeof path, "recording/part %02u", i);
    OK(spate_exfat_open(&image.volume, path, &files[i]));
  }
  OK(spate_exfat_open(&image.volume, "between 1", &other));
  OK(spate_exfat_list(&image.volume, "recording", &folder));
  OK(spate_exfat_list_next(&folder, &entry, &more));
  OK(work_all());
  for (uint32_t i = 0; i < PARTS; i++)
    GIVES(SPATE_E_STALE, spate_exfat_read(&files[i], 0, &byte, 1, &got));
  GIVES(SPATE_E_STALE, spate_exfat_list_next(&folder, &entry, &more));
  OK(spate_exfat_read(&other, 0, &byte, 1, &got));
  image_close(&image);
}

/* ---- the folder is not what it was ---- */

/* The set on the media changes, and the cache has forgotten it. */
static void changed_behind(void **state) {
  (void)state;
  for (unsigned kind = 0; kind < 2; kind++) {
    begin_join();
    uint8_t *set = set_of("recording/part 03");
    if (kind == 0) spate_put64(set + 40, 2000);
    if (kind == 0) spate_put64(set + 56, 2000);
    if (kind == 1) set[12] ^= 1; /* a time */
    small_seal(set);
    for (uint32_t i = 0; i < image.volume.block_count; i++)
      image.volume.blocks[i].lba = UINT64_MAX;
    GIVES(SPATE_E_STALE, work_all());
    expect_parts("recording", PARTS);
    assert_int_equal(image.volume.joining_cluster, 0);
    assert_whole(false);
    image_close(&image);
  }
}

/* ---- failed requests ---- */

/* Each request of the join fails once. Then the volume has the folder with its parts, or the file, and so it has after
 * the next mount. */
static bool join_with_fault(unsigned op, uint32_t skip, bool straddles) {
  struct spate_exfat_entry entry;
  image_open(&image, 4 * MIB, 512, 0);
  small_format(image.ram.memory, 4 * MIB, 9, 10);
  if (straddles) { /* the file entry is the last entry of a block */
    uint8_t *root = small_cluster(image.ram.memory, spate_get32(image.ram.memory + 96));
    for (uint32_t i = 2; i < 15; i++)
      root[32 * (size_t)i] = 5;
    small_add(image.ram.memory, "recording", 0x10, small_allocate(image.ram.memory, 1, 1), 1024, 1024, true);
  }
  OK(image_mount(&image));
  if (!straddles) OK(spate_exfat_mkdir(&image.volume, "recording"));
  for (uint32_t i = 0; i < PARTS; i++) {
    put_part("recording", i, i + 1 == PARTS ? 2038 : 2048);
    put_file(i % 2 ? "between 1" : "between 2", NULL, 1);
    if (i == 1) OK(spate_exfat_rename(&image.volume, "between 1", "between 3"));
    if (i == 1) OK(spate_exfat_rename(&image.volume, "between 2", "between 4"));
  }
  image.config.cache_bytes = SPATE_EXFAT_CACHE_BLOCKS_MIN * 512; /* so that more is read */
  OK(image_mount(&image));
  ram_block_fault(
      &image.ram,
      (struct ram_fault){.ops = RAM_OP(op), .last_lba = UINT64_MAX, .skip = skip, .times = 1, .error = SPATE_E_MEDIA});
  enum spate_error error = spate_exfat_join_begin(&image.volume, &join, "recording");
  if (error == SPATE_OK) error = work_all();
  const bool failed = error != SPATE_OK;
  if (failed) assert_int_equal(error, SPATE_E_MEDIA);
  ram_block_clear_faults(&image.ram);
  assert_int_equal(image.volume.joining_cluster, 0);
  OK(image_mount(&image));
  OK(spate_exfat_stat(&image.volume, "recording", &entry));
  if (entry.directory)
    expect_parts("recording", PARTS);
  else
    expect_joined("recording", PARTS, 2, 10);
  assert_whole(false);
  if (entry.directory) join_all("recording");
  expect_joined("recording", PARTS, 2, 10);
  assert_whole(false);
  image_close(&image);
  return failed;
}

/* Some failed reads are repeated, and do no harm. */
static uint32_t count_failures(unsigned op, bool straddles) {
  uint32_t failures = 0;
  for (uint32_t skip = 0; skip < 60; skip++)
    failures += join_with_fault(op, skip, straddles);
  return failures;
}

static void each_request_fails_once(void **state) {
  (void)state;
  assert_int_equal(count_failures(SPATE_WRITE, false), PARTS + 6);
  assert_in_range(count_failures(SPATE_WRITE, true), PARTS + 6 + 6, 30); /* the set is moved first */
  assert_int_equal(count_failures(SPATE_FLUSH, false), 1);
  assert_in_range(count_failures(SPATE_READ, false), 4, 59);
  assert_in_range(count_failures(SPATE_READ, true), 4, 59);
}

/* A failed write of a link changes nothing that counts: the volume can be changed on, and joined. */
static void a_failed_link_is_no_harm(void **state) {
  (void)state;
  begin_join();
  const uint32_t first = spate_get32(set_of("recording/part 02") + 52);
  const uint64_t lba = (uint64_t)(fat_entry(first) - image.ram.memory) / 512;
  ram_block_fault(
      &image.ram,
      (struct ram_fault){
          .ops = RAM_OP(SPATE_WRITE), .first_lba = lba, .last_lba = lba, .times = 1, .error = SPATE_E_MEDIA});
  GIVES(SPATE_E_MEDIA, work_all());
  OK(spate_exfat_mkdir(&image.volume, "directory"));
  expect_parts("recording", PARTS);
  assert_whole(false);
  join_all("recording");
  expect_joined("recording", PARTS, 2, 10);
  assert_whole(false);
  image_close(&image);
}

/* ---- a clip that mount has not recovered ---- */

/* A program that only records has left a clip's reservation to the next mount. Its file is a part. */
static void a_part_with_a_reservation(void **state) {
  (void)state;
  open_small();
  put_parts("recording", 3, 2, 0);
  OK(spate_exfat_arm(&image.volume, &clip, "recording/part 03", 100000));
  fill_part(image.ram.memory + clip.first_lba * 512, 2048, 3);
  OK(image_publish(&image.ram.block, &clip, 2048 - 10));
  host_starts_again(&image.ram.block);
  OK(spate_exfat_mount_own(&image.volume, &image.config, &image.found));
  assert_int_equal(image.found.reservations, 1);
  join_all("recording");
  expect_joined("recording", 4, 2, 10);
  image.config.salvage = spate_exfat_salvage;
  OK(image_mount(&image));
  assert_int_equal(image.found.reclaimed_bytes, 96 * 1024);
  expect_joined("recording", 4, 2, 10);
  assert_whole(false);
  image_close(&image);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_folder_is_in_use),
      cmocka_unit_test(cancelled),
      cmocka_unit_test(unmounted),
      cmocka_unit_test(other_changes),
      cmocka_unit_test(a_clip_beside),
      cmocka_unit_test(handles_are_stale),
      cmocka_unit_test(changed_behind),
      cmocka_unit_test(each_request_fails_once),
      cmocka_unit_test(a_failed_link_is_no_harm),
      cmocka_unit_test(a_part_with_a_reservation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
