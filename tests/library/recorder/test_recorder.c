/* SPDX-License-Identifier: Apache-2.0 */
/* What a recorder does with one stream in normal operation. For several streams: test_recorder_streams.c; for failed
 * writes and power losses: test_recorder_losses.c; for failures in each step of a clip: test_recorder_faults.c. */
#include "recorder_fixture.h"

static void one_clip(uint32_t block_bytes, enum ram_order order) {
  struct fixture *fixture = open_fixture(block_bytes, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  fixture->ram.order = order;
  open_source(fixture, source, 7, false, 0);
  OK(spate_stream_arm(&source->stream, "CLIP.RAW", 8 * MIB));
  stream_pieces(fixture, source, 100);
  drain(fixture, source);
  OK(push(source, 12345)); /* a last piece of odd length */
  GIVES(SPATE_E_STATE, push(source, PIECE));
  OK(spate_stream_cut(&source->stream));
  close_clips(fixture, source);
  file_holds(fixture, "CLIP.RAW", source->sent, source->sent_bytes);
  assert_int_equal(source->sent_bytes, 100 * PIECE + 12345);
  assert_int_equal(source->stream.counters.durable_bytes, source->sent_bytes);
  assert_int_equal(source->stream.counters.lost_bytes, 0);
  assert_int_equal(fixture->values[SPATE_EVENT_CLIP_CLOSED], source->sent_bytes);
  assert_int_equal(fixture->ram.overlaps, 0);
  close_fixture(fixture);
}

static void a_clip_is_what_was_pushed(void **state) {
  (void)state;
  one_clip(512, RAM_IN_ORDER);
  one_clip(4096, RAM_IN_ORDER);
}

static void completions_may_come_in_any_order(void **state) {
  (void)state;
  one_clip(512, RAM_REVERSED);
  one_clip(4096, RAM_RANDOM);
}

static bool is_data(const struct source *source, const struct ram_log_entry *entry) {
  const struct spate_exfat_clip *clip = &source->stream.clips[0].file;
  uint64_t clip_blocks = clip->reserved_bytes >> source->stream.recorder->block->block_shift;

  return entry->op == SPATE_WRITE && entry->lba >= clip->first_lba && entry->lba < clip->first_lba + clip_blocks;
}

/* Between arm and stop: data, flushes, and one-block FUA writes, all of the same block. */
static void only_data_and_checkpoints_between_arm_and_stop(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];
  uint64_t entry_lba = 0;
  uint64_t data = 0, flushes = 0, entries = 0;

  open_source(fixture, source, 7, false, 0);
  OK(spate_stream_arm(&source->stream, "CLIP.RAW", 32 * MIB));
  fixture->ram.keep_log = true;
  for (int second = 0; second < 8; second++) {
    stream_pieces(fixture, source, 32);
    clock_ns += 250000000;
  }
  drain(fixture, source);
  for (size_t i = 0; i < fixture->ram.log_count; i++) {
    const struct ram_log_entry *entry = &fixture->ram.log[i];
    if (is_data(source, entry)) {
      data++;
    } else if (entry->op == SPATE_FLUSH) {
      flushes++;
    } else {
      assert_int_equal(entry->op, SPATE_WRITE);
      assert_int_equal(entry->blocks, 1);
      assert_true(entry->flags & SPATE_IO_FUA);
      if (entry_lba == 0) entry_lba = entry->lba;
      assert_int_equal(entry->lba, entry_lba);
      entries++;
    }
  }
  assert_int_equal(data, 256);
  assert_int_equal(flushes, fixture->recorder.counters.flushes);
  assert_int_equal(entries, source->stream.counters.checkpoints);
  assert_in_range(flushes, 3, 5); /* 2 s at one each 500 ms */
  OK(spate_recorder_finish(&fixture->recorder));
  close_fixture(fixture);
}

static uint64_t published_length(const struct ram_log_entry *entry) {
  /* The stream extension entry (0xc0) of the only entry set with a length in this block: DataLength at 24. */
  for (uint32_t at = 0; at < 512; at += 32) {
    if (entry->data[at] == 0xc0) {
      uint64_t length = 0;
      memcpy(&length, entry->data + at + 24, sizeof(length));
      if (length != 0) return length;
    }
  }
  return 0;
}

/* For every published length: a flush completed before the entry was submitted, and every write below the length
 * completed before that flush was submitted. */
static void a_length_is_published_only_when_it_is_durable(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];
  unsigned published = 0;

  open_source(fixture, source, 7, false, 0);
  OK(spate_exfat_mkdir(&fixture->volume, "D"));
  OK(spate_stream_arm(&source->stream, "D/CLIP.RAW", 32 * MIB));
  fixture->ram.keep_log = true;
  fixture->ram.keep_data = true;
  fixture->ram.order = RAM_RANDOM;
  fixture->ram.delay_polls = 3;
  for (int i = 0; i < 40; i++) {
    stream_pieces(fixture, source, 7);
    clock_ns += 130000000;
  }
  const uint64_t first_lba = source->stream.clips[0].file.first_lba;
  drain(fixture, source);
  for (size_t i = 0; i < fixture->ram.log_count; i++) {
    const struct ram_log_entry *entry = &fixture->ram.log[i];
    if (entry->op != SPATE_WRITE || is_data(source, entry)) continue;
    uint64_t length = published_length(entry);
    uint64_t flush_submitted_at = 0; /* of the last flush that completed before this entry was submitted */
    for (size_t j = 0; j < fixture->ram.log_count; j++) {
      const struct ram_log_entry *flush = &fixture->ram.log[j];
      if (flush->op == SPATE_FLUSH && flush->completed_at < entry->submitted_at)
        flush_submitted_at = flush->submitted_at;
    }
    assert_true(flush_submitted_at > 0);
    uint64_t covered = 0;
    for (size_t j = 0; j < fixture->ram.log_count; j++) {
      const struct ram_log_entry *data = &fixture->ram.log[j];
      if (is_data(source, data) && data->completed_at < flush_submitted_at && (data->lba - first_lba) * 512 < length)
        covered += (uint64_t)data->blocks * 512;
    }
    assert_int_equal(covered, length);
    published++;
  }
  assert_true(published >= 8);
  OK(spate_recorder_finish(&fixture->recorder));
  close_fixture(fixture);
}

static void several_clips_in_a_row_with_the_next_armed_ahead(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(4096, VOLUME_MIB);
  struct source *source = &fixture->sources[0];
  uint64_t starts[6];
  char path[32];

  fixture->ram.order = RAM_RANDOM;
  open_source(fixture, source, 3, false, 0);
  OK(spate_stream_arm(&source->stream, "0.RAW", 4 * MIB));
  for (unsigned i = 0; i < 5; i++) {
    starts[i] = source->sent_bytes;
    stream_pieces(fixture, source, 10 + i);
    (void)snprintf(path, sizeof(path), "%u.RAW", i + 1);
    enum spate_error error = spate_stream_arm(&source->stream, path, 4 * MIB);
    while (error == SPATE_E_STATE) { /* the previous clip is still closing */
      work(fixture);
      error = spate_stream_arm(&source->stream, path, 4 * MIB);
    }
    OK(error);
    GIVES(SPATE_E_STATE, spate_stream_arm(&source->stream, "THIRD.RAW", MIB));
    stream_pieces(fixture, source, 3);
    OK(spate_stream_cut(&source->stream)); /* not drained: the next clip records while this one ends */
  }
  starts[5] = source->sent_bytes;
  OK(spate_stream_stop(&source->stream));
  close_clips(fixture, source);
  for (unsigned i = 0; i < 5; i++) {
    (void)snprintf(path, sizeof(path), "%u.RAW", i);
    file_holds(fixture, path, source->sent + starts[i], starts[i + 1] - starts[i]);
  }
  struct spate_exfat_entry entry;
  GIVES(SPATE_E_NOT_FOUND, spate_exfat_stat(&fixture->volume, "5.RAW", &entry)); /* armed but not used: deleted */
  close_fixture(fixture);
}

static void a_stream_rolls_over_without_losing_a_byte(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];
  uint64_t at = 0;

  fixture->ram.order = RAM_RANDOM;
  open_source(fixture, source, 3, false, 2 * MIB);
  OK(spate_exfat_mkdir(&fixture->volume, "TAPE.D"));
  OK(spate_stream_arm(&source->stream, "TAPE.D/CLIP", 2 * MIB));
  stream_pieces(fixture, source, 150); /* 9.4 MiB */
  OK(spate_stream_stop(&source->stream));
  close_clips(fixture, source);
  static const char *const paths[] = {"TAPE.D/CLIP", "TAPE.D/CLIP_0002", "TAPE.D/CLIP_0003", "TAPE.D/CLIP_0004",
                                      "TAPE.D/CLIP_0005"};
  for (unsigned i = 0; i < 5; i++) {
    uint64_t bytes = i < 4 ? 2 * MIB : 150 * PIECE - 8 * MIB;
    file_holds(fixture, paths[i], source->sent + at, bytes);
    at += bytes;
  }
  assert_int_equal(at, source->sent_bytes);
  assert_int_equal(fixture->events[SPATE_EVENT_ROLLED_OVER], 4);
  close_fixture(fixture);
}

/* A piece that does not fit the rest of a reservation goes into the next file as a whole. */
static void a_piece_is_never_cut_in_two(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];
  const uint32_t frame = 50u * 1024u;

  open_source(fixture, source, 3, false, MIB);
  OK(spate_stream_arm(&source->stream, "A.RAW", MIB));
  for (unsigned frames = 0; frames < 30;) {
    enum spate_error error = push(source, frame);
    if (error == SPATE_OK)
      frames++;
    else
      GIVES(SPATE_E_FULL, error);
    work(fixture);
  }
  OK(spate_stream_stop(&source->stream));
  close_clips(fixture, source);
  file_holds(fixture, "A.RAW", source->sent, 20u * frame); /* 20.48 fit */
  file_holds(fixture, "A_0002.RAW", source->sent + 20u * frame, 10u * frame);
  close_fixture(fixture);
}

static void a_full_volume_is_announced_ahead(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, 70);
  struct source *source = &fixture->sources[0];
  struct spate_exfat_info info;
  enum spate_error error = SPATE_OK;
  uint64_t announced_at = 0;

  open_source(fixture, source, 3, false, 20 * MIB);
  OK(spate_stream_arm(&source->stream, "A.RAW", 20 * MIB));
  for (;;) {
    error = push(source, PIECE);
    if (error == SPATE_E_NO_SPACE) break;
    assert_true(error == SPATE_OK || error == SPATE_E_FULL);
    work(fixture);
    if (announced_at == 0 && fixture->events[SPATE_EVENT_VOLUME_ENDS] > 0) {
      announced_at = source->sent_bytes;
      assert_true(fixture->values[SPATE_EVENT_VOLUME_ENDS] >= MIB);
    }
  }
  spate_stream_overrun(&source->stream, PIECE);
  assert_true(announced_at > 0 && announced_at < source->sent_bytes);
  OK(spate_stream_stop(&source->stream));
  close_clips(fixture, source);
  assert_int_equal(fixture->values[SPATE_EVENT_OVERRUN], PIECE);
  assert_int_equal(fixture->events[SPATE_EVENT_FRAGMENTED], 1); /* the last clip got the remaining space */
  OK(spate_exfat_info(&fixture->volume, &info));
  assert_true(info.free_bytes <= MIB + 20 * MIB / 16);
  assert_int_equal(file_bytes(fixture, "A.RAW"), 20 * MIB);
  assert_in_range(file_bytes(fixture, "A_0004.RAW"), 1, 20 * MIB - 1); /* no number is skipped */
  close_fixture(fixture);
}

static void a_full_ring_pushes_back_and_is_counted(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  open_source(fixture, source, 3, false, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 8 * MIB));
  fixture->ram.held_ops = RAM_OP(SPATE_WRITE);
  for (unsigned i = 0; i < PIECES; i++)
    OK(push(source, PIECE));
  work(fixture);
  assert_int_equal(spate_stream_room(&source->stream), 0);
  GIVES(SPATE_E_FULL, spate_stream_push(&source->stream, 0, PIECE));
  assert_int_equal(source->stream.counters.ring_full, 1);
  assert_int_equal(source->stream.counters.pieces_high_water, PIECES);
  fixture->ram.held_ops = 0;
  work(fixture);
  assert_int_equal(spate_stream_released(&source->stream), PIECES);
  stream_pieces(fixture, source, 20);
  OK(spate_recorder_finish(&fixture->recorder));
  file_holds(fixture, "A.RAW", source->sent, source->sent_bytes);
  close_fixture(fixture);
}

static void bad_pieces_are_refused(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  open_source(fixture, source, 3, false, 0);
  GIVES(SPATE_E_STATE, spate_stream_push(&source->stream, 0, PIECE));
  GIVES(SPATE_E_STATE, spate_stream_cut(&source->stream));
  OK(spate_stream_arm(&source->stream, "A.RAW", MIB));
  GIVES(SPATE_E_INVALID, spate_stream_push(&source->stream, 0, 0));
  GIVES(SPATE_E_INVALID, spate_stream_push(&source->stream, 2, PIECE));
  GIVES(SPATE_E_INVALID, spate_stream_push(&source->stream, RING_BYTES - 512, 513));
  GIVES(SPATE_E_INVALID, spate_stream_push(&source->stream, RING_BYTES + 512, 512));
  GIVES(SPATE_E_INVALID, spate_stream_push(&source->stream, 0, UINT32_MAX));
  fixture->ram.block.request_blocks_max = PIECE / 512;
  GIVES(SPATE_E_INVALID, spate_stream_push(&source->stream, 0, PIECE + 512));
  GIVES(SPATE_E_INVALID, spate_stream_push(&source->stream, SPATE_DMA_ALIGN, PIECE / 2 + 512)); /* spate/block.h */
  const uint16_t depth = fixture->ram.block.depth;
  fixture->ram.block.depth = 2;
  GIVES(SPATE_E_INVALID, spate_stream_push(&source->stream, SPATE_DMA_ALIGN, SPATE_PAGE_BYTES + 512));
  fixture->ram.block.depth = depth;
  GIVES(SPATE_E_EXISTS, spate_stream_arm(&source->stream, "A.RAW", MIB));
  GIVES(SPATE_E_NOT_FOUND, spate_stream_arm(&source->stream, "NONE/A.RAW", MIB));
  GIVES(SPATE_E_NAME, spate_stream_arm(&source->stream, "A?.RAW", MIB));
  GIVES(SPATE_E_NO_SPACE, spate_stream_arm(&source->stream, "B.RAW", 1000 * MIB));
  stream_pieces(fixture, source, 16);
  GIVES(SPATE_E_RESERVATION, push(source, PIECE)); /* the reservation is full, and there is no next clip */
  OK(spate_recorder_finish(&fixture->recorder));
  file_holds(fixture, "A.RAW", source->sent, MIB);
  close_fixture(fixture);
}

/* Any mixture of sizes, cuts, delays and orders: the files' contents, in order, are the bytes that were pushed. */
static void random_runs(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 30; seed++) {
    uint64_t random = seed;
    struct fixture *fixture = open_fixture(seed % 2 ? 512 : 4096, VOLUME_MIB);
    struct source *source = &fixture->sources[0];
    uint32_t block = seed % 2 ? 512 : 4096;
    char path[32];
    uint64_t at = 0;

    fixture->ram.order = RAM_RANDOM;
    fixture->ram.random = seed;
    open_source(fixture, source, seed, ram_random(&random) % 2 != 0, 0);
    for (unsigned clip = 0; clip < 6; clip++) {
      uint64_t start = source->sent_bytes;
      (void)snprintf(path, sizeof(path), "%u", clip);
      OK(spate_stream_arm(&source->stream, path, 6 * MIB));
      for (unsigned i = 0; i < ram_random(&random) % 60; i++) {
        fixture->ram.delay_polls = (uint32_t)(ram_random(&random) % 8);
        clock_ns += ram_random(&random) % 200000000;
        enum spate_error error = push(source, (uint32_t)(1 + ram_random(&random) % (PIECE / block)) * block);
        assert_true(error == SPATE_OK || error == SPATE_E_FULL);
        if (ram_random(&random) % 2) work(fixture);
      }
      OK(spate_stream_cut(&source->stream));
      close_clips(fixture, source);
      if (source->sent_bytes > start) file_holds(fixture, path, source->sent + start, source->sent_bytes - start);
      at = source->sent_bytes;
    }
    assert_int_equal(source->stream.counters.durable_bytes, at);
    assert_int_equal(fixture->ram.overlaps, 0);
    close_fixture(fixture);
  }
}

/* A piece that is not whole ends its clip, and no later one. */
static void a_stream_records_again_after_a_piece_that_is_not_whole(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  open_source(fixture, source, 3, false, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", MIB));
  OK(push(source, 1000));
  GIVES(SPATE_E_STATE, push(source, 512));
  OK(spate_recorder_finish(&fixture->recorder));
  OK(spate_stream_arm(&source->stream, "B.RAW", MIB));
  OK(push(source, PIECE));
  OK(push(source, PIECE));
  OK(spate_recorder_finish(&fixture->recorder));
  file_holds(fixture, "A.RAW", source->sent, 1000);
  file_holds(fixture, "B.RAW", source->sent + 1000, 2 * PIECE);
  close_fixture(fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_clip_is_what_was_pushed),
      cmocka_unit_test(completions_may_come_in_any_order),
      cmocka_unit_test(only_data_and_checkpoints_between_arm_and_stop),
      cmocka_unit_test(a_length_is_published_only_when_it_is_durable),
      cmocka_unit_test(several_clips_in_a_row_with_the_next_armed_ahead),
      cmocka_unit_test(a_stream_rolls_over_without_losing_a_byte),
      cmocka_unit_test(a_piece_is_never_cut_in_two),
      cmocka_unit_test(a_full_volume_is_announced_ahead),
      cmocka_unit_test(a_full_ring_pushes_back_and_is_counted),
      cmocka_unit_test(bad_pieces_are_refused),
      cmocka_unit_test(a_stream_records_again_after_a_piece_that_is_not_whole),
      cmocka_unit_test(random_runs),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
