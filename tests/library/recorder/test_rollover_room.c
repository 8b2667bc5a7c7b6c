/* SPDX-License-Identifier: Apache-2.0 */
/* A stream needs its next file while another stream's clip is ending, and the volume has no room beside them. */
#include "recorder_fixture.h"

static void room_that_is_coming_is_waited_for(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0];
  struct source *other = &fixture->sources[1];

  open_source(fixture, source, 3, false, 8 * MIB);
  open_source(fixture, other, 4, false, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 8 * MIB));
  OK(spate_stream_arm(&other->stream, "OTHER.RAW", 0)); /* the rest of the volume */
  stream_pieces(fixture, source, 60);
  drain(fixture, source);
  fixture->ram.held_ops = RAM_OP(SPATE_WRITE); /* the other clip's last piece takes long */
  OK(push(other, PIECE));
  OK(spate_stream_stop(&other->stream)); /* its room is free in a moment */
  for (unsigned i = 0; i < 8; i++) {
    OK(push(source, PIECE));
    work(fixture);
  }
  fixture->ram.held_ops = 0;
  stream_pieces(fixture, source, 200);
  OK(spate_stream_stop(&source->stream));
  close_clips(fixture, source);
  close_clips(fixture, other);
  assert_int_equal(fixture->events[SPATE_EVENT_VOLUME_ENDS], 0);
  close_fixture(fixture);
}

/* The other clip has the rest of the volume. It ends without its last `spared_bytes`. If `failed`, the write of its
 * last MiB fails. Returns whether the stream was told, at half of its clip, that the volume ends. */
static bool volume_ends_beside(uint64_t spared_bytes, bool failed) {
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct source *source = &fixture->sources[0]; /* the recorder looks for its next clip before the other one closes */
  struct source *other = &fixture->sources[1];
  const uint32_t last_pieces = MIB / PIECE;

  assert_int_equal(fixture->volume.cluster_mask + 1u, MIB);
  open_source(fixture, source, 3, false, 8 * MIB);
  open_source(fixture, other, 4, false, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 8 * MIB));
  OK(spate_stream_arm(&other->stream, "OTHER.RAW", 0));
  const struct spate_exfat_clip *file = &other->stream.clips[0].file;
  stream_pieces(fixture, other, (uint32_t)((file->reserved_bytes - spared_bytes) / PIECE) - last_pieces);
  drain(fixture, other);
  stream_pieces(fixture, source, (uint32_t)(4 * MIB / PIECE) - 1u);
  drain(fixture, source);
  const uint64_t lba = file->first_lba + (other->stream.clips[0].progress.pushed_bytes >> 9);
  if (failed)
    ram_block_fault(&fixture->ram, (struct ram_fault){.ops = RAM_OP(SPATE_WRITE),
                                                      .first_lba = lba,
                                                      .last_lba = lba,
                                                      .times = RAM_ALWAYS,
                                                      .error = SPATE_E_MEDIA});
  for (uint32_t i = 0; i < last_pieces; i++)
    OK(push(other, PIECE));
  work(fixture); /* submits them */
  OK(spate_stream_stop(&other->stream));
  OK(push(source, PIECE));
  assert_int_equal(fixture->events[SPATE_EVENT_VOLUME_ENDS], 0);
  work(fixture);
  const bool told = fixture->events[SPATE_EVENT_VOLUME_ENDS] > 0;
  if (told) assert_int_equal(fixture->values[SPATE_EVENT_VOLUME_ENDS], 4 * MIB);
  GIVES(failed ? SPATE_E_MEDIA : SPATE_OK, spate_recorder_finish(&fixture->recorder));
  close_fixture(fixture);
  return told;
}

static void the_volumes_end_is_announced_beside_a_clip_that_returns_no_room(void **state) {
  (void)state;
  assert_true(volume_ends_beside(0, false));
  assert_true(volume_ends_beside(PIECE, false));
  assert_true(volume_ends_beside(MIB - PIECE, false));
}

static void the_last_cluster_of_a_clip_is_waited_for(void **state) {
  (void)state;
  assert_false(volume_ends_beside(MIB, false));
}

/* Its file ends where the write failed. */
static void the_room_of_a_clip_that_lost_its_end_is_waited_for(void **state) {
  (void)state;
  assert_false(volume_ends_beside(0, true));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(room_that_is_coming_is_waited_for),
      cmocka_unit_test(the_volumes_end_is_announced_beside_a_clip_that_returns_no_room),
      cmocka_unit_test(the_last_cluster_of_a_clip_is_waited_for),
      cmocka_unit_test(the_room_of_a_clip_that_lost_its_end_is_waited_for),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
