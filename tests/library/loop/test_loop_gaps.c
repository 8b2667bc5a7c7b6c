/* SPDX-License-Identifier: Apache-2.0 */
/* A span becomes a file only if it has all its data, in order, and nothing else. Otherwise it stays a folder, also
 * after a restart, and the program is told. */
#include "loop_fixture.h"

/* The span is a folder, and nothing else was made of it. */
static void is_a_folder(struct looping *looping) {
  struct spate_exfat_entry entry;

  assert_int_equal(looping->told.count[SPATE_LOOP_KEPT], 0);
  assert_int_equal(looping->told.count[SPATE_LOOP_NOTHING], 0);
  assert_int_equal(looping->told.count[SPATE_LOOP_FOLDER], 1);
  assert_string_equal(looping->told.path[SPATE_LOOP_FOLDER], "EVENT.RAW");
  assert_int_not_equal(looping->told.value[SPATE_LOOP_FOLDER], SPATE_OK);
  OK(spate_exfat_stat(&looping->fixture->volume, "EVENT.RAW", &entry));
  assert_true(entry.directory);
}

static void fail_writes(struct looping *looping, uint64_t lba, uint32_t times, enum spate_error error) {
  ram_block_fault(&looping->fixture->ram,
                  (struct ram_fault){
                      .ops = RAM_OP(SPATE_WRITE), .first_lba = lba, .last_lba = lba, .times = times, .error = error});
}

/* ---- parts that somebody takes away ---- */

static struct fixture *opened_without_part_3(struct looping *looping) {
  struct fixture *fixture = opened(looping, 20);

  stream_seconds(looping, 6);
  OK(spate_loop_trigger(&looping->loop, "EVENT.RAW", UINT64_MAX, UINT64_MAX, NULL));
  OK(spate_exfat_rename(&fixture->volume, "CAM/A_00000003.RAW", "MINE.RAW"));
  stream_seconds(looping, 3);
  assert_true(exists(fixture, "EVENT.RAW/A_00000008.RAW")); /* the loop has found that it is missing */
  return fixture;
}

static void a_part_that_was_renamed_is_missing_after_a_restart(void **state) {
  (void)state;
  struct looping looping, next;
  struct fixture *fixture = opened_without_part_3(&looping);

  restart(&looping, &next, PART_BYTES);
  settle_until_kept(&next);
  is_a_folder(&next);
  file_holds(fixture, "MINE.RAW", looping.source->sent + 2 * PART_BYTES, PART_BYTES);
  close_loop(&next);
  close_fixture(fixture);
}

/* It would be after those that were moved before it. */
static void a_part_that_comes_back_late_is_not_the_last_of_a_file(void **state) {
  (void)state;
  struct looping looping, next;
  struct fixture *fixture = opened_without_part_3(&looping);

  OK(spate_exfat_rename(&fixture->volume, "MINE.RAW", "CAM/A_00000003.RAW"));
  restart(&looping, &next, PART_BYTES);
  settle_until_kept(&next);
  is_a_folder(&next);
  const bool moved = exists(fixture, "EVENT.RAW/A_00000003.RAW");
  file_holds(fixture, moved ? "EVENT.RAW/A_00000003.RAW" : "CAM/A_00000003.RAW", looping.source->sent + 2 * PART_BYTES,
             PART_BYTES);
  close_loop(&next);
  close_fixture(fixture);
}

/* ---- a list that cannot be written ---- */

static const enum spate_error reasons[] = {SPATE_E_TIMEOUT, SPATE_E_MEDIA};

/* Up to `parts` parts, with no second over. Returns the first error of the loop's work; *errors: how many. */
static enum spate_error stream_with_errors(struct looping *looping, uint32_t parts, unsigned *errors) {
  enum spate_error first = SPATE_OK;

  for (uint32_t i = 0; i < parts * PART_PIECES || spate_stream_room(&looping->source->stream) < PIECES;) {
    if (i < parts * PART_PIECES && loop_push(looping, PIECE) == SPATE_OK) i++;
    work(looping->fixture);
    const enum spate_error error = spate_loop_work(&looping->loop);
    *errors += error != SPATE_OK ? 1u : 0u;
    if (first == SPATE_OK) first = error;
  }
  return first;
}

/* A piece is refused in the open span, and the list's block cannot be written then. Parts 4 and 5 are full. */
static struct fixture *opened_with_an_unlisted_gap(struct looping *looping, enum spate_error why) {
  struct fixture *fixture = opened(looping, 20);
  unsigned errors = 0;

  stream_seconds(looping, 3);
  OK(spate_loop_trigger(&looping->loop, "EVENT.RAW", UINT64_MAX, UINT64_MAX, NULL));
  settle_loop(looping);
  looping->loop.refused = true;
  fail_writes(looping, looping->loop.list_lba, 1, why);
  GIVES(why, stream_with_errors(looping, 3, &errors));
  assert_int_equal(errors, 1); /* it does not come at each turn */
  return fixture;
}

static void while_a_gap_is_not_listed_no_part_is_moved(void **state) {
  (void)state;
  for (unsigned i = 0; i < 2; i++) {
    struct looping looping;
    struct fixture *fixture = opened_with_an_unlisted_gap(&looping, reasons[i]);
    settle_loop(&looping);
    assert_false(exists(fixture, "EVENT.RAW/A_00000004.RAW") || exists(fixture, "EVENT.RAW/A_00000005.RAW"));
    assert_true(exists(fixture, "CAM/A_00000005.RAW"));
    assert_true(looping.loop.spans[0].unlisted);
    clock_ns += SECOND;
    settle_loop(&looping);
    assert_false(looping.loop.spans[0].unlisted);
    assert_true(exists(fixture, "EVENT.RAW/A_00000005.RAW"));
    close_loop(&looping);
    is_a_folder(&looping);
    close_fixture(fixture);
  }
}

static void a_gap_is_listed_although_the_list_could_not_be_written_at_once(void **state) {
  (void)state;
  for (unsigned i = 0; i < 2; i++) {
    struct looping looping, next;
    struct fixture *fixture = opened_with_an_unlisted_gap(&looping, reasons[i]);
    clock_ns += SECOND;
    settle_loop(&looping);
    restart(&looping, &next, PART_BYTES);
    settle_until_kept(&next);
    is_a_folder(&next);
    close_loop(&next);
    close_fixture(fixture);
  }
}

/* At the end of the stream nothing can wait for the list. */
static void a_list_that_cannot_be_written_does_not_keep_close_waiting(void **state) {
  (void)state;
  struct looping looping;
  struct fixture *fixture = opened_with_an_unlisted_gap(&looping, SPATE_E_MEDIA);

  ram_block_clear_faults(&fixture->ram);
  fail_writes(&looping, looping.loop.list_lba, RAM_ALWAYS, SPATE_E_MEDIA);
  OK(spate_recorder_finish(&fixture->recorder));
  GIVES(SPATE_E_MEDIA, spate_loop_close(&looping.loop));
  is_a_folder(&looping);
  assert_true(exists(fixture, "EVENT.RAW/A_00000005.RAW"));
  ram_block_clear_faults(&fixture->ram);
  free(looping.config.memory);
  close_fixture(fixture);
}

/* ---- no space, although clusters are free ---- */

/* A volume that was mounted with spate_exfat_mount_own(): folders do not grow. */
static void no_part_is_deleted_for_a_folder_that_cannot_grow(void **state) {
  (void)state;
  struct looping looping;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  enum spate_error error = SPATE_OK;

  format_small(fixture);
  open_loop(&looping, fixture, 0, LONG_NAME, 20 * PART_BYTES);
  stream_seconds(&looping, 18);
  OK(spate_loop_trigger(&looping.loop, "EVENT.RAW", 10500, 0, NULL));
  clock_ns += SECOND;
  stream_loop(&looping, 1, PIECE);
  const struct spate_exfat_repairs *repairs = fixture->volume.repairs;
  fixture->volume.repairs = NULL;
  for (int i = 0; i < 3000 && spate_loop_keeps(&looping.loop); i++) {
    work(fixture);
    error = spate_loop_work(&looping.loop);
    assert_true(error == SPATE_OK || error == SPATE_E_NO_SPACE);
  }
  fixture->volume.repairs = repairs;
  assert_false(spate_loop_keeps(&looping.loop));
  is_a_folder(&looping);
  assert_int_equal(looping.told.count[SPATE_LOOP_SHORT], 0);
  assert_int_equal(looping.loop.counters.deleted, 0);
  close_loop(&looping);
  close_fixture(fixture);
}

static void no_part_is_deleted_for_a_trigger_whose_folder_has_no_place(void **state) {
  (void)state;
  struct looping looping;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  enum spate_error error = SPATE_OK;
  char path[16];

  format_small(fixture);
  open_loop(&looping, fixture, 0, "CAM/A.RAW", 20 * PART_BYTES);
  stream_seconds(&looping, 12);
  const struct spate_exfat_repairs *repairs = fixture->volume.repairs;
  fixture->volume.repairs = NULL;
  for (unsigned i = 0; i < 200 && error == SPATE_OK; i++) {
    (void)snprintf(path, sizeof path, "FULL%u", i);
    error = spate_exfat_mkdir(&fixture->volume, path);
  }
  GIVES(SPATE_E_NO_SPACE, error);
  GIVES(SPATE_E_NO_SPACE, spate_loop_trigger(&looping.loop, "EVENT.RAW", 5000, 0, NULL));
  assert_false(looping.loop.wants_room);
  settle_loop(&looping);
  fixture->volume.repairs = repairs;
  assert_int_equal(looping.told.count[SPATE_LOOP_SHORT], 0);
  assert_int_equal(looping.loop.counters.deleted, 0);
  close_loop(&looping);
  close_fixture(fixture);
}

/* ---- no next part ---- */

/* Others take each of the volume's slots for open files as it becomes free. FULL would mean: call work, and push it
 * again. */
static void a_next_part_that_finds_no_slot_is_told_to_who_pushes(void **state) {
  (void)state;
  struct looping looping;
  struct fixture *fixture = opened(&looping, 20);
  static struct spate_exfat_clip clips[SPATE_EXFAT_CLIPS_MAX];
  unsigned count = 0;
  char path[16];
  enum spate_error error = SPATE_OK;

  stream_seconds(&looping, 2);
  for (int i = 0; i < 20000 && (error == SPATE_OK || error == SPATE_E_FULL); i++) {
    (void)snprintf(path, sizeof path, "X%u", count);
    if (count < SPATE_EXFAT_CLIPS_MAX && spate_exfat_arm(&fixture->volume, &clips[count], path, MIB) == SPATE_OK)
      count++;
    OK(spate_loop_work(&looping.loop));
    error = loop_push(&looping, PIECE);
    clock_ns += SECOND / 100;
    work(fixture);
  }
  GIVES(SPATE_E_FULL, looping.loop.error);
  GIVES(SPATE_E_RESERVATION, error);
  for (unsigned i = 0; i < count; i++)
    OK(spate_exfat_discard(&clips[i]));
  clock_ns += SECOND;
  settle_loop(&looping);
  OK(loop_push(&looping, PIECE));
  close_loop(&looping);
  close_fixture(fixture);
}

/* ---- data that the drive has lost ---- */

static void lose_a_write(struct looping *looping, const struct spate_stream_clip *clip, uint64_t bytes) {
  fail_writes(looping, clip->file.first_lba + bytes / 512, 1, SPATE_E_MEDIA);
}

/* The recorder has told the loss, and tells it at its end. */
static void close_after_a_loss(struct looping *looping) {
  assert_true(looping->fixture->events[SPATE_EVENT_LOST] > 0);
  GIVES(SPATE_E_MEDIA, spate_recorder_finish(&looping->fixture->recorder));
  OK(spate_loop_close(&looping->loop));
  free(looping->config.memory);
  close_fixture(looping->fixture);
}

/* The last part of a span has no part after it, and is no whole one either. The loss is what the trigger was about. */
static void a_loss_in_the_last_part_of_a_span_is_no_file(void **state) {
  (void)state;
  for (unsigned kept_pieces = 0; kept_pieces < 8; kept_pieces += 4) {
    struct looping looping;
    (void)opened(&looping, 20);
    stream_seconds(&looping, 3);
    lose_a_write(&looping, looping.source->stream.following, (uint64_t)kept_pieces * PIECE);
    for (int i = 0; i < 8; i++)
      OK(loop_push(&looping, PIECE));
    OK(spate_loop_work(&looping.loop)); /* it knows of the part; the drive has not answered */
    assert_int_equal(looping.loop.streaming, 4);
    OK(spate_loop_trigger(&looping.loop, "EVENT.RAW", UINT64_MAX, 0, NULL));
    settle_until_kept(&looping);
    is_a_folder(&looping);
    assert_true(exists(looping.fixture, "EVENT.RAW/A_00000003.RAW"));
    close_after_a_loss(&looping);
  }
}

/* The first pieces of a part, and a trigger at once: they are what it was about. */
static void what_was_pushed_before_a_trigger_is_in_its_span(void **state) {
  (void)state;
  struct looping looping;
  struct fixture *fixture = opened(&looping, 20);

  stream_seconds(&looping, 3);
  for (int i = 0; i < 8; i++)
    OK(loop_push(&looping, PIECE));
  const uint64_t bytes = looping.source->sent_bytes;
  OK(spate_loop_trigger(&looping.loop, "EVENT.RAW", UINT64_MAX, 0, NULL));
  settle_until_kept(&looping);
  assert_int_equal(looping.told.count[SPATE_LOOP_KEPT], 1);
  file_holds(fixture, "EVENT.RAW", looping.source->sent, bytes);
  close_loop(&looping);
  close_fixture(fixture);
}

static void what_was_lost_before_a_trigger_is_in_its_span(void **state) {
  (void)state;
  struct looping looping;
  (void)opened(&looping, 20);

  stream_seconds(&looping, 3);
  lose_a_write(&looping, looping.source->stream.following, 0);
  for (int i = 0; i < 8; i++)
    OK(loop_push(&looping, PIECE));
  OK(spate_loop_trigger(&looping.loop, "EVENT.RAW", UINT64_MAX, 0, NULL));
  settle_until_kept(&looping);
  is_a_folder(&looping);
  close_after_a_loss(&looping);
}

static void a_span_that_has_lost_all_its_data_says_so(void **state) {
  (void)state;
  struct looping looping;
  (void)opened(&looping, 20);

  lose_a_write(&looping, looping.source->stream.current, 0);
  for (int i = 0; i < 8; i++)
    OK(loop_push(&looping, PIECE));
  OK(spate_loop_trigger(&looping.loop, "EVENT.RAW", UINT64_MAX, 0, NULL));
  settle_until_kept(&looping);
  assert_int_equal(looping.told.count[SPATE_LOOP_KEPT] + looping.told.count[SPATE_LOOP_FOLDER], 0);
  assert_int_equal(looping.told.count[SPATE_LOOP_NOTHING], 1);
  assert_int_not_equal(looping.told.value[SPATE_LOOP_NOTHING], SPATE_OK);
  assert_false(exists(looping.fixture, "EVENT.RAW"));
  close_after_a_loss(&looping);
}

/* ---- a program that holds its data back ---- */

static bool may_end(void *context, struct spate_loop *loop) {
  (void)context;
  assert_non_null(loop);
  return true;
}

static void a_span_without_a_byte_is_not_due(void **state) {
  (void)state;
  struct looping looping;
  struct fixture *fixture = opened(&looping, 20);
  uint64_t bytes = 0;

  looping.loop.config.may_end = may_end;
  OK(spate_loop_trigger(&looping.loop, "EVENT.RAW", 1000, 0, NULL));
  clock_ns += SECOND;
  settle_loop(&looping);
  assert_false(spate_loop_is_due(&looping.loop));
  for (int i = 0; i < 10000 && spate_loop_keeps(&looping.loop); i++) {
    if (!spate_loop_is_due(&looping.loop)) (void)loop_push(&looping, PIECE);
    if (bytes == 0 && looping.source->sent_bytes > 0) {
      bytes = looping.source->sent_bytes;
      assert_true(spate_loop_is_due(&looping.loop));
    }
    turn(&looping);
  }
  assert_false(spate_loop_keeps(&looping.loop));
  assert_int_equal(looping.told.count[SPATE_LOOP_KEPT], 1);
  file_holds(fixture, "EVENT.RAW", looping.source->sent, bytes);
  close_loop(&looping);
  close_fixture(fixture);
}

/* ---- a file of somebody else ---- */

/* With a restart: a PC has shown the folder meanwhile, and has left a file in it. */
static void a_file_of_the_user_in_the_folder_stays(void **state) {
  (void)state;
  for (unsigned restarted = 0; restarted < 2; restarted++) {
    struct looping looping, next;
    struct fixture *fixture = opened(&looping, 20);
    struct looping *last = restarted == 1 ? &next : &looping;
    struct spate_exfat_clip clip;
    stream_seconds(&looping, 6);
    OK(spate_loop_trigger(&looping.loop, "EVENT.RAW", UINT64_MAX, restarted == 1 ? UINT64_MAX : 1000, NULL));
    OK(spate_exfat_arm(&fixture->volume, &clip, "EVENT.RAW/USER.BIN", MIB));
    uint8_t *data = fixture->ram.memory + clip.first_lba * 512;
    memcpy(data, looping.source->sent + 12345, MIB);
    OK(spate_exfat_close(&clip, MIB));
    if (restarted == 1)
      restart(&looping, &next, PART_BYTES);
    else
      stream_seconds(&looping, 3);
    settle_until_kept(last);
    is_a_folder(last);
    file_holds(fixture, "EVENT.RAW/USER.BIN", looping.source->sent + 12345, MIB);
    file_holds(fixture, "EVENT.RAW/A_00000006.RAW", looping.source->sent + 5 * PART_BYTES, PART_BYTES);
    close_loop(last);
    close_fixture(fixture);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_part_that_was_renamed_is_missing_after_a_restart),
                                     cmocka_unit_test(a_part_that_comes_back_late_is_not_the_last_of_a_file),
                                     cmocka_unit_test(while_a_gap_is_not_listed_no_part_is_moved),
                                     cmocka_unit_test(a_gap_is_listed_although_the_list_could_not_be_written_at_once),
                                     cmocka_unit_test(a_list_that_cannot_be_written_does_not_keep_close_waiting),
                                     cmocka_unit_test(no_part_is_deleted_for_a_folder_that_cannot_grow),
                                     cmocka_unit_test(no_part_is_deleted_for_a_trigger_whose_folder_has_no_place),
                                     cmocka_unit_test(a_next_part_that_finds_no_slot_is_told_to_who_pushes),
                                     cmocka_unit_test(a_loss_in_the_last_part_of_a_span_is_no_file),
                                     cmocka_unit_test(what_was_pushed_before_a_trigger_is_in_its_span),
                                     cmocka_unit_test(what_was_lost_before_a_trigger_is_in_its_span),
                                     cmocka_unit_test(a_span_that_has_lost_all_its_data_says_so),
                                     cmocka_unit_test(a_span_without_a_byte_is_not_due),
                                     cmocka_unit_test(a_file_of_the_user_in_the_folder_stays)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
