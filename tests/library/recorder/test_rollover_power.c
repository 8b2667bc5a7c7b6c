/* SPDX-License-Identifier: Apache-2.0 */
/* The drive loses power while the next file of a recording is being made. */
#include "recorder_fixture.h"

#define CLIP_PIECES 16u
#define STEP_TURNS  32

/* A directory of one cluster with room for one more entry set. */
static void make_full_directory(struct fixture *fixture) {
  struct spate_exfat_directory directory;

  OK(spate_exfat_mkdir(&fixture->volume, "D"));
  OK(spate_exfat_list(&fixture->volume, "D", &directory));
  const uint64_t lba = fixture->volume.heap_lba + ((directory.chain.first_cluster - 2u) * MIB >> 9);
  uint8_t *entries = fixture->ram.memory + (lba << 9);
  for (uint32_t i = 0; i < MIB / 32; i++)
    entries[i * 32] = i < 3 ? 0x05 : 0xa0; /* not in use; in use, and may be ignored */
}

/* The power fails in turn `at` of waiting, while the next file is being made in a directory that has to grow. The
 * source pushes until it is told something else than to try again. `writes`: how many the drive had had by then. False:
 * there is no such turn. */
static bool cut_in_turn(int at, uint64_t *writes) {
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  make_full_directory(fixture);
  open_source(fixture, source, 3, true, 16u * PIECE);
  OK(spate_stream_arm(&source->stream, "D/A.RAW", CLIP_PIECES * PIECE));
  fixture->ram.keep_log = true;
  stream_pieces(fixture, source, CLIP_PIECES / 2u - 1u);
  drain(fixture, source);
  fixture->turns = 0;
  fixture->cut_power_at = at;
  enum spate_error error = SPATE_OK;
  for (unsigned i = 0; i < 20000 && source->sent_bytes < 2u * CLIP_PIECES * PIECE; i++) {
    error = push(source, PIECE);
    if (error != SPATE_OK && error != SPATE_E_FULL) break;
    work(fixture);
    clock_ns += 1000000;
  }
  const bool happened = fixture->turns > at;
  *writes = fixture->writes;
  /* Either the recording continues, or the source is told. */
  if (error == SPATE_E_FULL && spate_stream_room(&source->stream) > 0)
    fail_msg("turn %d: told to try again without end; volume: %s, stream: %s", at,
             spate_error_name(fixture->volume.failed), spate_error_name(source->stream.error));
  if (error != SPATE_OK && error != SPATE_E_FULL) {
    assert_int_equal(error, SPATE_E_POWER_LOST);
    assert_int_equal(source->stream.error, SPATE_E_POWER_LOST);
    assert_int_equal(fixture->events[SPATE_EVENT_ERROR], 1);
  }
  OK(spate_stream_stop(&source->stream));
  close_clips(fixture, source);
  OK(spate_recorder_close(&fixture->recorder));
  if (fixture->volume.failed == SPATE_OK) OK(spate_exfat_unmount(&fixture->volume));
  free_fixture(fixture);
  return happened;
}

/* Most turns search the directory, and the drive writes nothing between them. Every 32nd of these is enough. */
static void a_source_is_told_that_there_is_no_next_file(void **state) {
  (void)state;
  uint64_t writes_before = 0, writes = 0, between;
  unsigned beside_writes = 0;
  bool happened = true;

  for (int at = 0; happened; at += STEP_TURNS) {
    happened = cut_in_turn(at, &writes);
    if (happened && writes == writes_before) continue;
    for (int i = at < STEP_TURNS ? 0 : at - STEP_TURNS + 1; i < at && cut_in_turn(i, &between); i++)
      beside_writes++;
    writes_before = writes;
  }
  assert_true(beside_writes > 2 * STEP_TURNS);
}

/* Write number `write` of arming the next file ends with POWER_LOST, as a drive's does that was reset in between.
 * False: it has fewer writes. */
static bool write_lost(uint32_t write) {
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  open_source(fixture, source, 3, true, 16u * PIECE);
  OK(spate_stream_arm(&source->stream, "A.RAW", CLIP_PIECES * PIECE));
  stream_pieces(fixture, source, CLIP_PIECES / 2u - 1u);
  drain(fixture, source);
  const uint64_t period_ticks = fixture->recorder.period_ticks;
  fixture->recorder.period_ticks = UINT64_MAX; /* no checkpoint: all writes of metadata are those of arming */
  const struct ram_fault fault = {.ops = RAM_OP(SPATE_WRITE),
                                  .last_lba = source->stream.clips[0].file.first_lba - 1u,
                                  .skip = write,
                                  .times = 1,
                                  .error = SPATE_E_POWER_LOST};
  ram_block_fault(&fixture->ram, fault);
  stream_pieces(fixture, source, 1);
  for (unsigned i = 0; i < 100 && source->stream.following == NULL; i++)
    work(fixture);
  const bool happened = fixture->ram.faults[0].times == 0;
  ram_block_clear_faults(&fixture->ram);
  fixture->recorder.period_ticks = period_ticks;
  assert_int_equal(fixture->volume.failed, SPATE_OK);
  assert_int_equal(source->stream.error, SPATE_OK);
  assert_non_null(source->stream.following);
  stream_pieces(fixture, source, CLIP_PIECES);
  OK(spate_stream_stop(&source->stream));
  close_clips(fixture, source);
  file_holds(fixture, "A.RAW", source->sent, CLIP_PIECES * PIECE);
  file_holds(fixture, "A_0002.RAW", source->sent + CLIP_PIECES * PIECE, CLIP_PIECES / 2u * PIECE);
  close_fixture(fixture);
  return happened;
}

static void a_power_loss_while_arming_is_tried_again(void **state) {
  (void)state;
  uint32_t write = 0;

  while (write_lost(write))
    write++;
  assert_in_range(write, 3, 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_source_is_told_that_there_is_no_next_file),
      cmocka_unit_test(a_power_loss_while_arming_is_tried_again),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
