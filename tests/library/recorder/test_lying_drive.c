/* SPDX-License-Identifier: Apache-2.0 */
/* A drive that lies: it returns success, and a write is not on the media, or elsewhere, or not durable after a flush.
 * The recorder cannot know. Afterwards a recording of chunks shows each piece that is not there; no piece is taken for
 * one that it is not. */
#include "recorder_fixture.h"

#include <spate/bytes.h>

#define COUNT 12u

static uint64_t lba_of(const struct source *source, uint32_t piece) {
  return source->stream.clips[0].file.first_lba + piece * (uint64_t)PIECE / 512;
}

/* A clip of chunks, in the place of an earlier clip of the same stream. */
static struct source *arm_again(struct fixture *fixture) {
  struct source *source = &fixture->sources[0];
  open_source(fixture, source, 3, false, 0);
  source->sealed = true;
  OK(spate_stream_arm(&source->stream, "A.RAW", COUNT * PIECE));
  stream_pieces(fixture, source, COUNT);
  OK(spate_stream_stop(&source->stream));
  close_clips(fixture, source);
  OK(spate_exfat_delete(&fixture->volume, "A.RAW"));
  source->sent_bytes = 0;
  const uint64_t before = source->stream.clips[0].file.first_lba;
  OK(spate_stream_arm(&source->stream, "B.RAW", COUNT * PIECE));
  assert_int_equal(source->stream.clips[0].file.first_lba, before);
  return source;
}

static void lie(struct fixture *fixture, const struct source *source, uint32_t piece, enum ram_lie_kind kind,
                uint64_t other_lba) {
  const uint64_t lba = lba_of(source, piece);
  fixture->ram.lie = (struct ram_lie){.kind = kind, .first_lba = lba, .last_lba = lba, .other_lba = other_lba};
}

static void record(struct fixture *fixture, struct source *source) {
  stream_pieces(fixture, source, COUNT);
  OK(spate_stream_stop(&source->stream));
  close_clips(fixture, source);
  assert_int_equal(source->stream.counters.lost_bytes, 0);
}

/* Is this piece of the file what its header says, and the piece that should be there? */
static bool proves_itself(const struct source *source, const uint8_t *piece, uint32_t index) {
  struct spate_chunk_header header;
  return spate_chunk_header_get(piece, &header) && header.bytes == PIECE && header.number == COUNT + index &&
         memcmp(header.stream, source->stream.config.chunk_stream, sizeof header.stream) == 0 &&
         header.data_crc == spate_crc32c(0, piece + SPATE_CHUNK_HEADER_BYTES, PIECE - SPATE_CHUNK_HEADER_BYTES);
}

/* Bit i: piece i of the file does not prove itself. Each of the others has the bytes that were sent. */
static uint32_t damaged(struct fixture *fixture, const struct source *source) {
  static uint8_t file[COUNT * PIECE];
  struct spate_exfat_file opened;
  size_t got = 0;
  uint32_t found = 0;
  OK(spate_exfat_open(&fixture->volume, "B.RAW", &opened));
  OK(spate_exfat_read(&opened, 0, file, sizeof file, &got));
  assert_int_equal(got, sizeof file);
  for (uint32_t i = 0; i < COUNT; i++) {
    const uint8_t *piece = file + (size_t)i * PIECE;
    if (!proves_itself(source, piece, i))
      found |= 1u << i;
    else
      assert_memory_equal(piece, source->sent + (size_t)i * PIECE, PIECE);
  }
  return found;
}

static void a_lying_drives_writes_are_seen_afterwards(void **state) {
  (void)state;
  for (unsigned honest = 0; honest < 2; honest++) {
    struct fixture *fixture = open_fixture(512, VOLUME_MIB);
    struct source *source = arm_again(fixture);
    if (!honest) lie(fixture, source, 5, RAM_PHANTOM, 0);
    record(fixture, source);
    assert_int_equal(damaged(fixture, source), honest ? 0 : 1u << 5);
    close_fixture(fixture);
  }
}

/* Piece 9 lands on piece 4, or in the middle of it. */
static void a_misdirected_write_damages_two_pieces(void **state) {
  (void)state;
  for (uint64_t blocks_off = 0; blocks_off < 2; blocks_off++) {
    struct fixture *fixture = open_fixture(512, VOLUME_MIB);
    struct source *source = arm_again(fixture);
    lie(fixture, source, 9, RAM_ELSEWHERE, lba_of(source, 4) + blocks_off);
    record(fixture, source);
    assert_int_equal(damaged(fixture, source), 1u << 9 | 1u << 4 | (blocks_off > 0 ? 1u << 5 : 0));
    close_fixture(fixture);
  }
}

/* The drive said that it flushed, and loses what it had from piece 6 on with its power, but not the metadata, which
 * were written with FUA. The test does to the media what such a drive does. */
static void what_a_lying_flush_did_not_keep_is_seen_afterwards(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = arm_again(fixture);
  const uint64_t lost = lba_of(source, 6) * 512;
  record(fixture, source);
  assert_true(fixture->ram.count[SPATE_FLUSH] > 0);
  memset(fixture->ram.memory + lost, 0xee, (COUNT - 6) * PIECE);
  assert_int_equal(damaged(fixture, source), 0xfff & ~0x3f);
  close_fixture(fixture);
}

/* The computer loses power, too. Salvage reads on past the last checkpoint, and stops at what is not there, and at a
 * whole chunk that belongs elsewhere. */
static void salvage_stops_at_a_lie(void **state) {
  (void)state;
  for (unsigned kind = RAM_PHANTOM; kind <= RAM_ELSEWHERE; kind++) {
    struct fixture *fixture = open_fixture(512, VOLUME_MIB);
    struct source *source = &fixture->sources[0];
    struct spate_exfat_mounted found;
    open_source(fixture, source, 3, false, 0);
    source->sealed = true;
    source->stream.config.chunk_bytes = PIECE;
    OK(spate_stream_arm(&source->stream, "A.RAW", COUNT * PIECE));
    if (kind == RAM_PHANTOM)
      lie(fixture, source, 7, kind, 0);
    else
      lie(fixture, source, 10, kind, lba_of(source, 7)); /* after the true piece 7 */
    fixture->recorder.period_ticks = UINT64_MAX;         /* no checkpoint */
    stream_pieces(fixture, source, COUNT);
    drain(fixture, source);
    ram_block_drop_pending(&fixture->ram);
    host_starts_again(&fixture->ram.block);
    fixture->config.salvage = spate_exfat_salvage;
    OK(spate_exfat_mount(&fixture->volume, &fixture->config, &found));
    assert_int_equal(found.salvaged_bytes, 7 * PIECE);
    file_holds(fixture, "A.RAW", source->sent, 7 * PIECE);
    OK(spate_exfat_unmount(&fixture->volume));
    free_fixture(fixture);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_lying_drives_writes_are_seen_afterwards),
      cmocka_unit_test(a_misdirected_write_damages_two_pieces),
      cmocka_unit_test(what_a_lying_flush_did_not_keep_is_seen_afterwards),
      cmocka_unit_test(salvage_stops_at_a_lie),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
