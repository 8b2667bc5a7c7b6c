/* SPDX-License-Identifier: Apache-2.0 */
/* How a span ends: with data of its own, where the program says, without a gap that nobody sees, also on a volume that
 * is full and after a restart. */
#include "loop_fixture.h"

/* ---- a volume that is full ---- */

static void the_stream_ends_for_lack_of_space_and_says_so(void **state) {
  (void)state;
  struct looping looping;
  struct fixture *fixture = opened(&looping, 20);
  enum spate_error error = SPATE_OK;

  stream_seconds(&looping, 4);
  OK(spate_loop_trigger(&looping.loop, "EVENT.RAW", UINT64_MAX, UINT64_MAX, NULL));
  settle_loop(&looping);
  take_all_room(fixture, 0);
  for (uint32_t i = 0; i < 20000 && (error == SPATE_OK || error == SPATE_E_FULL); i++) {
    error = loop_push(&looping, PIECE);
    turn(&looping);
  }
  GIVES(SPATE_E_NO_SPACE, error);
  settle_loop(&looping); /* the part is closed, and there is none */
  GIVES(SPATE_E_NO_SPACE, loop_push(&looping, PIECE));
  close_loop(&looping);
  close_fixture(fixture);
}

/* A cluster of the folder holds nine of the names. The tenth needs another cluster: the oldest part makes room. */
static void a_folder_that_finds_no_room_gets_that_of_the_oldest_part(void **state) {
  (void)state;
  for (unsigned closed = 0; closed < 2; closed++) {
    struct looping looping;
    struct fixture *fixture = open_fixture(512, VOLUME_MIB);
    format_small(fixture);
    open_loop(&looping, fixture, 0, LONG_NAME, 20 * PART_BYTES);
    stream_seconds(&looping, 17);
    OK(spate_exfat_mkdir(&fixture->volume, "ROOM"));
    take_all_room(fixture, 0);
    OK(spate_exfat_delete(&fixture->volume, "ROOM"));
    OK(spate_loop_trigger(&looping.loop, "EVENT.RAW", 12500, 0, NULL));
    if (closed == 0) {
      clock_ns += SECOND;
      stream_loop(&looping, 1, PIECE);
      settle_until_kept(&looping);
    } else {
      OK(spate_recorder_finish(&fixture->recorder));
      take_all_room(fixture, 1);
    }
    close_loop(&looping);
    assert_int_equal(looping.told.count[SPATE_LOOP_FOLDER], 0);
    assert_int_equal(looping.told.count[SPATE_LOOP_KEPT], 1);
    /* One for the cluster of the folder, and one for the next part, if the stream continues. */
    assert_int_equal(looping.told.count[SPATE_LOOP_SHORT], closed == 0 ? 2 : 1);
    assert_true(file_bytes(fixture, "EVENT.RAW") >= 12 * PART_BYTES);
    close_fixture(fixture);
  }
}

/* ---- a span without data ---- */

static void a_span_does_not_end_before_it_has_data(void **state) {
  (void)state;
  struct looping looping;
  struct fixture *fixture = opened(&looping, 20);

  OK(spate_loop_trigger(&looping.loop, "EVENT.RAW", 1000, 0, NULL));
  clock_ns += 5 * SECOND;
  settle_loop(&looping);
  assert_true(spate_loop_keeps(&looping.loop));
  stream_loop(&looping, 1, PIECE);
  settle_until_kept(&looping);
  assert_int_equal(looping.told.count[SPATE_LOOP_KEPT], 1);
  file_holds(fixture, "EVENT.RAW", looping.source->sent, PIECE);
  close_loop(&looping);
  close_fixture(fixture);
}

static void a_span_without_any_data_leaves_nothing_and_says_so(void **state) {
  (void)state;
  for (unsigned restarted = 0; restarted < 2; restarted++) {
    struct looping looping, next;
    struct fixture *fixture = opened(&looping, 20);
    struct looping *last = restarted == 1 ? &next : &looping;
    OK(spate_loop_trigger(&looping.loop, "EVENT.RAW", 1000, 0, NULL));
    if (restarted == 1) restart(&looping, &next, PART_BYTES);
    close_loop(last);
    assert_int_equal(last->told.count[SPATE_LOOP_NOTHING], 1);
    assert_string_equal(last->told.path[SPATE_LOOP_NOTHING], "EVENT.RAW");
    assert_int_equal(last->told.count[SPATE_LOOP_FOLDER] + last->told.count[SPATE_LOOP_KEPT], 0);
    assert_false(exists(fixture, "EVENT.RAW"));
    close_fixture(fixture);
  }
}

/* ---- where the program says ---- */

static bool all_is_pushed;
static unsigned asked;

static bool may_end(void *context, struct spate_loop *loop) {
  (void)context;
  assert_non_null(loop);
  asked++;
  return all_is_pushed;
}

static void the_program_may_push_what_it_still_has_before_the_end(void **state) {
  (void)state;
  struct looping looping;
  struct fixture *fixture = opened(&looping, 20);

  looping.loop.config.may_end = may_end;
  asked = 0;
  all_is_pushed = false;
  stream_seconds(&looping, 3);
  OK(spate_loop_trigger(&looping.loop, "EVENT.RAW", 10000, 1000, NULL));
  settle_loop(&looping);
  assert_int_equal(asked, 0); /* its time is not over */
  assert_false(spate_loop_is_due(&looping.loop));
  clock_ns += SECOND;
  assert_true(spate_loop_is_due(&looping.loop));
  stream_parts(&looping, 2); /* a part's end does not end the span either */
  OK(loop_push(&looping, 1000));
  settle_loop(&looping);
  assert_true(asked > 0 && looping.loop.spans[0].last == 0);
  all_is_pushed = true;
  const uint64_t bytes = looping.source->sent_bytes;
  turn(&looping);
  assert_false(spate_loop_is_due(&looping.loop));
  stream_seconds(&looping, 2);
  settle_until_kept(&looping);
  file_holds(fixture, "EVENT.RAW", looping.source->sent, bytes);
  close_loop(&looping);
  close_fixture(fixture);
}

/* The program has pushed the end of its data, which is no whole block: nothing can follow it in the span. */
static void a_trigger_does_not_move_an_end_that_the_program_was_asked_for(void **state) {
  (void)state;
  struct looping looping;
  struct fixture *fixture = opened(&looping, 20);
  bool extended = true;

  looping.loop.config.may_end = may_end;
  asked = 0;
  all_is_pushed = false;
  stream_seconds(&looping, 3);
  OK(spate_loop_trigger(&looping.loop, "ONE.RAW", 10000, 1000, NULL));
  clock_ns += SECOND;
  while (asked == 0)
    turn(&looping);
  OK(loop_push(&looping, 1001));
  const uint64_t bytes = looping.source->sent_bytes;
  GIVES(SPATE_E_BUSY, spate_loop_trigger(&looping.loop, "TWO.RAW", 1000, 1000, &extended));
  assert_false(extended);
  all_is_pushed = true;
  for (unsigned i = 0; i < 1000 && looping.loop.spans[0].last == 0; i++)
    turn(&looping);
  OK(spate_loop_trigger(&looping.loop, "TWO.RAW", 1000, 1000, &extended));
  assert_false(extended);
  stream_seconds(&looping, 3);
  settle_until_kept(&looping);
  file_holds(fixture, "ONE.RAW", looping.source->sent, bytes);
  assert_true(file_bytes(fixture, "TWO.RAW") > 0);
  close_loop(&looping);
  close_fixture(fixture);
}

/* Otherwise a program that holds its data until there is a next part would wait without end. */
static void without_a_next_part_nobody_is_asked(void **state) {
  (void)state;
  struct looping looping;
  struct fixture *fixture = opened(&looping, 20);

  stream_seconds(&looping, 2);
  OK(spate_loop_trigger(&looping.loop, "EVENT.RAW", 10000, 0, NULL));
  settle_loop(&looping);
  take_all_room(fixture, 0);
  looping.loop.config.may_end = may_end;
  asked = 0;
  all_is_pushed = false;
  while (looping.loop.armed != 0) {
    const enum spate_error error = loop_push(&looping, PIECE);
    assert_true(error == SPATE_OK || error == SPATE_E_FULL);
    OK(spate_recorder_work(&fixture->recorder));
    OK(spate_loop_work(&looping.loop));
  }
  asked = 0;
  settle_loop(&looping);
  assert_int_equal(asked, 0);
  close_loop(&looping);
  close_fixture(fixture);
}

/* There is no room for the next part, but there will be: the program still holds its data back. */
static void a_next_part_that_needs_the_room_of_the_oldest_is_waited_for(void **state) {
  (void)state;
  struct looping looping;
  struct fixture *fixture = opened(&looping, 20);
  bool without_room = false;

  stream_seconds(&looping, 6);
  looping.loop.config.may_end = may_end;
  all_is_pushed = false;
  OK(spate_loop_trigger(&looping.loop, "EVENT.RAW", 500, 0, NULL));
  settle_loop(&looping);
  take_all_room(fixture, 0);
  while (looping.loop.armed != 0) {
    const enum spate_error error = loop_push(&looping, PIECE);
    assert_true(error == SPATE_OK || error == SPATE_E_FULL);
    turn(&looping);
  }
  for (unsigned i = 0; i < 1000 && looping.loop.armed == 0; i++) {
    without_room |= looping.loop.error == SPATE_E_NO_SPACE;
    assert_true(spate_loop_is_due(&looping.loop));
    turn(&looping);
  }
  assert_true(without_room && looping.loop.armed != 0);
  all_is_pushed = true;
  const uint64_t bytes = looping.source->sent_bytes;
  settle_until_kept(&looping);
  assert_int_equal(looping.told.count[SPATE_LOOP_KEPT], 1);
  assert_int_equal(file_bytes(fixture, "EVENT.RAW") % PART_BYTES, bytes % PART_BYTES);
  close_loop(&looping);
  close_fixture(fixture);
}

/* ---- after a restart ---- */

static void a_gap_is_in_the_list(void **state) {
  (void)state;
  struct looping looping, next;
  struct fixture *fixture = opened(&looping, 20);

  stream_seconds(&looping, 3);
  OK(spate_loop_trigger(&looping.loop, "EVENT.RAW", UINT64_MAX, UINT64_MAX, NULL));
  stream_loop(&looping, MIB / PIECE, PIECE); /* whole clusters */
  OK(spate_stream_stop(&looping.source->stream));
  settle_loop(&looping);
  stream_seconds(&looping, 3);
  assert_true(exists(fixture, "EVENT.RAW/A_00000006.RAW")); /* the part with the gap after it was moved before */
  restart(&looping, &next, PART_BYTES);
  settle_until_kept(&next);
  assert_int_equal(next.told.count[SPATE_LOOP_KEPT], 0);
  assert_int_equal(next.told.count[SPATE_LOOP_FOLDER], 1);
  close_loop(&next);
  close_fixture(fixture);
}

/* A piece was refused, so data are missing between two parts that are full. */
static void a_gap_between_full_parts_is_in_the_list(void **state) {
  (void)state;
  struct looping looping, next;
  struct fixture *fixture = opened(&looping, 20);

  stream_seconds(&looping, 3);
  OK(spate_loop_trigger(&looping.loop, "EVENT.RAW", UINT64_MAX, UINT64_MAX, NULL));
  looping.loop.refused = true;
  stream_seconds(&looping, 3);
  restart(&looping, &next, PART_BYTES);
  settle_until_kept(&next);
  assert_int_equal(next.told.count[SPATE_LOOP_KEPT], 0);
  assert_int_equal(next.told.count[SPATE_LOOP_FOLDER], 1);
  close_loop(&next);
  close_fixture(fixture);
}

/* The user has changed what is kept, and with it the length of a part. */
static void a_span_of_parts_of_another_length_becomes_a_file(void **state) {
  (void)state;
  for (unsigned shorter = 0; shorter < 2; shorter++) {
    struct looping looping, next;
    struct fixture *fixture = opened(&looping, 20);
    stream_seconds(&looping, 6);
    OK(spate_loop_trigger(&looping.loop, "EVENT.RAW", UINT64_MAX, UINT64_MAX, NULL));
    for (int i = 0; i < 3; i++)
      turn(&looping);
    restart(&looping, &next, shorter == 1 ? PART_BYTES / 2 : 2 * PART_BYTES);
    settle_until_kept(&next);
    assert_int_equal(next.told.count[SPATE_LOOP_KEPT], 1);
    file_holds(fixture, "EVENT.RAW", looping.source->sent, 6 * PART_BYTES);
    close_loop(&next);
    close_fixture(fixture);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_stream_ends_for_lack_of_space_and_says_so),
                                     cmocka_unit_test(a_folder_that_finds_no_room_gets_that_of_the_oldest_part),
                                     cmocka_unit_test(a_span_does_not_end_before_it_has_data),
                                     cmocka_unit_test(a_span_without_any_data_leaves_nothing_and_says_so),
                                     cmocka_unit_test(the_program_may_push_what_it_still_has_before_the_end),
                                     cmocka_unit_test(a_trigger_does_not_move_an_end_that_the_program_was_asked_for),
                                     cmocka_unit_test(without_a_next_part_nobody_is_asked),
                                     cmocka_unit_test(a_next_part_that_needs_the_room_of_the_oldest_is_waited_for),
                                     cmocka_unit_test(a_gap_is_in_the_list),
                                     cmocka_unit_test(a_gap_between_full_parts_is_in_the_list),
                                     cmocka_unit_test(a_span_of_parts_of_another_length_becomes_a_file)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
