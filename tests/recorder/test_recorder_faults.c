/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder when drives and volumes fail at the worst moment: every byte is in a file or counted as lost, and
 * nothing goes on forever. */
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

/* Each byte pushed is in the file or counted as lost; none is counted twice. */
static void file_and_losses_add_up(struct fixture *fixture, struct source *source, const char *path, uint64_t pushed) {
  uint64_t bytes = 0;
  struct spate_exfat_entry entry;

  if (spate_exfat_stat(&fixture->volume, path, &entry) == SPATE_OK) bytes = entry.bytes;
  assert_int_equal(bytes + source->stream.counters.lost_bytes, pushed);
  if (bytes > 0) file_holds(fixture, path, source->sent, bytes);
}

/* Cut the drive's power in turn number `at` while close waits. False: close takes fewer turns. */
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

  /* The stream goes on undisturbed. */
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

/* An older clip with data, in the second slot, and an empty clip armed after it, in the first: they end together. */
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
  const uint64_t bad_lba = source->stream.current->file.first_lba;
  ram_block_fault(&fixture->ram, (struct ram_fault){.ops = RAM_OP(SPATE_WRITE),
                                                    .first_lba = bad_lba,
                                                    .last_lba = bad_lba,
                                                    .times = RAM_ALWAYS,
                                                    .error = SPATE_E_TIMEOUT});
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
  uint64_t bad_lba = source->stream.clips[0].file.first_lba;
  ram_block_fault(&fixture->ram, (struct ram_fault){.ops = RAM_OP(SPATE_WRITE),
                                                    .first_lba = bad_lba,
                                                    .last_lba = bad_lba,
                                                    .times = RAM_ALWAYS,
                                                    .error = SPATE_E_MEDIA});
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
    assert_int_equal(more, 100); /* recording went on in the next file */
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

static void streams_do_not_starve_metadata(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  fixture->ram.block.depth = 8;
  fixture->recorder.config.depth = 8; /* the device's whole depth */
  open_source(fixture, source, 3, false, 0);
  open_source(fixture, &fixture->sources[1], 4, false, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 100 * MIB));
  fixture->push_while_waiting = source;
  fixture->turns = 0;
  while (push(source, PIECE) == SPATE_OK) {
  }
  OK(spate_stream_arm(&fixture->sources[1].stream, "B.RAW", MIB));
  assert_true(fixture->turns < 1000);
  fixture->push_while_waiting = NULL;
  OK(spate_recorder_finish(&fixture->recorder));
  file_holds(fixture, "A.RAW", source->sent, source->sent_bytes);
  close_fixture(fixture);
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

static void a_volume_with_no_room_for_a_second_clip_is_reported(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];
  enum spate_error last = SPATE_OK;

  OK(spate_recorder_close(&fixture->recorder));
  OK(spate_exfat_unmount(&fixture->volume));
  fixture->config.cache_bytes = (SPATE_EXFAT_CACHE_BLOCKS_MIN + 1u) * 512u; /* one clip at a time */
  OK(spate_exfat_mount(&fixture->volume, &fixture->config, NULL));
  struct spate_recorder_config config = {.event = on_event, .context = fixture};
  OK(spate_recorder_open(&fixture->recorder, &fixture->volume, &config));
  open_source(fixture, source, 3, false, 2 * MIB);
  OK(spate_stream_arm(&source->stream, "A.RAW", 2 * MIB));
  for (int i = 0; i < 2000; i++) {
    last = push(source, PIECE);
    work(fixture);
  }
  assert_int_equal(last, SPATE_E_MEMORY); /* not FULL, which means to wait */
  assert_int_equal(fixture->events[SPATE_EVENT_ERROR], 1);
  GIVES(SPATE_E_MEMORY, spate_recorder_finish(&fixture->recorder));
  file_holds(fixture, "A.RAW", source->sent, 2 * MIB);
  close_fixture(fixture);
}

/* The volume's cache has blocks for two clips, in two directories. The clip of another stream, which is closing, gives
 * its block back: the next clip is armed then. */
static void another_stream_that_closes_makes_room_for_the_next_clip(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0], *other = &fixture->sources[1];

  OK(spate_exfat_mkdir(&fixture->volume, "D"));
  OK(spate_recorder_close(&fixture->recorder));
  OK(spate_exfat_unmount(&fixture->volume));
  fixture->config.cache_bytes = (SPATE_EXFAT_CACHE_BLOCKS_MIN + 2u) * 512u;
  OK(spate_exfat_mount(&fixture->volume, &fixture->config, NULL));
  struct spate_recorder_config config = {.event = on_event, .context = fixture};
  OK(spate_recorder_open(&fixture->recorder, &fixture->volume, &config));
  open_source(fixture, source, 3, false, 2 * MIB);
  open_source(fixture, other, 4, false, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 2 * MIB));
  OK(spate_stream_arm(&other->stream, "D/B.RAW", 2 * MIB));
  stream_pieces(fixture, source, MIB / PIECE - 1);
  drain(fixture, source);
  fixture->ram.delay_polls = 8; /* the other clip has a request in flight when the next one is due */
  OK(push(other, PIECE));
  OK(spate_stream_stop(&other->stream));
  OK(push(source, PIECE));
  work(fixture);
  assert_true(spate_stream_active(&other->stream));
  fixture->ram.delay_polls = 0;
  stream_pieces(fixture, source, MIB / PIECE + 4);
  assert_int_equal(fixture->events[SPATE_EVENT_ERROR], 0);
  OK(spate_recorder_finish(&fixture->recorder));
  file_holds(fixture, "A.RAW", source->sent, 2 * MIB);
  file_holds(fixture, "A_0002.RAW", source->sent + 2 * MIB, 4 * PIECE);
  file_holds(fixture, "D/B.RAW", other->sent, PIECE);
  close_fixture(fixture);
}

/* Push reports why the next file could not be armed, once the current file is full. RESERVATION would advise to reserve
 * more, which helps in none of these cases. */
static void push_reports_why_the_next_file_failed(void **state) {
  (void)state;
  static const enum spate_error causes[] = {SPATE_E_MEDIA, SPATE_E_GONE, SPATE_E_TIMEOUT, SPATE_E_COMMAND};
  for (unsigned i = 0; i < sizeof causes / sizeof causes[0]; i++) {
    struct fixture *fixture = open_fixture(512, VOLUME_MIB);
    struct source *source = &fixture->sources[0];
    enum spate_error last = SPATE_OK;

    open_source(fixture, source, 3, false, 2 * MIB);
    OK(spate_stream_arm(&source->stream, "A.RAW", 2 * MIB));
    stream_pieces(fixture, source, 8);
    ram_block_fault(&fixture->ram, (struct ram_fault){.ops = RAM_OP(SPATE_WRITE),
                                                      .first_lba = fixture->volume.record_lba,
                                                      .last_lba = fixture->volume.record_lba + 15,
                                                      .times = 1,
                                                      .error = causes[i]});
    for (int turn = 0; turn < 2000 && (last == SPATE_OK || last == SPATE_E_FULL); turn++) {
      last = push(source, PIECE);
      work(fixture);
    }
    assert_int_equal(last, causes[i]);
    assert_string_not_equal(spate_error_help(last), spate_error_help(SPATE_E_RESERVATION));
    assert_int_equal(source->stream.error, causes[i]);
    assert_int_equal(source->sent_bytes, 2 * MIB); /* the current file was filled to its end */
    GIVES(causes[i], spate_recorder_finish(&fixture->recorder));
    file_holds(fixture, "A.RAW", source->sent, 2 * MIB);
    close_fixture(fixture);
  }
}

/* The volume is busy when the next file should be armed, as during a long deletion: it is armed later. */
static void a_busy_volume_is_tried_again(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  open_source(fixture, source, 3, false, 2 * MIB);
  OK(spate_stream_arm(&source->stream, "A.RAW", 2 * MIB));
  fixture->volume.busy = true;
  stream_pieces(fixture, source, 20);
  assert_null(source->stream.following);
  fixture->volume.busy = false;
  stream_pieces(fixture, source, 20);
  assert_int_equal(fixture->events[SPATE_EVENT_ERROR], 0);
  OK(spate_recorder_finish(&fixture->recorder));
  file_holds(fixture, "A.RAW", source->sent, 2 * MIB);
  file_holds(fixture, "A_0002.RAW", source->sent + 2 * MIB, 40 * PIECE - 2 * MIB);
  close_fixture(fixture);
}

static void a_piece_longer_than_the_next_reservation_is_refused_for_good(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  open_source(fixture, source, 3, false, MIB);
  OK(spate_stream_arm(&source->stream, "A.RAW", MIB));
  stream_pieces(fixture, source, 16);
  source->stream.following->file.reserved_bytes = PIECE / 2;
  for (int i = 0; i < 10; i++) {
    work(fixture);
    GIVES(SPATE_E_RESERVATION, push(source, PIECE)); /* not FULL, which means to wait */
  }
  OK(spate_recorder_finish(&fixture->recorder));
  file_holds(fixture, "A.RAW", source->sent, MIB);
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

static void eight_streams_without_a_length_share_the_volume(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, 100);
  struct spate_exfat_info info;
  char path[] = "0";

  for (unsigned i = 0; i < STREAMS; i++)
    open_source(fixture, &fixture->sources[i], i + 1, false, 0);
  OK(spate_exfat_info(&fixture->volume, &info));
  for (unsigned i = 0; i < STREAMS; i++) {
    path[0] = (char)('A' + i);
    OK(spate_stream_arm(&fixture->sources[i].stream, path, 0));
    uint64_t share_bytes = fixture->sources[i].stream.clips[0].file.reserved_bytes;
    assert_in_range(share_bytes, info.longest_free_bytes / STREAMS - MIB, info.longest_free_bytes / STREAMS + MIB);
  }
  OK(spate_recorder_finish(&fixture->recorder));
  close_fixture(fixture);
}

/* One request of an arm fails: the reservation is freed, and the next arm succeeds when the drive works. */
static bool arm_with_a_failure(unsigned ops, uint32_t skip) {
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];
  struct spate_exfat_info before;
  struct spate_exfat_info after;

  open_source(fixture, source, 3, false, 0);
  OK(spate_exfat_info(&fixture->volume, &before));
  ram_block_fault(
      &fixture->ram,
      (struct ram_fault){.ops = ops, .last_lba = UINT64_MAX, .skip = skip, .times = 1, .error = SPATE_E_COMMAND});
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

  while (arm_with_a_failure(RAM_OP(SPATE_WRITE), skip))
    skip++;
  assert_in_range(skip, 3, 8);
  skip = 0;
  while (arm_with_a_failure(RAM_OP(SPATE_FLUSH), skip))
    skip++;
  assert_in_range(skip, 1, 3);
}

static void an_error_is_not_forgotten_when_the_next_clip_is_armed(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  open_source(fixture, source, 3, false, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 8 * MIB));
  uint64_t bad_lba = source->stream.clips[0].file.first_lba;
  ram_block_fault(
      &fixture->ram,
      (struct ram_fault){
          .ops = RAM_OP(SPATE_WRITE), .first_lba = bad_lba, .last_lba = bad_lba, .times = 1, .error = SPATE_E_MEDIA});
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
      cmocka_unit_test(streams_do_not_starve_metadata),
      cmocka_unit_test(a_clip_that_cannot_be_closed_is_reported_and_kept),
      cmocka_unit_test(a_volume_with_no_room_for_a_second_clip_is_reported),
      cmocka_unit_test(another_stream_that_closes_makes_room_for_the_next_clip),
      cmocka_unit_test(push_reports_why_the_next_file_failed),
      cmocka_unit_test(a_busy_volume_is_tried_again),
      cmocka_unit_test(a_piece_longer_than_the_next_reservation_is_refused_for_good),
      cmocka_unit_test(a_slow_flush_does_not_disturb_a_close),
      cmocka_unit_test(eight_streams_without_a_length_share_the_volume),
      cmocka_unit_test(a_failed_arm_leaves_nothing_reserved),
      cmocka_unit_test(an_error_is_not_forgotten_when_the_next_clip_is_armed),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
