/* SPDX-License-Identifier: Apache-2.0 */
/* A loop keeps the last parts, deletes the oldest, and nothing else. */
#include "loop_fixture.h"

static void the_oldest_part_is_deleted_before_the_next_is_made(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct looping looping;

  open_loop(&looping, fixture, 0, "CAM/A.RAW", 10 * PART_BYTES);
  stream_parts(&looping, 30);
  settle_loop(&looping);
  assert_in_range(count_files(fixture, "CAM"), 9, 10);
  assert_false(exists(fixture, "CAM/A_00000020.RAW"));
  assert_true(exists(fixture, "CAM/A_00000029.RAW"));
  assert_in_range(looping.loop.counters.deleted, 20, 22);
  const uint64_t at = 28 * PART_BYTES;
  close_loop(&looping);
  file_holds(fixture, "CAM/A_00000029.RAW", looping.source->sent + at, PART_BYTES);
  assert_int_equal(looping.told.count[SPATE_LOOP_SHORT], 0);
  assert_int_equal(looping.told.count[SPATE_LOOP_LEFT], 0);
  close_fixture(fixture);
}

/* Renamed, protected, replaced by a copy, read only: it stays. */
static void what_is_not_the_loops_any_more_stays(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct spate_exfat_clip clip;
  struct looping looping;

  open_loop(&looping, fixture, 0, "CAM/A.RAW", 10 * PART_BYTES);
  stream_parts(&looping, 6);
  settle_loop(&looping);
  OK(spate_exfat_rename(&fixture->volume, "CAM/A_00000001.RAW", "CAM/MINE.RAW"));
  OK(spate_exfat_protect(&fixture->volume, "CAM/A_00000002.RAW", true));
  OK(spate_exfat_delete(&fixture->volume, "CAM/A_00000003.RAW"));
  OK(spate_exfat_arm(&fixture->volume, &clip, "CAM/A_00000003.RAW", MIB)); /* only looks like it */
  OK(spate_exfat_close(&clip, MIB));
  OK(spate_exfat_rename(&fixture->volume, "CAM/A_00000004.RAW", "A_00000004.RAW")); /* moved */
  stream_parts(&looping, 20);
  settle_loop(&looping);
  assert_true(exists(fixture, "CAM/MINE.RAW"));
  assert_true(exists(fixture, "CAM/A_00000002.RAW"));
  assert_true(exists(fixture, "CAM/A_00000003.RAW"));
  assert_true(exists(fixture, "A_00000004.RAW"));
  assert_false(exists(fixture, "CAM/A_00000005.RAW"));
  assert_int_equal(looping.told.count[SPATE_LOOP_LEFT], 4);
  close_loop(&looping);
  close_fixture(fixture);
}

/* A file that was there before, also under the name of a part that is still to come. */
static void files_of_others_stay_and_their_names_are_skipped(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct spate_exfat_clip clip;
  struct looping looping;

  OK(spate_exfat_mkdir(&fixture->volume, "CAM"));
  OK(spate_exfat_arm(&fixture->volume, &clip, "CAM/A_00000007.RAW", MIB));
  OK(spate_exfat_close(&clip, MIB));
  open_loop(&looping, fixture, 0, "CAM/A.RAW", 10 * PART_BYTES);
  stream_parts(&looping, 3);
  OK(spate_exfat_arm(&fixture->volume, &clip, "CAM/A_00000015.RAW", MIB));
  OK(spate_exfat_close(&clip, MIB));
  stream_parts(&looping, 20);
  settle_loop(&looping);
  assert_int_equal(file_bytes(fixture, "CAM/A_00000007.RAW"), MIB);
  assert_int_equal(file_bytes(fixture, "CAM/A_00000015.RAW"), MIB);
  assert_true(exists(fixture, "CAM/A_00000030.RAW")); /* the first number was 8 */
  close_loop(&looping);
  close_fixture(fixture);
}

static void a_loop_goes_on_with_the_parts_of_an_earlier_run(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct looping first, second;

  open_loop(&first, fixture, 0, "CAM/A.RAW", 10 * PART_BYTES);
  stream_parts(&first, 9);
  close_loop(&first);
  open_loop(&second, fixture, 1, "CAM/A.RAW", 10 * PART_BYTES);
  assert_int_equal(second.loop.count, 10); /* nine, and the first of this run */
  stream_parts(&second, 15);
  settle_loop(&second);
  assert_false(exists(fixture, "CAM/A_00000001.RAW"));
  assert_false(exists(fixture, "CAM/A_00000009.RAW"));
  assert_in_range(count_files(fixture, "CAM"), 9, 10);
  close_loop(&second);
  close_fixture(fixture);
}

/* Another volume's list, or one whose entries are damaged, names nothing. */
static void parts_of_a_foreign_list_are_not_deleted(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct looping first, second;

  open_loop(&first, fixture, 0, "CAM/A.RAW", 10 * PART_BYTES);
  stream_parts(&first, 5);
  close_loop(&first);
  fixture->volume.serial ^= 1u;
  open_loop(&second, fixture, 1, "CAM/A.RAW", 8 * PART_BYTES);
  assert_int_equal(second.loop.count, 1);
  stream_parts(&second, 15);
  settle_loop(&second);
  fixture->volume.serial ^= 1u;
  assert_true(exists(fixture, "CAM/A_00000001.RAW"));
  assert_true(exists(fixture, "CAM/A_00000005.RAW"));
  close_loop(&second);
  close_fixture(fixture);
}

static void parts_older_than_the_time_are_deleted(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct looping looping;

  open_loop(&looping, fixture, 0, "CAM/A.RAW", 0);
  looping.loop.config.keep_ms = 10000;
  stream_parts(&looping, 5);
  settle_loop(&looping);
  assert_true(exists(fixture, "CAM/A_00000001.RAW"));
  clock_ns += UINT64_C(11000000000);
  settle_loop(&looping);
  assert_false(exists(fixture, "CAM/A_00000001.RAW"));
  assert_false(exists(fixture, "CAM/A_00000004.RAW"));
  close_loop(&looping);
  close_fixture(fixture);
}

/* Others fill the volume: the loop becomes shorter, and the stream does not end. */
static void a_full_volume_makes_the_loop_shorter(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct spate_exfat_clip clip;
  struct looping looping;

  open_loop(&looping, fixture, 0, "CAM/A.RAW", 40 * PART_BYTES);
  stream_parts(&looping, 20);
  settle_loop(&looping);
  OK(spate_exfat_arm(&fixture->volume, &clip, "FILM", 0)); /* all free space */
  OK(spate_exfat_close(&clip, clip.reserved_bytes));
  stream_parts(&looping, 30);
  settle_loop(&looping);
  assert_true(looping.told.count[SPATE_LOOP_SHORT] > 20);
  assert_int_equal(looping.told.value[SPATE_LOOP_SHORT], PART_BYTES);
  assert_int_equal(fixture->events[SPATE_EVENT_OVERRUN], 0);
  assert_true(exists(fixture, "FILM"));
  close_loop(&looping);
  close_fixture(fixture);
}

/* Pieces of a size that does not divide a part: each part is full all the same, and the memory is released in order. */
static void pieces_are_divided_at_the_end_of_a_part(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct looping looping;
  const uint32_t bytes = 23 * 1024;

  open_loop(&looping, fixture, 0, "CAM/A.RAW", 10 * PART_BYTES);
  stream_loop(&looping, 300, bytes);
  close_loop(&looping);
  file_holds(fixture, "CAM/A_00000001.RAW", looping.source->sent, PART_BYTES);
  file_holds(fixture, "CAM/A_00000002.RAW", looping.source->sent + PART_BYTES, PART_BYTES);
  assert_int_equal(looping.loop.divided_count, 3);
  assert_int_equal(spate_loop_released(&looping.loop), 300);
  assert_int_equal(spate_stream_released(&looping.source->stream), 303);
  close_fixture(fixture);
}

static void wrong_configurations_are_refused(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct looping looping;
  struct spate_loop loop;

  open_loop(&looping, fixture, 0, "CAM/A.RAW", 10 * PART_BYTES);
  struct spate_loop_config config = looping.config;
  GIVES(SPATE_E_INVALID, spate_loop_open(&loop, &config)); /* the stream has a clip */
  close_loop(&looping);
  config.part_bytes = PART_BYTES + 512;
  GIVES(SPATE_E_INVALID, spate_loop_open(&loop, &config));
  config.part_bytes = 0;
  GIVES(SPATE_E_INVALID, spate_loop_open(&loop, &config));
  config.part_bytes = PART_BYTES;
  config.keep_bytes = 7 * PART_BYTES;
  GIVES(SPATE_E_INVALID, spate_loop_open(&loop, &config));
  config.keep_bytes = 0;
  config.part_count = SPATE_LOOP_PARTS_MIN - 1;
  GIVES(SPATE_E_INVALID, spate_loop_open(&loop, &config));
  config.part_count = SPATE_LOOP_PARTS_MAX + 1;
  GIVES(SPATE_E_INVALID, spate_loop_open(&loop, &config));
  config.part_count = PARTS;
  config.path = "MISSING/A.RAW";
  config.memory = aligned_alloc(4096, 4096);
  GIVES(SPATE_E_NOT_FOUND, spate_loop_open(&loop, &config));
  free(config.memory);
  close_fixture(fixture);
}

/* Someone has put another file in the list's place. */
static void a_file_that_is_no_list_is_not_overwritten(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct spate_exfat_clip clip;
  struct looping looping;

  open_loop(&looping, fixture, 0, "CAM/A.RAW", 10 * PART_BYTES);
  close_loop(&looping);
  OK(spate_exfat_delete(&fixture->volume, "CAM/.A.RAW.list"));
  OK(spate_exfat_arm(&fixture->volume, &clip, "CAM/.A.RAW.list", MIB));
  OK(spate_exfat_close(&clip, 100));
  looping.config.memory = aligned_alloc(4096, 4096);
  GIVES(SPATE_E_EXISTS, spate_loop_open(&looping.loop, &looping.config));
  free(looping.config.memory);
  close_fixture(fixture);
}

/* A power cut while the list was made, and a repair of another system, leave an empty file. Nothing of it is lost. */
static void an_empty_list_is_made_again(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct spate_exfat_clip clip;
  struct looping looping;

  OK(spate_exfat_mkdir(&fixture->volume, "CAM"));
  OK(spate_exfat_arm(&fixture->volume, &clip, "CAM/.A.RAW.list", MIB));
  OK(spate_exfat_close(&clip, 0));
  open_loop(&looping, fixture, 0, "CAM/A.RAW", 10 * PART_BYTES);
  close_loop(&looping);
  close_fixture(fixture);
}

static void names_of_parts_are_told_from_others(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct spate_exfat_clip clip;
  struct looping looping;
  static const char *const names[] = {"CAM/A_99.RAW",       "CAM/A_000000099.RAW",  "CAM/A_00000099.RA",
                                      "CAM/B_00000099.RAW", "CAM/A_00000099.RAW.2", "CAM/A_0000009X.RAW",
                                      "CAM/A_.RAW"};

  OK(spate_exfat_mkdir(&fixture->volume, "CAM"));
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    OK(spate_exfat_arm(&fixture->volume, &clip, names[i], 0x1000));
    OK(spate_exfat_close(&clip, 1));
  }
  open_loop(&looping, fixture, 0, "CAM/A.RAW", 10 * PART_BYTES);
  stream_parts(&looping, 1);
  assert_true(exists(fixture, "CAM/A_00000001.RAW")); /* none of them was taken for a part */
  close_loop(&looping);
  close_fixture(fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_oldest_part_is_deleted_before_the_next_is_made),
                                     cmocka_unit_test(what_is_not_the_loops_any_more_stays),
                                     cmocka_unit_test(files_of_others_stay_and_their_names_are_skipped),
                                     cmocka_unit_test(a_loop_goes_on_with_the_parts_of_an_earlier_run),
                                     cmocka_unit_test(parts_of_a_foreign_list_are_not_deleted),
                                     cmocka_unit_test(parts_older_than_the_time_are_deleted),
                                     cmocka_unit_test(a_full_volume_makes_the_loop_shorter),
                                     cmocka_unit_test(pieces_are_divided_at_the_end_of_a_part),
                                     cmocka_unit_test(wrong_configurations_are_refused),
                                     cmocka_unit_test(a_file_that_is_no_list_is_not_overwritten),
                                     cmocka_unit_test(an_empty_list_is_made_again),
                                     cmocka_unit_test(names_of_parts_are_told_from_others)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
