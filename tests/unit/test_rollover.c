/* SPDX-License-Identifier: Apache-2.0 */
/* When a stream's next file is made, and when its volume's end is announced: half a reservation ahead. */
#include "recorder_fixture.h"

#define CLIP_BYTES  (4 * MIB)
#define HALF_PIECES (uint32_t)(CLIP_BYTES / 2 / PIECE)

static void the_next_file_is_made_at_half_of_the_reservation(void **state) {
  (void)state;
  struct world *world = open_world(512, VOLUME_MIB);
  struct source *source = &world->sources[0];

  open_source(world, source, 3, false, CLIP_BYTES);
  OK(spate_stream_arm(&source->stream, "A.RAW", CLIP_BYTES));
  for (uint32_t part = 2; part < 6; part++) {
    struct spate_exfat_entry entry;
    char path[32];
    (void)snprintf(path, sizeof path, "A_%04u.RAW", part);
    stream_pieces(world, source, HALF_PIECES - 1);
    work(world);
    GIVES(SPATE_E_NOT_FOUND, spate_exfat_stat(&world->volume, path, &entry));
    stream_pieces(world, source, 1);
    work(world);
    OK(spate_exfat_stat(&world->volume, path, &entry));
    stream_pieces(world, source, HALF_PIECES);
  }
  assert_int_equal(world->events[SPATE_EVENT_ROLLED_OVER], 3); /* the next piece rolls over into the fifth */
  OK(spate_recorder_finish(&world->recorder));
  close_world(world);
}

static void the_volumes_end_is_announced_at_half_of_the_last_reservation(void **state) {
  (void)state;
  struct world *world = open_world(512, VOLUME_MIB);
  struct source *source = &world->sources[0];

  open_source(world, source, 3, false, CLIP_BYTES);
  OK(spate_stream_arm(&source->stream, "A.RAW", 0)); /* all there is */
  uint64_t bytes = source->stream.takes[0].clip.reserved_bytes;
  stream_pieces(world, source, (uint32_t)(bytes / 2 / PIECE) - 1);
  work(world);
  assert_int_equal(world->events[SPATE_EVENT_VOLUME_ENDS], 0);
  stream_pieces(world, source, 1);
  work(world);
  assert_int_equal(world->events[SPATE_EVENT_VOLUME_ENDS], 1);
  assert_int_equal(world->values[SPATE_EVENT_VOLUME_ENDS], bytes / 2);
  OK(spate_recorder_finish(&world->recorder));
  close_world(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_next_file_is_made_at_half_of_the_reservation),
      cmocka_unit_test(the_volumes_end_is_announced_at_half_of_the_last_reservation),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
