/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loop of data that logic sends. Pieces are pushed before their data come, and no data can be sent twice: parts,
 * divided pieces and the files of triggers hold what came, byte for byte, and times are those of the data.
 */
#include "exfat_image.h"
#include "gateware_fixture.h"

#include <spate/loop.h>

#define MIB           (UINT64_C(1) << 20)
#define VOLUME_BYTES  (16 * MIB)
#define CLUSTER_SHIFT 16u
#define PART          (256u << 10)
#define PIECE         (80u << 10) /* three and a fifth in a part */
#define PIECES        8u
#define PARTS         32u
#define KEEP_PARTS    16u
#define LAP_PARTS     64u /* of the volume */
#define SECOND        UINT64_C(1000000000)
#define MINUTE        (60 * SECOND)
#define CACHE_BYTES   (16u * 4096u)

struct fixture {
  struct spate_exfat volume;
  struct spate_exfat_config config;
  struct spate_recorder recorder;
  struct spate_stream stream;
  struct spate_piece pieces[PIECES];
  struct spate_loop loop;
  struct spate_loop_part parts[PARTS];
  uint32_t piece_bytes;
  uint32_t pushed_pieces;
  unsigned told[SPATE_LOOP_NOTHING + 1];
  char path[SPATE_LOOP_NOTHING + 1][SPATE_RECORDER_PATH_BYTES_MAX];
};

static struct fixture fixture;
_Alignas(4096) static uint8_t cache[CACHE_BYTES];
_Alignas(4096) static uint8_t bitmap[4096];
_Alignas(4096) static uint8_t list_block[4096];
static struct spate_exfat_block cache_blocks[SPATE_EXFAT_CACHE_BLOCKS_MAX];

static void source_flows(void) { fake.flow_bytes += 4096; }

static void tell(void *context, struct spate_loop *loop, enum spate_loop_event event, const char *path,
                 uint64_t value) {
  (void)context;
  (void)loop;
  (void)value;
  fixture.told[event]++;
  (void)snprintf(fixture.path[event], sizeof fixture.path[event], "%s", path);
}

static void open_volume(uint8_t block_shift) {
  const struct spate_recorder_config recorder = {.checkpoint_ms = 20};

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
  small_format(fake.medium, VOLUME_BYTES, block_shift, CLUSTER_SHIFT);
  memcpy(fake.durable, fake.medium, VOLUME_BYTES);
  OK(spate_exfat_mount(&fixture.volume, &fixture.config, NULL));
  OK(spate_recorder_open(&fixture.recorder, &fixture.volume, &recorder));
}

static void open_loop(uint8_t block_shift, uint32_t piece_bytes, uint32_t chunk_bytes, uint64_t keep_ms) {
  open_volume(block_shift);
  const struct spate_stream_config stream = {.region = spate_gateware_region(&gateware),
                                             .pieces = fixture.pieces,
                                             .piece_count = PIECES,
                                             .chunk_bytes = chunk_bytes};
  OK(spate_stream_open(&fixture.recorder, &fixture.stream, &stream));
  fixture.piece_bytes = piece_bytes;
  const struct spate_loop_config config = {.stream = &fixture.stream,
                                           .path = "LOOP.RAW",
                                           .part_bytes = PART,
                                           .keep_bytes = keep_ms == 0 ? KEEP_PARTS * PART : 0,
                                           .keep_ms = keep_ms,
                                           .parts = fixture.parts,
                                           .part_count = PARTS,
                                           .memory = list_block,
                                           .event = tell};
  OK(spate_loop_open(&fixture.loop, &config));
  each_relax = source_flows;
}

/* An application's loop: as many pieces ahead of the source as there is room for. */
static enum spate_error turn(void) {
  const enum spate_error error = spate_loop_push(&fixture.loop, 0, fixture.piece_bytes);

  if (error == SPATE_OK) fixture.pushed_pieces++;
  OK(spate_recorder_work(&fixture.recorder));
  OK(spate_loop_work(&fixture.loop));
  host_relax();
  return error == SPATE_E_FULL ? SPATE_OK : error;
}

static void turns(unsigned count) {
  for (unsigned i = 0; i < count; i++)
    OK(turn());
}

static void stream_parts(uint32_t parts) {
  const uint64_t until = fake.stream_bytes + (uint64_t)parts * PART;

  while (fake.stream_bytes < until)
    OK(turn());
}

/* Each part takes a second. */
static void stream_seconds(uint32_t seconds) {
  for (uint32_t i = 0; i < seconds; i++) {
    stream_parts(1);
    clock_ns += SECOND;
  }
}

/* The source stops. What it gave is on the drive, and as many pieces are pushed as there is room for. */
static void stop_source(void) {
  each_relax = NULL;
  turns(1000);
  GIVES(SPATE_E_FULL, spate_loop_push(&fixture.loop, 0, fixture.piece_bytes));
}

static void settle_until_kept(void) {
  for (int i = 0; i < 100000 && spate_loop_keeps(&fixture.loop); i++)
    OK(turn());
  assert_false(spate_loop_keeps(&fixture.loop));
}

/* Pieces that were pushed take their data, as the header says: the source fills them up. */
static void close_loop_after(enum spate_error error) {
  each_relax = source_flows;
  GIVES(error, spate_recorder_finish(&fixture.recorder));
  OK(spate_loop_close(&fixture.loop));
}

static void close_loop(void) { close_loop_after(SPATE_OK); }

static void close_fixture(void) {
  each_relax = NULL;
  OK(spate_recorder_close(&fixture.recorder));
  OK(spate_exfat_unmount(&fixture.volume));
  OK(spate_gateware_shutdown(&gateware));
  fake_gateware_close(&fake);
}

static bool exists(const char *path, struct spate_exfat_entry *entry) {
  const enum spate_error error = spate_exfat_stat(&fixture.volume, path, entry);

  assert_true(error == SPATE_OK || error == SPATE_E_NOT_FOUND);
  return error == SPATE_OK;
}

/* Where in the stream these bytes are: its blocks differ. */
static uint64_t place_of(const uint8_t *data) {
  for (uint64_t at = 0; at < fake.stream_bytes; at += 512) {
    uint32_t same = 0;
    while (same < 512 && data[same] == fake_stream_byte(at + same))
      same++;
    if (same == 512) return at;
  }
  fail_msg("not a block of the stream");
  return 0;
}

/* A file is one piece of the stream, from the place that is returned. */
static uint64_t is_of_the_stream(const char *path, uint64_t *bytes) {
  static uint8_t got[65536];
  struct spate_exfat_file file;
  uint64_t at = 0, first = 0;
  size_t piece = 1;

  OK(spate_exfat_open(&fixture.volume, path, &file));
  for (; piece > 0; at += piece) {
    OK(spate_exfat_read(&file, at, got, sizeof got, &piece));
    if (at == 0 && piece > 0) first = place_of(got);
    for (size_t i = 0; i < piece; i++)
      if (got[i] != fake_stream_byte(first + at + i)) fail_msg("%s differs at %lu", path, (unsigned long)(at + i));
  }
  *bytes = at;
  assert_int_equal(at, file.bytes);
  return first;
}

static void part_path(char *path, const char *folder, uint32_t number) {
  (void)snprintf(path, 64, "%sLOOP_%08u.RAW", folder, number);
}

/* ---- parts ---- */

/* Several laps of the volume: part n holds the n-th part's length of what the logic sent, to the last byte. */
static void parts_are_what_the_core_streamed(uint8_t block_shift) {
  uint32_t found = 0;
  struct spate_exfat_entry entry;
  char path[64];

  open_loop(block_shift, PIECE, 0, 0);
  stream_parts(3 * LAP_PARTS);
  close_loop();
  assert_int_equal(fake.stream_bytes, fixture.stream.counters.pushed_bytes);
  assert_int_equal(fake.stream_bytes, (uint64_t)fixture.pushed_pieces * PIECE);
  assert_int_equal(spate_loop_released(&fixture.loop), fixture.pushed_pieces);
  assert_int_equal(fixture.stream.counters.lost_bytes, 0);
  for (uint32_t number = 1; number < fixture.loop.next_number; number++) {
    uint64_t bytes;
    part_path(path, "", number);
    if (!exists(path, &entry)) continue;
    found++;
    assert_int_equal(is_of_the_stream(path, &bytes), (uint64_t)(number - 1u) * PART);
    if (number + 2u < fixture.loop.next_number) assert_int_equal(bytes, PART);
  }
  assert_true(found >= KEEP_PARTS - 2u && found <= KEEP_PARTS);
  close_fixture();
}

static void parts_are_what_the_core_streamed_512(void **state) {
  (void)state;
  parts_are_what_the_core_streamed(9);
}

static void parts_are_what_the_core_streamed_4096(void **state) {
  (void)state;
  parts_are_what_the_core_streamed(12);
}

/* A divided piece is one, and only released with both of its halves: the first half's data came, the second's did not.
 */
static void a_divided_piece_takes_its_blocks_in_order(void **state) {
  (void)state;
  open_loop(9, PIECE, 0, 0);
  each_relax = NULL;
  for (int i = 0; i < 4; i++) { /* the fourth piece is in two parts: 16 KiB in the first */
    while (fixture.loop.armed == 0)
      OK(spate_loop_work(&fixture.loop));
    OK(spate_loop_push(&fixture.loop, 0, PIECE));
  }
  assert_int_equal(fixture.stream.pushed, 5);
  fake.flow_bytes = PART + 512;
  for (int i = 0; i < 1000; i++) {
    OK(spate_recorder_work(&fixture.recorder));
    host_relax();
  }
  assert_int_equal(fixture.stream.completed, 4);
  assert_int_equal(spate_loop_released(&fixture.loop), 3);
  fixture.pushed_pieces = 4;
  close_loop();
  assert_int_equal(spate_loop_released(&fixture.loop), 4);
  uint64_t bytes;
  assert_int_equal(is_of_the_stream("LOOP_00000001.RAW", &bytes), 0);
  assert_int_equal(bytes, PART);
  assert_int_equal(is_of_the_stream("LOOP_00000002.RAW", &bytes), PART);
  assert_int_equal(bytes, 4 * PIECE - PART);
  close_fixture();
}

static void chunks_are_not_divided(void **state) {
  (void)state;
  uint64_t bytes;

  open_loop(9, 64u << 10, 64u << 10, 0);
  for (int i = 0; i < 3; i++)
    OK(turn());
  assert_int_equal(spate_stream_left_bytes(&fixture.stream), 64u << 10);
  GIVES(SPATE_E_INVALID, spate_loop_push(&fixture.loop, 0, 128u << 10));
  stream_parts(LAP_PARTS + 5);
  OK(spate_loop_trigger(&fixture.loop, "EVENT.RAW", 1, 0, NULL));
  settle_until_kept();
  close_loop();
  assert_int_equal(fixture.stream.counters.pushed_pieces, fixture.pushed_pieces);
  assert_int_equal(is_of_the_stream("EVENT.RAW", &bytes) % PART, 0);
  assert_int_equal(bytes % (64u << 10), 0);
  close_fixture();
}

/* ---- triggers ---- */

/* Before and after are times of the data, and pieces that are pushed ahead make the file longer. */
static void a_trigger_keeps_what_the_core_streamed(void **state) {
  (void)state;
  uint64_t bytes;

  open_loop(9, PIECE, 0, 0);
  stream_seconds(LAP_PARTS + 10);
  const uint64_t now_bytes = fake.stream_bytes;
  OK(spate_loop_trigger(&fixture.loop, "EVENT.RAW", 5500, 2000, NULL));
  stream_seconds(4);
  settle_until_kept();
  assert_string_equal(fixture.path[SPATE_LOOP_KEPT], "EVENT.RAW");
  stream_seconds(LAP_PARTS); /* the loop goes round, and the file stays */
  close_loop();
  const uint64_t first = is_of_the_stream("EVENT.RAW", &bytes);
  assert_true(first <= now_bytes - 5 * PART);
  assert_true(first >= now_bytes - 7 * PART); /* at most a part more, and what had not been closed */
  assert_true(first + bytes >= now_bytes + 2 * PART);
  assert_true(first + bytes <= now_bytes + 4 * PART + PIECES * PIECE);
  close_fixture();
}

/* One trigger while the span is open, and one while it becomes a file: no byte is in two files, and none between them
 * is missing. */
static void overlapping_triggers_lose_nothing(void **state) {
  (void)state;
  bool extended = false;
  uint64_t first_bytes, second_bytes;
  struct spate_exfat_entry entry;

  open_loop(9, PIECE, 0, 0);
  stream_seconds(10);
  OK(spate_loop_trigger(&fixture.loop, "ONE.RAW", 3000, 2000, NULL));
  stream_seconds(1);
  const uint64_t extended_ns = clock_ns;
  OK(spate_loop_trigger(&fixture.loop, "NONE.RAW", 3000, 3000, &extended));
  assert_true(extended);
  while (fixture.loop.spans[0].last == 0) {
    clock_ns += SECOND / 100;
    OK(turn());
  }
  assert_true(clock_ns - extended_ns >= 3 * SECOND);
  assert_true(spate_loop_keeps(&fixture.loop)); /* its last part's data have not all come */
  OK(spate_loop_trigger(&fixture.loop, "TWO.RAW", 10000, 1000, &extended));
  assert_false(extended);
  stream_seconds(3);
  settle_until_kept();
  close_loop();
  assert_int_equal(fixture.told[SPATE_LOOP_KEPT], 2);
  assert_false(exists("NONE.RAW", &entry));
  const uint64_t first = is_of_the_stream("ONE.RAW", &first_bytes);
  assert_int_equal(is_of_the_stream("TWO.RAW", &second_bytes), first + first_bytes);
  close_fixture();
}

/* A part is as old as its last data, not as their push. Pieces wait ten minutes for a source that stops; what then
 * comes is not ten minutes old. */
static void what_came_since_is_kept_if_it_was_pushed_long_before(void **state) {
  (void)state;
  uint64_t bytes;

  open_loop(9, PIECE, 0, 0);
  stream_parts(10);
  stop_source();
  const uint64_t stopped_bytes = fake.stream_bytes;
  clock_ns += 10 * MINUTE;
  each_relax = source_flows;
  stream_parts(2);
  OK(spate_loop_trigger(&fixture.loop, "EVENT.RAW", 60000, 0, NULL));
  settle_until_kept();
  close_loop();
  const uint64_t first = is_of_the_stream("EVENT.RAW", &bytes);
  assert_true(first <= stopped_bytes);
  assert_true(first + PART > stopped_bytes); /* and not a part more */
  close_fixture();
}

static void what_came_just_now_is_not_too_old_to_be_kept(void **state) {
  (void)state;
  struct spate_exfat_entry entry;
  char path[64];

  open_loop(9, PIECE, 0, 5 * 60000);
  stream_parts(4);
  stop_source();
  part_path(path, "", (uint32_t)(fake.stream_bytes / PART) + 1u); /* which the source stopped in */
  clock_ns += 10 * MINUTE;
  each_relax = source_flows;
  stream_parts(3);
  assert_false(exists("LOOP_00000001.RAW", &entry));
  assert_true(exists(path, &entry));
  assert_int_equal(entry.bytes, PART);
  close_loop();
  close_fixture();
}

static void what_a_trigger_keeps_is_not_too_old(void **state) {
  (void)state;
  uint64_t bytes;

  open_loop(9, PIECE, 0, 5 * 60000);
  stream_parts(8);
  const uint64_t came_bytes = fake.stream_bytes;
  OK(spate_loop_trigger(&fixture.loop, "EVENT.RAW", 60000, 0, NULL));
  clock_ns += 10 * MINUTE;
  settle_until_kept();
  close_loop();
  assert_int_equal(is_of_the_stream("EVENT.RAW", &bytes), 0);
  assert_true(bytes >= came_bytes);
  close_fixture();
}

/* ---- a source that stops ---- */

/* Nothing waits for the source: the trigger, the folder, the parts that are full. The span's last part is that of the
 * pieces pushed ahead, so the file is made when their data come. */
static void a_span_ends_when_the_source_goes_on(void **state) {
  (void)state;
  uint64_t bytes;

  open_loop(9, PIECE, 0, 0);
  stream_parts(10);
  stop_source();
  const uint64_t stopped_bytes = fake.stream_bytes;
  const uint64_t pushed_bytes = fixture.stream.counters.pushed_bytes;
  OK(spate_loop_trigger(&fixture.loop, "EVENT.RAW", 60000, 1000, NULL));
  clock_ns += MINUTE;
  turns(1000);
  assert_int_equal(fake.stream_bytes, stopped_bytes);
  assert_true(spate_loop_keeps(&fixture.loop));
  struct spate_exfat_entry entry;
  assert_true(exists("EVENT.RAW/LOOP_00000002.RAW", &entry)); /* full parts are there already */
  each_relax = source_flows;
  settle_until_kept();
  assert_string_equal(fixture.path[SPATE_LOOP_KEPT], "EVENT.RAW");
  close_loop();
  assert_int_equal(is_of_the_stream("EVENT.RAW", &bytes), 0);
  assert_true(bytes >= stopped_bytes);
  assert_true(bytes <= pushed_bytes + 2 * PART);
  close_fixture();
}

/* The data of two parts come in time, but the processor looks at them when the time is over. Then the first part
 * closes: that is not where the span ends. */
static void what_came_in_time_is_kept_if_its_part_closes_late(void **state) {
  (void)state;
  uint64_t bytes;

  open_loop(9, PIECE, 0, 0);
  stream_parts(4);
  stop_source();
  OK(spate_loop_trigger(&fixture.loop, "EVENT.RAW", 60000, 1000, NULL));
  fake.flow_bytes = fixture.stream.counters.pushed_bytes - fake.stream_bytes;
  for (int i = 0; i < 2000; i++)
    host_relax();
  const uint64_t came_bytes = fake.stream_bytes;
  assert_int_equal(came_bytes, fixture.stream.counters.pushed_bytes);
  clock_ns += 2 * SECOND;
  each_relax = source_flows;
  settle_until_kept();
  close_loop();
  assert_int_equal(is_of_the_stream("EVENT.RAW", &bytes), 0);
  assert_true(bytes >= came_bytes);
  close_fixture();
}

static void close_makes_a_file_of_an_open_span(void **state) {
  (void)state;
  uint64_t bytes;

  open_loop(9, PIECE, 0, 0);
  stream_parts(5);
  OK(spate_loop_trigger(&fixture.loop, "EVENT.RAW", 60000, 60000, NULL));
  stream_parts(3);
  stop_source();
  close_loop();
  assert_int_equal(fixture.told[SPATE_LOOP_KEPT], 1);
  assert_int_equal(is_of_the_stream("EVENT.RAW", &bytes), 0);
  assert_int_equal(bytes, fake.stream_bytes);
  assert_int_equal(bytes, (uint64_t)fixture.pushed_pieces * PIECE);
  close_fixture();
}

/* ---- the drive loses power ---- */

static unsigned return_left; /* until the core has brought the drive back */

static void drive_returns(void) {
  source_flows();
  if (return_left > 0 && --return_left == 0) fake_gateware_return(&fake);
}

static void lose_power(void) {
  return_left = 100;
  fake_gateware_reset(&fake, FAKE_POWER_LOST);
  each_relax = drive_returns;
  while (return_left > 0)
    OK(turn());
}

/* What the logic sent is gone, and the loop continues after the gap. No file goes over it: the span stays a folder of
 * parts, each of which is right. The next trigger's file begins after the gap. */
static void a_span_over_a_loss_stays_a_folder(void **state) {
  (void)state;
  struct spate_exfat_entry entry;
  char path[64];
  uint64_t bytes, kept = 0;
  bool gap = false;

  open_loop(9, PIECE, 0, 0);
  stream_parts(6);
  OK(spate_loop_trigger(&fixture.loop, "BROKEN.RAW", 60000, 1000, NULL));
  lose_power();
  stream_parts(4);
  clock_ns += SECOND;
  settle_until_kept();
  assert_true(fixture.stream.counters.lost_bytes > 0);
  assert_int_equal(fixture.told[SPATE_LOOP_FOLDER], 1);
  assert_int_equal(fixture.told[SPATE_LOOP_KEPT], 0);
  OK(spate_loop_trigger(&fixture.loop, "WHOLE.RAW", 60000, 0, NULL));
  stream_parts(2);
  settle_until_kept();
  assert_int_equal(fixture.told[SPATE_LOOP_KEPT], 1);
  close_loop_after(SPATE_E_POWER_LOST);
  for (uint32_t number = 1; number < fixture.loop.next_number; number++) {
    part_path(path, "BROKEN.RAW/", number);
    if (!exists(path, &entry)) continue;
    const uint64_t first = is_of_the_stream(path, &bytes);
    gap |= first != kept;
    kept = first + bytes;
  }
  assert_true(gap);
  assert_true(is_of_the_stream("WHOLE.RAW", &bytes) >= kept);
  close_fixture();
}

/* The part before is whole and closed, and all of this one is lost: it leaves no file, and the gap is known still. */
static uint64_t lose_a_part_as_a_whole(uint32_t parts_after) {
  struct spate_exfat_entry entry;
  char path[64];

  stream_parts(4);
  stop_source();
  fake.flow_bytes = PART - fake.stream_bytes % PART;
  turns(1000);
  const uint64_t before_bytes = fake.stream_bytes;
  assert_int_equal(before_bytes % PART, 0);
  fake.flow_bytes = 4096; /* less than a piece */
  turns(100);
  assert_int_equal(fixture.stream.counters.durable_bytes, before_bytes);
  lose_power();
  while (fixture.stream.counters.lost_bytes < PART)
    turns(1);
  turns(4);
  stream_parts(parts_after);
  part_path(path, "", (uint32_t)(before_bytes / PART) + 1u);
  assert_false(exists(path, &entry));
  return before_bytes;
}

static void no_span_begins_before_a_part_that_is_lost_as_a_whole(void **state) {
  (void)state;
  uint64_t bytes;

  open_loop(9, PART / 4, 0, 0);
  const uint64_t before_bytes = lose_a_part_as_a_whole(8);
  OK(spate_loop_trigger(&fixture.loop, "EVENT.RAW", 600000, 0, NULL));
  settle_until_kept();
  close_loop_after(SPATE_E_POWER_LOST);
  assert_int_equal(fixture.told[SPATE_LOOP_KEPT], 1);
  assert_true(is_of_the_stream("EVENT.RAW", &bytes) > before_bytes);
  close_fixture();
}

static void no_file_goes_over_a_part_that_is_lost_as_a_whole(void **state) {
  (void)state;
  open_loop(9, PART / 4, 0, 0);
  OK(spate_loop_trigger(&fixture.loop, "EVENT.RAW", 600000, 600000, NULL));
  (void)lose_a_part_as_a_whole(8);
  close_loop_after(SPATE_E_POWER_LOST);
  assert_int_equal(fixture.told[SPATE_LOOP_KEPT], 0);
  assert_int_equal(fixture.told[SPATE_LOOP_FOLDER], 1);
  close_fixture();
}

/* The host restarts before the span is settled: its parts are full, and one is missing among them. */
static void a_part_that_is_lost_is_known_after_a_restart(void **state) {
  (void)state;
  open_loop(9, PART / 4, 0, 0);
  OK(spate_loop_trigger(&fixture.loop, "EVENT.RAW", 600000, 600000, NULL));
  (void)lose_a_part_as_a_whole(0);
  const struct spate_loop_config config = fixture.loop.config;
  const struct spate_stream_config stream = fixture.stream.config;
  const struct spate_recorder_config recorder = {.checkpoint_ms = 20};
  each_relax = source_flows;
  GIVES(SPATE_E_POWER_LOST, spate_recorder_finish(&fixture.recorder));
  OK(spate_recorder_close(&fixture.recorder));
  OK(spate_exfat_unmount(&fixture.volume));
  OK(spate_exfat_mount(&fixture.volume, &fixture.config, NULL));
  OK(spate_recorder_open(&fixture.recorder, &fixture.volume, &recorder));
  OK(spate_stream_open(&fixture.recorder, &fixture.stream, &stream));
  OK(spate_loop_open(&fixture.loop, &config));
  settle_until_kept();
  close_loop();
  assert_int_equal(fixture.told[SPATE_LOOP_KEPT], 0);
  assert_int_equal(fixture.told[SPATE_LOOP_FOLDER], 1);
  close_fixture();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parts_are_what_the_core_streamed_512),
      cmocka_unit_test(parts_are_what_the_core_streamed_4096),
      cmocka_unit_test(a_divided_piece_takes_its_blocks_in_order),
      cmocka_unit_test(chunks_are_not_divided),
      cmocka_unit_test(a_trigger_keeps_what_the_core_streamed),
      cmocka_unit_test(overlapping_triggers_lose_nothing),
      cmocka_unit_test(what_came_since_is_kept_if_it_was_pushed_long_before),
      cmocka_unit_test(what_came_just_now_is_not_too_old_to_be_kept),
      cmocka_unit_test(what_a_trigger_keeps_is_not_too_old),
      cmocka_unit_test(a_span_ends_when_the_source_goes_on),
      cmocka_unit_test(what_came_in_time_is_kept_if_its_part_closes_late),
      cmocka_unit_test(close_makes_a_file_of_an_open_span),
      cmocka_unit_test(a_span_over_a_loss_stays_a_folder),
      cmocka_unit_test(no_span_begins_before_a_part_that_is_lost_as_a_whole),
      cmocka_unit_test(no_file_goes_over_a_part_that_is_lost_as_a_whole),
      cmocka_unit_test(a_part_that_is_lost_is_known_after_a_restart),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
