/* SPDX-License-Identifier: Apache-2.0 */
/* A trigger keeps a span of the stream as one file, without a copy, while the loop continues. */
#include "loop_fixture.h"

/* Where in what was sent the file's bytes are; they must be there in one piece. */
static uint64_t place_of(struct looping *looping, const char *path, uint64_t *bytes) {
  struct spate_exfat_file file;
  size_t got;

  OK(spate_exfat_open(&looping->fixture->volume, path, &file));
  uint8_t *data = malloc((size_t)file.bytes + 1u);
  assert_non_null(data);
  OK(spate_exfat_read(&file, 0, data, (size_t)file.bytes + 1u, &got));
  assert_int_equal(got, file.bytes);
  *bytes = file.bytes;
  for (uint64_t at = 0; at + got <= looping->source->sent_bytes; at += 512) {
    if (memcmp(looping->source->sent + at, data, 64) != 0) continue; /* ASan looks at all of it each time */
    if (memcmp(looping->source->sent + at, data, got) != 0) continue;
    free(data);
    return at;
  }
  fail_msg("%s is not a piece of the stream", path);
  return 0;
}

static void a_trigger_keeps_what_was_before_and_after_it(void **state) {
  (void)state;
  struct looping looping;
  struct fixture *fixture = opened(&looping, 12);
  uint64_t bytes;

  stream_seconds(&looping, 20);
  const uint64_t copied = fixture->ram.count[SPATE_READ];
  OK(spate_loop_trigger(&looping.loop, "EVENT.RAW", 5500, 2000, NULL));
  stream_seconds(&looping, 3);
  settle_until_kept(&looping);
  assert_int_equal(looping.told.count[SPATE_LOOP_KEPT], 1);
  assert_string_equal(looping.told.path[SPATE_LOOP_KEPT], "EVENT.RAW");
  assert_true(fixture->ram.count[SPATE_READ] - copied < 2000); /* metadata only: the span has 28 MiB */
  stream_seconds(&looping, 20);                                /* the loop goes round, and the file stays */
  close_loop(&looping);
  const uint64_t at = place_of(&looping, "EVENT.RAW", &bytes);
  assert_int_equal(bytes, looping.told.value[SPATE_LOOP_KEPT]);
  assert_true(at <= 15 * PART_BYTES && at >= 13 * PART_BYTES);                 /* 5.5 s before, at least */
  assert_true(at + bytes >= 21 * PART_BYTES && at + bytes <= 24 * PART_BYTES); /* 2 s after */
  close_fixture(fixture);
}

static struct looping *fast;

/* A source that fills whatever it finds. */
static void push_all(void *context) {
  (void)context;
  while (loop_push(fast, PIECE) == SPATE_OK) {
  }
}

/* Parts so short, or a drive so slow, that the next part is streamed into before its arming returns: a span ends all
 * the same, at a part's end. */
static void a_span_ends_also_while_a_part_takes_less_than_its_arming(void **state) {
  (void)state;
  struct looping looping;
  struct fixture *fixture = opened(&looping, 12);

  fast = &looping;
  stream_parts(&looping, 4);
  OK(spate_loop_trigger(&looping.loop, "ONE.RAW", 0, 0, NULL));
  fixture->recorder.config.while_waiting = push_all;
  const uint32_t parts = looping.loop.counters.parts;
  for (int i = 0; i < 100000 && looping.loop.counters.parts < parts + 8; i++) {
    push_all(NULL);
    turn(&looping);
  }
  fixture->recorder.config.while_waiting = NULL;
  assert_true(looping.loop.counters.parts >= parts + 8);
  assert_true(looping.told.count[SPATE_LOOP_KEPT] == 1 || looping.loop.spans[0].last != 0);
  close_loop(&looping);
  close_fixture(fixture);
}

static void overlapping_triggers_make_one_longer_file(void **state) {
  (void)state;
  struct looping looping;
  struct fixture *fixture = opened(&looping, 12);
  bool extended = true;
  uint64_t bytes;

  stream_seconds(&looping, 10);
  OK(spate_loop_trigger(&looping.loop, "ONE.RAW", 3500, 2000, &extended));
  assert_false(extended);
  stream_seconds(&looping, 1);
  OK(spate_loop_trigger(&looping.loop, "TWO.RAW", 3500, 4000, &extended));
  assert_true(extended);
  stream_seconds(&looping, 6);
  settle_until_kept(&looping);
  assert_false(exists(fixture, "TWO.RAW"));
  close_loop(&looping);
  const uint64_t at = place_of(&looping, "ONE.RAW", &bytes);
  assert_true(at <= 7 * PART_BYTES && at + bytes >= 14 * PART_BYTES);
  close_fixture(fixture);
}

/* The second trigger comes while the first span becomes a file: it begins where the first one ends. */
static void a_later_span_begins_where_the_last_one_ends(void **state) {
  (void)state;
  struct looping looping;
  struct fixture *fixture = opened(&looping, 12);
  uint64_t first_bytes, second_bytes;

  stream_seconds(&looping, 10);
  OK(spate_loop_trigger(&looping.loop, "ONE.RAW", 3000, 500, NULL));
  clock_ns += SECOND;
  stream_loop(&looping, 1, PIECE);
  while (looping.loop.spans[0].last == 0)
    turn(&looping);
  assert_true(spate_loop_keeps(&looping.loop)); /* its parts are being moved */
  OK(spate_loop_trigger(&looping.loop, "TWO.RAW", 10000, 500, NULL));
  stream_seconds(&looping, 3);
  settle_until_kept(&looping);
  assert_int_equal(looping.told.count[SPATE_LOOP_KEPT], 2);
  close_loop(&looping);
  const uint64_t first = place_of(&looping, "ONE.RAW", &first_bytes);
  const uint64_t second = place_of(&looping, "TWO.RAW", &second_bytes);
  assert_int_equal(first + first_bytes, second);
  close_fixture(fixture);
}

static void more_spans_than_there_is_room_for_have_to_wait(void **state) {
  (void)state;
  struct looping looping;
  struct fixture *fixture = opened(&looping, 12);
  enum spate_error error = SPATE_OK;
  unsigned count = 0;

  stream_seconds(&looping, 8);
  for (; error == SPATE_OK && count < 10; count++) {
    char path[32];
    (void)snprintf(path, sizeof path, "E%u.RAW", count);
    error = spate_loop_trigger(&looping.loop, path, 100000, 0, NULL);
    clock_ns += 1000;
    OK(loop_push(&looping, PIECE));
    OK(spate_loop_work(&looping.loop)); /* the cut */
    for (int i = 0; i < 100 && looping.loop.armed == 0; i++)
      turn(&looping);
  }
  assert_true(error == SPATE_E_BUSY || count == 10); /* as fast as here, spans may become files in time */
  settle_until_kept(&looping);
  OK(spate_loop_trigger(&looping.loop, "LAST.RAW", 0, 0, NULL));
  close_loop(&looping);
  assert_true(exists(fixture, "LAST.RAW"));
  close_fixture(fixture);
}

static void a_name_that_exists_is_refused_and_nothing_is_kept(void **state) {
  (void)state;
  struct looping looping;
  struct fixture *fixture = opened(&looping, 12);
  char path[SPATE_LOOP_PATH_BYTES_MAX + 1];

  stream_seconds(&looping, 3);
  OK(spate_exfat_mkdir(&fixture->volume, "EVENT"));
  GIVES(SPATE_E_EXISTS, spate_loop_trigger(&looping.loop, "event", 1000, 0, NULL));
  GIVES(SPATE_E_NOT_FOUND, spate_loop_trigger(&looping.loop, "NONE/E.RAW", 1000, 0, NULL));
  memset(path, 'x', sizeof path - 1);
  path[sizeof path - 1] = '\0';
  GIVES(SPATE_E_NAME_LONG, spate_loop_trigger(&looping.loop, path, 1000, 0, NULL));
  assert_false(spate_loop_keeps(&looping.loop));
  close_loop(&looping);
  GIVES(SPATE_E_STATE, spate_loop_trigger(&looping.loop, "E.RAW", 1000, 0, NULL));
  close_fixture(fixture);
}

/* The stream ends before the span does. */
static void a_span_ends_with_its_stream(void **state) {
  (void)state;
  struct looping looping;
  struct fixture *fixture = opened(&looping, 12);
  uint64_t bytes;

  stream_seconds(&looping, 6);
  OK(spate_loop_trigger(&looping.loop, "EVENT.RAW", 2500, 1000000, NULL));
  stream_loop(&looping, 3, PIECE);
  close_loop(&looping);
  const uint64_t at = place_of(&looping, "EVENT.RAW", &bytes);
  assert_int_equal(at + bytes, looping.source->sent_bytes);
  close_fixture(fixture);
}

/* Somebody renames a part of the span before it is moved: the rest stays as a folder, and this is told. */
static void a_span_with_a_gap_stays_a_folder(void **state) {
  (void)state;
  struct looping looping;
  struct fixture *fixture = opened(&looping, 12);

  stream_seconds(&looping, 8);
  OK(spate_loop_trigger(&looping.loop, "EVENT.RAW", 5500, 0, NULL));
  OK(spate_exfat_rename(&fixture->volume, "CAM/A_00000006.RAW", "MINE.RAW"));
  clock_ns += SECOND;
  stream_parts(&looping, 1);
  settle_until_kept(&looping);
  assert_int_equal(looping.told.count[SPATE_LOOP_FOLDER], 1);
  assert_int_equal(looping.told.value[SPATE_LOOP_FOLDER], SPATE_E_NOT_FOUND);
  assert_true(exists(fixture, "MINE.RAW") && exists(fixture, "EVENT.RAW/A_00000005.RAW"));
  assert_true(exists(fixture, "EVENT.RAW/A_00000007.RAW"));
  close_loop(&looping);
  close_fixture(fixture);
}

/* The board's clock is set back during a span: the parts are in order all the same. */
static void a_clock_that_goes_back_does_not_matter(void **state) {
  (void)state;
  struct looping looping;
  struct fixture *fixture = opened(&looping, 12);

  stream_seconds(&looping, 8);
  fixture->volume.config.now = NULL; /* 1980 */
  stream_seconds(&looping, 2);
  OK(spate_loop_trigger(&looping.loop, "EVENT.RAW", 5500, 0, NULL));
  clock_ns += SECOND;
  stream_parts(&looping, 1);
  settle_until_kept(&looping);
  assert_int_equal(looping.told.count[SPATE_LOOP_KEPT], 1);
  close_loop(&looping);
  close_fixture(fixture);
}

/* A power cut after the trigger: the next open deletes no part of the span, and makes the file. */
static void an_interrupted_span_is_finished_by_the_next_open(void **state) {
  (void)state;
  for (unsigned turns = 0; turns < 60; turns += 4) {
    struct looping looping, next;
    struct fixture *fixture = opened(&looping, 12);
    struct spate_exfat_mounted found;
    uint64_t bytes;
    stream_seconds(&looping, 8);
    OK(spate_loop_trigger(&looping.loop, "EVENT.RAW", 5500, 0, NULL));
    clock_ns += SECOND;
    for (unsigned i = 0; i < turns; i++)
      turn(&looping);
    spate_exfat_abandon(&fixture->volume);
    fixture->ram.block.while_waiting = NULL;
    fixture->ram.block.while_waiting_context = NULL;
    OK(spate_exfat_mount(&fixture->volume, &fixture->config, &found));
    struct spate_recorder_config config = {.event = on_event, .while_waiting = while_waiting, .context = fixture};
    OK(spate_recorder_open(&fixture->recorder, &fixture->volume, &config));
    free(looping.config.memory);
    open_loop(&next, fixture, 1, "CAM/A.RAW", 8 * PART_BYTES);
    stream_parts(&next, 9); /* the loop goes round */
    settle_until_kept(&next);
    close_loop(&next);
    const uint64_t at = place_of(&looping, "EVENT.RAW", &bytes);
    assert_true(at <= 3 * PART_BYTES && at + bytes >= 8 * PART_BYTES);
    close_fixture(fixture);
  }
}

/* Eight streams, eight loops, one instant. */
static void eight_streams_keep_the_same_span(void **state) {
  (void)state;
  static struct looping looping[STREAMS];
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  static const char *const paths[STREAMS] = {"CAM/A.RAW", "CAM/B.RAW", "CAM/C.RAW", "CAM/D.RAW",
                                             "CAM/E.RAW", "CAM/F.RAW", "CAM/G.RAW", "CAM/H.RAW"};

  for (unsigned i = 0; i < STREAMS; i++) {
    open_loop(&looping[i], fixture, i, paths[i], 8 * PART_BYTES);
    looping[i].loop.config.part_bytes = MIB; /* the volume is small */
    looping[i].loop.config.keep_bytes = 8 * MIB;
  }
  for (unsigned round = 0; round < 6; round++) {
    for (unsigned i = 0; i < STREAMS; i++)
      stream_loop(&looping[i], (uint32_t)(MIB / PIECE), PIECE);
    clock_ns += SECOND;
  }
  for (unsigned i = 0; i < STREAMS; i++) {
    char path[32];
    (void)snprintf(path, sizeof path, "KEPT%u.RAW", i);
    OK(spate_loop_trigger(&looping[i].loop, path, 2500, 0, NULL));
  }
  for (unsigned i = 0; i < STREAMS; i++)
    stream_loop(&looping[i], 2, PIECE);
  OK(spate_recorder_finish(&fixture->recorder));
  for (unsigned closed = 0; closed < STREAMS;) {
    closed = 0;
    for (unsigned i = 0; i < STREAMS; i++) {
      const enum spate_error error = spate_loop_close(&looping[i].loop);
      assert_true(error == SPATE_OK || error == SPATE_E_BUSY);
      closed += error == SPATE_OK ? 1u : 0u;
    }
  }
  for (unsigned i = 0; i < STREAMS; i++) {
    uint64_t bytes;
    char path[32];
    (void)snprintf(path, sizeof path, "KEPT%u.RAW", i);
    (void)place_of(&looping[i], path, &bytes);
    assert_true(bytes >= 2 * MIB);
    free(looping[i].config.memory);
  }
  close_fixture(fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_trigger_keeps_what_was_before_and_after_it),
                                     cmocka_unit_test(a_span_ends_also_while_a_part_takes_less_than_its_arming),
                                     cmocka_unit_test(overlapping_triggers_make_one_longer_file),
                                     cmocka_unit_test(a_later_span_begins_where_the_last_one_ends),
                                     cmocka_unit_test(more_spans_than_there_is_room_for_have_to_wait),
                                     cmocka_unit_test(a_name_that_exists_is_refused_and_nothing_is_kept),
                                     cmocka_unit_test(a_span_ends_with_its_stream),
                                     cmocka_unit_test(a_span_with_a_gap_stays_a_folder),
                                     cmocka_unit_test(a_clock_that_goes_back_does_not_matter),
                                     cmocka_unit_test(an_interrupted_span_is_finished_by_the_next_open),
                                     cmocka_unit_test(eight_streams_keep_the_same_span)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
