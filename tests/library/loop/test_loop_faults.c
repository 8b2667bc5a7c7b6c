/* SPDX-License-Identifier: Apache-2.0 */
/* Loops whose drive fails, whose configuration changes between runs, or whose list names what cannot be: no part is
 * lost, nothing waits without end, and every error is told. */
#include "loop_fixture.h"

static void the_longest_times_are_kept(void **state) {
  (void)state;
  struct looping looping;
  struct fixture *fixture = opened(&looping, 12);

  looping.loop.config.keep_ms = UINT64_MAX;
  stream_seconds(&looping, 6);
  assert_int_equal(looping.loop.counters.deleted, 0);
  OK(spate_loop_trigger(&looping.loop, "EVENT.RAW", UINT64_MAX, UINT64_MAX, NULL));
  stream_seconds(&looping, 12);
  close_loop(&looping);
  file_holds(fixture, "EVENT.RAW", looping.source->sent, looping.source->sent_bytes);
  close_fixture(fixture);
}

/* Deletions could not make the room for one part. */
static void a_part_that_is_too_long_for_the_volume_deletes_nothing(void **state) {
  (void)state;
  struct looping looping;
  struct fixture *fixture = opened(&looping, 10);

  stream_parts(&looping, 5);
  close_loop(&looping);
  looping.config.memory = aligned_alloc(4096, 4096);
  looping.config.keep_bytes = 0;
  looping.config.part_bytes = 2 * VOLUME_MIB * MIB;
  GIVES(SPATE_E_INVALID, spate_loop_open(&looping.loop, &looping.config));
  assert_true(exists(fixture, "CAM/A_00000001.RAW"));
  free(looping.config.memory);
  close_fixture(fixture);
}

/* The next run has room for fewer parts than the span has: it is refused, and a later one makes the file. */
static void a_span_of_more_parts_than_the_next_run_has_room_for(void **state) {
  (void)state;
  struct looping looping, next;
  struct fixture *fixture = opened(&looping, 20);

  stream_seconds(&looping, 16);
  OK(spate_loop_trigger(&looping.loop, "EVENT.RAW", UINT64_MAX, UINT64_MAX, NULL));
  const uint32_t first = looping.loop.spans[0].first;
  assert_int_equal(first, 1);
  restart_host(fixture);
  free(looping.config.memory);
  next = looping;
  open_source(fixture, &fixture->sources[1], 9, false, 0);
  next.source = &fixture->sources[1];
  next.config.stream = &next.source->stream;
  next.config.context = &next;
  next.config.part_count = SPATE_LOOP_PARTS_MIN;
  next.config.keep_bytes = 8 * PART_BYTES;
  next.config.memory = aligned_alloc(4096, 4096);
  next.told = (struct told){0};
  GIVES(SPATE_E_MEMORY, spate_loop_open(&next.loop, &next.config)); /* and nothing is lost */
  assert_true(exists(fixture, "CAM/A_00000001.RAW"));
  next.config.part_count = PARTS;
  OK(spate_loop_open(&next.loop, &next.config));
  stream_parts(&next, 20);
  settle_until_kept(&next);
  close_loop(&next);
  assert_int_equal(next.told.count[SPATE_LOOP_KEPT], 1);
  assert_true(file_bytes(fixture, "EVENT.RAW") >= 16 * PART_BYTES);
  close_fixture(fixture);
}

/* The stream has stopped, and data between the parts are lost. */
static void no_span_goes_over_a_gap(void **state) {
  (void)state;
  struct looping looping;
  struct fixture *fixture = opened(&looping, 12);

  stream_seconds(&looping, 3);
  settle_loop(&looping);
  OK(spate_stream_stop(&looping.source->stream));
  settle_loop(&looping);
  assert_true(looping.loop.streaming != 0); /* the loop continues by itself */
  const uint64_t gap = looping.source->sent_bytes;
  stream_seconds(&looping, 3);
  OK(spate_loop_trigger(&looping.loop, "EVENT.RAW", UINT64_MAX, 0, NULL));
  clock_ns += SECOND;
  stream_parts(&looping, 1);
  settle_until_kept(&looping);
  assert_int_equal(looping.told.count[SPATE_LOOP_KEPT], 1);
  const uint64_t bytes = file_bytes(fixture, "EVENT.RAW");
  assert_true(bytes >= 3 * PART_BYTES);
  file_holds(fixture, "EVENT.RAW", looping.source->sent + gap, bytes);
  close_loop(&looping);
  close_fixture(fixture);
}

/* The same within a span: it stays a folder, with all that there is. */
static void a_span_with_a_gap_in_it_is_no_file(void **state) {
  (void)state;
  struct looping looping;
  struct fixture *fixture = opened(&looping, 12);

  stream_seconds(&looping, 3);
  OK(spate_loop_trigger(&looping.loop, "EVENT.RAW", UINT64_MAX, 4000, NULL));
  stream_loop(&looping, 16, PIECE); /* a multiple of the cluster */
  OK(spate_stream_stop(&looping.source->stream));
  settle_loop(&looping);
  stream_seconds(&looping, 6);
  settle_until_kept(&looping);
  assert_int_equal(looping.told.count[SPATE_LOOP_KEPT], 0);
  assert_int_equal(looping.told.count[SPATE_LOOP_FOLDER], 1);
  assert_true(exists(fixture, "EVENT.RAW/A_00000001.RAW") && exists(fixture, "EVENT.RAW/A_00000006.RAW"));
  close_loop(&looping);
  close_fixture(fixture);
}

/* The drive fails in the middle of a part, at the end of a cluster: what follows is in the next one. */
static void data_that_the_drive_lost_are_a_gap(void **state) {
  (void)state;
  for (unsigned late = 0; late < 2; late++) {
    struct looping looping;
    struct fixture *fixture = opened(&looping, 12);
    stream_seconds(&looping, 2);
    if (late == 0) OK(spate_loop_trigger(&looping.loop, "EVENT.RAW", UINT64_MAX, 3000, NULL));
    stream_loop(&looping, 1, PIECE); /* into the next part */
    const uint64_t lba = looping.source->stream.current->file.first_lba + MIB / 512;
    ram_block_fault(
        &fixture->ram,
        (struct ram_fault){
            .ops = RAM_OP(SPATE_WRITE), .first_lba = lba, .last_lba = lba, .times = 1, .error = SPATE_E_MEDIA});
    stream_seconds(&looping, 4);
    if (late == 1) OK(spate_loop_trigger(&looping.loop, "EVENT.RAW", UINT64_MAX, 0, NULL));
    clock_ns += SECOND;
    stream_parts(&looping, 2);
    settle_until_kept(&looping);
    assert_int_equal(fixture->events[SPATE_EVENT_LOST] > 0, true);
    assert_int_equal(looping.told.count[late == 0 ? SPATE_LOOP_FOLDER : SPATE_LOOP_KEPT], 1);
    if (late == 1) assert_in_range(looping.loop.first_number, 5, 8);
    GIVES(SPATE_E_MEDIA, spate_recorder_finish(&fixture->recorder));
    OK(spate_loop_close(&looping.loop));
    if (late == 1) assert_true(file_bytes(fixture, "EVENT.RAW") <= 5 * PART_BYTES);
    free(looping.config.memory);
    close_fixture(fixture);
  }
}

static void the_greatest_numbers_are_no_parts_names(void **state) {
  (void)state;
  static const char *const names[] = {"CAM/A_4294967294.RAW", "CAM/A_4294967295.RAW", "CAM/A_00000004.RAW"};
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct spate_exfat_clip clip;
  struct looping looping;

  OK(spate_exfat_mkdir(&fixture->volume, "CAM"));
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    OK(spate_exfat_arm(&fixture->volume, &clip, names[i], MIB));
    OK(spate_exfat_close(&clip, 1));
  }
  open_loop(&looping, fixture, 0, "CAM/A.RAW", 10 * PART_BYTES);
  stream_parts(&looping, 12);
  settle_loop(&looping);
  assert_int_equal(looping.loop.error, SPATE_OK);
  assert_in_range(looping.loop.streaming, 12, 32);
  close_loop(&looping);
  close_fixture(fixture);
}

/* A part's file cannot be closed, and its memory is not used again: there is no next part, and this is told. */
static void a_part_that_cannot_be_closed_is_told(void **state) {
  (void)state;
  struct looping looping;
  struct fixture *fixture = opened(&looping, 10);
  enum spate_error error = SPATE_E_FULL;

  stream_parts(&looping, 1);
  stream_loop(&looping, PART_PIECES - 4, PIECE);
  settle_loop(&looping);
  assert_true(looping.loop.armed != 0);
  const uint64_t lba = looping.source->stream.current->file.block->lba;
  ram_block_fault(
      &fixture->ram,
      (struct ram_fault){
          .ops = RAM_OP(SPATE_WRITE), .first_lba = lba, .last_lba = lba, .times = RAM_ALWAYS, .error = SPATE_E_MEDIA});
  for (int i = 0; i < 20000 && (error == SPATE_OK || error == SPATE_E_FULL); i++) {
    error = loop_push(&looping, PIECE);
    const enum spate_error worked = spate_recorder_work(&fixture->recorder);
    const enum spate_error looped = spate_loop_work(&looping.loop);
    assert_true(worked == SPATE_OK || worked == SPATE_E_MEDIA);
    assert_true(looped == SPATE_OK || looped == SPATE_E_MEDIA);
  }
  assert_true(error != SPATE_OK && error != SPATE_E_FULL);
  assert_true(looping.loop.error != SPATE_OK);
  fixture->ram.faults[0].times = 0;
  free(looping.config.memory);
  OK(spate_recorder_finish(&fixture->recorder));
  free_fixture(fixture);
}

/* Somebody else uses the volume at present: close returns, and can be called again. */
static void close_does_not_wait_without_end(void **state) {
  (void)state;
  struct looping looping;
  struct fixture *fixture = opened(&looping, 10);

  stream_seconds(&looping, 5);
  OK(spate_loop_trigger(&looping.loop, "EVENT.RAW", UINT64_MAX, UINT64_MAX, NULL));
  OK(spate_recorder_finish(&fixture->recorder));
  fixture->volume.busy = true;
  GIVES(SPATE_E_BUSY, spate_loop_close(&looping.loop));
  fixture->volume.busy = false;
  OK(spate_loop_close(&looping.loop));
  assert_int_equal(file_bytes(fixture, "EVENT.RAW"), looping.source->sent_bytes);
  free(looping.config.memory);
  close_fixture(fixture);
}

static void a_piece_longer_than_a_part_is_refused_as_a_whole(void **state) {
  (void)state;
  struct looping looping;
  struct fixture *fixture = opened(&looping, 10);

  stream_loop(&looping, 1, PIECE);
  settle_loop(&looping);
  stream_loop(&looping, PART_PIECES - 2, PIECE); /* a piece is left */
  settle_loop(&looping);
  const uint32_t before = looping.source->stream.pushed;
  looping.loop.config.part_bytes = PIECE;
  GIVES(SPATE_E_INVALID, spate_loop_push(&looping.loop, 0, 3 * PIECE));
  assert_int_equal(looping.source->stream.pushed, before);
  looping.loop.config.part_bytes = PART_BYTES;
  close_loop(&looping);
  close_fixture(fixture);
}

/* Its clusters may be another file's by now. */
static void a_list_that_somebody_has_deleted_is_not_written(void **state) {
  (void)state;
  struct looping looping;
  struct fixture *fixture = opened(&looping, 10);
  enum spate_error error = SPATE_OK;

  stream_parts(&looping, 1);
  settle_loop(&looping);
  OK(spate_exfat_delete(&fixture->volume, "CAM/.A.RAW.list"));
  for (uint32_t i = 0; i < 10000 && error == SPATE_OK; i++) {
    (void)loop_push(&looping, PIECE);
    work(fixture);
    error = spate_loop_work(&looping.loop);
  }
  GIVES(SPATE_E_STALE, error);
  OK(spate_recorder_finish(&fixture->recorder));
  OK(spate_loop_close(&looping.loop));
  free(looping.config.memory);
  close_fixture(fixture);
}

/* The loop has taken all room of the volume. A trigger needs a cluster: the oldest part makes room for it. */
static void a_trigger_on_a_full_volume_makes_room(void **state) {
  (void)state;
  struct looping looping;
  struct fixture *fixture = opened(&looping, 20);

  stream_seconds(&looping, 12);
  settle_loop(&looping);
  take_all_room(fixture, 0);
  enum spate_error error = spate_loop_trigger(&looping.loop, "EVENT.RAW", 5000, 0, NULL);
  GIVES(SPATE_E_NO_SPACE, error);
  settle_loop(&looping);
  OK(spate_loop_trigger(&looping.loop, "EVENT.RAW", 5000, 0, NULL));
  clock_ns += SECOND;
  stream_parts(&looping, 2);
  settle_until_kept(&looping);
  assert_true(file_bytes(fixture, "EVENT.RAW") >= 5 * PART_BYTES);
  close_loop(&looping);
  close_fixture(fixture);
}

/* The volume is full, pieces are refused, and the stream ends: nothing is missing between the parts of the span. */
static void a_span_on_a_full_volume_is_a_file(void **state) {
  (void)state;
  struct looping looping;
  struct fixture *fixture = opened(&looping, 20);
  unsigned refused = 0;

  stream_seconds(&looping, 4);
  OK(spate_loop_trigger(&looping.loop, "EVENT.RAW", UINT64_MAX, UINT64_MAX, NULL));
  settle_loop(&looping);
  take_all_room(fixture, 0);
  for (uint32_t i = 0; i < 20000; i++) {
    const enum spate_error error = loop_push(&looping, PIECE);
    refused += error != SPATE_OK && error != SPATE_E_FULL ? 1u : 0u;
    turn(&looping);
  }
  assert_true(refused > 0);
  close_loop(&looping);
  assert_int_equal(looping.told.count[SPATE_LOOP_KEPT], 1);
  file_holds(fixture, "EVENT.RAW", looping.source->sent, looping.source->sent_bytes);
  close_fixture(fixture);
}

/* Nothing may be deleted, and the stream ends. When there is room again, it continues. */
static void room_that_comes_late_is_used(void **state) {
  (void)state;
  struct looping looping;
  struct fixture *fixture = opened(&looping, 20);

  stream_seconds(&looping, 4);
  OK(spate_loop_trigger(&looping.loop, "EVENT.RAW", UINT64_MAX, UINT64_MAX, NULL));
  settle_loop(&looping);
  take_all_room(fixture, 0);
  for (uint32_t i = 0; i < 20000; i++) {
    (void)loop_push(&looping, PIECE);
    turn(&looping);
  }
  GIVES(SPATE_E_NO_SPACE, looping.loop.error);
  assert_int_equal(looping.loop.armed, 0);
  OK(spate_exfat_delete(&fixture->volume, "FILM0_0"));
  clock_ns += 2 * SECOND;
  settle_loop(&looping);
  GIVES(SPATE_OK, looping.loop.error);
  assert_true(looping.loop.streaming != 0);
  close_loop(&looping);
  close_fixture(fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_longest_times_are_kept),
                                     cmocka_unit_test(a_part_that_is_too_long_for_the_volume_deletes_nothing),
                                     cmocka_unit_test(a_span_of_more_parts_than_the_next_run_has_room_for),
                                     cmocka_unit_test(no_span_goes_over_a_gap),
                                     cmocka_unit_test(a_span_with_a_gap_in_it_is_no_file),
                                     cmocka_unit_test(data_that_the_drive_lost_are_a_gap),
                                     cmocka_unit_test(the_greatest_numbers_are_no_parts_names),
                                     cmocka_unit_test(a_part_that_cannot_be_closed_is_told),
                                     cmocka_unit_test(a_piece_longer_than_a_part_is_refused_as_a_whole),
                                     cmocka_unit_test(a_list_that_somebody_has_deleted_is_not_written),
                                     cmocka_unit_test(a_trigger_on_a_full_volume_makes_room),
                                     cmocka_unit_test(a_span_on_a_full_volume_is_a_file),
                                     cmocka_unit_test(room_that_comes_late_is_used),
                                     cmocka_unit_test(close_does_not_wait_without_end)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
