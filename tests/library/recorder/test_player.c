/* SPDX-License-Identifier: Apache-2.0 */
/* A recording plays back in order, and no byte that could not be read is played. */
#include "recorder_fixture.h"

static void play(struct fixture *fixture, const char *path, const uint8_t *bytes, uint64_t length,
                 uint32_t slot_bytes) {
  struct source *ring = &fixture->sources[7];
  struct spate_slot slots[4];
  struct spate_player player;
  struct spate_exfat_file file;
  struct spate_player_config config = {
      .region = &ring->region, .slot_bytes = slot_bytes, .slots = slots, .slot_count = 4, .cpu_consumed = true};
  uint64_t offset_bytes = 0;
  uint64_t at = 0;
  uint32_t piece = 0;

  OK(spate_exfat_open(&fixture->volume, path, &file));
  OK(spate_player_open(&player, &file, 0, &config));
  for (int turn = 0; turn < 100000 && !spate_player_ended(&player); turn++) {
    OK(spate_player_work(&player));
    if (turn % 3 == 0 && spate_player_take(&player, &offset_bytes, &piece)) {
      assert_true(at + piece <= length);
      assert_memory_equal(ring->ring + offset_bytes, bytes + at, piece);
      at += piece;
      spate_player_give_back(&player);
    }
  }
  assert_int_equal(at, length);
}

static void playback_gives_the_file_in_order(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];

  open_source(fixture, source, 3, false, 0);
  open_source(fixture, &fixture->sources[7], 4, false, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 8 * MIB));
  stream_pieces(fixture, source, 40);
  drain(fixture, source);
  OK(push(source, 777));
  OK(spate_recorder_finish(&fixture->recorder));
  fixture->ram.order = RAM_RANDOM;
  fixture->ram.delay_polls = 1;
  play(fixture, "A.RAW", source->sent, source->sent_bytes, PIECE);
  play(fixture, "A.RAW", source->sent, source->sent_bytes, 4096);
  close_fixture(fixture);
}

static void playback_stops_before_a_block_that_cannot_be_read(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];
  struct spate_slot slots[4];
  struct spate_player player;
  struct spate_exfat_file file;
  uint64_t offset_bytes = 0;
  uint64_t at = 0;
  uint32_t piece = 0;
  enum spate_error error = SPATE_OK;

  open_source(fixture, source, 3, false, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 8 * MIB));
  uint64_t bad_lba = source->stream.clips[0].file.first_lba + 6 * PIECE / 512;
  stream_pieces(fixture, source, 40);
  OK(spate_recorder_finish(&fixture->recorder));
  ram_block_fault(&fixture->ram, (struct ram_fault){.ops = RAM_OP(SPATE_READ),
                                                    .first_lba = bad_lba,
                                                    .last_lba = bad_lba,
                                                    .times = RAM_ALWAYS,
                                                    .error = SPATE_E_MEDIA});
  fixture->ram.order = RAM_REVERSED;
  struct spate_player_config config = {
      .region = &source->region, .slot_bytes = PIECE, .slots = slots, .slot_count = 4, .cpu_consumed = true};
  OK(spate_exfat_open(&fixture->volume, "A.RAW", &file));
  OK(spate_player_open(&player, &file, 0, &config));
  for (int turn = 0; turn < 1000 && !spate_player_ended(&player); turn++) {
    error = spate_player_work(&player);
    while (spate_player_take(&player, &offset_bytes, &piece)) {
      assert_memory_equal(source->ring + offset_bytes, source->sent + at, piece);
      at += piece;
      spate_player_give_back(&player);
    }
  }
  assert_int_equal(error, SPATE_E_MEDIA);
  assert_int_equal(at, 6 * PIECE);
  ram_block_clear_faults(&fixture->ram);
  close_fixture(fixture);
}

static void playback_of_a_deleted_file_ends(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];
  struct spate_slot slots[4];
  struct spate_slot other_slots[4];
  struct spate_player player;
  struct spate_player other; /* in the middle of a run, with a slot to fill */
  struct spate_exfat_file file;
  uint64_t offset_bytes = 0;
  uint32_t piece = 0;

  open_source(fixture, source, 3, false, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 8 * MIB));
  stream_pieces(fixture, source, 40);
  OK(spate_recorder_finish(&fixture->recorder));
  struct spate_player_config config = {
      .region = &source->region, .slot_bytes = PIECE, .slots = slots, .slot_count = 4, .cpu_consumed = true};
  OK(spate_exfat_open(&fixture->volume, "A.RAW", &file));
  OK(spate_player_open(&player, &file, 0, &config));
  config.slots = other_slots;
  config.offset_bytes = 4 * PIECE;
  OK(spate_player_open(&other, &file, 0, &config));
  for (int turn = 0; turn < 10; turn++) {
    OK(spate_player_work(&player));
    OK(spate_player_work(&other));
  }
  assert_true(spate_player_take(&other, &offset_bytes, &piece));
  spate_player_give_back(&other);
  assert_true(spate_player_take(&player, &offset_bytes, &piece));
  OK(spate_exfat_delete(&fixture->volume, "A.RAW"));
  GIVES(SPATE_E_STALE, spate_player_work(&other));
  assert_int_equal(other.submitted, 4);
  assert_false(spate_player_take(&player, &offset_bytes, &piece)); /* three slots are filled */
  GIVES(SPATE_E_STALE, spate_player_work(&player));
  assert_true(spate_player_ended(&player));
  close_fixture(fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(playback_gives_the_file_in_order),
      cmocka_unit_test(playback_stops_before_a_block_that_cannot_be_read),
      cmocka_unit_test(playback_of_a_deleted_file_ends),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
