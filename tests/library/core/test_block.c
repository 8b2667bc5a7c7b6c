/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that wait for the device call spate_port_relax() while something is left to wait for, and never after it:
 * that is a tick of an operating system, or a millisecond, for each request. */
#include "recorder_fixture.h"

static uint64_t polls_until_done(struct fixture *fixture) {
  static _Alignas(4096) uint8_t block[4096];
  const uint64_t before = fixture->ram.polls;

  OK(spate_block_read(&fixture->ram.block, 0, 1, block));
  return fixture->ram.polls - before;
}

/* The request is submitted after the first poll, and the last poll finds it. */
static void a_request_relaxes_between_two_polls_only(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  void (*turn)(void *) = fixture->ram.block.while_waiting;

  fixture->ram.block.while_waiting = NULL; /* it polls, too */
  for (unsigned delay = 0; delay < 5; delay++) {
    fixture->ram.delay_polls = delay;
    relaxes = 0;
    const uint64_t polls = polls_until_done(fixture);
    assert_int_equal(relaxes, polls - 1u);
  }
  fixture->ram.block.while_waiting = turn;
  close_fixture(fixture);
}

/* However soon it completes: otherwise streams would stop while many requests follow each other. */
static void each_request_gives_the_streams_a_turn(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  const int turns = fixture->turns;

  for (int i = 1; i <= 5; i++) {
    (void)polls_until_done(fixture);
    assert_true(fixture->turns >= turns + i);
  }
  close_fixture(fixture);
}

/* The last clip is closed in a turn of spate_recorder_finish(), which does not wait after it. */
static void a_recorder_that_has_finished_does_not_relax(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  open_source(fixture, source, 1, false, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", MIB));
  stream_pieces(fixture, source, 2);
  drain(fixture, source);
  relaxes = 0;
  watched = &fixture->ram.polls;
  OK(spate_recorder_finish(&fixture->recorder));
  assert_true(relaxes > 0 && watched_at_relax < fixture->ram.polls);
  watched = NULL;
  close_fixture(fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_request_relaxes_between_two_polls_only),
      cmocka_unit_test(each_request_gives_the_streams_a_turn),
      cmocka_unit_test(a_recorder_that_has_finished_does_not_relax),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
