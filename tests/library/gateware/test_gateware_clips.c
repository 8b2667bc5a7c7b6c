/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of data that logic sends: the recorder arms, checkpoints and closes through the mailbox while the core streams.
 * The data never pass through the processor: pieces are pushed before their data arrive.
 */
#include "gateware_fixture.h"

#include <spate/recorder.h>

#define MIB          (UINT64_C(1) << 20)
#define VOLUME_BYTES (UINT64_C(64) << 20)
#define PIECE        (256u << 10)
#define PIECES       8u
#define CACHE_BYTES  (16u * 4096u)

struct fixture {
  struct spate_exfat volume;
  struct spate_exfat_config config;
  struct spate_recorder recorder;
  struct spate_stream stream;
  struct spate_piece pieces[PIECES];
  uint64_t events[SPATE_EVENT_CLIP_DISCARDED + 1], values[SPATE_EVENT_CLIP_DISCARDED + 1];
};

static struct fixture fixture;
_Alignas(4096) static uint8_t cache[CACHE_BYTES];
_Alignas(4096) static uint8_t bitmap[4096];

static void on_event(void *context, struct spate_stream *stream, enum spate_event event, uint64_t value) {
  (void)context;
  (void)stream;
  fixture.events[event]++;
  fixture.values[event] = value;
}

/* The source delivers 4 KiB on each turn of a wait, and on each turn of the test. */
static void source_flows(void) { fake.flow_bytes += 4096; }

static struct spate_exfat_block cache_blocks[SPATE_EXFAT_CACHE_BLOCKS_MAX];

static void open_fixture(uint8_t block_shift, uint64_t next_bytes) {
  const struct spate_exfat_format format = {.label = "LOGIC", .serial = 5, .cluster_bytes = 1u << 20};
  const struct spate_recorder_config recorder = {.checkpoint_ms = 20, .event = on_event};

  memset(&fixture, 0, sizeof fixture);
  open_fake(VOLUME_BYTES >> block_shift, block_shift);
  open_backend();
  fixture.config = (struct spate_exfat_config){.block = &gateware.block,
                                               .blocks = gateware.block.blocks,
                                               .cache = cache,
                                               .cache_bytes = sizeof cache,
                                               .cache_blocks = cache_blocks,
                                               .cache_block_count = SPATE_EXFAT_CACHE_BLOCKS_MAX,
                                               .bitmap = bitmap,
                                               .bitmap_bytes = sizeof bitmap};
  OK(spate_exfat_format(&fixture.config, &format));
  OK(spate_exfat_mount(&fixture.volume, &fixture.config, NULL));
  OK(spate_recorder_open(&fixture.recorder, &fixture.volume, &recorder));
  const struct spate_stream_config stream = {
      .region = spate_gateware_region(&gateware), .pieces = fixture.pieces, .piece_count = PIECES};
  OK(spate_stream_open(&fixture.recorder, &fixture.stream, &stream));
  spate_stream_roll_over(&fixture.stream, next_bytes, NULL);
  each_relax = source_flows;
}

static void close_fixture(void) {
  each_relax = NULL;
  OK(spate_recorder_close(&fixture.recorder));
  OK(spate_exfat_unmount(&fixture.volume));
  OK(spate_gateware_shutdown(&gateware));
  fake_gateware_close(&fake);
}

/* An application's loop: keep pieces ahead of the source, and call work. */
static enum spate_error turn(uint64_t *left_bytes) {
  const uint32_t bytes = *left_bytes < PIECE ? (uint32_t)*left_bytes : PIECE;
  enum spate_error error = SPATE_OK;

  if (*left_bytes > 0) error = spate_stream_push(&fixture.stream, 0, bytes);
  if (error == SPATE_OK) *left_bytes -= bytes;
  OK(spate_recorder_work(&fixture.recorder));
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

  OK(spate_exfat_open(&fixture.volume, path, &file));
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

  open_fixture(block_shift, 0);
  OK(spate_exfat_mkdir(&fixture.volume, "DAY"));
  OK(spate_stream_arm(&fixture.stream, "DAY/CLIP.RAW", 8 * MIB));
  const uint64_t mailbox_writes = fake.mailbox_writes;
  while (left_bytes > 0)
    OK(turn(&left_bytes));
  while (fixture.stream.counters.completed_bytes < bytes)
    OK(turn(&left_bytes));
  assert_true(fixture.stream.counters.checkpoints >= 3); /* while it streamed, and no data through the mailbox: */
  assert_int_equal(fake.mailbox_writes - mailbox_writes, fixture.stream.counters.checkpoints);
  assert_true(fake.most_data_open >= PIECES);
  OK(spate_recorder_finish(&fixture.recorder));
  assert_int_equal(fixture.values[SPATE_EVENT_CLIP_CLOSED], bytes);
  assert_int_equal(fixture.stream.counters.durable_bytes, bytes);
  holds_the_stream("DAY/CLIP.RAW", 0, bytes);
  close_fixture();
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

  open_fixture(9, 4 * MIB);
  OK(spate_stream_arm(&fixture.stream, "A.RAW", 4 * MIB));
  while (left_bytes > 0)
    OK(turn(&left_bytes));
  OK(spate_recorder_finish(&fixture.recorder));
  assert_int_equal(fixture.stream.counters.lost_bytes, 0);
  holds_the_stream("A.RAW", 0, 4 * MIB);
  holds_the_stream("A_0002.RAW", 4 * MIB, 4 * MIB);
  holds_the_stream("A_0003.RAW", 8 * MIB, 2 * MIB);
  close_fixture();
}

/* The source stops in the middle of a piece: metadata operations continue, and the clip continues when the source does.
 */
static void files_can_be_made_while_the_source_stops(void **state) {
  (void)state;
  uint64_t left_bytes = 2 * MIB;

  open_fixture(9, 0);
  OK(spate_stream_arm(&fixture.stream, "A.RAW", 4 * MIB));
  for (int i = 0; i < 20; i++)
    OK(turn(&left_bytes));
  each_relax = NULL;
  for (int i = 0; i < 500; i++)
    OK(turn(&left_bytes));
  const uint64_t completed_bytes = fixture.stream.counters.completed_bytes;
  OK(spate_exfat_mkdir(&fixture.volume, "B"));
  OK(spate_exfat_mkdir(&fixture.volume, "B/C"));
  assert_int_equal(fixture.stream.counters.completed_bytes, completed_bytes);
  each_relax = source_flows;
  while (left_bytes > 0)
    OK(turn(&left_bytes));
  OK(spate_recorder_finish(&fixture.recorder));
  holds_the_stream("A.RAW", 0, 2 * MIB);
  close_fixture();
}

/* The drive's power fails while it streams, and the core brings it back. The file ends at its durable length, the loss
 * is reported, and the next clip is complete. */
static void a_power_loss_ends_the_clip_at_what_is_durable(void **state) {
  (void)state;
  uint64_t left_bytes = 8 * MIB;
  enum spate_error error = SPATE_OK;
  struct spate_exfat_entry entry;

  open_fixture(9, 0);
  OK(spate_stream_arm(&fixture.stream, "A.RAW", 16 * MIB));
  while (fixture.stream.counters.durable_bytes == 0 || /* and something is lost: */
         fixture.stream.counters.durable_bytes == fixture.stream.counters.completed_bytes)
    OK(turn(&left_bytes));
  const uint64_t durable_bytes = fixture.stream.counters.durable_bytes;
  fake_gateware_reset(&fake, FAKE_POWER_LOST);
  for (int i = 0; i < 100; i++)
    OK(turn(&left_bytes));
  fake_gateware_return(&fake);
  while (error == SPATE_OK && left_bytes > 0)
    error = turn(&left_bytes);
  GIVES(SPATE_E_POWER_LOST, error);
  OK(spate_stream_cut(&fixture.stream));
  while (spate_stream_active(&fixture.stream)) {
    left_bytes = 0;
    OK(turn(&left_bytes));
  }
  assert_true(fixture.events[SPATE_EVENT_LOST] > 0);
  OK(spate_exfat_stat(&fixture.volume, "A.RAW", &entry));
  assert_true(entry.bytes >= durable_bytes);
  holds_the_stream("A.RAW", 0, entry.bytes);
  assert_int_equal(entry.bytes + fixture.stream.counters.lost_bytes, fixture.stream.counters.pushed_bytes);

  const uint64_t first = fake.stream_bytes; /* everything that was pushed was accepted */
  assert_int_equal(first, fixture.stream.counters.pushed_bytes);
  left_bytes = MIB;
  OK(spate_stream_arm(&fixture.stream, "B.RAW", 4 * MIB));
  while (left_bytes > 0)
    OK(turn(&left_bytes));
  OK(spate_recorder_finish(&fixture.recorder));
  holds_the_stream("B.RAW", first, MIB);
  close_fixture();
}

static void a_recovery_without_a_loss_costs_nothing(void **state) {
  (void)state;
  uint64_t left_bytes = 4 * MIB;

  open_fixture(9, 0);
  OK(spate_stream_arm(&fixture.stream, "A.RAW", 8 * MIB));
  while (fixture.stream.counters.completed_bytes < 2 * MIB)
    OK(turn(&left_bytes));
  fake_gateware_reset(&fake, FAKE_POWER_KEPT);
  for (int i = 0; i < 10; i++)
    OK(turn(&left_bytes));
  fake_gateware_return(&fake);
  while (left_bytes > 0)
    OK(turn(&left_bytes));
  OK(spate_recorder_finish(&fixture.recorder));
  assert_int_equal(gateware.recoveries, 1);
  assert_int_equal(fixture.stream.counters.lost_bytes, 0);
  holds_the_stream("A.RAW", 0, 4 * MIB);
  close_fixture();
}

static void a_stream_from_logic_cannot_be_retained(void **state) {
  (void)state;
  struct spate_stream stream;

  open_fixture(9, 0);
  const struct spate_stream_config config = {
      .region = spate_gateware_region(&gateware), .pieces = fixture.pieces, .piece_count = PIECES, .retain = true};
  GIVES(SPATE_E_INVALID, spate_stream_open(&fixture.recorder, &stream, &config));
  close_fixture();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_clip_is_what_the_core_streamed_512),
      cmocka_unit_test(a_clip_is_what_the_core_streamed_4096),
      cmocka_unit_test(clips_follow_each_other_without_a_gap),
      cmocka_unit_test(files_can_be_made_while_the_source_stops),
      cmocka_unit_test(a_power_loss_ends_the_clip_at_what_is_durable),
      cmocka_unit_test(a_recovery_without_a_loss_costs_nothing),
      cmocka_unit_test(a_stream_from_logic_cannot_be_retained),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
