/* SPDX-License-Identifier: Apache-2.0 */
/* A stream that rolls over is cut at a time of the program's choice, and continues in a file that is ready. */
#include "recorder_fixture.h"

#define CLIP_BYTES (4 * MIB)

static void prepare(struct fixture *fixture, struct source *source) {
  enum spate_error error = SPATE_E_BUSY;

  for (int i = 0; error == SPATE_E_BUSY && i < 100; i++) {
    error = spate_stream_prepare_cut(&source->stream);
    work(fixture);
  }
  OK(error);
}

static void the_next_file_is_ready_before_the_cut(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  open_source(fixture, source, 3, false, CLIP_BYTES);
  OK(spate_stream_arm(&source->stream, "A.RAW", CLIP_BYTES));
  stream_pieces(fixture, source, 3);
  GIVES(SPATE_E_BUSY, spate_stream_prepare_cut(&source->stream));
  work(fixture);
  OK(spate_stream_prepare_cut(&source->stream));
  OK(spate_stream_prepare_cut(&source->stream)); /* again: nothing more happens */
  stream_pieces(fixture, source, 2);             /* they still go to the first file */
  assert_string_equal(spate_stream_path(&source->stream), "A.RAW");
  OK(spate_stream_cut(&source->stream));
  assert_string_equal(spate_stream_path(&source->stream), "A_0002.RAW");
  OK(push(source, PIECE)); /* not a piece waits */
  drain(fixture, source);
  OK(spate_recorder_finish(&fixture->recorder));
  file_holds(fixture, "A.RAW", source->sent, 5 * PIECE);
  file_holds(fixture, "A_0002.RAW", source->sent + 5 * PIECE, PIECE);
  close_fixture(fixture);
}

/* Each of several cuts is prepared again, and without a cut the next file is made at half of the reservation. */
static void every_cut_is_prepared_on_its_own(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];
  struct spate_exfat_entry entry;

  open_source(fixture, source, 3, false, CLIP_BYTES);
  OK(spate_stream_arm(&source->stream, "A.RAW", CLIP_BYTES));
  for (uint32_t part = 1; part < 5; part++) {
    stream_pieces(fixture, source, part);
    prepare(fixture, source);
    OK(spate_stream_cut(&source->stream));
  }
  stream_pieces(fixture, source, 1);
  drain(fixture, source);
  for (int i = 0; i < 100; i++)
    work(fixture);
  GIVES(SPATE_E_NOT_FOUND, spate_exfat_stat(&fixture->volume, "A_0006.RAW", &entry));
  OK(spate_recorder_finish(&fixture->recorder));
  assert_int_equal(file_bytes(fixture, "A.RAW"), PIECE);
  assert_int_equal(file_bytes(fixture, "A_0004.RAW"), 4 * PIECE);
  assert_int_equal(file_bytes(fixture, "A_0005.RAW"), PIECE);
  close_fixture(fixture);
}

static char closed[4][16];
static unsigned closed_count;

static void note_closed(void *context, struct spate_stream *stream, enum spate_event event, uint64_t value) {
  on_event(context, stream, event, value);
  if (event != SPATE_EVENT_CLIP_CLOSED && event != SPATE_EVENT_CLIP_DISCARDED) return;
  assert_in_range(closed_count, 0, 3);
  (void)snprintf(closed[closed_count++], sizeof closed[0], "%s", spate_stream_closed_path(stream));
}

static void an_event_says_which_file_closed(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  fixture->recorder.config.event = note_closed;
  closed_count = 0;
  open_source(fixture, source, 3, false, CLIP_BYTES);
  assert_null(spate_stream_closed_path(&source->stream));
  assert_null(spate_stream_path(&source->stream));
  OK(spate_stream_arm(&source->stream, "A.RAW", CLIP_BYTES));
  for (unsigned part = 0; part < 2; part++) {
    stream_pieces(fixture, source, 1);
    prepare(fixture, source);
    OK(spate_stream_cut(&source->stream));
  }
  drain(fixture, source);
  OK(spate_recorder_finish(&fixture->recorder));
  assert_int_equal(closed_count, 3);
  assert_string_equal(closed[0], "A.RAW");
  assert_string_equal(closed[1], "A_0002.RAW");
  assert_string_equal(closed[2], "A_0003.RAW"); /* without data: deleted */
  close_fixture(fixture);
}

static void a_cut_that_cannot_be_prepared_says_why(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  open_source(fixture, source, 3, false, 0);
  GIVES(SPATE_E_STATE, spate_stream_prepare_cut(&source->stream)); /* no clip */
  OK(spate_stream_arm(&source->stream, "A.RAW", 0));               /* all free space */
  GIVES(SPATE_E_STATE, spate_stream_prepare_cut(&source->stream)); /* no roll-over */
  spate_stream_roll_over(&source->stream, CLIP_BYTES, NULL);
  stream_pieces(fixture, source, 1);
  GIVES(SPATE_E_BUSY, spate_stream_prepare_cut(&source->stream));
  work(fixture);
  GIVES(SPATE_E_NO_SPACE, spate_stream_prepare_cut(&source->stream));
  assert_int_equal(fixture->events[SPATE_EVENT_VOLUME_ENDS], 1);
  stream_pieces(fixture, source, 1); /* the stream continues in its file */
  drain(fixture, source);
  OK(spate_recorder_finish(&fixture->recorder));
  assert_int_equal(file_bytes(fixture, "A.RAW"), 2 * PIECE);
  close_fixture(fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_next_file_is_ready_before_the_cut), cmocka_unit_test(every_cut_is_prepared_on_its_own),
      cmocka_unit_test(an_event_says_which_file_closed), cmocka_unit_test(a_cut_that_cannot_be_prepared_says_why)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
