/* SPDX-License-Identifier: Apache-2.0 */
/* thorough: make test-all runs it, make test does not */
/* The drive fails, loses power or is slow while a clip is armed, recorded or closed: every byte is in a file or counted
 * as lost, and every operation ends. For the next file of a stream: test_rollover_faults.c. */
#include "recorder_fixture.h"

#define TURNS 20000

static bool is_stuck(const struct source *source) {
  const struct spate_stream_clip *clips = source->stream.clips;

  return !spate_stream_active(&source->stream) && (clips[0].file.volume != NULL || clips[1].file.volume != NULL);
}

static void work_until_idle(struct fixture *fixture, struct source *source) {
  for (int i = 0; i < TURNS && spate_stream_active(&source->stream); i++)
    work(fixture);
  assert_false(spate_stream_active(&source->stream));
}

/* Writes of the first block of the current clip fail. */
static void fail_first_block(struct fixture *fixture, const struct source *source, uint32_t times,
                             enum spate_error error) {
  const uint64_t lba = source->stream.current->file.first_lba;

  ram_block_fault(&fixture->ram,
                  (struct ram_fault){
                      .ops = RAM_OP(SPATE_WRITE), .first_lba = lba, .last_lba = lba, .times = times, .error = error});
}

/* Each byte pushed is in the file or counted as lost; none is counted twice. */
static void file_and_losses_add_up(struct fixture *fixture, struct source *source, const char *path, uint64_t pushed) {
  uint64_t bytes = 0;
  struct spate_exfat_entry entry;

  if (spate_exfat_stat(&fixture->volume, path, &entry) == SPATE_OK) bytes = entry.bytes;
  assert_int_equal(bytes + source->stream.counters.lost_bytes, pushed);
  if (bytes > 0) file_holds(fixture, path, source->sent, bytes);
}

/* Cuts the drive's power in turn number `at` of the waits of close. Returns false if close has fewer turns. */
static bool cut_while_closing(bool retain, int at) {
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  open_source(fixture, source, 3, retain, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 8 * MIB));
  fixture->ram.keep_log = true;
  stream_pieces(fixture, source, 5);
  drain(fixture, source);
  OK(spate_stream_stop(&source->stream));
  fixture->ram.delay_polls = 2;
  fixture->turns = 0;
  fixture->cut_power_at = at;
  work_until_idle(fixture, source);
  bool happened = fixture->turns > at;
  fixture->cut_power_at = -1;
  assert_false(is_stuck(source));
  file_and_losses_add_up(fixture, source, "A.RAW", 5 * PIECE);
  if (retain) assert_int_equal(source->stream.counters.lost_bytes, 0);

  /* The stream records the next clip as usual. */
  uint64_t start = source->sent_bytes;
  OK(spate_stream_arm(&source->stream, "B.RAW", 8 * MIB));
  stream_pieces(fixture, source, 3);
  OK(spate_stream_stop(&source->stream));
  work_until_idle(fixture, source);
  file_holds(fixture, "B.RAW", source->sent + start, 3 * PIECE);
  close_fixture(fixture);
  return happened;
}

static void a_power_loss_at_any_turn_of_closing(void **state) {
  (void)state;
  int turns = 0;

  while (cut_while_closing(true, turns))
    turns++;
  assert_true(turns > 5);
  turns = 0;
  while (cut_while_closing(false, turns))
    turns++;
  assert_true(turns > 5);
}

/* A clip with data is in the second slot. The empty clip that was armed after it is in the first slot. Both end at the
 * same time. */
static bool cut_with_an_empty_clip_after_it(int at) {
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  open_source(fixture, source, 3, true, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 8 * MIB));
  OK(push(source, PIECE));
  drain(fixture, source);
  OK(spate_stream_arm(&source->stream, "B.RAW", 8 * MIB));
  OK(spate_stream_cut(&source->stream));
  for (int i = 0; i < 50; i++)
    work(fixture);
  OK(spate_stream_arm(&source->stream, "C.RAW", 8 * MIB));
  fixture->ram.keep_log = true;
  for (unsigned i = 0; i < 6; i++)
    OK(push(source, PIECE));
  fixture->ram.delay_polls = 6;
  work(fixture); /* the writes of B are delayed */
  fixture->ram.delay_polls = 1;
  OK(spate_stream_stop(&source->stream));
  fixture->turns = 0;
  fixture->cut_power_at = at;
  work_until_idle(fixture, source);
  bool happened = fixture->turns > at;
  fixture->cut_power_at = -1;
  assert_int_equal(source->stream.counters.lost_bytes, 0);
  file_holds(fixture, "B.RAW", source->sent + PIECE, 6 * PIECE);
  struct spate_exfat_entry entry;
  GIVES(SPATE_E_NOT_FOUND, spate_exfat_stat(&fixture->volume, "C.RAW", &entry));
  close_fixture(fixture);
  return happened;
}

static void a_clip_is_closed_before_the_one_after_it(void **state) {
  (void)state;
  int turns = 0;

  while (cut_with_an_empty_clip_after_it(turns))
    turns++;
  assert_true(turns > 5);
}

/* A write that cuts the drive's power each time it is sent is given up like any write that fails. */
static void a_write_that_cuts_the_power_is_not_repeated_for_ever(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];
  uint64_t requests = 0;

  open_source(fixture, source, 3, false, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 8 * MIB));
  fail_first_block(fixture, source, RAM_ALWAYS, SPATE_E_TIMEOUT);
  OK(push(source, PIECE));
  OK(spate_stream_stop(&source->stream));
  fixture->ram.delay_polls = 2;
  for (int i = 0; i < TURNS && spate_stream_active(&source->stream); i++) {
    work(fixture);
    if (source->stream.counters.data_requests != requests)
      fixture->ram.block.power_losses++; /* before the drive answers */
    requests = source->stream.counters.data_requests;
  }
  assert_false(spate_stream_active(&source->stream));
  assert_int_equal(source->stream.error, SPATE_E_TIMEOUT);
  assert_int_equal(source->stream.counters.lost_bytes, PIECE);
  ram_block_clear_faults(&fixture->ram);
  close_fixture(fixture);
}

static void media_error_in_a_retaining_stream(uint64_t next_bytes) {
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];
  enum spate_error error = SPATE_OK;

  open_source(fixture, source, 3, true, next_bytes);
  OK(spate_stream_arm(&source->stream, "A.RAW", 8 * MIB));
  fail_first_block(fixture, source, RAM_ALWAYS, SPATE_E_MEDIA);
  while (push(source, PIECE) == SPATE_OK) {
  }
  uint32_t more = 0;
  for (int i = 0; i < TURNS && more < 100; i++) {
    work(fixture);
    clock_ns += 1000000;
    error = push(source, PIECE);
    if (error == SPATE_OK) more++;
  }
  if (next_bytes > 0) {
    assert_int_equal(more, 100); /* recording continued in the next file */
  } else {
    assert_int_equal(error, SPATE_E_MEDIA);
    assert_int_equal(more, 0);
  }
  GIVES(SPATE_E_MEDIA, spate_recorder_finish(&fixture->recorder));
  assert_true(fixture->events[SPATE_EVENT_LOST] > 0);
  ram_block_clear_faults(&fixture->ram);
  close_fixture(fixture);
}

static void a_media_error_does_not_stop_a_retaining_stream(void **state) {
  (void)state;
  media_error_in_a_retaining_stream(0);
  media_error_in_a_retaining_stream(2 * MIB);
}

static void fail_the_next_record_write(struct fixture *fixture) {
  ram_block_fault(&fixture->ram, (struct ram_fault){.ops = RAM_OP(SPATE_WRITE),
                                                    .first_lba = fixture->volume.record_lba,
                                                    .last_lba = fixture->volume.record_lba + 15,
                                                    .times = 1,
                                                    .error = SPATE_E_MEDIA});
}

/* The memory of a clip that could not be closed belongs to the volume until the volume is mounted again. */
static void a_clip_that_cannot_be_closed_is_reported_and_kept(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];
  enum spate_error last = SPATE_OK;
  enum spate_error reported = SPATE_OK;

  open_source(fixture, source, 3, false, 2 * MIB);
  OK(spate_stream_arm(&source->stream, "A.RAW", 2 * MIB));
  stream_pieces(fixture, source, 31); /* the next one is armed by now */
  fail_the_next_record_write(fixture);
  for (int i = 0; i < 2000; i++) {
    last = push(source, PIECE);
    enum spate_error error = spate_recorder_work(&fixture->recorder);
    if (error != SPATE_OK) reported = error;
  }
  assert_int_equal(reported, SPATE_E_MEDIA);
  assert_int_equal(last, SPATE_E_MEDIA); /* not FULL, which means to wait, and not an error that followed from it */
  assert_int_equal(source->stream.error, SPATE_E_MEDIA);
  assert_true(fixture->events[SPATE_EVENT_ERROR] > 0);
  enum spate_error error = spate_recorder_finish(&fixture->recorder);
  assert_int_not_equal(error, SPATE_OK);
  GIVES(SPATE_E_IN_USE, spate_recorder_close(&fixture->recorder));
  spate_exfat_abandon(&fixture->volume);
  OK(spate_exfat_mount(&fixture->volume, &fixture->config, NULL)); /* recovers it */
  file_holds(fixture, "A.RAW", source->sent, 2 * MIB);
  memset(source->stream.clips, 0, sizeof source->stream.clips);
  close_fixture(fixture);
}

/* The checkpoint's flush completes last, after its clip was closed. */
static void a_slow_flush_does_not_disturb_a_close(void **state) {
  (void)state;
  for (uint32_t delay = 0; delay < 60; delay++) {
    struct fixture *fixture = open_fixture(512, VOLUME_MIB);
    struct source *source = &fixture->sources[0];

    open_source(fixture, source, 3, false, 0);
    OK(spate_stream_arm(&source->stream, "A.RAW", 8 * MIB));
    stream_pieces(fixture, source, 3);
    drain(fixture, source);
    clock_ns += 600000000;
    fixture->ram.delay_polls = delay;
    work(fixture); /* the flush is delayed */
    fixture->ram.delay_polls = 0;
    OK(push(source, PIECE));
    work(fixture);
    work(fixture);
    fixture->ram.delay_polls = 2;
    OK(spate_recorder_finish(&fixture->recorder));
    assert_int_equal(fixture->ram.pending_count, 0); /* no request of a closed recorder is in flight */
    file_holds(fixture, "A.RAW", source->sent, 4 * PIECE);
    close_fixture(fixture);
  }
}

/* One request of an arm fails. The reservation is freed, and the next arm succeeds. Returns false if arm has fewer
 * requests. */
static bool arm_with_a_failure(uint32_t skip) {
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];
  struct spate_exfat_info before;
  struct spate_exfat_info after;

  open_source(fixture, source, 3, false, 0);
  OK(spate_exfat_info(&fixture->volume, &before));
  ram_block_fault(
      &fixture->ram,
      (struct ram_fault){
          .ops = RAM_OP(SPATE_WRITE), .last_lba = UINT64_MAX, .skip = skip, .times = 1, .error = SPATE_E_COMMAND});
  bool failed = spate_stream_arm(&source->stream, "A.RAW", 60 * MIB) == SPATE_E_COMMAND;
  ram_block_clear_faults(&fixture->ram);
  if (failed) {
    OK(spate_stream_arm(&source->stream, "B.RAW", 100 * MIB));
    OK(spate_recorder_finish(&fixture->recorder));
    OK(spate_exfat_info(&fixture->volume, &after));
    assert_int_equal(after.free_bytes, before.free_bytes);
    OK(spate_exfat_unmount(&fixture->volume));
    assert_int_equal(fixture->ram.memory[106] & 2, 0); /* VolumeDirty */
    OK(spate_exfat_mount(&fixture->volume, &fixture->config, NULL));
  } else {
    OK(spate_recorder_finish(&fixture->recorder));
  }
  close_fixture(fixture);
  return failed;
}

static void a_failed_arm_leaves_nothing_reserved(void **state) {
  (void)state;
  uint32_t skip = 0;

  while (arm_with_a_failure(skip))
    skip++;
  assert_in_range(skip, 3, 8);
}

static void an_error_is_not_forgotten_when_the_next_clip_is_armed(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  open_source(fixture, source, 3, false, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 8 * MIB));
  fail_first_block(fixture, source, 1, SPATE_E_MEDIA);
  OK(push(source, PIECE));
  drain(fixture, source);
  OK(spate_stream_arm(&source->stream, "B.RAW", 8 * MIB));
  assert_int_equal(source->stream.error, SPATE_E_MEDIA);
  GIVES(SPATE_E_MEDIA, spate_recorder_finish(&fixture->recorder));
  OK(spate_stream_arm(&source->stream, "C.RAW", 8 * MIB)); /* a new recording */
  assert_int_equal(source->stream.error, SPATE_OK);
  OK(spate_recorder_finish(&fixture->recorder));
  close_fixture(fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_power_loss_at_any_turn_of_closing),
      cmocka_unit_test(a_clip_is_closed_before_the_one_after_it),
      cmocka_unit_test(a_write_that_cuts_the_power_is_not_repeated_for_ever),
      cmocka_unit_test(a_media_error_does_not_stop_a_retaining_stream),
      cmocka_unit_test(a_clip_that_cannot_be_closed_is_reported_and_kept),
      cmocka_unit_test(a_slow_flush_does_not_disturb_a_close),
      cmocka_unit_test(a_failed_arm_leaves_nothing_reserved),
      cmocka_unit_test(an_error_is_not_forgotten_when_the_next_clip_is_armed),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
