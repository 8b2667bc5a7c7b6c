/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layers above the driver on memory without coherency: data that the processor wrote or will read is marked with
 * SPATE_IO_CPU, from the partition table to a recording's last byte.
 * tests/library/nvme/simulated/test_barrier_mutations.py removes the flag at each place in turn, and then this program
 * has to fail.
 */
#include "machine/internal.h"
#include "machine/stack.h"
#include <setjmp.h>
#include <spate/partition.h>
#include <spate/player.h>
#include <spate/recorder.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define DRIVE_BYTES (UINT64_C(64) << 20)
#define ALIGN_BYTES (1u << 20)
#define PIECE       (64u * 1024u)
#define PIECES      8u
#define CLIP_PIECES 40u
#define TURNS_MAX   1000000u

#define OK(call) assert_int_equal(call, SPATE_OK)

struct fixture {
  struct sim_stack *stack;
  struct spate_exfat_config config;
  struct spate_exfat volume;
  uint8_t block[4096];
};

/* A restarted host, without any cached state, finds again what is on the drive. */
static void mount_again(struct fixture *fixture) {
  struct spate_partition partition;
  void *scratch;

  sim_stack_restart(fixture->stack);
  OK(sim_stack_open(fixture->stack));
  scratch = sim_memory_take(fixture->stack->sim, SPATE_PARTITION_SCRATCH_BYTES, SIM_CACHED);
  OK(spate_partition_find(fixture->stack->block, scratch, &partition));
  assert_int_equal(partition.table, SPATE_TABLE_GPT);
  assert_false(partition.from_backup);
  fixture->config = sim_stack_exfat(fixture->stack);
  memset(fixture->config.cache, 0xee, fixture->config.cache_bytes); /* overwrites the old contents of that memory */
  memset(fixture->config.bitmap, 0xee, fixture->config.bitmap_bytes);
  fixture->config.first_lba = partition.first_lba;
  fixture->config.blocks = partition.blocks;
  OK(spate_exfat_mount(&fixture->volume, &fixture->config, NULL));
}

static int set_up(void **state) {
  struct fixture *fixture = calloc(1, sizeof *fixture);
  const struct sim_stack_config config = {.machine = {.seed = 3}, .options = {.bytes = DRIVE_BYTES}, .depth = 16};
  const struct spate_partition_ids ids = {.disk = {1}, .partition = {2}};
  const struct spate_exfat_format format = {.label = "SIM", .serial = 1, .cluster_bytes = 1u << 20};
  struct spate_partition partition;

  assert_non_null(fixture);
  fixture->stack = sim_stack_new(&config);
  OK(sim_stack_open(fixture->stack));
  void *scratch = sim_memory_take(fixture->stack->sim, SPATE_PARTITION_SCRATCH_BYTES, SIM_CACHED);
  OK(spate_partition_write(fixture->stack->block, scratch, &ids, ALIGN_BYTES, false, &partition));
  fixture->config = sim_stack_exfat(fixture->stack);
  fixture->config.first_lba = partition.first_lba;
  fixture->config.blocks = partition.blocks;
  OK(spate_exfat_format(&fixture->config, &format));
  mount_again(fixture);
  *state = fixture;
  return 0;
}

static int tear_down(void **state) {
  struct fixture *fixture = *state;
  const char *first;

  OK(spate_exfat_unmount(&fixture->volume));
  OK(sim_stack_close(fixture->stack));
  if (sim_take_violations(fixture->stack->sim, &first) != 0) fail_msg("%s", first);
  sim_stack_free(fixture->stack);
  free(fixture);
  return 0;
}

static void assert_exists(struct fixture *fixture, const char *path, uint64_t bytes) {
  struct spate_exfat_entry entry;

  OK(spate_exfat_stat(&fixture->volume, path, &entry));
  assert_int_equal(entry.bytes, bytes);
}

static void test_changes_are_there_after_a_restart(void **state) {
  struct fixture *fixture = *state;

  OK(spate_exfat_mkdir(&fixture->volume, "/one"));
  OK(spate_exfat_mkdir(&fixture->volume, "/one/two"));
  OK(spate_exfat_rename(&fixture->volume, "/one/two", "/one/three"));
  OK(spate_exfat_unmount(&fixture->volume));
  mount_again(fixture);
  assert_exists(fixture, "/one/three", 1u << 20);
}

static void note_published(void *context, enum spate_error error) {
  bool *published = context;
  OK(error);
  *published = true;
}

/* Each checkpoint's block is on the media while the clip continues. */
static void test_a_published_length_is_on_the_medium(void **state) {
  struct fixture *fixture = *state;
  struct spate_exfat_clip clip;
  const uint64_t block_bytes = spate_block_bytes(fixture->stack->block);

  OK(spate_exfat_arm(&fixture->volume, &clip, "/clip.bin", 4u << 20));
  for (uint64_t bytes = 65536; bytes <= 5 * 65536u; bytes += 65536) {
    bool published = false;
    OK(spate_exfat_publish(&clip, bytes, note_published, &published));
    for (unsigned i = 0; i < TURNS_MAX && !published; i++)
      (void)spate_block_poll(fixture->stack->block, 4);
    assert_true(published);
    assert_int_equal(clip.published_bytes, bytes);
    sim_store_read(sim_drive_store(fixture->stack->drives[0].drive), clip.block->lba * block_bytes, fixture->block,
                   block_bytes);
    assert_memory_equal(fixture->block, clip.block->data, block_bytes);
  }
  OK(spate_exfat_close(&clip, 5 * 65536u));
}

/* ---- a recording whose data the processor makes, and its playback ---- */

static void fill(uint8_t *piece, uint32_t number) {
  for (uint32_t i = 0; i < PIECE; i++)
    piece[i] = (uint8_t)(i * 7u + i / 255u + number * 31u + 1u);
}

static void record(struct fixture *fixture) {
  static struct spate_recorder recorder;
  static struct spate_stream stream;
  static struct spate_piece pieces[PIECES];
  const struct spate_recorder_config config = {.checkpoint_ms = 1};
  struct spate_region *ring = sim_stack_region(fixture->stack, (uint64_t)PIECES * PIECE, SIM_CACHED);
  uint32_t pushed = 0;

  OK(spate_recorder_open(&recorder, &fixture->volume, &config));
  OK(spate_stream_open(
      &recorder, &stream,
      &(struct spate_stream_config){.region = ring, .pieces = pieces, .piece_count = PIECES, .cpu_filled = true}));
  OK(spate_stream_arm(&stream, "/film.bin", (uint64_t)CLIP_PIECES * PIECE));
  for (unsigned i = 0; i < TURNS_MAX && pushed < CLIP_PIECES; i++) {
    const uint64_t offset_bytes = (uint64_t)(pushed % PIECES) * PIECE;
    if (spate_stream_room(&stream) > 0) {
      fill(ring->start + offset_bytes, pushed);
      OK(spate_stream_push(&stream, offset_bytes, PIECE));
      pushed++;
    }
    OK(spate_recorder_work(&recorder));
  }
  assert_int_equal(pushed, CLIP_PIECES);
  OK(spate_recorder_finish(&recorder));
  OK(spate_recorder_close(&recorder));
}

static void play(struct fixture *fixture) {
  static struct spate_player player;
  static struct spate_slot slots[PIECES];
  static uint8_t expected[PIECE];
  struct spate_exfat_file file;
  struct spate_region *ring = sim_stack_region(fixture->stack, (uint64_t)PIECES * PIECE, SIM_CACHED);
  uint64_t offset_bytes;
  uint32_t bytes, taken = 0;

  memset(ring->start, 0xee, (size_t)PIECES * PIECE);
  OK(spate_exfat_open(&fixture->volume, "/film.bin", &file));
  OK(spate_player_open(
      &player, &file, 0,
      &(struct spate_player_config){
          .region = ring, .slot_bytes = PIECE, .slots = slots, .slot_count = PIECES, .cpu_consumed = true}));
  for (unsigned i = 0; i < TURNS_MAX && !spate_player_ended(&player); i++) {
    OK(spate_player_work(&player));
    if (!spate_player_take(&player, &offset_bytes, &bytes)) continue;
    fill(expected, taken++);
    assert_int_equal(bytes, PIECE);
    assert_memory_equal(ring->start + offset_bytes, expected, PIECE);
    spate_player_give_back(&player);
  }
  assert_int_equal(taken, CLIP_PIECES);
}

static void test_a_recording_is_what_the_processor_made(void **state) {
  struct fixture *fixture = *state;

  record(fixture);
  OK(spate_exfat_unmount(&fixture->volume));
  mount_again(fixture);
  assert_exists(fixture, "/film.bin", (uint64_t)CLIP_PIECES * PIECE);
  play(fixture);
}

#define TAIL_BYTES 700u

/* Gives the first bytes of the ring as a tail, and works until a power cut would leave them. */
static void record_tail(struct fixture *fixture) {
  static struct spate_recorder recorder;
  static struct spate_stream stream;
  static struct spate_piece pieces[PIECES];
  const struct spate_recorder_config config = {.checkpoint_ms = 1};
  struct spate_region *ring = sim_stack_region(fixture->stack, (uint64_t)PIECES * PIECE, SIM_CACHED);

  OK(spate_recorder_open(&recorder, &fixture->volume, &config));
  OK(spate_stream_open(
      &recorder, &stream,
      &(struct spate_stream_config){.region = ring, .pieces = pieces, .piece_count = PIECES, .cpu_filled = true}));
  OK(spate_stream_arm(&stream, "/slow.bin", PIECE));
  fill(ring->start, 0);
  OK(spate_stream_tail(&stream, 0, TAIL_BYTES));
  for (unsigned i = 0; i < TURNS_MAX && spate_stream_progress(&stream).published_bytes < TAIL_BYTES; i++)
    OK(spate_recorder_work(&recorder));
  assert_int_equal(spate_stream_progress(&stream).published_bytes, TAIL_BYTES);
  OK(spate_recorder_finish(&recorder));
  OK(spate_recorder_close(&recorder));
}

static void test_a_tail_is_what_the_processor_made(void **state) {
  static uint8_t expected[PIECE], read[TAIL_BYTES];
  struct fixture *fixture = *state;
  struct spate_exfat_file file;
  size_t got;

  record_tail(fixture);
  OK(spate_exfat_unmount(&fixture->volume));
  mount_again(fixture);
  assert_exists(fixture, "/slow.bin", TAIL_BYTES);
  OK(spate_exfat_open(&fixture->volume, "/slow.bin", &file));
  OK(spate_exfat_read(&file, 0, read, sizeof read, &got));
  assert_int_equal(got, sizeof read);
  fill(expected, 0);
  assert_memory_equal(read, expected, sizeof read);
}

#define on_a_volume(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      on_a_volume(test_changes_are_there_after_a_restart),
      on_a_volume(test_a_published_length_is_on_the_medium),
      on_a_volume(test_a_recording_is_what_the_processor_made),
      on_a_volume(test_a_tail_is_what_the_processor_made),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
