/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder when drives and volumes fail it at the worst moment: whatever happens, bytes are in a file or counted as
 * lost, and nothing goes on forever. */
#include "recorder_fixture.h"

#define TURNS 20000

static bool is_stuck(const struct source *source) {
  const struct spate_take *takes = source->stream.takes;

  return !spate_stream_active(&source->stream) && (takes[0].clip.volume != NULL || takes[1].clip.volume != NULL);
}

static void work_until_idle(struct world *world, struct source *source) {
  for (int i = 0; i < TURNS && spate_stream_active(&source->stream); i++)
    work(world);
  assert_false(spate_stream_active(&source->stream));
}

/* Each byte pushed is in the file or counted as lost; none is counted twice. */
static void file_and_losses_add_up(struct world *world, struct source *source, const char *path, uint64_t pushed) {
  uint64_t bytes = 0;
  struct spate_exfat_entry entry;

  if (spate_exfat_stat(&world->volume, path, &entry) == SPATE_OK) bytes = entry.bytes;
  assert_int_equal(bytes + source->stream.counters.lost_bytes, pushed);
  if (bytes > 0) file_holds(world, path, source->sent, bytes);
}

/* Cut the drive's power in turn `at` of the waiting that closing takes. False: it takes fewer turns. */
static bool cut_while_closing(bool retain, int at) {
  struct world *world = open_world(512, VOLUME_MIB);
  struct source *source = &world->sources[0];

  open_source(world, source, 3, retain, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 8 * MIB));
  world->ram.keep_log = true;
  stream_pieces(world, source, 5);
  drain(world, source);
  OK(spate_stream_stop(&source->stream));
  world->ram.delay_polls = 2;
  world->turns = 0;
  world->cut_power_at = at;
  work_until_idle(world, source);
  bool happened = world->turns > at;
  world->cut_power_at = -1;
  assert_false(is_stuck(source));
  file_and_losses_add_up(world, source, "A.RAW", 5 * PIECE);
  if (retain) assert_int_equal(source->stream.counters.lost_bytes, 0);

  /* The stream goes on as if nothing had been. */
  uint64_t start = source->sent_bytes;
  OK(spate_stream_arm(&source->stream, "B.RAW", 8 * MIB));
  stream_pieces(world, source, 3);
  OK(spate_stream_stop(&source->stream));
  work_until_idle(world, source);
  file_holds(world, "B.RAW", source->sent + start, 3 * PIECE);
  close_world(world);
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

/* An older clip with data, in the second slot, and an empty one armed after it, in the first: they end together. */
static bool cut_with_an_empty_clip_behind(int at) {
  struct world *world = open_world(512, VOLUME_MIB);
  struct source *source = &world->sources[0];

  open_source(world, source, 3, true, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 8 * MIB));
  OK(push(source, PIECE));
  drain(world, source);
  OK(spate_stream_arm(&source->stream, "B.RAW", 8 * MIB));
  OK(spate_stream_cut(&source->stream));
  for (int i = 0; i < 50; i++)
    work(world);
  OK(spate_stream_arm(&source->stream, "C.RAW", 8 * MIB));
  world->ram.keep_log = true;
  for (unsigned i = 0; i < 6; i++)
    OK(push(source, PIECE));
  world->ram.delay_polls = 6;
  work(world); /* B's data are on their slow way */
  world->ram.delay_polls = 1;
  OK(spate_stream_stop(&source->stream));
  world->turns = 0;
  world->cut_power_at = at;
  work_until_idle(world, source);
  bool happened = world->turns > at;
  world->cut_power_at = -1;
  assert_int_equal(source->stream.counters.lost_bytes, 0);
  file_holds(world, "B.RAW", source->sent + PIECE, 6 * PIECE);
  struct spate_exfat_entry entry;
  GIVES(SPATE_E_NOT_FOUND, spate_exfat_stat(&world->volume, "C.RAW", &entry));
  close_world(world);
  return happened;
}

static void a_clip_is_closed_before_the_one_after_it(void **state) {
  (void)state;
  int turns = 0;

  while (cut_with_an_empty_clip_behind(turns))
    turns++;
  assert_true(turns > 5);
}

/* A write that takes the drive's power with it, each time, is given up as any write that fails. */
static void a_write_that_cuts_the_power_is_not_repeated_for_ever(void **state) {
  (void)state;
  struct world *world = open_world(512, VOLUME_MIB);
  struct source *source = &world->sources[0];
  uint64_t requests = 0;

  open_source(world, source, 3, false, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 8 * MIB));
  const uint64_t bad_lba = source->stream.now->clip.first_lba;
  ram_block_fault(&world->ram, (struct ram_fault){.ops = RAM_OP(SPATE_WRITE),
                                                  .first_lba = bad_lba,
                                                  .last_lba = bad_lba,
                                                  .times = RAM_ALWAYS,
                                                  .error = SPATE_E_TIMEOUT});
  OK(push(source, PIECE));
  OK(spate_stream_stop(&source->stream));
  world->ram.delay_polls = 2;
  for (int i = 0; i < TURNS && spate_stream_active(&source->stream); i++) {
    work(world);
    if (source->stream.counters.data_requests != requests) world->ram.block.power_losses++; /* before it is answered */
    requests = source->stream.counters.data_requests;
  }
  assert_false(spate_stream_active(&source->stream));
  assert_int_equal(source->stream.error, SPATE_E_TIMEOUT);
  assert_int_equal(source->stream.counters.lost_bytes, PIECE);
  ram_block_clear_faults(&world->ram);
  close_world(world);
}

static void media_error_in_a_retaining_stream(uint64_t next_bytes) {
  struct world *world = open_world(512, VOLUME_MIB);
  struct source *source = &world->sources[0];
  enum spate_error error = SPATE_OK;

  open_source(world, source, 3, true, next_bytes);
  OK(spate_stream_arm(&source->stream, "A.RAW", 8 * MIB));
  uint64_t bad_lba = source->stream.takes[0].clip.first_lba;
  ram_block_fault(&world->ram, (struct ram_fault){.ops = RAM_OP(SPATE_WRITE),
                                                  .first_lba = bad_lba,
                                                  .last_lba = bad_lba,
                                                  .times = RAM_ALWAYS,
                                                  .error = SPATE_E_MEDIA});
  while (push(source, PIECE) == SPATE_OK) {
  }
  uint32_t more = 0;
  for (int i = 0; i < TURNS && more < 100; i++) {
    work(world);
    clock_ns += 1000000;
    error = push(source, PIECE);
    if (error == SPATE_OK) more++;
  }
  if (next_bytes > 0) {
    assert_int_equal(more, 100); /* it went on in the next file */
  } else {
    assert_int_equal(error, SPATE_E_MEDIA);
    assert_int_equal(more, 0);
  }
  GIVES(SPATE_E_MEDIA, spate_recorder_finish(&world->recorder));
  assert_true(world->events[SPATE_EVENT_LOST] > 0);
  ram_block_clear_faults(&world->ram);
  close_world(world);
}

static void a_media_error_does_not_stop_a_retaining_stream(void **state) {
  (void)state;
  media_error_in_a_retaining_stream(0);
  media_error_in_a_retaining_stream(2 * MIB);
}

static void streams_do_not_starve_metadata(void **state) {
  (void)state;
  struct world *world = open_world(512, VOLUME_MIB);
  struct source *source = &world->sources[0];

  world->ram.block.depth = 8;
  world->recorder.config.depth = 8; /* all that the device has */
  open_source(world, source, 3, false, 0);
  open_source(world, &world->sources[1], 4, false, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 100 * MIB));
  world->push_while_waiting = source;
  world->turns = 0;
  while (push(source, PIECE) == SPATE_OK) {
  }
  OK(spate_stream_arm(&world->sources[1].stream, "B.RAW", MIB));
  assert_true(world->turns < 1000);
  world->push_while_waiting = NULL;
  OK(spate_recorder_finish(&world->recorder));
  file_holds(world, "A.RAW", source->sent, source->sent_bytes);
  close_world(world);
}

static void fail_the_next_record_write(struct world *world) {
  ram_block_fault(&world->ram, (struct ram_fault){.ops = RAM_OP(SPATE_WRITE),
                                                  .first_lba = world->volume.record_lba,
                                                  .last_lba = world->volume.record_lba + 15,
                                                  .times = 1,
                                                  .error = SPATE_E_MEDIA});
}

/* The memory of a clip that could not be closed must stay valid until the volume is mounted again. */
static void a_clip_that_cannot_be_closed_is_said_and_kept(void **state) {
  (void)state;
  struct world *world = open_world(512, VOLUME_MIB);
  struct source *source = &world->sources[0];
  enum spate_error last = SPATE_OK;
  enum spate_error reported = SPATE_OK;

  open_source(world, source, 3, false, 2 * MIB);
  OK(spate_stream_arm(&source->stream, "A.RAW", 2 * MIB));
  stream_pieces(world, source, 31); /* the next is armed by now */
  fail_the_next_record_write(world);
  for (int i = 0; i < 2000; i++) {
    last = push(source, PIECE);
    enum spate_error error = spate_recorder_work(&world->recorder);
    if (error != SPATE_OK) reported = error;
  }
  assert_int_equal(reported, SPATE_E_MEDIA);
  assert_int_equal(last, SPATE_E_MEDIA); /* not FULL, for which one waits, and not what came of it */
  assert_int_equal(source->stream.error, SPATE_E_MEDIA);
  assert_true(world->events[SPATE_EVENT_ERROR] > 0);
  enum spate_error error = spate_recorder_finish(&world->recorder);
  assert_int_not_equal(error, SPATE_OK);
  GIVES(SPATE_E_IN_USE, spate_recorder_close(&world->recorder));
  spate_exfat_abandon(&world->volume);
  OK(spate_exfat_mount(&world->volume, &world->config, NULL)); /* repairs it */
  file_holds(world, "A.RAW", source->sent, 2 * MIB);
  memset(source->stream.takes, 0, sizeof source->stream.takes);
  close_world(world);
}

static void a_volume_with_no_room_for_a_second_clip_says_so(void **state) {
  (void)state;
  struct world *world = open_world(512, VOLUME_MIB);
  struct source *source = &world->sources[0];
  enum spate_error last = SPATE_OK;

  OK(spate_recorder_close(&world->recorder));
  OK(spate_exfat_unmount(&world->volume));
  world->config.cache_bytes = (SPATE_EXFAT_CACHE_BLOCKS_MIN + 1u) * 512u; /* one clip at a time */
  OK(spate_exfat_mount(&world->volume, &world->config, NULL));
  struct spate_recorder_config config = {.event = on_event, .context = world};
  OK(spate_recorder_open(&world->recorder, &world->volume, &config));
  open_source(world, source, 3, false, 2 * MIB);
  OK(spate_stream_arm(&source->stream, "A.RAW", 2 * MIB));
  for (int i = 0; i < 2000; i++) {
    last = push(source, PIECE);
    work(world);
  }
  assert_int_equal(last, SPATE_E_MEMORY); /* not FULL, for which one waits */
  assert_int_equal(world->events[SPATE_EVENT_ERROR], 1);
  GIVES(SPATE_E_MEMORY, spate_recorder_finish(&world->recorder));
  file_holds(world, "A.RAW", source->sent, 2 * MIB);
  close_world(world);
}

/* Whatever keeps the next file from being armed is what push answers once the present one is full: its sentence is the
 * one that helps. RESERVATION advises to reserve more, which is right for none of these. */
static void the_cause_is_what_push_answers(void **state) {
  (void)state;
  static const enum spate_error causes[] = {SPATE_E_MEDIA, SPATE_E_GONE, SPATE_E_TIMEOUT, SPATE_E_COMMAND};
  for (unsigned i = 0; i < sizeof causes / sizeof causes[0]; i++) {
    struct world *world = open_world(512, VOLUME_MIB);
    struct source *source = &world->sources[0];
    enum spate_error last = SPATE_OK;

    open_source(world, source, 3, false, 2 * MIB);
    OK(spate_stream_arm(&source->stream, "A.RAW", 2 * MIB));
    stream_pieces(world, source, 8);
    ram_block_fault(&world->ram, (struct ram_fault){.ops = RAM_OP(SPATE_WRITE),
                                                    .first_lba = world->volume.record_lba,
                                                    .last_lba = world->volume.record_lba + 15,
                                                    .times = 1,
                                                    .error = causes[i]});
    for (int turn = 0; turn < 2000 && (last == SPATE_OK || last == SPATE_E_FULL); turn++) {
      last = push(source, PIECE);
      work(world);
    }
    assert_int_equal(last, causes[i]);
    assert_string_not_equal(spate_error_help(last), spate_error_help(SPATE_E_RESERVATION));
    assert_int_equal(source->stream.error, causes[i]);
    assert_int_equal(source->sent_bytes, 2 * MIB); /* the present file went on to its end */
    GIVES(causes[i], spate_recorder_finish(&world->recorder));
    file_holds(world, "A.RAW", source->sent, 2 * MIB);
    close_world(world);
  }
}

/* The volume is busy when the next file is due, as in a long deletion: it is armed later. */
static void a_busy_volume_is_asked_again(void **state) {
  (void)state;
  struct world *world = open_world(512, VOLUME_MIB);
  struct source *source = &world->sources[0];

  open_source(world, source, 3, false, 2 * MIB);
  OK(spate_stream_arm(&source->stream, "A.RAW", 2 * MIB));
  world->volume.busy = true;
  stream_pieces(world, source, 20);
  assert_null(source->stream.after);
  world->volume.busy = false;
  stream_pieces(world, source, 20);
  assert_int_equal(world->events[SPATE_EVENT_ERROR], 0);
  OK(spate_recorder_finish(&world->recorder));
  file_holds(world, "A.RAW", source->sent, 2 * MIB);
  file_holds(world, "A_0002.RAW", source->sent + 2 * MIB, 40 * PIECE - 2 * MIB);
  close_world(world);
}

static void a_piece_longer_than_the_next_reservation_is_refused_for_good(void **state) {
  (void)state;
  struct world *world = open_world(512, VOLUME_MIB);
  struct source *source = &world->sources[0];

  open_source(world, source, 3, false, MIB);
  OK(spate_stream_arm(&source->stream, "A.RAW", MIB));
  stream_pieces(world, source, 16);
  source->stream.after->clip.reserved_bytes = PIECE / 2;
  for (int i = 0; i < 10; i++) {
    work(world);
    GIVES(SPATE_E_RESERVATION, push(source, PIECE)); /* not FULL, for which one waits */
  }
  OK(spate_recorder_finish(&world->recorder));
  file_holds(world, "A.RAW", source->sent, MIB);
  close_world(world);
}

/* The checkpoint's flush completes last of all, after the clip it was for was closed. */
static void a_slow_flush_does_not_disturb_a_close(void **state) {
  (void)state;
  for (uint32_t delay = 0; delay < 60; delay++) {
    struct world *world = open_world(512, VOLUME_MIB);
    struct source *source = &world->sources[0];

    open_source(world, source, 3, false, 0);
    OK(spate_stream_arm(&source->stream, "A.RAW", 8 * MIB));
    stream_pieces(world, source, 3);
    drain(world, source);
    clock_ns += 600000000;
    world->ram.delay_polls = delay;
    work(world); /* the flush is on its slow way */
    world->ram.delay_polls = 0;
    OK(push(source, PIECE));
    work(world);
    work(world);
    world->ram.delay_polls = 2;
    OK(spate_recorder_finish(&world->recorder));
    assert_int_equal(world->ram.pending_count, 0); /* nothing of a closed recorder is on its way */
    file_holds(world, "A.RAW", source->sent, 4 * PIECE);
    close_world(world);
  }
}

static void eight_streams_without_a_length_share_the_volume(void **state) {
  (void)state;
  struct world *world = open_world(512, 100);
  struct spate_exfat_info info;
  char path[] = "0";

  for (unsigned i = 0; i < STREAMS; i++)
    open_source(world, &world->sources[i], i + 1, false, 0);
  OK(spate_exfat_info(&world->volume, &info));
  for (unsigned i = 0; i < STREAMS; i++) {
    path[0] = (char)('A' + i);
    OK(spate_stream_arm(&world->sources[i].stream, path, 0));
    uint64_t share_bytes = world->sources[i].stream.takes[0].clip.reserved_bytes;
    assert_in_range(share_bytes, info.longest_free_bytes / STREAMS - MIB, info.longest_free_bytes / STREAMS + MIB);
  }
  OK(spate_recorder_finish(&world->recorder));
  close_world(world);
}

/* Whichever request of an arm fails: the reservation is given back, and the next arm, on a drive that works, works. */
static bool arm_with_a_failure(unsigned ops, uint32_t skip) {
  struct world *world = open_world(512, VOLUME_MIB);
  struct source *source = &world->sources[0];
  struct spate_exfat_info before;
  struct spate_exfat_info after;

  open_source(world, source, 3, false, 0);
  OK(spate_exfat_info(&world->volume, &before));
  ram_block_fault(
      &world->ram,
      (struct ram_fault){.ops = ops, .last_lba = UINT64_MAX, .skip = skip, .times = 1, .error = SPATE_E_COMMAND});
  bool failed = spate_stream_arm(&source->stream, "A.RAW", 60 * MIB) == SPATE_E_COMMAND;
  ram_block_clear_faults(&world->ram);
  if (failed) {
    OK(spate_stream_arm(&source->stream, "B.RAW", 100 * MIB));
    OK(spate_recorder_finish(&world->recorder));
    OK(spate_exfat_info(&world->volume, &after));
    assert_int_equal(after.free_bytes, before.free_bytes);
    OK(spate_exfat_unmount(&world->volume));
    assert_int_equal(world->ram.memory[106] & 2, 0); /* VolumeDirty */
    OK(spate_exfat_mount(&world->volume, &world->config, NULL));
  } else {
    OK(spate_recorder_finish(&world->recorder));
  }
  close_world(world);
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
  struct world *world = open_world(512, VOLUME_MIB);
  struct source *source = &world->sources[0];

  open_source(world, source, 3, false, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 8 * MIB));
  uint64_t bad_lba = source->stream.takes[0].clip.first_lba;
  ram_block_fault(
      &world->ram,
      (struct ram_fault){
          .ops = RAM_OP(SPATE_WRITE), .first_lba = bad_lba, .last_lba = bad_lba, .times = 1, .error = SPATE_E_MEDIA});
  OK(push(source, PIECE));
  drain(world, source);
  OK(spate_stream_arm(&source->stream, "B.RAW", 8 * MIB));
  assert_int_equal(source->stream.error, SPATE_E_MEDIA);
  GIVES(SPATE_E_MEDIA, spate_recorder_finish(&world->recorder));
  OK(spate_stream_arm(&source->stream, "C.RAW", 8 * MIB)); /* a new beginning */
  assert_int_equal(source->stream.error, SPATE_OK);
  OK(spate_recorder_finish(&world->recorder));
  close_world(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_power_loss_at_any_turn_of_closing),
      cmocka_unit_test(a_clip_is_closed_before_the_one_after_it),
      cmocka_unit_test(a_write_that_cuts_the_power_is_not_repeated_for_ever),
      cmocka_unit_test(a_media_error_does_not_stop_a_retaining_stream),
      cmocka_unit_test(streams_do_not_starve_metadata),
      cmocka_unit_test(a_clip_that_cannot_be_closed_is_said_and_kept),
      cmocka_unit_test(a_volume_with_no_room_for_a_second_clip_says_so),
      cmocka_unit_test(the_cause_is_what_push_answers),
      cmocka_unit_test(a_busy_volume_is_asked_again),
      cmocka_unit_test(a_piece_longer_than_the_next_reservation_is_refused_for_good),
      cmocka_unit_test(a_slow_flush_does_not_disturb_a_close),
      cmocka_unit_test(eight_streams_without_a_length_share_the_volume),
      cmocka_unit_test(a_failed_arm_leaves_nothing_reserved),
      cmocka_unit_test(an_error_is_not_forgotten_when_the_next_clip_is_armed),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
