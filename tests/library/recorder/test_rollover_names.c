/* SPDX-License-Identifier: Apache-2.0 */
/* The names of a stream's next files, and the errors when no name is free. */
#include "recorder_fixture.h"

static void take_name(struct fixture *fixture, const char *path) {
  struct spate_exfat_clip clip;
  OK(spate_exfat_arm(&fixture->volume, &clip, path, 1));
  OK(spate_exfat_close(&clip, 0));
}

static void record_on(struct fixture *fixture, struct source *source, uint32_t pieces) {
  stream_pieces(fixture, source, pieces);
  OK(spate_recorder_finish(&fixture->recorder));
}

/* As many files as an earlier recording of this name left. */
static void names_in_use_are_skipped(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];
  char path[32];

  for (unsigned i = 2; i <= 1003; i++) {
    (void)snprintf(path, sizeof path, "A_%04u.RAW", i);
    take_name(fixture, path);
  }
  open_source(fixture, source, 3, false, 2 * MIB);
  OK(spate_stream_arm(&source->stream, "A.RAW", 2 * MIB));
  record_on(fixture, source, 100);
  assert_int_equal(file_bytes(fixture, "A_1004.RAW"), 2 * MIB);
  assert_int_equal(file_bytes(fixture, "A_1005.RAW"), 2 * MIB);
  assert_int_equal(file_bytes(fixture, "A_1003.RAW"), 0);
  assert_int_equal(fixture->events[SPATE_EVENT_ERROR], 0);
  close_fixture(fixture);
}

static void parts_have_as_many_digits_as_they_need(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  open_source(fixture, source, 3, false, 2 * MIB);
  OK(spate_stream_arm(&source->stream, "d.1", 2 * MIB));
  source->stream.part = 9998;
  record_on(fixture, source, 100);
  assert_int_equal(file_bytes(fixture, "d_9999.1"), 2 * MIB);
  assert_int_equal(file_bytes(fixture, "d_10000.1"), 2 * MIB);
  close_fixture(fixture);
}

static bool stamp(void *context, struct spate_stream *stream, uint32_t part, char *path) {
  assert_non_null(context);
  assert_non_null(stream);
  (void)snprintf(path, SPATE_RECORDER_PATH_BYTES_MAX, "camera %u", part);
  return part <= 5;
}

/* The program names its files itself, and one of its names is in use. It has no other name, and push reports that. */
static void a_program_names_its_files(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];
  enum spate_error error = SPATE_OK;

  take_name(fixture, "camera 3");
  open_source(fixture, source, 3, false, 2 * MIB);
  spate_stream_roll_over(&source->stream, 2 * MIB, stamp);
  OK(spate_stream_arm(&source->stream, "A.RAW", 2 * MIB));
  while (error == SPATE_OK || error == SPATE_E_FULL) {
    error = push(source, PIECE);
    work(fixture);
  }
  assert_int_equal(error, SPATE_E_NAMES);
  assert_int_equal(source->sent_bytes, 8 * MIB);
  assert_int_equal(fixture->events[SPATE_EVENT_ERROR], 1);
  assert_int_equal(fixture->values[SPATE_EVENT_ERROR], SPATE_E_NAMES);
  GIVES(SPATE_E_NAMES, spate_recorder_finish(&fixture->recorder));
  assert_int_equal(file_bytes(fixture, "camera 2"), 2 * MIB);
  assert_int_equal(file_bytes(fixture, "camera 4"), 2 * MIB);
  assert_int_equal(file_bytes(fixture, "camera 5"), 2 * MIB);
  close_fixture(fixture);
}

static uint32_t named_part;

static bool each_name_once(void *context, struct spate_stream *stream, uint32_t part, char *path) {
  (void)context;
  (void)stream;
  if (part == named_part) return false;
  named_part = part;
  (void)snprintf(path, SPATE_RECORDER_PATH_BYTES_MAX, "camera %u", part);
  return true;
}

/* The rest of the volume is too small for a whole file. The program is asked for the name of a shorter one, and has
 * none: push reports that, and not that the volume is full. */
static void no_name_for_a_shorter_file_is_reported(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];
  enum spate_error error = SPATE_OK;

  open_source(fixture, source, 3, false, 20 * MIB);
  spate_stream_roll_over(&source->stream, 20 * MIB, each_name_once);
  OK(spate_stream_arm(&source->stream, "A.RAW", 20 * MIB));
  while (error == SPATE_OK || error == SPATE_E_FULL) {
    error = push(source, PIECE);
    work(fixture);
  }
  assert_int_equal(error, SPATE_E_NAMES);
  assert_int_equal(fixture->events[SPATE_EVENT_ERROR], 1);
  assert_int_equal(fixture->values[SPATE_EVENT_ERROR], SPATE_E_NAMES);
  GIVES(SPATE_E_NAMES, spate_recorder_finish(&fixture->recorder));
  close_fixture(fixture);
}

/* The path of a part may be as long as SPATE_RECORDER_PATH_BYTES_MAX with its NUL, and not longer. */
static void the_longest_path_of_a_part(void **state) {
  (void)state;
  for (unsigned excess = 0; excess < 2; excess++) {
    struct fixture *fixture = open_fixture(512, VOLUME_MIB);
    struct source *source = &fixture->sources[0];
    char path[SPATE_RECORDER_PATH_BYTES_MAX];
    const size_t length = SPATE_RECORDER_PATH_BYTES_MAX - sizeof "_0002" + excess;

    memset(path, '/', length);
    memcpy(path + length - 5, "A.RAW", 6);
    open_source(fixture, source, 3, false, MIB);
    OK(spate_stream_arm(&source->stream, path, MIB));
    stream_pieces(fixture, source, 16);
    GIVES(excess > 0 ? SPATE_E_NAMES : SPATE_OK, push(source, PIECE));
    GIVES(excess > 0 ? SPATE_E_NAMES : SPATE_OK, spate_recorder_finish(&fixture->recorder));
    assert_int_equal(file_bytes(fixture, "A.RAW"), MIB);
    if (excess == 0) assert_int_equal(file_bytes(fixture, "A_0002.RAW"), PIECE);
    close_fixture(fixture);
  }
}

static unsigned asked;

static bool always_the_same(void *context, struct spate_stream *stream, uint32_t part, char *path) {
  (void)context;
  (void)stream;
  asked++;
  assert_int_equal(part, asked + 1);
  memcpy(path, "A.RAW", 6);
  return true;
}

static void a_name_that_stays_in_use_ends_the_recording(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  open_source(fixture, source, 3, false, MIB);
  spate_stream_roll_over(&source->stream, MIB, always_the_same);
  OK(spate_stream_arm(&source->stream, "A.RAW", MIB));
  stream_pieces(fixture, source, 16);
  GIVES(SPATE_E_NAMES, push(source, PIECE));
  assert_int_equal(asked, 16);
  GIVES(SPATE_E_NAMES, spate_recorder_finish(&fixture->recorder));
  close_fixture(fixture);
}

/* The clip is full and has no next file, but the volume is not full. */
static void a_full_reservation_is_no_full_volume(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  open_source(fixture, source, 3, false, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", MIB));
  stream_pieces(fixture, source, 16);
  GIVES(SPATE_E_RESERVATION, push(source, PIECE));
  OK(spate_stream_stop(&source->stream));
  close_clips(fixture, source);
  OK(spate_stream_arm(&source->stream, "B.RAW", 0)); /* all free space */
  source->stream.current->file.reserved_bytes = PIECE;
  stream_pieces(fixture, source, 1);
  GIVES(SPATE_E_NO_SPACE, push(source, PIECE));
  OK(spate_recorder_finish(&fixture->recorder));
  close_fixture(fixture);
}

/* A file that was armed ahead and not used is deleted, and not reported as a closed file of 0 bytes. */
static void an_unused_file_is_reported_as_deleted(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  open_source(fixture, source, 3, false, MIB);
  OK(spate_stream_arm(&source->stream, "A.RAW", MIB));
  record_on(fixture, source, 12); /* the next one is armed by now */
  assert_int_equal(fixture->events[SPATE_EVENT_CLIP_CLOSED], 1);
  assert_int_equal(fixture->events[SPATE_EVENT_CLIP_DISCARDED], 1);
  close_fixture(fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_in_use_are_skipped),
      cmocka_unit_test(parts_have_as_many_digits_as_they_need),
      cmocka_unit_test(a_program_names_its_files),
      cmocka_unit_test(no_name_for_a_shorter_file_is_reported),
      cmocka_unit_test(the_longest_path_of_a_part),
      cmocka_unit_test(a_name_that_stays_in_use_ends_the_recording),
      cmocka_unit_test(a_full_reservation_is_no_full_volume),
      cmocka_unit_test(an_unused_file_is_reported_as_deleted),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
