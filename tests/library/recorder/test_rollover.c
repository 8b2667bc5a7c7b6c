/* SPDX-License-Identifier: Apache-2.0 */
/* From one file of a stream to the next: the next file is made at half of the reservation, under the first free
 * name. */
#include "recorder_fixture.h"

#define CLIP_BYTES  (4 * MIB)
#define HALF_PIECES (uint32_t)(CLIP_BYTES / 2 / PIECE)

static void the_next_file_is_made_at_half_of_the_reservation(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  open_source(fixture, source, 3, false, CLIP_BYTES);
  OK(spate_stream_arm(&source->stream, "A.RAW", CLIP_BYTES));
  for (uint32_t part = 2; part < 6; part++) {
    struct spate_exfat_entry entry;
    char path[32];
    (void)snprintf(path, sizeof path, "A_%04u.RAW", part);
    stream_pieces(fixture, source, HALF_PIECES - 1);
    work(fixture);
    GIVES(SPATE_E_NOT_FOUND, spate_exfat_stat(&fixture->volume, path, &entry));
    stream_pieces(fixture, source, 1);
    work(fixture);
    OK(spate_exfat_stat(&fixture->volume, path, &entry));
    stream_pieces(fixture, source, HALF_PIECES);
  }
  assert_int_equal(fixture->events[SPATE_EVENT_ROLLED_OVER], 3); /* the next piece rolls over into the fifth */
  OK(spate_recorder_finish(&fixture->recorder));
  close_fixture(fixture);
}

static void the_volumes_end_is_announced_at_half_of_the_last_reservation(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  open_source(fixture, source, 3, false, CLIP_BYTES);
  OK(spate_stream_arm(&source->stream, "A.RAW", 0)); /* all free space */
  uint64_t bytes = source->stream.clips[0].file.reserved_bytes;
  stream_pieces(fixture, source, (uint32_t)(bytes / 2 / PIECE) - 1);
  work(fixture);
  assert_int_equal(fixture->events[SPATE_EVENT_VOLUME_ENDS], 0);
  stream_pieces(fixture, source, 1);
  work(fixture);
  assert_int_equal(fixture->events[SPATE_EVENT_VOLUME_ENDS], 1);
  assert_int_equal(fixture->values[SPATE_EVENT_VOLUME_ENDS], bytes / 2);
  OK(spate_recorder_finish(&fixture->recorder));
  close_fixture(fixture);
}

/* The recorder continues in another file only while the program wants that. */
static void it_is_turned_on_and_off_while_a_stream_is_recorded(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  open_source(fixture, source, 3, false, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", MIB));
  stream_pieces(fixture, source, 12); /* past the half */
  spate_stream_roll_over(&source->stream, MIB, NULL);
  stream_pieces(fixture, source, 8); /* four in the second file */
  spate_stream_roll_over(&source->stream, 0, NULL);
  stream_pieces(fixture, source, 12);
  GIVES(SPATE_E_RESERVATION, push(source, PIECE));
  OK(spate_recorder_finish(&fixture->recorder));
  assert_int_equal(file_bytes(fixture, "A.RAW"), MIB);
  assert_int_equal(file_bytes(fixture, "A_0002.RAW"), MIB);
  assert_int_equal(fixture->events[SPATE_EVENT_ROLLED_OVER], 1);
  close_fixture(fixture);
}

/* There was no room for the next file. After a file was deleted the program asks again, and the next file gets the name
 * that it would have had. */
static void after_room_was_made_it_is_asked_for_again(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];
  struct spate_exfat_clip old;

  OK(spate_exfat_arm(&fixture->volume, &old, "OLD.RAW", 8 * MIB));
  OK(spate_exfat_close(&old, 8 * MIB));
  open_source(fixture, source, 3, false, CLIP_BYTES);
  OK(spate_stream_arm(&source->stream, "A.RAW", 0)); /* all free space */
  stream_pieces(fixture, source, (uint32_t)(source->stream.clips[0].file.reserved_bytes / 2 / PIECE));
  work(fixture);
  assert_int_equal(fixture->events[SPATE_EVENT_VOLUME_ENDS], 1);
  OK(spate_exfat_delete(&fixture->volume, "OLD.RAW"));
  work(fixture);
  assert_null(source->stream.following);
  spate_stream_roll_over(&source->stream, CLIP_BYTES, NULL);
  work(fixture);
  assert_non_null(source->stream.following);
  assert_string_equal(source->stream.following->path, "A_0002.RAW");
  OK(spate_recorder_finish(&fixture->recorder));
  close_fixture(fixture);
}

/* However many names are in use, the next file gets the first free name after them. */
static void the_next_file_has_the_first_free_name(void **state) {
  (void)state;
  for (unsigned taken = 0; taken < 20; taken++) {
    struct fixture *fixture = open_fixture(512, VOLUME_MIB);
    struct source *source = &fixture->sources[0];
    struct spate_exfat_entry entry;
    char path[32];
    for (unsigned part = 2; part < taken + 2; part++) {
      struct spate_exfat_clip clip;
      (void)snprintf(path, sizeof path, "A_%04u.RAW", part);
      OK(spate_exfat_arm(&fixture->volume, &clip, path, 1));
      OK(spate_exfat_close(&clip, 0));
    }
    open_source(fixture, source, 3, false, MIB);
    OK(spate_stream_arm(&source->stream, "A.RAW", MIB));
    stream_pieces(fixture, source, 8);
    work(fixture);
    assert_non_null(source->stream.following);
    (void)snprintf(path, sizeof path, "A_%04u.RAW", taken + 2);
    assert_string_equal(source->stream.following->path, path);
    OK(spate_exfat_stat(&fixture->volume, path, &entry));
    OK(spate_recorder_finish(&fixture->recorder));
    assert_int_equal(fixture->events[SPATE_EVENT_ERROR], 0);
    close_fixture(fixture);
  }
}

/* A stream whose earlier names were longer. */
static void a_shorter_name_holds_nothing_of_a_longer_one(void **state) {
  (void)state;
  static const char *const paths[] = {"a longer name.RAW", "B.RAW", "C"};
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  open_source(fixture, source, 3, false, MIB);
  for (unsigned i = 0; i < 3; i++) {
    OK(spate_stream_arm(&source->stream, paths[i], MIB));
    stream_pieces(fixture, source, 24);
    OK(spate_recorder_finish(&fixture->recorder));
  }
  assert_int_equal(file_bytes(fixture, "a longer name_0002.RAW"), 8 * PIECE);
  assert_int_equal(file_bytes(fixture, "B_0002.RAW"), 8 * PIECE);
  assert_int_equal(file_bytes(fixture, "C_0002"), 8 * PIECE);
  close_fixture(fixture);
}

/* A closed file releases the ring at once, without a checkpoint, also when a roll-over ended it. */
static void a_full_file_releases_the_ring(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  open_source(fixture, source, 3, true, MIB);
  OK(spate_stream_arm(&source->stream, "A.RAW", MIB));
  for (uint32_t i = 0; i < PIECES - 4; i++)
    OK(push(source, PIECE));
  drain(fixture, source);
  work(fixture);
  assert_int_equal(spate_stream_room(&source->stream), 4);
  clock_ns += 600000000;
  for (int i = 0; i < 10; i++)
    work(fixture); /* checkpoints these */
  assert_int_equal(spate_stream_room(&source->stream), PIECES);
  for (uint32_t i = 0; i < 5; i++)
    OK(push(source, PIECE)); /* four fill the file, and one goes into the next */
  drain(fixture, source);
  for (int i = 0; i < 10; i++)
    work(fixture);
  assert_int_equal(fixture->events[SPATE_EVENT_ROLLED_OVER], 1);
  assert_int_equal(spate_stream_room(&source->stream), PIECES - 1);
  OK(spate_recorder_finish(&fixture->recorder));
  close_fixture(fixture);
}

/* Arming another file does not clear an error of the current one. A new recording does. */
static void an_error_stays_until_a_new_recording(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  open_source(fixture, source, 3, false, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", MIB));
  ram_block_fault(&fixture->ram, (struct ram_fault){.ops = RAM_OP(SPATE_WRITE),
                                                    .first_lba = source->stream.clips[0].file.first_lba,
                                                    .last_lba = source->stream.clips[0].file.first_lba,
                                                    .times = 1,
                                                    .error = SPATE_E_MEDIA});
  OK(push(source, PIECE));
  drain(fixture, source);
  assert_int_equal(source->stream.error, SPATE_E_MEDIA);
  OK(spate_stream_arm(&source->stream, "B.RAW", MIB));
  assert_int_equal(source->stream.error, SPATE_E_MEDIA);
  GIVES(SPATE_E_MEDIA, spate_recorder_finish(&fixture->recorder));
  OK(spate_stream_arm(&source->stream, "C.RAW", MIB));
  assert_int_equal(source->stream.error, SPATE_OK);
  OK(spate_recorder_finish(&fixture->recorder));
  close_fixture(fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_next_file_is_made_at_half_of_the_reservation),
      cmocka_unit_test(the_volumes_end_is_announced_at_half_of_the_last_reservation),
      cmocka_unit_test(it_is_turned_on_and_off_while_a_stream_is_recorded),
      cmocka_unit_test(after_room_was_made_it_is_asked_for_again),
      cmocka_unit_test(the_next_file_has_the_first_free_name),
      cmocka_unit_test(a_shorter_name_holds_nothing_of_a_longer_one),
      cmocka_unit_test(a_full_file_releases_the_ring),
      cmocka_unit_test(an_error_stays_until_a_new_recording),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
