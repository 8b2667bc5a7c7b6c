/* SPDX-License-Identifier: Apache-2.0 */
/* The progress of a clip as the caller sees it: how many bytes are pushed, completed, durable and published after each
 * step. */
#include "../../../src/recorder/internal.h"
#include "recorder_fixture.h"

#include <inttypes.h>

/* All numbers are pieces. */
static void assert_progress(const struct source *source, uint64_t pushed, uint64_t completed, uint64_t durable,
                            uint64_t published, int line) {
  const struct spate_clip_progress progress = spate_stream_progress(&source->stream);
  const struct spate_clip_progress wanted = {pushed * PIECE, completed * PIECE, durable * PIECE, published * PIECE};

  if (memcmp(&progress, &wanted, sizeof wanted) != 0)
    fail_msg("line %d: %" PRIu64 " pieces pushed, %" PRIu64 " completed, %" PRIu64 " durable, %" PRIu64 " published",
             line, progress.pushed_bytes / PIECE, progress.completed_bytes / PIECE, progress.durable_bytes / PIECE,
             progress.published_bytes / PIECE);
}
#define PROGRESS(pushed, completed, durable, published)                                                                \
  assert_progress(source, pushed, completed, durable, published, __LINE__)

static void turns(struct fixture *fixture) {
  for (unsigned i = 0; i < 20; i++)
    work(fixture);
}

static void progress_follows_each_step_of_a_clip(void **state) {
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
  turns(fixture); /* the checkpoint's flush is in flight */
  OK(push(source, PIECE));
  turns(fixture);
  PROGRESS(6, 6, 0, 0);
  fixture->ram.held_ops = RAM_OP(SPATE_WRITE);
  turns(fixture); /* the write of the length is in flight */
  PROGRESS(6, 6, 5, 0);
  assert_int_equal(spate_stream_published_bytes(&source->stream), 0);
  fixture->ram.held_ops = 0;
  turns(fixture);
  PROGRESS(6, 6, 5, 5);
  assert_int_equal(spate_stream_published_bytes(&source->stream), 5 * PIECE);
  assert_int_equal(source->stream.counters.durable_bytes, 5 * PIECE);

  /* A stopped clip has no progress, because no push goes to it. Its bytes count as published until it is closed. */
  OK(spate_stream_stop(&source->stream));
  PROGRESS(0, 0, 0, 0);
  assert_int_equal(spate_stream_left_bytes(&source->stream), 0);
  assert_int_equal(spate_stream_published_bytes(&source->stream), 5 * PIECE);
  close_clips(fixture, source);
  assert_int_equal(spate_stream_published_bytes(&source->stream), 0);
  assert_int_equal(source->stream.counters.durable_bytes, 6 * PIECE);
  close_fixture(fixture);
}

/* The write of a length fails. The flushed bytes are durable, and the next checkpoint publishes them. */
static void flushed_bytes_are_durable_although_their_length_is_not_written(void **state) {
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

/* A clip ends while its length is being written. It is closed after this write has completed, and work() does not wait
 * for the write. */
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
  assert_int_equal(fixture->ram.held_ops, RAM_OP(SPATE_WRITE)); /* work() did not wait */
  fixture->ram.held_ops = 0;
  close_clips(fixture, source);
  file_holds(fixture, "A.RAW", source->sent, 5 * PIECE);
  close_fixture(fixture);
}

/* The published bytes of a stream are the sum over its clips that are not closed. */
static void a_clip_counts_as_published_until_it_is_closed(void **state) {
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
  OK(push(source, PIECE)); /* does not complete, so its clip stays open */
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

/* Completed bytes that the drive loses are no longer completed. Flushed bytes stay durable. */
static void a_power_loss_reduces_completed_bytes_to_durable_bytes(void **state) {
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
    fixture->ram.held_ops = RAM_OP(SPATE_WRITE); /* the pieces that are written again do not complete yet */
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

/* The drive loses power at any time of closing. */
static void a_power_loss_while_a_clip_closes_is_accounted_for(void **state) {
  (void)state;

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
    close_clips(fixture, source);
    const struct spate_stream_counters *counters = &source->stream.counters;
    assert_int_equal(counters->completed_bytes + counters->lost_bytes, 5 * PIECE);
    assert_int_equal(counters->durable_bytes, counters->completed_bytes);
    if (counters->completed_bytes > 0) assert_int_equal(file_bytes(fixture, "A.RAW"), counters->completed_bytes);
    close_fixture(fixture);
  }
}

/* The final length is published, and the unused clusters cannot be freed. */
static void a_close_that_fails_after_its_final_length_loses_nothing(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];
  const uint64_t bitmap_lba = fixture->volume.heap_lba;

  open_source(fixture, source, 3, false, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 4 * MIB));
  stream_pieces(fixture, source, 5);
  drain(fixture, source);
  OK(spate_stream_stop(&source->stream));
  ram_block_fault(&fixture->ram, (struct ram_fault){.ops = RAM_OP(SPATE_WRITE),
                                                    .first_lba = bitmap_lba,
                                                    .last_lba = bitmap_lba,
                                                    .times = 1,
                                                    .error = SPATE_E_MEDIA});
  GIVES(SPATE_E_MEDIA, spate_recorder_work(&fixture->recorder));
  assert_int_equal(source->stream.clips[0].progress.durable_bytes, 5 * PIECE);
  assert_int_equal(source->stream.counters.durable_bytes, 5 * PIECE);
  assert_int_equal(source->stream.counters.lost_bytes, 0);
  spate_exfat_abandon(&fixture->volume);
  OK(spate_exfat_mount(&fixture->volume, &fixture->config, NULL));
  assert_int_equal(file_bytes(fixture, "A.RAW"), 5 * PIECE);
  close_fixture(fixture);
}

/* The clip is closed, and the flush of a checkpoint that began before is still under way: its request is the
 * recorder's.
 */
static void a_recorder_is_busy_as_long_as_its_flush_is(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  open_source(fixture, source, 3, false, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 4 * MIB));
  stream_pieces(fixture, source, 5);
  drain(fixture, source);
  fixture->ram.delay_polls = 5000;
  clock_ns += 600000000;
  work(fixture);
  fixture->ram.delay_polls = 0;
  OK(spate_stream_stop(&source->stream));
  close_clips(fixture, source);
  GIVES(SPATE_E_BUSY, spate_recorder_close(&fixture->recorder));
  OK(spate_recorder_finish(&fixture->recorder));
  close_fixture(fixture);
}

/* A checkpoint may end after a close whose flush came later. It takes nothing back, however long the ring is. */
static void an_older_flush_takes_nothing_back(void **state) {
  (void)state;
  static const uint32_t counts[] = {10, 0x8000, 0x10000, 0x18000};
  struct spate_stream stream;
  for (unsigned i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    memset(&stream, 0, sizeof stream);
    stream.flushed = UINT32_MAX - 100u; /* the numbers of pieces wrap */
    stream.completed = stream.flushed + counts[i];
    spate_transfer_flushed(&stream, stream.flushed - 5u);
    assert_int_equal(stream.flushed, UINT32_MAX - 100u);
    spate_transfer_flushed(&stream, stream.completed + 1u); /* nor is there more than was completed */
    assert_int_equal(stream.flushed, UINT32_MAX - 100u);
    spate_transfer_flushed(&stream, stream.completed);
    assert_int_equal(stream.flushed, stream.completed);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(progress_follows_each_step_of_a_clip),
      cmocka_unit_test(flushed_bytes_are_durable_although_their_length_is_not_written),
      cmocka_unit_test(a_clip_is_not_closed_while_its_length_is_being_written),
      cmocka_unit_test(a_clip_counts_as_published_until_it_is_closed),
      cmocka_unit_test(a_power_loss_reduces_completed_bytes_to_durable_bytes),
      cmocka_unit_test(a_power_loss_while_a_clip_closes_is_accounted_for),
      cmocka_unit_test(an_older_flush_takes_nothing_back),
      cmocka_unit_test(a_recorder_is_busy_as_long_as_its_flush_is),
      cmocka_unit_test(a_close_that_fails_after_its_final_length_loses_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
