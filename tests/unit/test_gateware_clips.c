/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of what logic sends: the recorder arms, checkpoints and closes through the mailbox while the core streams. The
 * data never pass the processor: pieces are pushed before their data come.
 */
#include "gateware_fixture.h"

#include <spate/recorder.h>

#define MIB          (UINT64_C(1) << 20)
#define VOLUME_BYTES (UINT64_C(64) << 20)
#define PIECE        (256u << 10)
#define PIECES       8u
#define CACHE_BYTES  (16u * 4096u)

struct world {
  struct spate_exfat volume;
  struct spate_exfat_config config;
  struct spate_recorder recorder;
  struct spate_stream stream;
  struct spate_piece pieces[PIECES];
  uint64_t events[SPATE_EVENT_CLIP_DISCARDED + 1], values[SPATE_EVENT_CLIP_DISCARDED + 1];
};

static struct world world;
_Alignas(4096) static uint8_t cache[CACHE_BYTES];
_Alignas(4096) static uint8_t bitmap[4096];

static void on_event(void *context, struct spate_stream *stream, enum spate_event event, uint64_t value) {
  (void)context;
  (void)stream;
  world.events[event]++;
  world.values[event] = value;
}

/* 4 KiB each time somebody waits, and each turn of the test. */
static void source_flows(void) { fake.flow_bytes += 4096; }

static void open_world(uint8_t block_shift, uint64_t next_bytes) {
  const struct spate_exfat_format format = {.label = "LOGIC", .serial = 5, .cluster_bytes = 1u << 20};
  const struct spate_recorder_config recorder = {.checkpoint_ms = 20, .event = on_event};

  memset(&world, 0, sizeof world);
  open_fake(VOLUME_BYTES >> block_shift, block_shift);
  open_backend();
  world.config = (struct spate_exfat_config){.block = &gateware.block,
                                             .blocks = gateware.block.blocks,
                                             .cache = cache,
                                             .cache_bytes = sizeof cache,
                                             .bitmap = bitmap,
                                             .bitmap_bytes = sizeof bitmap};
  OK(spate_exfat_format(&world.config, &format));
  OK(spate_exfat_mount(&world.volume, &world.config, NULL));
  OK(spate_recorder_open(&world.recorder, &world.volume, &recorder));
  const struct spate_stream_config stream = {.region = spate_gateware_region(&gateware),
                                             .pieces = world.pieces,
                                             .piece_count = PIECES,
                                             .next_bytes = next_bytes};
  OK(spate_stream_open(&world.recorder, &world.stream, &stream));
  each_relax = source_flows;
}

static void close_world(void) {
  each_relax = NULL;
  OK(spate_recorder_close(&world.recorder));
  OK(spate_exfat_unmount(&world.volume));
  OK(spate_gateware_shutdown(&gateware));
  fake_gateware_close(&fake);
}

/* What an application does in its loop: keep pieces ahead of the source, and work. */
static enum spate_error turn(uint64_t *left_bytes) {
  const uint32_t bytes = *left_bytes < PIECE ? (uint32_t)*left_bytes : PIECE;
  enum spate_error error = SPATE_OK;

  if (*left_bytes > 0) error = spate_stream_push(&world.stream, 0, bytes);
  if (error == SPATE_OK) *left_bytes -= bytes;
  OK(spate_recorder_work(&world.recorder));
  host_relax();
  clock_ns += 100000;
  return error == SPATE_E_FULL ? SPATE_OK : error;
}

/* A file holds the stream's bytes from `first` on. */
static void holds_the_stream(const char *path, uint64_t first, uint64_t bytes) {
  static uint8_t got[65536];
  struct spate_exfat_file file;
  uint64_t at = 0;
  size_t piece = 1;

  OK(spate_exfat_open(&world.volume, path, &file));
  assert_int_equal(file.bytes, bytes);
  for (; piece > 0; at += piece) {
    OK(spate_exfat_read(&file, at, got, sizeof got, &piece));
    for (size_t i = 0; i < piece; i++)
      if (got[i] != fake_stream_byte(first + at + i)) fail_msg("%s differs at %lu", path, (unsigned long)(at + i));
  }
  assert_int_equal(at, bytes);
}

static void a_clip_is_what_the_core_streamed(uint8_t block_shift) {
  const uint64_t bytes = 5 * MIB + 777;
  uint64_t left_bytes = bytes;

  open_world(block_shift, 0);
  OK(spate_exfat_mkdir(&world.volume, "DAY"));
  OK(spate_stream_arm(&world.stream, "DAY/CLIP.RAW", 8 * MIB));
  const uint64_t mailbox_writes = fake.mailbox_writes;
  while (left_bytes > 0)
    OK(turn(&left_bytes));
  while (world.stream.counters.completed_bytes < bytes)
    OK(turn(&left_bytes));
  assert_true(world.stream.counters.checkpoints >=
              3); /* while it streamed, and none of the data through the mailbox: */
  assert_int_equal(fake.mailbox_writes - mailbox_writes, world.stream.counters.checkpoints);
  assert_true(fake.most_data_open >= PIECES);
  OK(spate_recorder_finish(&world.recorder));
  assert_int_equal(world.values[SPATE_EVENT_CLIP_CLOSED], bytes);
  assert_int_equal(world.stream.counters.durable_bytes, bytes);
  holds_the_stream("DAY/CLIP.RAW", 0, bytes);
  close_world();
}

static void a_clip_is_what_the_core_streamed_512(void **state) {
  (void)state;
  a_clip_is_what_the_core_streamed(9);
}

static void a_clip_is_what_the_core_streamed_4096(void **state) {
  (void)state;
  a_clip_is_what_the_core_streamed(12);
}

static void clips_follow_each_other_without_a_gap(void **state) {
  (void)state;
  uint64_t left_bytes = 10 * MIB;

  open_world(9, 4 * MIB);
  OK(spate_stream_arm(&world.stream, "A.RAW", 4 * MIB));
  while (left_bytes > 0)
    OK(turn(&left_bytes));
  OK(spate_recorder_finish(&world.recorder));
  assert_int_equal(world.stream.counters.lost_bytes, 0);
  holds_the_stream("A.RAW", 0, 4 * MIB);
  holds_the_stream("A_0002.RAW", 4 * MIB, 4 * MIB);
  holds_the_stream("A_0003.RAW", 8 * MIB, 2 * MIB);
  close_world();
}

/* The source stands still in mid-piece: metadata goes on, and so does the clip when it flows again. */
static void files_can_be_made_while_the_source_stands_still(void **state) {
  (void)state;
  uint64_t left_bytes = 2 * MIB;

  open_world(9, 0);
  OK(spate_stream_arm(&world.stream, "A.RAW", 4 * MIB));
  for (int i = 0; i < 20; i++)
    OK(turn(&left_bytes));
  each_relax = NULL;
  for (int i = 0; i < 500; i++)
    OK(turn(&left_bytes));
  const uint64_t completed_bytes = world.stream.counters.completed_bytes;
  OK(spate_exfat_mkdir(&world.volume, "B"));
  OK(spate_exfat_mkdir(&world.volume, "B/C"));
  assert_int_equal(world.stream.counters.completed_bytes, completed_bytes);
  each_relax = source_flows;
  while (left_bytes > 0)
    OK(turn(&left_bytes));
  OK(spate_recorder_finish(&world.recorder));
  holds_the_stream("A.RAW", 0, 2 * MIB);
  close_world();
}

/* The drive's power fails while it streams, the core brings it back. The file ends at what was durable, the loss is
 * told, and the next clip is whole. */
static void a_power_loss_ends_the_clip_at_what_is_durable(void **state) {
  (void)state;
  uint64_t left_bytes = 8 * MIB;
  enum spate_error error = SPATE_OK;
  struct spate_exfat_entry entry;

  open_world(9, 0);
  OK(spate_stream_arm(&world.stream, "A.RAW", 16 * MIB));
  while (world.stream.counters.durable_bytes == 0 || /* and something is lost: */
         world.stream.counters.durable_bytes == world.stream.counters.completed_bytes)
    OK(turn(&left_bytes));
  const uint64_t durable_bytes = world.stream.counters.durable_bytes;
  fake_gateware_recover(&fake, true);
  for (int i = 0; i < 100; i++)
    OK(turn(&left_bytes));
  fake.health_valid = true;
  while (error == SPATE_OK && left_bytes > 0)
    error = turn(&left_bytes);
  GIVES(SPATE_E_POWER_LOST, error);
  OK(spate_stream_cut(&world.stream));
  while (spate_stream_active(&world.stream)) {
    left_bytes = 0;
    OK(turn(&left_bytes));
  }
  assert_true(world.events[SPATE_EVENT_LOST] > 0);
  OK(spate_exfat_stat(&world.volume, "A.RAW", &entry));
  assert_true(entry.bytes >= durable_bytes);
  holds_the_stream("A.RAW", 0, entry.bytes);
  assert_int_equal(entry.bytes + world.stream.counters.lost_bytes, world.stream.counters.pushed_bytes);

  const uint64_t first = fake.stream_bytes; /* everything that was pushed was taken */
  assert_int_equal(first, world.stream.counters.pushed_bytes);
  left_bytes = MIB;
  OK(spate_stream_arm(&world.stream, "B.RAW", 4 * MIB));
  while (left_bytes > 0)
    OK(turn(&left_bytes));
  OK(spate_recorder_finish(&world.recorder));
  holds_the_stream("B.RAW", first, MIB);
  close_world();
}

static void a_recovery_without_a_loss_costs_nothing(void **state) {
  (void)state;
  uint64_t left_bytes = 4 * MIB;

  open_world(9, 0);
  OK(spate_stream_arm(&world.stream, "A.RAW", 8 * MIB));
  while (world.stream.counters.completed_bytes < 2 * MIB)
    OK(turn(&left_bytes));
  fake_gateware_recover(&fake, false);
  for (int i = 0; i < 10; i++)
    OK(turn(&left_bytes));
  fake.health_valid = true;
  while (left_bytes > 0)
    OK(turn(&left_bytes));
  OK(spate_recorder_finish(&world.recorder));
  assert_int_equal(gateware.recoveries, 1);
  assert_int_equal(world.stream.counters.lost_bytes, 0);
  holds_the_stream("A.RAW", 0, 4 * MIB);
  close_world();
}

static void what_comes_once_cannot_be_retained(void **state) {
  (void)state;
  struct spate_stream stream;

  open_world(9, 0);
  const struct spate_stream_config config = {
      .region = spate_gateware_region(&gateware), .pieces = world.pieces, .piece_count = PIECES, .retain = true};
  GIVES(SPATE_E_INVALID, spate_stream_open(&world.recorder, &stream, &config));
  close_world();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_clip_is_what_the_core_streamed_512),
      cmocka_unit_test(a_clip_is_what_the_core_streamed_4096),
      cmocka_unit_test(clips_follow_each_other_without_a_gap),
      cmocka_unit_test(files_can_be_made_while_the_source_stands_still),
      cmocka_unit_test(a_power_loss_ends_the_clip_at_what_is_durable),
      cmocka_unit_test(a_recovery_without_a_loss_costs_nothing),
      cmocka_unit_test(what_comes_once_cannot_be_retained),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
