/* SPDX-License-Identifier: Apache-2.0 */
/* What a recorder keeps, and what it reports as lost, when writes and flushes fail or the drive loses power during a
 * clip. */
#include "recorder_fixture.h"

static void a_failed_write_ends_the_clip_at_its_last_good_byte(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  fixture->ram.order = RAM_RANDOM;
  open_source(fixture, source, 3, false, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 8 * MIB));
  uint64_t bad_lba = source->stream.clips[0].file.first_lba + 20 * PIECE / 512 + 3;
  ram_block_fault(&fixture->ram, (struct ram_fault){.ops = RAM_OP(SPATE_WRITE),
                                                    .first_lba = bad_lba,
                                                    .last_lba = bad_lba,
                                                    .times = RAM_ALWAYS,
                                                    .error = SPATE_E_MEDIA,
                                                    .detail = 0x280});
  enum spate_error error = SPATE_OK;
  for (unsigned i = 0; i < 1000 && (error == SPATE_OK || error == SPATE_E_FULL); i++) {
    error = push(source, PIECE);
    work(fixture);
  }
  assert_int_equal(error, SPATE_E_MEDIA);
  assert_int_equal(source->stream.error, SPATE_E_MEDIA);
  OK(spate_stream_stop(&source->stream));
  close_clips(fixture, source);
  file_holds(fixture, "A.RAW", source->sent, 20 * PIECE);
  assert_int_equal(source->stream.counters.lost_bytes, source->sent_bytes - 20 * PIECE);
  assert_true(fixture->events[SPATE_EVENT_LOST] > 0);
  OK(spate_stream_arm(&source->stream, "B.RAW", MIB)); /* the stream can continue in another file */
  uint64_t start = source->sent_bytes;
  stream_pieces(fixture, source, 4);
  OK(spate_stream_stop(&source->stream));
  close_clips(fixture, source);
  file_holds(fixture, "B.RAW", source->sent + start, 4 * PIECE);
  close_fixture(fixture);
}

/* The drive loses power in the middle of the stream, with `held` requests in flight. */
static void lose_power(struct fixture *fixture, struct source *source) {
  fixture->ram.keep_log = true;
  fixture->ram.order = RAM_RANDOM;
  stream_pieces(fixture, source, 9);
  drain(fixture, source);
  clock_ns += 600000000; /* a checkpoint of these nine */
  for (int i = 0; i < 20; i++)
    work(fixture);
  assert_int_equal(source->stream.clips[0].file.published_bytes, 9 * PIECE);
  stream_pieces(fixture, source, 4);
  drain(fixture, source); /* completed, not flushed */
  OK(push(source, PIECE));
  OK(push(source, PIECE));
  fixture->ram.delay_polls = 50;
  work(fixture); /* in flight */
  cut_the_drives_power(fixture);
  fixture->ram.delay_polls = 0;
}

static void a_retaining_stream_loses_nothing_when_the_drive_loses_power(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  open_source(fixture, source, 3, true, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 8 * MIB));
  lose_power(fixture, source);
  for (unsigned pieces = 0; pieces < 30;) {
    if (push(source, PIECE) == SPATE_OK) pieces++;
    work(fixture);
    clock_ns += 20000000;
  }
  OK(spate_stream_stop(&source->stream));
  close_clips(fixture, source);
  file_holds(fixture, "A.RAW", source->sent, source->sent_bytes);
  assert_int_equal(source->stream.counters.lost_bytes, 0);
  close_fixture(fixture);
}

static void a_power_loss_caps_a_clip_whose_memory_was_released(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  open_source(fixture, source, 3, false, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 8 * MIB));
  lose_power(fixture, source);
  for (int i = 0; i < 100; i++)
    work(fixture);
  GIVES(SPATE_E_POWER_LOST, push(source, PIECE));
  OK(spate_stream_stop(&source->stream));
  close_clips(fixture, source);
  file_holds(fixture, "A.RAW", source->sent, 9 * PIECE);
  assert_int_equal(source->stream.counters.lost_bytes, 6 * PIECE);
  assert_int_equal(source->stream.error, SPATE_E_POWER_LOST);
  close_fixture(fixture);
}

/* Nine pieces are published, four have completed since, and the next write fails while two are in flight behind it.
 * Then the power loss takes the four back, and the end of the clip with them: the two complete, and must not take the
 * place of what is gone. */
static void a_power_loss_takes_back_the_end_of_a_clip_that_had_failed(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  open_source(fixture, source, 3, false, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 8 * MIB));
  fixture->ram.keep_log = true;
  stream_pieces(fixture, source, 9);
  drain(fixture, source);
  clock_ns += 600000000; /* a checkpoint of these nine */
  for (int i = 0; i < 20; i++)
    work(fixture);
  stream_pieces(fixture, source, 4);
  drain(fixture, source);
  const uint64_t bad_lba = source->stream.clips[0].file.first_lba + 13 * PIECE / 512;
  ram_block_fault(&fixture->ram, (struct ram_fault){.ops = RAM_OP(SPATE_WRITE),
                                                    .first_lba = bad_lba,
                                                    .last_lba = bad_lba,
                                                    .times = RAM_ALWAYS,
                                                    .error = SPATE_E_MEDIA});
  fixture->ram.delay_polls = 50;
  for (int i = 0; i < 3; i++) {
    OK(push(source, PIECE)); /* a write of its own, ready some polls after the one before */
    work(fixture);
  }
  for (int i = 0; i < 100 && source->stream.error == SPATE_OK; i++)
    work(fixture);
  assert_int_equal(source->stream.error, SPATE_E_MEDIA);
  assert_int_equal(source->stream.clips[0].progress.completed_bytes, 13 * PIECE);
  assert_int_equal(source->stream.clips[0].outstanding, 2);
  cut_the_drives_power(fixture);
  fixture->ram.delay_polls = 0;
  OK(spate_stream_stop(&source->stream));
  close_clips(fixture, source);
  file_holds(fixture, "A.RAW", source->sent, 9 * PIECE);
  assert_int_equal(source->stream.counters.lost_bytes, source->sent_bytes - 9 * PIECE);
  close_fixture(fixture);
}

/* The flush of a checkpoint is submitted before the power loss and completes after it: it proves nothing about earlier
 * writes. */
static void a_flush_that_straddles_a_power_loss_publishes_nothing(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  open_source(fixture, source, 3, true, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 8 * MIB));
  fixture->ram.keep_log = true;
  stream_pieces(fixture, source, 5);
  drain(fixture, source);
  fixture->ram.held_ops = RAM_OP(SPATE_FLUSH);
  clock_ns += 600000000;
  work(fixture);
  work(fixture);
  assert_int_equal(fixture->recorder.counters.flushes, 1);
  cut_the_drives_power(fixture);
  fixture->ram.held_ops = RAM_OP(SPATE_WRITE); /* the repeated writes do not complete yet */
  for (int i = 0; i < 10; i++)
    work(fixture);
  assert_int_equal(source->stream.clips[0].progress.durable_bytes, 0);
  fixture->ram.held_ops = 0;
  OK(spate_stream_stop(&source->stream));
  close_clips(fixture, source);
  file_holds(fixture, "A.RAW", source->sent, 5 * PIECE);
  close_fixture(fixture);
}

/* The chunks of a closed clip are released, though no checkpoint followed them, and are never written again. */
static void a_closed_clip_releases_the_ring(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  open_source(fixture, source, 3, true, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 8 * MIB));
  fixture->ram.keep_log = true;
  for (unsigned i = 0; i < PIECES; i++)
    OK(push(source, PIECE));
  OK(spate_stream_stop(&source->stream));
  close_clips(fixture, source);
  assert_int_equal(spate_stream_room(&source->stream), PIECES);
  OK(spate_stream_arm(&source->stream, "B.RAW", 8 * MIB));
  uint64_t requests = source->stream.counters.data_requests;
  OK(push(source, PIECE));
  drain(fixture, source);
  cut_the_drives_power(fixture);
  OK(spate_recorder_finish(&fixture->recorder));
  assert_int_equal(source->stream.counters.data_requests, requests + 2); /* the single piece of B, twice */
  file_holds(fixture, "A.RAW", source->sent, PIECES * PIECE);
  file_holds(fixture, "B.RAW", source->sent + PIECES * PIECE, PIECE);
  close_fixture(fixture);
}

static void a_failed_flush_is_reported_and_tried_again(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  open_source(fixture, source, 3, false, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 8 * MIB));
  stream_pieces(fixture, source, 5);
  drain(fixture, source);
  ram_block_fault(
      &fixture->ram,
      (struct ram_fault){.ops = RAM_OP(SPATE_FLUSH), .last_lba = UINT64_MAX, .times = 1, .error = SPATE_E_COMMAND});
  clock_ns += 600000000;
  work(fixture);
  GIVES(SPATE_E_COMMAND, spate_recorder_work(&fixture->recorder));
  assert_int_equal(source->stream.clips[0].file.published_bytes, 0);
  assert_int_equal(fixture->recorder.counters.checkpoint_failures, 1);
  clock_ns += 600000000;
  for (int i = 0; i < 10; i++)
    work(fixture);
  assert_int_equal(source->stream.clips[0].file.published_bytes, 5 * PIECE);
  OK(spate_recorder_finish(&fixture->recorder));
  file_holds(fixture, "A.RAW", source->sent, 5 * PIECE);
  close_fixture(fixture);
}

/* The cache is turned off after a flush had failed: from then on no flush is needed, and its error is past. */
static void an_error_of_a_flush_ends_with_the_cache(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  open_source(fixture, source, 3, false, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 8 * MIB));
  stream_pieces(fixture, source, 5);
  drain(fixture, source);
  ram_block_fault(
      &fixture->ram,
      (struct ram_fault){.ops = RAM_OP(SPATE_FLUSH), .last_lba = UINT64_MAX, .times = 1, .error = SPATE_E_COMMAND});
  clock_ns += 600000000;
  work(fixture);
  GIVES(SPATE_E_COMMAND, spate_recorder_work(&fixture->recorder));
  OK(spate_block_flush(&fixture->ram.block)); /* as spate_nvme_write_cache_set() does */
  fixture->ram.block.volatile_cache = false;
  clock_ns += 600000000;
  for (int i = 0; i < 10; i++)
    work(fixture);
  assert_int_equal(source->stream.clips[0].file.published_bytes, 5 * PIECE);
  OK(spate_recorder_finish(&fixture->recorder));
  close_fixture(fixture);
}

/* The memory of what completed is used again already. It may be on the media: the file keeps it, and the program is
 * told. */
static void what_may_be_lost_is_told(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  open_source(fixture, source, 3, false, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 8 * MIB));
  stream_pieces(fixture, source, 5);
  clock_ns += 600000000;
  while (spate_stream_progress(&source->stream).durable_bytes < 5 * PIECE)
    work(fixture);
  for (unsigned i = 1; i <= 2; i++) {
    fixture->ram.block.power_unknown++; /* all is flushed: there is no doubt */
    work(fixture);
    assert_int_equal(fixture->events[SPATE_EVENT_POWER_UNKNOWN], 0);
  }
  stream_pieces(fixture, source, 3);
  const struct spate_clip_progress progress = spate_stream_progress(&source->stream);
  const uint64_t unflushed_bytes = progress.completed_bytes - progress.durable_bytes;
  assert_true(unflushed_bytes > 0);
  fixture->ram.block.power_unknown++;
  work(fixture);
  assert_int_equal(fixture->events[SPATE_EVENT_POWER_UNKNOWN], 1);
  assert_int_equal(fixture->values[SPATE_EVENT_POWER_UNKNOWN], unflushed_bytes);
  assert_int_equal(source->stream.counters.unknown_bytes, unflushed_bytes);
  stream_pieces(fixture, source, 4);
  OK(spate_recorder_finish(&fixture->recorder));
  OK(source->stream.error);
  assert_int_equal(fixture->events[SPATE_EVENT_LOST], 0);
  assert_int_equal(fixture->events[SPATE_EVENT_POWER_UNKNOWN], 1);
  file_holds(fixture, "A.RAW", source->sent, 12 * PIECE);
  close_fixture(fixture);
}

/* Each byte is in doubt once, however often the drive is reset. */
static void no_byte_is_told_twice(void **state) {
  (void)state;
  static const char *const names[] = {"A.RAW", "B.RAW", "C.RAW"};
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];
  unsigned told = 0;

  open_source(fixture, source, 3, false, 0);
  for (unsigned clip = 0; clip < 3; clip++) { /* and no clip is taken for the one before */
    OK(spate_stream_arm(&source->stream, names[clip], 8 * MIB));
    for (unsigned i = 1; i <= 3; i++) {
      stream_pieces(fixture, source, 1);
      drain(fixture, source);
      for (unsigned times = 0; times < 3; times++) {
        fixture->ram.block.power_unknown++;
        work(fixture);
      }
      told++;
      assert_int_equal(source->stream.counters.unknown_bytes, told * PIECE);
      assert_int_equal(fixture->events[SPATE_EVENT_POWER_UNKNOWN], told);
    }
    OK(spate_stream_stop(&source->stream));
    close_clips(fixture, source);
  }
  close_fixture(fixture);
}

/* The clip's last piece has failed, and nothing else is held: it is not written again, and the clip ends. */
static void a_failed_last_piece_ends_through_a_power_loss(void **state) {
  (void)state;
  for (unsigned told = 0; told < 2; told++) {
    struct fixture *fixture = open_fixture(512, VOLUME_MIB);
    struct source *source = &fixture->sources[0];

    open_source(fixture, source, 3, true, 0);
    OK(spate_stream_arm(&source->stream, "A.RAW", 8 * MIB));
    stream_pieces(fixture, source, 9);
    drain(fixture, source);
    clock_ns += 600000000;
    while (spate_stream_progress(&source->stream).published_bytes < 9 * PIECE)
      work(fixture);
    const uint64_t lba = source->stream.clips[0].file.first_lba + 9 * PIECE / 512;
    ram_block_fault(&fixture->ram, (struct ram_fault){.ops = RAM_OP(SPATE_WRITE),
                                                      .first_lba = lba,
                                                      .last_lba = lba,
                                                      .times = RAM_ALWAYS,
                                                      .error = SPATE_E_MEDIA});
    OK(push(source, PIECE));
    drain(fixture, source);
    assert_int_equal(source->stream.error, SPATE_E_MEDIA);
    *(told ? &fixture->ram.block.power_losses : &fixture->ram.block.power_unknown) += 1;
    OK(spate_stream_stop(&source->stream));
    close_clips(fixture, source);
    assert_false(spate_stream_active(&source->stream));
    assert_int_equal(source->stream.counters.lost_bytes, PIECE);
    file_holds(fixture, "A.RAW", source->sent, 9 * PIECE);
    close_fixture(fixture);
  }
}

/* Both at once: the loss that is known counts. */
static void a_loss_beside_a_doubt_ends_the_clip(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  open_source(fixture, source, 3, false, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 8 * MIB));
  stream_pieces(fixture, source, 5);
  const uint64_t completed_bytes = spate_stream_progress(&source->stream).completed_bytes;
  assert_true(completed_bytes > 0);
  fixture->ram.block.power_unknown++;
  cut_the_drives_power(fixture);
  work(fixture);
  assert_int_equal(source->stream.error, SPATE_E_POWER_LOST);
  assert_int_equal(fixture->events[SPATE_EVENT_POWER_UNKNOWN], 0);
  assert_true(source->stream.counters.lost_bytes >= completed_bytes);
  OK(spate_stream_stop(&source->stream));
  close_clips(fixture, source);
  close_fixture(fixture);
}

static void no_flush_where_the_drive_has_no_volatile_cache(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  fixture->ram.block.volatile_cache = false;
  ram_block_clear_log(&fixture->ram); /* formatting flushed */
  open_source(fixture, source, 3, true, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 8 * MIB));
  for (int i = 0; i < 10; i++) {
    stream_pieces(fixture, source, 5);
    clock_ns += 300000000;
  }
  fixture->ram.block.power_losses++; /* nothing is lost: completed writes are durable */
  work(fixture);
  fixture->ram.block.power_unknown++;
  OK(spate_recorder_finish(&fixture->recorder));
  file_holds(fixture, "A.RAW", source->sent, source->sent_bytes);
  assert_int_equal(fixture->ram.count[SPATE_FLUSH], 0);
  assert_int_equal(fixture->events[SPATE_EVENT_POWER_UNKNOWN], 0);
  assert_true(source->stream.counters.checkpoints >= 4);
  close_fixture(fixture);
}

/* Chunks prove themselves: a cut loses what was not on the media, but not what was merely not checkpointed. */
static void a_stream_of_chunks_survives_up_to_its_last_piece(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];
  struct spate_exfat_mounted found;

  open_source(fixture, source, 3, false, 0);
  source->stream.config.chunk_bytes = PIECE;
  memcpy(source->stream.config.chunk_stream, "0123456789abcdef", 16);
  source->sealed = true;
  OK(spate_stream_arm(&source->stream, "A.RAW", 8 * MIB));
  stream_pieces(fixture, source, 5);
  OK(spate_stream_cut(&source->stream));
  close_clips(fixture, source);
  uint64_t start = source->sent_bytes;
  OK(spate_stream_arm(&source->stream, "B.RAW", 8 * MIB)); /* its chunks are numbered from 5 */
  stream_pieces(fixture, source, 20);
  drain(fixture, source);
  assert_int_equal(source->stream.clips[0].file.published_bytes, 0);
  GIVES(SPATE_E_INVALID, spate_stream_push(&source->stream, 0, PIECE + 512));

  fixture->config.salvage = spate_exfat_salvage;
  host_starts_again(&fixture->ram.block);
  OK(spate_exfat_mount(&fixture->volume, &fixture->config, &found)); /* as after a cut */
  assert_int_equal(found.salvaged_bytes, 20 * PIECE);
  file_holds(fixture, "A.RAW", source->sent, start);
  file_holds(fixture, "B.RAW", source->sent + start, 20 * PIECE);
  memset(source->stream.clips, 0, sizeof source->stream.clips); /* the recorder died in the cut */
  close_fixture(fixture);
}

static void a_short_chunk_ends_the_clip(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  open_source(fixture, source, 3, false, 0);
  source->stream.config.chunk_bytes = PIECE;
  OK(spate_stream_arm(&source->stream, "A.RAW", 8 * MIB));
  OK(push(source, PIECE));
  OK(push(source, 4096));
  GIVES(SPATE_E_STATE, push(source, PIECE));
  OK(spate_recorder_finish(&fixture->recorder));
  file_holds(fixture, "A.RAW", source->sent, PIECE + 4096);
  close_fixture(fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_failed_write_ends_the_clip_at_its_last_good_byte),
      cmocka_unit_test(a_retaining_stream_loses_nothing_when_the_drive_loses_power),
      cmocka_unit_test(a_power_loss_caps_a_clip_whose_memory_was_released),
      cmocka_unit_test(a_power_loss_takes_back_the_end_of_a_clip_that_had_failed),
      cmocka_unit_test(a_flush_that_straddles_a_power_loss_publishes_nothing),
      cmocka_unit_test(a_closed_clip_releases_the_ring),
      cmocka_unit_test(a_failed_flush_is_reported_and_tried_again),
      cmocka_unit_test(an_error_of_a_flush_ends_with_the_cache),
      cmocka_unit_test(what_may_be_lost_is_told),
      cmocka_unit_test(a_loss_beside_a_doubt_ends_the_clip),
      cmocka_unit_test(no_byte_is_told_twice),
      cmocka_unit_test(a_failed_last_piece_ends_through_a_power_loss),
      cmocka_unit_test(no_flush_where_the_drive_has_no_volatile_cache),
      cmocka_unit_test(a_stream_of_chunks_survives_up_to_its_last_piece),
      cmocka_unit_test(a_short_chunk_ends_the_clip),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
