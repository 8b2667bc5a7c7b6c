/* SPDX-License-Identifier: Apache-2.0 */
/* A stream that retains its memory, on a drive that has a bad block and then loses power. */
#include "recorder_fixture.h"

#include <spate/bytes.h>

static void bad_piece(struct fixture *fixture, const struct source *source, uint32_t piece) {
  const uint64_t lba = source->stream.clips[0].file.first_lba + piece * (uint64_t)PIECE / 512;

  ram_block_fault(
      &fixture->ram,
      (struct ram_fault){
          .ops = RAM_OP(SPATE_WRITE), .first_lba = lba, .last_lba = lba, .times = RAM_ALWAYS, .error = SPATE_E_MEDIA});
}

static void arm(struct fixture *fixture, struct source *source) {
  open_source(fixture, source, 3, true, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 8 * MIB));
  fixture->ram.keep_log = true;
}

static void complete(struct fixture *fixture, struct source *source, unsigned pieces) {
  for (unsigned i = 0; i < pieces; i++)
    OK(push(source, PIECE));
  drain(fixture, source);
}

/* Seven pieces completed and are still in memory when the eighth fails and the drive loses its power. */
static void what_completed_before_a_bad_block_survives_a_power_loss(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  arm(fixture, source);
  bad_piece(fixture, source, 7);
  complete(fixture, source, 10);
  assert_int_equal(source->stream.error, SPATE_E_MEDIA);
  assert_int_equal(spate_stream_progress(&source->stream).completed_bytes, 7 * PIECE);
  assert_int_equal(source->stream.counters.lost_bytes, 3 * PIECE);
  cut_the_drives_power(fixture);
  for (unsigned i = 0; i < 100; i++)
    work(fixture);
  OK(spate_stream_stop(&source->stream));
  close_clips(fixture, source);
  assert_int_equal(source->stream.counters.lost_bytes, 3 * PIECE);
  assert_int_equal(source->stream.counters.completed_bytes, 7 * PIECE);
  file_holds(fixture, "A.RAW", source->sent, 7 * PIECE);
  close_fixture(fixture);
}

/* The power fails in turn `at` of closing a clip that has a bad block. */
static bool cut_while_closing(int at) {
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  arm(fixture, source);
  bad_piece(fixture, source, 7);
  complete(fixture, source, 10);
  OK(spate_stream_stop(&source->stream));
  fixture->turns = 0;
  fixture->cut_power_at = at;
  for (int i = 0; i < 20000 && spate_stream_active(&source->stream); i++) {
    work(fixture);
    if (source->stream.counters.lost_bytes > source->sent_bytes)
      fail_msg("turn %d: %lld bytes lost", at, (long long)source->stream.counters.lost_bytes);
    if (fixture->values[SPATE_EVENT_LOST] > source->sent_bytes)
      fail_msg("turn %d: an event of %lld bytes lost", at, (long long)fixture->values[SPATE_EVENT_LOST]);
  }
  assert_false(spate_stream_active(&source->stream));
  const bool happened = fixture->turns > at;
  const uint64_t bytes = file_bytes(fixture, "A.RAW");
  assert_int_equal(source->stream.counters.lost_bytes + bytes, source->sent_bytes);
  file_holds(fixture, "A.RAW", source->sent, bytes);
  if (bytes != 7 * PIECE) fail_msg("turn %d: the file has %d pieces", at, (int)(bytes / PIECE));
  close_fixture(fixture);
  return happened;
}

static void a_clip_with_a_bad_block_is_closed_through_a_power_loss(void **state) {
  (void)state;
  int at = 0;

  while (cut_while_closing(at))
    at++;
  assert_true(at > 5);
}

/* The power fails in turn `at` of closing a clip, and from then on a block of it is bad. */
static bool bad_block_after_cut(int at) {
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  arm(fixture, source);
  complete(fixture, source, 5);
  OK(spate_stream_stop(&source->stream));
  fixture->turns = 0;
  fixture->cut_power_at = at;
  bool bad = false;
  for (int i = 0; i < 20000 && spate_stream_active(&source->stream); i++) {
    const uint64_t published_bytes = source->stream.clips[0].file.published_bytes;
    const enum spate_error error = spate_recorder_work(&fixture->recorder);
    if (error != SPATE_OK) fail_msg("turn %d: %s, published %d", at, spate_error_name(error), (int)published_bytes);
    const bool cut = spate_block_power_mark(&fixture->ram.block) > 0;
    if (cut && !bad) bad_piece(fixture, source, 2);
    bad = cut;
  }
  const bool happened = fixture->turns > at;
  assert_false(spate_stream_active(&source->stream));
  const uint64_t bytes = file_bytes(fixture, "A.RAW");
  assert_int_equal(source->stream.counters.lost_bytes + bytes, source->sent_bytes);
  assert_true(bytes == 2 * PIECE || bytes == 5 * PIECE);
  close_fixture(fixture);
  return happened;
}

static void a_published_clip_is_not_written_again(void **state) {
  (void)state;
  int at = 0;

  while (bad_block_after_cut(at))
    at++;
  assert_true(at > 5);
}

static void no_request(void *context, struct ram_block *ram, const struct spate_io *io) {
  (void)context;
  (void)ram;
  (void)io;
}

static void none_dropped(void *context, struct ram_block *ram) {
  (void)context;
  (void)ram;
}

/* Of the requests that are over: all writes of these blocks completed before a flush was submitted that is over, too.
 */
static bool is_durable(const struct ram_block *ram, uint64_t first_lba, uint64_t blocks) {
  uint64_t flushed_at = 0, written_at = 0;

  for (size_t i = 0; i < ram->log_count; i++) {
    const struct ram_log_entry *entry = &ram->log[i];
    if (entry->completed_at == UINT64_MAX) continue;
    if (entry->op == SPATE_FLUSH) flushed_at = entry->submitted_at;
    if (entry->op == SPATE_WRITE && entry->lba < first_lba + blocks && first_lba < entry->lba + entry->blocks &&
        entry->completed_at > written_at)
      written_at = entry->completed_at;
  }
  return written_at < flushed_at;
}

/* The computer may lose power now, and with it the drive: all bytes that the clip's entry set on the media claims are
 * on the media, and durable. */
static void what_is_published_is_there(void *context, struct ram_block *ram, const struct spate_io *io) {
  const struct source *source = context;

  for (unsigned i = 0; i < 2; i++) {
    const struct spate_exfat_clip *clip = &source->stream.clips[i].file;
    if (clip->volume == NULL || io->op != SPATE_WRITE || io->lba != clip->block->lba) continue;
    const uint8_t *set = ram->memory + clip->block->lba * 512 + clip->entry_offset;
    const uint64_t bytes = spate_get64(set + 32 + 24);
    assert_memory_equal(ram->memory + clip->first_lba * 512, source->sent + i * 5 * PIECE, bytes);
    assert_true(bytes == 0 || is_durable(ram, clip->first_lba, bytes / 512));
  }
}

/* A checkpoint begins before a clip is closed, or, with `late`, during that. The power fails in turn `at` of closing.
 * With `reversed` a checkpoint's flush that came after the cut completes before the close's. */
static bool cut_with_a_checkpoint(bool late, bool reversed, int at) {
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  arm(fixture, source);
  complete(fixture, source, 5);
  OK(spate_stream_arm(&source->stream, "B.RAW", 8 * MIB));
  OK(spate_stream_cut(&source->stream));
  /* During the close a second clip has something to publish. */
  for (unsigned i = 0; i < 3; i++)
    OK(push(source, PIECE));
  fixture->recorder.period_ticks = late ? 5000 : 0;
  fixture->ram.order = reversed ? RAM_REVERSED : RAM_IN_ORDER;
  fixture->ram.delay_polls = reversed ? 4 : 0;
  const struct ram_observer observer = {no_request, what_is_published_is_there, none_dropped, source};
  fixture->ram.observer = &observer;
  fixture->turns = 0;
  fixture->cut_power_at = at;
  for (int i = 0; i < 20000 && source->stream.clips[0].state != 0; i++)
    work(fixture);
  const bool happened = fixture->turns > at;
  fixture->cut_power_at = -1;
  OK(spate_stream_stop(&source->stream));
  close_clips(fixture, source);
  if (source->stream.counters.lost_bytes > 0)
    fail_msg("turn %d, late %d: %d pieces lost", at, late, (int)(source->stream.counters.lost_bytes / PIECE));
  file_holds(fixture, "A.RAW", source->sent, 5 * PIECE);
  file_holds(fixture, "B.RAW", source->sent + 5 * PIECE, 3 * PIECE);
  close_fixture(fixture);
  return happened;
}

static void a_checkpoint_while_a_clip_closes_and_power_is_lost(void **state) {
  (void)state;
  for (unsigned late = 0; late < 2; late++) {
    int at = 0;
    while (cut_with_a_checkpoint(late != 0, false, at))
      at++;
    assert_true(at > 5);
    at = 0;
    while (cut_with_a_checkpoint(late != 0, true, at))
      at++;
    assert_true(at > 5);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_completed_before_a_bad_block_survives_a_power_loss),
      cmocka_unit_test(a_clip_with_a_bad_block_is_closed_through_a_power_loss),
      cmocka_unit_test(a_published_clip_is_not_written_again),
      cmocka_unit_test(a_checkpoint_while_a_clip_closes_and_power_is_lost),
  };
  int failed = 0;
  for (unsigned told = 0; told < 2; told++) {
    cuts_are_told = told != 0;
    failed += cmocka_run_group_tests(tests, NULL, NULL);
  }
  return failed;
}
