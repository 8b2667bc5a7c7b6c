/* SPDX-License-Identifier: Apache-2.0 */
/* Typical work of recorders, on drives of a few megabytes, with a clock that advances evenly. The power is cut when
 * SPATE_CUTS is set. The recorder's unit tests run under power cuts as well; these tests add what those do not
 * cover. */
#include "recorder_fixture.h"
#include "witness.h"

#define MS UINT64_C(1000000)

/* Each millisecond the source fills a piece, and the recorder gets a turn: 64 MiB/s. */
static void run_for(struct fixture *fixture, struct source *const *sources, unsigned count, unsigned ms,
                    uint32_t piece_bytes) {
  for (unsigned i = 0; i < ms; i++) {
    uint64_t next_ns = clock_ns + MS;
    for (unsigned n = 0; n < count; n++) {
      enum spate_error error = push(sources[n], piece_bytes);
      assert_true(error == SPATE_OK || error == SPATE_E_FULL);
    }
    while (clock_ns < next_ns) {
      work(fixture);
      clock_ns += MS / 10;
    }
  }
}

static struct fixture *open_paced(uint32_t block_bytes, uint64_t volume_mib) {
  struct fixture *fixture = open_fixture(block_bytes, volume_mib);
  fixture->recorder.config.checkpoint_ms = 20;
  fixture->recorder.period_ticks = 20 * MS;
  fixture->ram.order = RAM_RANDOM;
  fixture->ram.random = witness_seed();
  fixture->ram.delay_polls = 3;
  fixture->ram.trim_fill = 0x5a;
  return fixture;
}

static void one_clip(uint32_t block_bytes) {
  struct fixture *fixture = open_paced(block_bytes, 16);
  struct source *source = &fixture->sources[0];
  open_source(fixture, source, 11, false, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 6 * MIB));
  run_for(fixture, &source, 1, 120, 16384);
  OK(push(source, 1000));
  OK(spate_recorder_finish(&fixture->recorder));
  assert_true(source->stream.counters.checkpoints >= 5);
  file_holds(fixture, "A.RAW", source->sent, source->sent_bytes);
  close_fixture(fixture);
}

static void a_paced_clip(void **state) {
  (void)state;
  one_clip(512);
  one_clip(4096);
}

/* Both entry sets are in one block: a write of it carries both lengths. */
static void two_streams_share_a_block(void **state) {
  (void)state;
  struct fixture *fixture = open_paced(512, 16);
  struct source *both[2] = {&fixture->sources[0], &fixture->sources[1]};
  open_source(fixture, both[0], 21, false, 0);
  open_source(fixture, both[1], 22, false, 0);
  OK(spate_stream_arm(&both[0]->stream, "A.RAW", 4 * MIB));
  run_for(fixture, both, 1, 15, 16384); /* the two streams' checkpoints start at different times */
  OK(spate_stream_arm(&both[1]->stream, "B.RAW", 4 * MIB));
  run_for(fixture, both, 2, 80, 16384);
  OK(spate_recorder_finish(&fixture->recorder));
  file_holds(fixture, "A.RAW", both[0]->sent, both[0]->sent_bytes);
  file_holds(fixture, "B.RAW", both[1]->sent, both[1]->sent_bytes);
  close_fixture(fixture);
}

/* As many streams as a recorder supports, each with its next clip armed, so that every slot of the record is in use.
 * Four entry sets are in each block. Clips end while others begin. */
static void eight_streams(uint32_t block_bytes) {
  struct fixture *fixture = open_paced(block_bytes, 64);
  struct source *all[STREAMS];
  char path[16];
  for (unsigned i = 0; i < STREAMS; i++) {
    all[i] = &fixture->sources[i];
    open_source(fixture, all[i], 71 + i, false, MIB);
    (void)snprintf(path, sizeof path, "%c.RAW", 'A' + i);
    OK(spate_stream_arm(&all[i]->stream, path, MIB));
    run_for(fixture, all, i + 1, 3, 8192);
  }
  run_for(fixture, all, STREAMS, 40, 16384);
  for (unsigned i = 0; i < STREAMS; i += 3) {
    OK(spate_stream_cut(&all[i]->stream));
    if (!spate_stream_active(&all[i]->stream)) { /* its next file was not armed yet */
      close_clips(fixture, all[i]);
      (void)snprintf(path, sizeof path, "%c2.RAW", 'A' + i);
      OK(spate_stream_arm(&all[i]->stream, path, MIB));
    }
    run_for(fixture, all, STREAMS, 4, 8192);
  }
  OK(spate_recorder_finish(&fixture->recorder));
  close_fixture(fixture);
}

static void eight_streams_at_once(void **state) {
  (void)state;
  eight_streams(512);
  eight_streams(4096);
}

/* A small drive over a long time: new clips are recorded, the oldest are deleted, and their clusters are used again at
 * once. */
static void clips_come_and_go(uint32_t block_bytes) {
  struct fixture *fixture = open_paced(block_bytes, 16);
  struct source *source = &fixture->sources[0];
  char path[16];
  open_source(fixture, source, 31, false, 0);
  OK(spate_exfat_mkdir(&fixture->volume, "D"));
  for (unsigned i = 0; i < 6; i++) {
    if (i >= 2) {
      (void)snprintf(path, sizeof path, "D/%u.RAW", i - 2);
      OK(spate_exfat_delete(&fixture->volume, path));
    }
    (void)snprintf(path, sizeof path, "D/%u.RAW", i);
    OK(spate_stream_arm(&source->stream, path, 4 * MIB));
    run_for(fixture, &source, 1, 25, 32768);
    OK(spate_stream_cut(&source->stream));
    close_clips(fixture, source);
  }
  OK(spate_exfat_rename(&fixture->volume, "D/5.RAW", "BEST.RAW"));
  close_fixture(fixture);
}

static void old_clips_make_room(void **state) {
  (void)state;
  clips_come_and_go(512);
  clips_come_and_go(4096);
}

/* Files of 1 MiB, one after the other, until the volume is full. */
static void until_the_volume_is_full(void **state) {
  (void)state;
  struct fixture *fixture = open_paced(512, 8);
  struct source *source = &fixture->sources[0];
  enum spate_error error = SPATE_OK;
  open_source(fixture, source, 41, false, MIB);
  OK(spate_stream_arm(&source->stream, "A.RAW", MIB));
  while (error == SPATE_OK || error == SPATE_E_FULL) {
    error = push(source, PIECE);
    work(fixture);
    clock_ns += MS;
  }
  GIVES(SPATE_E_NO_SPACE, error);
  OK(spate_recorder_finish(&fixture->recorder));
  assert_int_equal(fixture->events[SPATE_EVENT_VOLUME_ENDS], 1);
  close_fixture(fixture);
}

static void open_chunks(struct fixture *fixture, struct source *source) {
  OK(spate_recorder_close(&fixture->recorder));
  OK(spate_exfat_unmount(&fixture->volume));
  fixture->config.salvage = spate_exfat_salvage;
  OK(spate_exfat_mount(&fixture->volume, &fixture->config, NULL));
  struct spate_recorder_config config = {
      .checkpoint_ms = 20, .event = on_event, .while_waiting = while_waiting, .context = fixture};
  OK(spate_recorder_open(&fixture->recorder, &fixture->volume, &config));
  open_source(fixture, source, 51, false, 0);
  source->stream.config.chunk_bytes = 16384;
  memcpy(source->stream.config.chunk_stream, "0123456789abcdef", 16);
  source->sealed = true;
}

/* Chunks recorded over an older clip of the same stream. */
static void chunks(uint32_t block_bytes) {
  struct fixture *fixture = open_paced(block_bytes, 16);
  struct source *source = &fixture->sources[0];
  open_chunks(fixture, source);
  for (unsigned i = 0; i < 3; i++) {
    OK(spate_stream_arm(&source->stream, i % 2 == 0 ? "A.RAW" : "B.RAW", 8 * MIB));
    run_for(fixture, &source, 1, 50, 16384);
    OK(spate_stream_cut(&source->stream));
    close_clips(fixture, source);
    OK(spate_exfat_delete(&fixture->volume, i % 2 == 0 ? "A.RAW" : "B.RAW"));
  }
  close_fixture(fixture);
}

static void chunks_are_salvaged(void **state) {
  (void)state;
  chunks(512);
  chunks(4096);
}

/* The host stops and restarts while the drive keeps its power: what mount salvages may be only in the drive's cache. */
static void a_host_that_starts_again(void **state) {
  (void)state;
  struct fixture *fixture = open_paced(512, 16);
  struct source *source = &fixture->sources[0];
  open_chunks(fixture, source);
  OK(spate_stream_arm(&source->stream, "A.RAW", 8 * MIB));
  run_for(fixture, &source, 1, 50, 16384);
  drain(fixture, source);
  host_starts_again(&fixture->ram.block);
  ram_block_drop_pending(&fixture->ram);
  OK(spate_exfat_mount(&fixture->volume, &fixture->config, NULL));
  assert_true(file_bytes(fixture, "A.RAW") == source->sent_bytes);
  memset(source->stream.clips, 0, sizeof source->stream.clips);
  struct spate_recorder_config config = {.event = on_event, .while_waiting = while_waiting, .context = fixture};
  OK(spate_recorder_open(&fixture->recorder, &fixture->volume, &config));
  close_fixture(fixture);
}

/* The host restarts with a program that does not recover, and records beside what the first one left. Whenever the
 * power is cut, spate_exfat_mount() recovers what both left. */
static void beside_what_a_cut_left(uint32_t block_bytes) {
  struct fixture *fixture = open_paced(block_bytes, 16);
  struct source *source = &fixture->sources[0];
  struct source *other = &fixture->sources[1];
  struct spate_exfat_mounted found;
  open_source(fixture, source, 81, false, 0);
  OK(spate_stream_arm(&source->stream, "A.RAW", 4 * MIB));
  run_for(fixture, &source, 1, 60, 16384);
  run_for(fixture, &source, 0, 50, 0); /* all of it is published */
  host_starts_again(&fixture->ram.block);
  ram_block_drop_pending(&fixture->ram);
  OK(spate_exfat_mount_own(&fixture->volume, &fixture->config, &found));
  assert_int_equal(found.reservations, 1);
  struct spate_recorder_config config = {
      .checkpoint_ms = 20, .event = on_event, .while_waiting = while_waiting, .context = fixture};
  OK(spate_recorder_open(&fixture->recorder, &fixture->volume, &config));
  open_source(fixture, other, 82, false, 0);
  OK(spate_stream_arm(&other->stream, "B.RAW", 4 * MIB));
  run_for(fixture, &other, 1, 60, 16384);
  OK(spate_recorder_finish(&fixture->recorder));
  file_holds(fixture, "B.RAW", other->sent, other->sent_bytes);
  OK(spate_recorder_close(&fixture->recorder));
  GIVES(SPATE_E_CORRUPT, spate_exfat_unmount(&fixture->volume));
  OK(spate_exfat_mount(&fixture->volume, &fixture->config, &found));
  assert_int_equal(found.reservations, 1);
  memset(source->stream.clips, 0, sizeof source->stream.clips);
  OK(spate_recorder_open(&fixture->recorder, &fixture->volume, &config));
  close_fixture(fixture);
}

static void a_recorder_that_does_not_recover(void **state) {
  (void)state;
  beside_what_a_cut_left(512);
  beside_what_a_cut_left(4096);
}

/* A name whose entry set fills a block of 512 bytes. In a block of 4096 bytes it fits at any place. */
static void a_long_name(void **state) {
  char path[211];
  (void)state;
  struct fixture *fixture = open_paced(4096, 16);
  struct source *source = &fixture->sources[0];
  memset(path, 'N', sizeof path);
  path[210] = '\0';
  open_source(fixture, source, 61, false, 0);
  OK(spate_stream_arm(&source->stream, path, 4 * MIB));
  run_for(fixture, &source, 1, 60, 16384);
  OK(spate_recorder_finish(&fixture->recorder));
  close_fixture(fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_host_that_starts_again),
      cmocka_unit_test(a_long_name),
      cmocka_unit_test(a_recorder_that_does_not_recover),
      cmocka_unit_test(a_paced_clip),
      cmocka_unit_test(two_streams_share_a_block),
      cmocka_unit_test(eight_streams_at_once),
      cmocka_unit_test(old_clips_make_room),
      cmocka_unit_test(until_the_volume_is_full),
      cmocka_unit_test(chunks_are_salvaged),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
