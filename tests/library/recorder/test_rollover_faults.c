/* SPDX-License-Identifier: Apache-2.0 */
/* The next file of a stream cannot be armed, or its reservation is too small: the recorder arms it later, or push
 * reports the cause. */
#include "recorder_fixture.h"

/* Mount the volume with a cache that has blocks for this number of clips in different directories. */
static void mount_for_clips(struct fixture *fixture, uint32_t clips) {
  const struct spate_recorder_config config = {.event = on_event, .context = fixture};

  OK(spate_recorder_close(&fixture->recorder));
  OK(spate_exfat_unmount(&fixture->volume));
  fixture->config.cache_bytes = (SPATE_EXFAT_CACHE_BLOCKS_MIN + clips) * 512u;
  OK(spate_exfat_mount(&fixture->volume, &fixture->config, NULL));
  OK(spate_recorder_open(&fixture->recorder, &fixture->volume, &config));
}

static void a_volume_with_no_room_for_a_second_clip_is_reported(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];
  enum spate_error last = SPATE_OK;

  mount_for_clips(fixture, 1);
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

/* The cache has blocks for two clips. Another stream's clip gives its block back when it is closed, and then the next
 * clip is armed. */
static void next_clip_waits_for_one_of(uint32_t other_pieces) {
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0], *other = &fixture->sources[1];

  OK(spate_exfat_mkdir(&fixture->volume, "D"));
  mount_for_clips(fixture, 2);
  open_source(fixture, source, 3, false, 2 * MIB);
  open_source(fixture, other, 4, false, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 2 * MIB));
  OK(spate_stream_arm(&other->stream, "D/B.RAW", 2 * MIB));
  stream_pieces(fixture, other, other_pieces - 1);
  drain(fixture, other);
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
  file_holds(fixture, "D/B.RAW", other->sent, other_pieces * PIECE);
  close_fixture(fixture);
}

static void another_stream_that_closes_makes_room_for_the_next_clip(void **state) {
  (void)state;
  next_clip_waits_for_one_of(1);
  next_clip_waits_for_one_of(2 * MIB / PIECE); /* a block for the cache, and no cluster */
}

/* The last piece of a clip takes so long that half of the next clip is pushed meanwhile. The clip after that is armed
 * when the first one is closed. */
static void a_clip_that_closes_late_does_not_end_the_roll_over(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  open_source(fixture, source, 3, false, MIB);
  OK(spate_stream_arm(&source->stream, "A.RAW", MIB));
  stream_pieces(fixture, source, MIB / PIECE - 1);
  drain(fixture, source);
  fixture->ram.held_ops = RAM_OP(SPATE_WRITE);
  for (unsigned i = 0; i < MIB / PIECE / 2 + 3; i++) {
    OK(push(source, PIECE));
    work(fixture);
  }
  assert_int_equal(fixture->events[SPATE_EVENT_ERROR], 0);
  fixture->ram.held_ops = 0;
  stream_pieces(fixture, source, MIB / PIECE);
  OK(spate_recorder_finish(&fixture->recorder));
  file_holds(fixture, "A.RAW", source->sent, MIB);
  file_holds(fixture, "A_0002.RAW", source->sent + MIB, MIB);
  close_fixture(fixture);
}

/* When the current file is full, push reports why the next file could not be armed. It does not report RESERVATION,
 * whose advice is to reserve more: that helps in none of these cases. */
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

/* The volume is busy when the next file is due, as during a long deletion. The file is armed later. */
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_volume_with_no_room_for_a_second_clip_is_reported),
      cmocka_unit_test(another_stream_that_closes_makes_room_for_the_next_clip),
      cmocka_unit_test(a_clip_that_closes_late_does_not_end_the_roll_over),
      cmocka_unit_test(push_reports_why_the_next_file_failed),
      cmocka_unit_test(a_busy_volume_is_tried_again),
      cmocka_unit_test(a_piece_longer_than_the_next_reservation_is_refused_for_good),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
