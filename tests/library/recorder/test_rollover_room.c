/* SPDX-License-Identifier: Apache-2.0 */
/* A stream needs its next file while another stream's clip, which holds all the room, is ending. */
#include "recorder_fixture.h"

static void room_that_is_coming_is_waited_for(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];
  struct source *other = &fixture->sources[1];

  open_source(fixture, source, 3, false, 8 * MIB);
  open_source(fixture, other, 4, false, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 8 * MIB));
  OK(spate_stream_arm(&other->stream, "OTHER.RAW", 0)); /* the rest of the volume */
  stream_pieces(fixture, source, 60);
  drain(fixture, source);
  fixture->ram.held_ops = RAM_OP(SPATE_WRITE); /* the other clip's last piece takes long */
  OK(push(other, PIECE));
  OK(spate_stream_stop(&other->stream)); /* its room is free in a moment */
  for (unsigned i = 0; i < 8; i++) {
    OK(push(source, PIECE));
    work(fixture);
  }
  fixture->ram.held_ops = 0;
  stream_pieces(fixture, source, 200);
  OK(spate_stream_stop(&source->stream));
  close_clips(fixture, source);
  close_clips(fixture, other);
  assert_int_equal(fixture->events[SPATE_EVENT_VOLUME_ENDS], 0);
  close_fixture(fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(room_that_is_coming_is_waited_for),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
