/* SPDX-License-Identifier: Apache-2.0 */
/* Somebody else had the volume between the cut and the mount. A directory that the record names may be gone, or
 * elsewhere, and a file of others may lie over its clusters. Recovery changes only what it meets in the tree. */
#include "foreign_fixture.h"

static void (*const operations[])(void) = {rename_old, delete_old, make_new};
#define OPERATIONS (sizeof operations / sizeof operations[0])

/* ---- journals ---- */

/* FFh, and several random contents. */
#define CONTENTS 8u

static void a_foreign_file_over_a_recorded_folder_is_untouched(void **state) {
  (void)state;
  for (size_t operation = 0; operation < OPERATIONS; operation++)
    for (unsigned content = 0; content < CONTENTS; content++)
      for (unsigned clean = 0; clean < 2; clean++) {
        uint8_t video[CLUSTER];
        const uint32_t folder = open_folder();
        cut(operations[operation], folder, 0);
        assert_int_equal(delete_folder("folder"), folder);
        memset(video, 0xff, sizeof video);
        if (content > 0) fill_random(video, sizeof video, content);
        memcpy(cluster_at(folder), video, sizeof video);
        add_file(folder, true);
        set_clean(clean);
        assert_int_equal(image_mount(&image), SPATE_OK);
        assert_int_equal(image.found.reservations, 1);
        for (uint32_t i = 0; i < CLUSTER; i++)
          if (cluster_at(folder)[i] != video[i])
            fail_msg("operation %zu, content %u, clean %u: byte %u", operation, content, clean, i);
        assert_whole(false);
        check_resolved();
        image_close(&image);
      }
}

/* The file's contents are a directory's, such as an image of a drive: both names of the move are in it. */
static void sets_in_a_foreign_file_are_untouched(void **state) {
  (void)state;
  uint8_t before[CLUSTER];
  const uint32_t folder = open_folder();
  cut(rename_old, folder, 1); /* the old set is still there */
  assert_int_equal(delete_folder("folder"), folder);
  memcpy(before, cluster_at(folder), sizeof before);
  assert_int_equal(before[0], 0x85);
  assert_int_equal(before[SET], 0x85);
  add_file(folder, true);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_memory_equal(cluster_at(folder), before, sizeof before);
  check_resolved();
  image_close(&image);
}

/* A PC has ended the directory before the new name. What is after an end marker is no name, so the old one is the only
 * one. */
static void a_set_behind_the_end_of_the_directory_is_no_name(void **state) {
  (void)state;
  const uint32_t folder = open_folder();
  put_file("folder/gap", NULL, 0);
  cut(rename_old, folder, 1);
  uint8_t *entries = cluster_at(folder);
  assert_int_equal(entries[2 * SET], 0x85);
  entries[SET] = 0;
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(entries[0], 0x85);
  assert_non_null(set_of("folder/old"));
  check_resolved();
  image_close(&image);
}

/* A PC has given the old name's file another name, in the same entries. It is not the file that was being moved. */
static void a_set_of_others_in_the_place_is_untouched(void **state) {
  (void)state;
  const uint32_t folder = open_folder();
  cut(rename_old, folder, 1);
  uint8_t *set = cluster_at(folder);
  set[66] = 'd'; /* "dld" */
  spate_put16(set + 36, 0x1a9b);
  small_seal(set);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(set[0], 0x85);
  assert_int_equal(set[SET], 0x85);
  check_resolved();
  image_close(&image);
}

/* An entry that may be ignored, with entries that belong to it: a set of others, in the place. */
static void a_set_of_a_kind_that_is_not_known_is_untouched(void **state) {
  (void)state;
  uint8_t before[CLUSTER];
  const uint32_t folder = open_folder();
  cut(delete_old, folder, 0);
  uint8_t *entries = cluster_at(folder);
  memset(entries, 0, SET);
  entries[0] = 0xa5;
  entries[1] = 2;
  entries[ENTRY] = 0xe5;
  entries[2 * ENTRY] = 0xe6;
  memcpy(before, entries, sizeof before);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_memory_equal(entries, before, sizeof before);
  check_resolved();
  image_close(&image);
}

/* ---- a directory that was to grow ---- */

/* The directory has the new cluster linked behind its only one, and its old length. */
static uint32_t cut_growth(uint32_t *added) {
  char path[64];
  open_small();
  assert_int_equal(spate_exfat_mkdir(&image.volume, "folder"), SPATE_OK);
  const uint32_t folder = first_of("folder");
  const uint64_t root_lba = (uint64_t)(cluster_at(spate_get32(memory() + 96)) - memory()) / BLOCK;
  enum spate_error error = SPATE_OK;
  ram_block_fault(&image.ram, (struct ram_fault){.ops = RAM_OP(SPATE_WRITE), /* of its set */
                                                 .first_lba = root_lba,
                                                 .last_lba = root_lba + CLUSTER / BLOCK - 1,
                                                 .times = RAM_ALWAYS,
                                                 .error = SPATE_E_MEDIA});
  for (unsigned i = 0; error == SPATE_OK; i++) {
    struct spate_exfat_clip clip;
    (void)snprintf(path, sizeof path, "folder/file %u", i);
    error = spate_exfat_arm(&image.volume, &clip, path, 1);
    if (error == SPATE_OK) error = spate_exfat_close(&clip, 0);
  }
  assert_int_equal(error, SPATE_E_MEDIA);
  ram_block_clear_faults(&image.ram);
  host_starts_again(&image.ram.block);
  *added = spate_get32(fat_entry(folder));
  assert_in_range(*added, 2, UINT32_MAX - 1);
  assert_true(is_marked(*added));
  return folder;
}

static void a_link_of_our_own_is_taken_back(void **state) {
  (void)state;
  uint32_t added;
  const uint32_t folder = cut_growth(&added);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_get32(fat_entry(folder)), UINT32_MAX);
  assert_false(is_marked(added));
  check_resolved();
  image_close(&image);
}

/* The directory's cluster is the last one of a file of others, by its length. Its chain continues. */
static void a_link_of_a_foreign_chain_is_untouched(void **state) {
  (void)state;
  for (unsigned clean = 0; clean < 2; clean++) {
    uint32_t added;
    const uint32_t folder = cut_growth(&added);
    assert_int_equal(delete_folder("folder"), folder);
    memset(cluster_at(folder), 0xff, CLUSTER);
    add_file(folder, false);
    set_clean(clean);
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_int_equal(spate_get32(fat_entry(folder)), added);
    check_resolved();
    image_close(&image);
  }
}

/* The directory's chain still leads to the cluster, but a file has that now. Neither chain is changed. */
static void a_link_to_a_cluster_of_a_file_is_untouched(void **state) {
  (void)state;
  uint32_t added;
  const uint32_t folder = cut_growth(&added);
  const uint32_t more = small_allocate(memory(), 1, 1);
  spate_put32(fat_entry(added), more);
  small_add(memory(), "VIDEO", 0x20, added, UINT64_C(2) * CLUSTER, UINT64_C(2) * CLUSTER, false);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(spate_get32(fat_entry(folder)), added);
  assert_int_equal(spate_get32(fat_entry(added)), more);
  assert_true(is_marked(added));
  image_close(&image);
}

/* ---- a directory that moved ---- */

/* As a PC moves a directory: its set is now in another one. */
static void move_folder_to_d(void) {
  uint8_t *set = set_of("folder");
  uint8_t *to = cluster_at(first_of("d"));
  memcpy(to, set, SET);
  unuse(set);
}

static void a_moved_folder_is_followed(void **state) {
  (void)state;
  for (uint32_t done = 0; done < 2; done++) {
    const uint32_t folder = open_folder();
    cut(rename_old, folder, done);
    move_folder_to_d();
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_whole(false);
    assert_true((oracle_find(&oracle, "d/folder/old") == NULL) == (done > 0));
    assert_true((oracle_find(&oracle, "d/folder/" LONG_NAME) == NULL) == (done == 0));
    check_resolved();
    image_close(&image);
  }
}

/* A PC that defragments has given the directory another first cluster. Nothing shows that it is the same one. */
static void a_folder_with_another_first_cluster_is_left(void **state) {
  (void)state;
  uint8_t before[CLUSTER];
  const uint32_t folder = open_folder();
  cut(rename_old, folder, 1);
  const uint32_t moved = small_allocate(memory(), 1, 1);
  memcpy(cluster_at(moved), cluster_at(folder), CLUSTER);
  memcpy(before, cluster_at(folder), CLUSTER);
  uint8_t *set = set_of("folder");
  spate_put32(set + 52, moved);
  small_seal(set);
  mark(folder, false);
  memset(cluster_at(folder), 0xff, CLUSTER);
  add_file(folder, true);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_memory_equal(cluster_at(moved), before, CLUSTER);
  for (uint32_t i = 0; i < CLUSTER; i++)
    assert_int_equal(cluster_at(folder)[i], 0xff);
  check_resolved();
  image_close(&image);
}

/* The directory's second cluster is elsewhere now, and a file of others is where it was. */
static void a_chain_is_followed_as_it_is_now(void **state) {
  (void)state;
  const uint32_t folder = open_long_folder();
  put_file("folder/old", NULL, 0);
  cut(rename_old, folder + 1, 1);
  const uint32_t moved = replace_second_cluster(folder);
  memset(cluster_at(folder + 1), 0xff, CLUSTER);
  add_file(folder + 1, true);
  assert_int_equal(image_mount(&image), SPATE_OK);
  for (uint32_t i = 0; i < CLUSTER; i++)
    assert_int_equal(cluster_at(folder + 1)[i], 0xff);
  assert_int_equal(cluster_at(moved)[0], 0x05); /* the old name is erased, in the place where it is now */
  assert_int_equal(cluster_at(moved)[SET], 0x85);
  check_resolved();
  image_close(&image);
}

/* The directory is shorter now: the place lies past its end. */
static void a_place_behind_the_end_of_the_chain_is_left(void **state) {
  (void)state;
  const uint32_t folder = open_long_folder();
  put_file("folder/old", NULL, 0);
  cut(rename_old, folder + 1, 1);
  uint8_t *set = set_of("folder");
  spate_put64(set + 40, CLUSTER);
  spate_put64(set + 56, CLUSTER);
  small_seal(set);
  mark(folder + 1, false);
  memset(cluster_at(folder + 1), 0xff, CLUSTER);
  add_file(folder + 1, true);
  assert_int_equal(image_mount(&image), SPATE_OK);
  for (uint32_t i = 0; i < CLUSTER; i++)
    assert_int_equal(cluster_at(folder + 1)[i], 0xff);
  check_resolved();
  image_close(&image);
}

/* Another directory of the tree begins with the same cluster. If it has the same clusters, its contents are the same.
 */
static void two_directories_with_one_first_cluster(void **state) {
  (void)state;
  for (unsigned kind = 0; kind < 3; kind++) { /* equal, longer, linked by the FAT */
    uint8_t before[CLUSTER];
    const uint32_t folder = open_folder();
    cut(rename_old, folder, 1);
    memcpy(before, cluster_at(folder), CLUSTER);
    const uint64_t bytes = kind == 1 ? UINT64_C(2) * CLUSTER : CLUSTER;
    if (kind == 1) memset(cluster_at(folder + 1), 0, CLUSTER);
    if (kind == 2) spate_put32(fat_entry(folder), UINT32_MAX);
    small_add(memory(), "TWIN", 0x10, folder, bytes, bytes, kind != 2);
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_true((memcmp(cluster_at(folder), before, CLUSTER) == 0) == (kind > 0));
    assert_int_equal(cluster_at(folder)[0], kind > 0 ? 0x85 : 0x05);
    check_resolved();
    image_close(&image);
  }
}

/* ---- damage ---- */

/* "folder" has a long set, which was being deleted: a part of it is left, from entry 16 on. */
#define REMAINS 16u

static uint32_t cut_long_deletion(void) {
  char path[300] = "folder/";
  memset(path + 7, 'x', 255);
  const uint32_t folder = open_folder();
  put_file("file", NULL, UINT64_C(2) * CLUSTER);
  assert_int_equal(spate_exfat_rename(&image.volume, "file", path), SPATE_OK);
  delete_file("folder/old");
  stop_at_write(folder, 1);
  assert_int_equal(spate_exfat_delete(&image.volume, path), SPATE_E_MEDIA);
  ram_block_clear_faults(&image.ram);
  host_starts_again(&image.ram.block);
  assert_int_equal(cluster_at(folder)[3 * ENTRY], 0x05); /* its file entry */
  assert_int_equal(cluster_at(folder)[REMAINS * ENTRY], 0xc1);
  return folder;
}

/* The same of a set that was being made, among entries that are not in use. */
static void what_was_made_of_a_set_owns_nothing(void **state) {
  (void)state;
  char path[300] = "folder/";
  memset(path + 7, 'x', 255);
  const uint32_t folder = open_folder();
  assert_int_equal(spate_exfat_mkdir(&image.volume, path), SPATE_OK);
  delete_file(path);
  stop_at_write(folder, 1);
  assert_int_equal(spate_exfat_mkdir(&image.volume, path), SPATE_E_MEDIA);
  ram_block_clear_faults(&image.ram);
  host_starts_again(&image.ram.block);
  assert_int_equal(cluster_at(folder)[3 * ENTRY], 0x05);
  assert_int_equal(cluster_at(folder)[REMAINS * ENTRY], 0xc1);
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.reclaimed_bytes, CLUSTER);
  assert_int_equal(cluster_at(folder)[REMAINS * ENTRY], 0x41);
  assert_whole(false);
  check_resolved();
  image_close(&image);
}

static void what_is_left_of_a_set_owns_nothing(void **state) {
  (void)state;
  const uint32_t folder = cut_long_deletion();
  assert_int_equal(image_mount(&image), SPATE_OK);
  assert_int_equal(image.found.reclaimed_bytes, 2 * CLUSTER);
  assert_int_equal(cluster_at(folder)[REMAINS * ENTRY], 0x41);
  assert_whole(false);
  check_resolved();
  image_close(&image);
}

/* Such an entry anywhere else is damage: it is not known what it owned. */
static void a_stray_entry_elsewhere_prevents_freeing(void **state) {
  (void)state;
  for (unsigned where = 0; where < 4; where++) {
    const uint32_t folder = cut_long_deletion();
    uint8_t *entries = cluster_at(where == 2 ? first_of("d") : folder);
    /* before the place, behind it, as far into another directory, and an entry that is not a secondary one */
    const uint32_t at = (where == 0 ? 2u : where == 1 ? 22u : REMAINS) * ENTRY;
    for (uint32_t i = 0; where == 2 && i < at; i += ENTRY)
      entries[i] = 0x05;
    entries[at] = where == 3 ? 0x84 : 0xc1;
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_int_equal(image.found.reclaimed_bytes, 0);
    assert_int_equal(entries[at], where == 3 ? 0x84 : 0xc1);
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_int_equal(image.found.reservations, 1);
    image_close(&image);
  }
}

/* One of both directories of a move cannot be found, because its own set is damaged. The move is finished when it is
 * sound again. */
static void a_move_waits_for_a_directory_that_was_not_read(void **state) {
  (void)state;
  for (unsigned which = 0; which < 2; which++) {
    const uint32_t folder = open_folder();
    const uint32_t d = first_of("d");
    stop_at_write(folder, 0);
    assert_int_equal(spate_exfat_rename(&image.volume, "folder/old", "d/new"), SPATE_E_MEDIA);
    ram_block_clear_faults(&image.ram);
    host_starts_again(&image.ram.block);
    uint8_t *set = set_of(which == 0 ? "folder" : "d");
    set[2] ^= 1;
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_int_equal(cluster_at(folder)[0], 0x85);
    assert_int_equal(cluster_at(d)[0], 0x85);
    assert_int_equal(spate_exfat_mkdir(&image.volume, "x"), SPATE_E_CORRUPT);
    set[2] ^= 1;
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_int_equal(image.found.reservations, 1);
    assert_int_equal(cluster_at(folder)[0], 0x05);
    assert_int_equal(cluster_at(d)[0], 0x85);
    assert_whole(false);
    check_resolved();
    image_close(&image);
  }
}

/* Damage elsewhere does not prevent the end of a change whose directories were met, and which frees nothing. */
static void a_change_is_finished_beside_damage(void **state) {
  (void)state;
  for (unsigned kind = 0; kind < 3; kind++) {
    const bool moves = kind < 2;
    const uint32_t folder = open_folder();
    cut(moves ? rename_old : delete_old, folder, moves);
    const uint32_t first = small_allocate(memory(), 2, 2);
    memset(cluster_at(first), 0, CLUSTER);
    const uint32_t at =
        small_add(memory(), "DAMAGED", 0x10, first, UINT64_C(2) * CLUSTER, UINT64_C(2) * CLUSTER, false);
    if (kind != 1) cluster_at(spate_get32(memory() + 96))[at + 2] ^= 1;
    if (kind == 1) spate_put32(fat_entry(first), 0); /* a broken chain */
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_int_equal(cluster_at(folder)[0], moves ? 0x05 : 0x85);
    assert_int_equal(cluster_at(folder)[SET], moves ? 0x85 : 0);
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_int_equal(image.found.reservations, 0);
    image_close(&image);
  }
}

static void a_corrupt_set_in_the_place_is_untouched(void **state) {
  (void)state;
  for (size_t operation = 0; operation < 2; operation++) { /* rename and delete: "old" is in the place */
    uint8_t before[CLUSTER];
    const uint32_t folder = open_folder();
    cut(operations[operation], folder, 0);
    cluster_at(folder)[2] ^= 1; /* the checksum */
    memcpy(before, cluster_at(folder), CLUSTER);
    assert_int_equal(image_mount(&image), SPATE_OK);
    assert_memory_equal(cluster_at(folder), before, CLUSTER);
    image_close(&image);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_foreign_file_over_a_recorded_folder_is_untouched),
      cmocka_unit_test(sets_in_a_foreign_file_are_untouched),
      cmocka_unit_test(a_set_behind_the_end_of_the_directory_is_no_name),
      cmocka_unit_test(a_set_of_others_in_the_place_is_untouched),
      cmocka_unit_test(a_set_of_a_kind_that_is_not_known_is_untouched),
      cmocka_unit_test(a_link_of_our_own_is_taken_back),
      cmocka_unit_test(a_link_of_a_foreign_chain_is_untouched),
      cmocka_unit_test(a_link_to_a_cluster_of_a_file_is_untouched),
      cmocka_unit_test(a_moved_folder_is_followed),
      cmocka_unit_test(a_folder_with_another_first_cluster_is_left),
      cmocka_unit_test(a_chain_is_followed_as_it_is_now),
      cmocka_unit_test(a_place_behind_the_end_of_the_chain_is_left),
      cmocka_unit_test(two_directories_with_one_first_cluster),
      cmocka_unit_test(what_was_made_of_a_set_owns_nothing),
      cmocka_unit_test(what_is_left_of_a_set_owns_nothing),
      cmocka_unit_test(a_stray_entry_elsewhere_prevents_freeing),
      cmocka_unit_test(a_move_waits_for_a_directory_that_was_not_read),
      cmocka_unit_test(a_change_is_finished_beside_damage),
      cmocka_unit_test(a_corrupt_set_in_the_place_is_untouched),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
