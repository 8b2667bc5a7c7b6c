/* SPDX-License-Identifier: Apache-2.0 */
/* A source that pushes while the program arms the next clip by hand. */
#include "recorder_fixture.h"

static unsigned answers[256];

static void push_one(void *context) {
  struct fixture *fixture = context;

  answers[push(&fixture->sources[0], PIECE)]++;
}

/* recorder.h: FULL while the next clip is still being armed. */
static void a_source_waits_for_a_clip_that_is_being_armed(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  open_source(fixture, source, 3, false, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 16u * PIECE));
  stream_pieces(fixture, source, 16);
  drain(fixture, source);
  GIVES(SPATE_E_RESERVATION, push(source, PIECE));
  fixture->recorder.config.while_waiting = push_one;
  OK(spate_stream_arm(&source->stream, "B.RAW", 32u * PIECE));
  fixture->recorder.config.while_waiting = NULL;
  assert_true(answers[SPATE_E_FULL] > 0);
  assert_int_equal(answers[SPATE_E_RESERVATION], 0);
  OK(push(source, PIECE));
  OK(spate_stream_stop(&source->stream));
  close_clips(fixture, source);
  file_holds(fixture, "B.RAW", source->sent + 16u * PIECE, PIECE);
  close_fixture(fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_source_waits_for_a_clip_that_is_being_armed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
