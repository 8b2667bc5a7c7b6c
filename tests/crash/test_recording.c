/* SPDX-License-Identifier: Apache-2.0 */
/* What recorders do all day, on drives of a few megabytes, with a clock that runs evenly: under cuts when SPATE_CUTS is
 * set. The unit tests of the recorder run under cuts as well; here is what they do not do. */
#include "recorder_fixture.h"
#include "witness.h"

#define MS UINT64_C(1000000)

/* Every millisecond the source has a piece, and the recorder its turn: 64 MiB/s. */
static void run_for(struct world *world, struct source *const *sources, unsigned count, unsigned ms,
                    uint32_t piece_bytes) {
  for (unsigned i = 0; i < ms; i++) {
    uint64_t next_ns = clock_ns + MS;
    for (unsigned n = 0; n < count; n++) {
      enum spate_error error = push(sources[n], piece_bytes);
      assert_true(error == SPATE_OK || error == SPATE_E_FULL);
    }
    while (clock_ns < next_ns) {
      work(world);
      clock_ns += MS / 10;
    }
  }
}

static struct world *open_paced(uint32_t block_bytes, uint64_t volume_mib) {
  struct world *world = open_world(block_bytes, volume_mib);
  world->recorder.config.checkpoint_ms = 20;
  world->recorder.period_ticks = 20 * MS;
  world->ram.order = RAM_RANDOM;
  world->ram.random = witness_seed();
  world->ram.delay_polls = 3;
  world->ram.trim_fill = 0x5a;
  return world;
}

static void one_clip(uint32_t block_bytes) {
  struct world *world = open_paced(block_bytes, 16);
  struct source *source = &world->sources[0];
  open_source(world, source, 11, false, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 6 * MIB));
  run_for(world, &source, 1, 120, 16384);
  OK(push(source, 1000));
  OK(spate_recorder_finish(&world->recorder));
  assert_true(source->stream.counters.checkpoints >= 5);
  file_holds(world, "A.RAW", source->sent, source->sent_bytes);
  close_world(world);
}

static void a_paced_clip(void **state) {
  (void)state;
  one_clip(512);
  one_clip(4096);
}

/* Both entry sets are in one block: a write of it carries both lengths. */
static void two_streams_share_a_block(void **state) {
  (void)state;
  struct world *world = open_paced(512, 16);
  struct source *both[2] = {&world->sources[0], &world->sources[1]};
  open_source(world, both[0], 21, false, 0);
  open_source(world, both[1], 22, false, 0);
  OK(spate_stream_arm(&both[0]->stream, "A.RAW", 4 * MIB));
  run_for(world, both, 1, 15, 16384); /* checkpoints of the two do not begin together */
  OK(spate_stream_arm(&both[1]->stream, "B.RAW", 4 * MIB));
  run_for(world, both, 2, 80, 16384);
  OK(spate_recorder_finish(&world->recorder));
  file_holds(world, "A.RAW", both[0]->sent, both[0]->sent_bytes);
  file_holds(world, "B.RAW", both[1]->sent, both[1]->sent_bytes);
  close_world(world);
}

/* As many as a recorder takes, each with its next clip armed, so that every slot of the record is in use; four entry
 * sets lie in each block. Clips end while others begin. */
static void eight_streams(uint32_t block_bytes) {
  struct world *world = open_paced(block_bytes, 64);
  struct source *all[STREAMS];
  char path[16];
  for (unsigned i = 0; i < STREAMS; i++) {
    all[i] = &world->sources[i];
    open_source(world, all[i], 71 + i, false, MIB);
    (void)snprintf(path, sizeof path, "%c.RAW", 'A' + i);
    OK(spate_stream_arm(&all[i]->stream, path, MIB));
    run_for(world, all, i + 1, 3, 8192);
  }
  run_for(world, all, STREAMS, 40, 16384);
  for (unsigned i = 0; i < STREAMS; i += 3) {
    OK(spate_stream_cut(&all[i]->stream));
    if (!spate_stream_active(&all[i]->stream)) { /* its next part was not armed yet */
      close_clips(world, all[i]);
      (void)snprintf(path, sizeof path, "%c2.RAW", 'A' + i);
      OK(spate_stream_arm(&all[i]->stream, path, MIB));
    }
    run_for(world, all, STREAMS, 4, 8192);
  }
  OK(spate_recorder_finish(&world->recorder));
  close_world(world);
}

static void eight_streams_at_once(void **state) {
  (void)state;
  eight_streams(512);
  eight_streams(4096);
}

/* A full day on a small drive: clips come, the oldest go, and their clusters are used again at once. */
static void clips_come_and_go(uint32_t block_bytes) {
  struct world *world = open_paced(block_bytes, 16);
  struct source *source = &world->sources[0];
  char path[16];
  open_source(world, source, 31, false, 0);
  OK(spate_exfat_mkdir(&world->volume, "D"));
  for (unsigned i = 0; i < 6; i++) {
    if (i >= 2) {
      (void)snprintf(path, sizeof path, "D/%u.RAW", i - 2);
      OK(spate_exfat_delete(&world->volume, path));
    }
    (void)snprintf(path, sizeof path, "D/%u.RAW", i);
    OK(spate_stream_arm(&source->stream, path, 4 * MIB));
    run_for(world, &source, 1, 25, 32768);
    OK(spate_stream_cut(&source->stream));
    close_clips(world, source);
  }
  OK(spate_exfat_rename(&world->volume, "D/5.RAW", "BEST.RAW"));
  close_world(world);
}

static void old_clips_make_room(void **state) {
  (void)state;
  clips_come_and_go(512);
  clips_come_and_go(4096);
}

/* Files of 1 MiB, one after the other, until the volume is full. */
static void until_the_volume_is_full(void **state) {
  (void)state;
  struct world *world = open_paced(512, 8);
  struct source *source = &world->sources[0];
  enum spate_error error = SPATE_OK;
  open_source(world, source, 41, false, MIB);
  OK(spate_stream_arm(&source->stream, "A.RAW", MIB));
  while (error == SPATE_OK || error == SPATE_E_FULL) {
    error = push(source, PIECE);
    work(world);
    clock_ns += MS;
  }
  GIVES(SPATE_E_NO_SPACE, error);
  OK(spate_recorder_finish(&world->recorder));
  assert_int_equal(world->events[SPATE_EVENT_VOLUME_ENDS], 1);
  close_world(world);
}

static void open_chunks(struct world *world, struct source *source) {
  OK(spate_recorder_close(&world->recorder));
  OK(spate_exfat_unmount(&world->volume));
  world->config.salvage = spate_exfat_salvage;
  OK(spate_exfat_mount(&world->volume, &world->config, NULL));
  struct spate_recorder_config config = {
      .checkpoint_ms = 20, .event = on_event, .while_waiting = while_waiting, .context = world};
  OK(spate_recorder_open(&world->recorder, &world->volume, &config));
  open_source(world, source, 51, false, 0);
  source->stream.config.chunk_bytes = 16384;
  memcpy(source->stream.config.chunk_stream, "0123456789abcdef", 16);
  source->sealed = true;
}

/* Chunks that prove themselves, recorded over an older clip of the same stream. */
static void chunks(uint32_t block_bytes) {
  struct world *world = open_paced(block_bytes, 16);
  struct source *source = &world->sources[0];
  open_chunks(world, source);
  for (unsigned i = 0; i < 3; i++) {
    OK(spate_stream_arm(&source->stream, i % 2 == 0 ? "A.RAW" : "B.RAW", 8 * MIB));
    run_for(world, &source, 1, 50, 16384);
    OK(spate_stream_cut(&source->stream));
    close_clips(world, source);
    OK(spate_exfat_delete(&world->volume, i % 2 == 0 ? "A.RAW" : "B.RAW"));
  }
  close_world(world);
}

static void chunks_are_salvaged(void **state) {
  (void)state;
  chunks(512);
  chunks(4096);
}

/* The host stops and starts again, the drive goes on: what mount salvages may be in the drive's cache only. */
static void a_host_that_starts_again(void **state) {
  (void)state;
  struct world *world = open_paced(512, 16);
  struct source *source = &world->sources[0];
  open_chunks(world, source);
  OK(spate_stream_arm(&source->stream, "A.RAW", 8 * MIB));
  run_for(world, &source, 1, 50, 16384);
  drain(world, source);
  host_starts_again(&world->ram.block);
  ram_block_drop_pending(&world->ram);
  OK(spate_exfat_mount(&world->volume, &world->config, NULL));
  assert_true(file_bytes(world, "A.RAW") == source->sent_bytes);
  memset(source->stream.takes, 0, sizeof source->stream.takes);
  struct spate_recorder_config config = {.event = on_event, .while_waiting = while_waiting, .context = world};
  OK(spate_recorder_open(&world->recorder, &world->volume, &config));
  close_world(world);
}

/* A name whose entry set fills a block of 512 bytes: inside one of 4096 wherever it lies. */
static void a_long_name(void **state) {
  char path[211];
  (void)state;
  struct world *world = open_paced(4096, 16);
  struct source *source = &world->sources[0];
  memset(path, 'N', sizeof path);
  path[210] = '\0';
  open_source(world, source, 61, false, 0);
  OK(spate_stream_arm(&source->stream, path, 4 * MIB));
  run_for(world, &source, 1, 60, 16384);
  OK(spate_recorder_finish(&world->recorder));
  close_world(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_host_that_starts_again),
      cmocka_unit_test(a_long_name),
      cmocka_unit_test(a_paced_clip),
      cmocka_unit_test(two_streams_share_a_block),
      cmocka_unit_test(eight_streams_at_once),
      cmocka_unit_test(old_clips_make_room),
      cmocka_unit_test(until_the_volume_is_full),
      cmocka_unit_test(chunks_are_salvaged),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
