/* SPDX-License-Identifier: Apache-2.0 */
/* How far a clip is: pushed, completed, durable, published, as the caller sees it at each step. */
#include "recorder_fixture.h"

#include <inttypes.h>

static void assert_progress(const struct source *source, uint64_t pushed, uint64_t completed, uint64_t durable,
                            uint64_t published, int line) {
  const struct spate_clip_progress progress = spate_stream_progress(&source->stream);
  const struct spate_clip_progress wanted = {pushed * PIECE, completed * PIECE, durable * PIECE, published * PIECE};

  if (memcmp(&progress, &wanted, sizeof wanted) != 0)
    fail_msg("line %d: %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 " pieces", line, progress.pushed_bytes / PIECE,
             progress.completed_bytes / PIECE, progress.durable_bytes / PIECE, progress.published_bytes / PIECE);
}
#define PROGRESS(pushed, completed, durable, published)                                                                \
  assert_progress(source, pushed, completed, durable, published, __LINE__)

static void turns(struct fixture *fixture) {
  for (unsigned i = 0; i < 20; i++)
    work(fixture);
}

static void each_step_of_a_clip_is_seen(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  open_source(fixture, source, 3, false, 0);
  PROGRESS(0, 0, 0, 0);
  assert_int_equal(spate_stream_left_bytes(&source->stream), 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 4 * MIB));
  PROGRESS(0, 0, 0, 0);
  assert_int_equal(spate_stream_left_bytes(&source->stream), 4 * MIB);
  for (unsigned i = 0; i < 5; i++)
    OK(push(source, PIECE));
  PROGRESS(5, 0, 0, 0);
  assert_int_equal(spate_stream_left_bytes(&source->stream), 4 * MIB - 5 * PIECE);
  drain(fixture, source);
  PROGRESS(5, 5, 0, 0);

  fixture->ram.held_ops = RAM_OP(SPATE_FLUSH);
  clock_ns += 600000000;
  turns(fixture); /* the checkpoint's flush is under way */
  OK(push(source, PIECE));
  turns(fixture);
  PROGRESS(6, 6, 0, 0);
  fixture->ram.held_ops = RAM_OP(SPATE_WRITE);
  turns(fixture); /* now the length is */
  PROGRESS(6, 6, 5, 0);
  assert_int_equal(spate_stream_published_bytes(&source->stream), 0);
  fixture->ram.held_ops = 0;
  turns(fixture);
  PROGRESS(6, 6, 5, 5);
  assert_int_equal(spate_stream_published_bytes(&source->stream), 5 * PIECE);
  assert_int_equal(source->stream.counters.durable_bytes, 5 * PIECE);

  /* A clip that has ended is not the one that pushes go to, but is there until it is closed. */
  OK(spate_stream_stop(&source->stream));
  PROGRESS(0, 0, 0, 0);
  assert_int_equal(spate_stream_left_bytes(&source->stream), 0);
  assert_int_equal(spate_stream_published_bytes(&source->stream), 5 * PIECE);
  close_clips(fixture, source);
  assert_int_equal(spate_stream_published_bytes(&source->stream), 0);
  assert_int_equal(source->stream.counters.durable_bytes, 6 * PIECE);
  close_fixture(fixture);
}

/* The write of a length fails: what was flushed is durable all the same, and the next checkpoint publishes it. */
static void a_length_that_cannot_be_written_is_durable(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  open_source(fixture, source, 3, false, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 4 * MIB));
  stream_pieces(fixture, source, 5);
  drain(fixture, source);
  ram_block_fault(
      &fixture->ram,
      (struct ram_fault){.ops = RAM_OP(SPATE_WRITE), .last_lba = UINT64_MAX, .times = 1, .error = SPATE_E_MEDIA});
  clock_ns += 600000000;
  enum spate_error error = SPATE_OK;
  for (unsigned i = 0; i < 20 && error == SPATE_OK; i++)
    error = spate_recorder_work(&fixture->recorder);
  GIVES(SPATE_E_MEDIA, error);
  PROGRESS(5, 5, 5, 0);
  assert_int_equal(source->stream.counters.durable_bytes, 5 * PIECE);
  assert_int_equal(source->stream.counters.checkpoints, 0);
  clock_ns += 600000000;
  turns(fixture);
  PROGRESS(5, 5, 5, 5);
  assert_int_equal(source->stream.counters.checkpoints, 1);
  OK(spate_recorder_finish(&fixture->recorder));
  close_fixture(fixture);
}

static struct fixture *waiting;

static void release_writes(void *context) {
  (void)context;
  waiting->ram.held_ops = 0;
}

/* A clip that ends while its length is being written is closed when that is done: nothing waits for it. */
static void a_clip_is_not_closed_while_its_length_is_being_written(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  open_source(fixture, source, 3, false, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 4 * MIB));
  stream_pieces(fixture, source, 5);
  drain(fixture, source);
  fixture->ram.held_ops = RAM_OP(SPATE_WRITE);
  clock_ns += 600000000;
  turns(fixture);
  PROGRESS(5, 5, 5, 0);
  waiting = fixture;
  fixture->recorder.config.while_waiting = release_writes;
  OK(spate_stream_stop(&source->stream));
  turns(fixture);
  assert_int_equal(fixture->ram.held_ops, RAM_OP(SPATE_WRITE)); /* work() did not wait for it */
  fixture->ram.held_ops = 0;
  close_clips(fixture, source);
  file_holds(fixture, "A.RAW", source->sent, 5 * PIECE);
  close_fixture(fixture);
}

/* Both clips of a stream count as published, each with its own length. */
static void a_clip_that_ends_beside_the_next_one_still_counts(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  open_source(fixture, source, 3, false, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 4 * MIB));
  OK(spate_stream_arm(&source->stream, "B.RAW", 4 * MIB));
  stream_pieces(fixture, source, 3);
  drain(fixture, source);
  clock_ns += 600000000;
  turns(fixture);
  PROGRESS(3, 3, 3, 3);
  fixture->ram.held_ops = RAM_OP(SPATE_WRITE);
  OK(push(source, PIECE)); /* does not complete, so that its clip stays open */
  OK(spate_stream_cut(&source->stream));
  OK(push(source, PIECE));
  turns(fixture);
  PROGRESS(1, 0, 0, 0);
  assert_int_equal(spate_stream_published_bytes(&source->stream), 3 * PIECE);
  fixture->ram.held_ops = 0;
  turns(fixture); /* the first clip is closed */
  clock_ns += 600000000;
  turns(fixture);
  PROGRESS(1, 1, 1, 1);
  assert_int_equal(spate_stream_published_bytes(&source->stream), PIECE);
  OK(spate_recorder_finish(&fixture->recorder));
  close_fixture(fixture);
}

/* What the drive lost is taken back; what was flushed is not. */
static void a_power_loss_moves_it_back_to_what_is_durable(void **state) {
  (void)state;
  for (unsigned retain = 0; retain < 2; retain++) {
    struct fixture *fixture = open_fixture(512, VOLUME_MIB);
    struct source *source = &fixture->sources[0];

    open_source(fixture, source, 3, retain != 0, 0);
    OK(spate_stream_arm(&source->stream, "A.RAW", 4 * MIB));
    fixture->ram.keep_log = true;
    stream_pieces(fixture, source, 3);
    drain(fixture, source);
    clock_ns += 600000000;
    turns(fixture);
    stream_pieces(fixture, source, 4);
    drain(fixture, source);
    PROGRESS(7, 7, 3, 3);
    cut_the_drives_power(fixture);
    fixture->ram.held_ops = RAM_OP(SPATE_WRITE); /* what is written again does not complete yet */
    work(fixture);
    PROGRESS(7, 3, 3, 3);
    assert_int_equal(source->stream.counters.completed_bytes, 3 * PIECE);
    assert_int_equal(source->stream.counters.lost_bytes, retain ? 0 : 4 * PIECE);
    fixture->ram.held_ops = 0;
    if (retain) {
      drain(fixture, source);
      PROGRESS(7, 7, 3, 3);
    }
    OK(spate_stream_stop(&source->stream));
    close_clips(fixture, source);
    file_holds(fixture, "A.RAW", source->sent, (retain ? 7 : 3) * PIECE);
    close_fixture(fixture);
  }
}

/* The final length is published, and then the power is lost while the tail is given back: the clip does not get
 * shorter, and is closed when that is tried again. */
static void a_close_that_fails_behind_its_final_length_loses_nothing(void **state) {
  (void)state;
  unsigned behind = 0;

  for (int at = 0; at < 40; at++) {
    struct fixture *fixture = open_fixture(512, VOLUME_MIB);
    struct source *source = &fixture->sources[0];

    open_source(fixture, source, 3, false, 0);
    OK(spate_stream_arm(&source->stream, "A.RAW", 4 * MIB));
    stream_pieces(fixture, source, 5);
    drain(fixture, source);
    OK(spate_stream_stop(&source->stream));
    fixture->ram.keep_log = true;
    ram_block_clear_log(&fixture->ram);
    fixture->cut_power_at = fixture->turns + at;
    work(fixture);
    fixture->cut_power_at = -1;
    if (spate_stream_active(&source->stream) && source->stream.clips[0].file.published_bytes > 0) {
      behind++;
      assert_int_equal(source->stream.clips[0].progress.durable_bytes, 5 * PIECE);
      assert_int_equal(source->stream.counters.durable_bytes, 5 * PIECE);
    }
    close_clips(fixture, source);
    const struct spate_stream_counters *counters = &source->stream.counters;
    assert_int_equal(counters->completed_bytes + counters->lost_bytes, 5 * PIECE);
    assert_int_equal(counters->durable_bytes, counters->completed_bytes);
    if (counters->completed_bytes > 0) assert_int_equal(file_bytes(fixture, "A.RAW"), counters->completed_bytes);
    close_fixture(fixture);
  }
  assert_true(behind > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_step_of_a_clip_is_seen),
      cmocka_unit_test(a_length_that_cannot_be_written_is_durable),
      cmocka_unit_test(a_clip_is_not_closed_while_its_length_is_being_written),
      cmocka_unit_test(a_clip_that_ends_beside_the_next_one_still_counts),
      cmocka_unit_test(a_power_loss_moves_it_back_to_what_is_durable),
      cmocka_unit_test(a_close_that_fails_behind_its_final_length_loses_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
