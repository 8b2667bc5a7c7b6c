/* SPDX-License-Identifier: Apache-2.0 */
/* thorough: make test-all runs it, make test does not */
/* Two clips of a stream that end together, on a drive that loses power while the first is being closed. */
#include "recorder/internal.h"
#include "recorder_fixture.h"

#define TURNS 20000

/* Checks that the file's bytes are the first of `data`, and returns how many. A clip without data has no file. */
static uint64_t begins_with(struct fixture *fixture, const char *path, const uint8_t *data) {
  struct spate_exfat_entry entry = {0};
  const enum spate_error error = spate_exfat_stat(&fixture->volume, path, &entry);

  assert_true(error == SPATE_OK || error == SPATE_E_NOT_FOUND);
  if (error == SPATE_OK) file_holds(fixture, path, data, entry.bytes);
  return entry.bytes;
}

/* Two clips with data end together, the older one in the first slot. The last pieces of the younger one complete while
 * the older one is being closed, `delay_polls` after their submission. The power fails in turn number `at` of
 * closing. */
static bool cut_with_a_full_clip_after_it(bool retain, uint32_t delay_polls, int at) {
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  open_source(fixture, source, 3, retain, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 8 * MIB));
  fixture->ram.keep_log = true;
  for (unsigned i = 0; i < 5; i++)
    OK(push(source, PIECE));
  OK(spate_stream_arm(&source->stream, "B.RAW", 8 * MIB));
  drain(fixture, source);
  OK(spate_stream_cut(&source->stream)); /* the next work() closes it */
  for (unsigned i = 0; i < 5; i++)
    OK(push(source, PIECE));
  OK(spate_stream_stop(&source->stream));
  fixture->ram.delay_polls = delay_polls;
  spate_transfer_submit(&fixture->recorder);
  fixture->ram.delay_polls = 0;
  fixture->turns = 0;
  fixture->cut_power_at = at;
  for (int i = 0; i < TURNS && spate_stream_active(&source->stream); i++)
    work(fixture);
  assert_false(spate_stream_active(&source->stream));
  const bool happened = fixture->turns > at;
  fixture->cut_power_at = -1;
  if (retain) {
    assert_int_equal(source->stream.counters.lost_bytes, 0);
    file_holds(fixture, "A.RAW", source->sent, 5 * PIECE);
    file_holds(fixture, "B.RAW", source->sent + 5 * PIECE, 5 * PIECE);
  } else {
    const uint64_t a_bytes = begins_with(fixture, "A.RAW", source->sent);
    const uint64_t b_bytes = begins_with(fixture, "B.RAW", source->sent + 5 * PIECE);
    assert_int_equal(a_bytes + b_bytes + source->stream.counters.lost_bytes, 10 * PIECE);
  }
  close_fixture(fixture);
  return happened;
}

static void a_power_loss_while_the_clip_before_is_closed(void **state) {
  (void)state;
  unsigned cuts = 0;

  for (unsigned retain = 0; retain < 2; retain++)
    for (uint32_t delay_polls = 0; delay_polls < 30; delay_polls += 3)
      for (int at = 0; cut_with_a_full_clip_after_it(retain != 0, delay_polls, at); at++)
        cuts++;
  assert_true(cuts > 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_power_loss_while_the_clip_before_is_closed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
