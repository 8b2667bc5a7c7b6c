/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layers above the driver on memory without coherency: what the processor made or will read is said to be so
 * (SPATE_IO_CPU), from the partition table to a recording's last byte. tests/system/test_sim_barriers.py takes that
 * word away at each place in turn, and this has to fail.
 */
#include "internal.h"
#include "rig.h"
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

struct world {
  struct sim_rig *rig;
  struct spate_exfat_config config;
  struct spate_exfat volume;
  uint8_t block[4096];
};

/* Whatever was found on the drive is found again by a host that has forgotten all. */
static void mount_anew(struct world *world) {
  struct spate_partition partition;
  void *scratch;

  sim_rig_restart(world->rig);
  OK(sim_rig_open(world->rig));
  scratch = sim_memory_take(world->rig->sim, SPATE_PARTITION_SCRATCH_BYTES, SIM_CACHED);
  OK(spate_partition_find(world->rig->block, scratch, &partition));
  assert_int_equal(partition.table, SPATE_TABLE_GPT);
  assert_false(partition.from_backup);
  world->config = sim_rig_exfat(world->rig);
  memset(world->config.cache, 0xee, world->config.cache_bytes); /* of whatever was in that memory before */
  memset(world->config.bitmap, 0xee, world->config.bitmap_bytes);
  world->config.first_lba = partition.first_lba;
  world->config.blocks = partition.blocks;
  OK(spate_exfat_mount(&world->volume, &world->config, NULL));
}

static int set_up(void **state) {
  struct world *world = calloc(1, sizeof *world);
  const struct sim_rig_config config = {.machine = {.seed = 3}, .options = {.bytes = DRIVE_BYTES}, .depth = 16};
  const struct spate_partition_ids ids = {.disk = {1}, .partition = {2}};
  const struct spate_exfat_format format = {.label = "SIM", .serial = 1, .cluster_bytes = 1u << 20};
  struct spate_partition partition;

  assert_non_null(world);
  world->rig = sim_rig_new(&config);
  OK(sim_rig_open(world->rig));
  void *scratch = sim_memory_take(world->rig->sim, SPATE_PARTITION_SCRATCH_BYTES, SIM_CACHED);
  OK(spate_partition_write(world->rig->block, scratch, &ids, ALIGN_BYTES, false, &partition));
  world->config = sim_rig_exfat(world->rig);
  world->config.first_lba = partition.first_lba;
  world->config.blocks = partition.blocks;
  OK(spate_exfat_format(&world->config, &format));
  mount_anew(world);
  *state = world;
  return 0;
}

static int tear_down(void **state) {
  struct world *world = *state;
  const char *first;

  OK(spate_exfat_unmount(&world->volume));
  OK(sim_rig_close(world->rig));
  if (sim_take_violations(world->rig->sim, &first) != 0) fail_msg("%s", first);
  sim_rig_free(world->rig);
  free(world);
  return 0;
}

static void assert_exists(struct world *world, const char *path, uint64_t bytes) {
  struct spate_exfat_entry entry;

  OK(spate_exfat_stat(&world->volume, path, &entry));
  assert_int_equal(entry.bytes, bytes);
}

static void test_changes_are_there_after_a_restart(void **state) {
  struct world *world = *state;

  OK(spate_exfat_mkdir(&world->volume, "/one"));
  OK(spate_exfat_mkdir(&world->volume, "/one/two"));
  OK(spate_exfat_rename(&world->volume, "/one/two", "/one/three"));
  OK(spate_exfat_unmount(&world->volume));
  mount_anew(world);
  assert_exists(world, "/one/three", 1u << 20);
}

/* A checkpoint's block, as it is on the medium while the clip goes on. */
static void test_a_published_length_is_on_the_medium(void **state) {
  struct world *world = *state;
  struct spate_exfat_clip clip;
  const uint64_t block_bytes = spate_block_bytes(world->rig->block);

  OK(spate_exfat_arm(&world->volume, &clip, "/clip.bin", 4u << 20));
  for (uint64_t bytes = 65536; bytes <= 5 * 65536u; bytes += 65536) {
    OK(spate_exfat_publish(&clip, bytes));
    for (unsigned i = 0; i < TURNS_MAX && clip.publishing; i++)
      (void)spate_block_poll(world->rig->block, 4);
    assert_int_equal(clip.published_bytes, bytes);
    sim_store_read(sim_drive_store(world->rig->drives[0].drive), clip.block->lba * block_bytes, world->block,
                   block_bytes);
    assert_memory_equal(world->block, clip.block->data, block_bytes);
  }
  OK(spate_exfat_close(&clip, 5 * 65536u));
}

/* ---- a recording that the processor makes, and plays ---- */

static void fill(uint8_t *piece, uint32_t number) {
  for (uint32_t i = 0; i < PIECE; i++)
    piece[i] = (uint8_t)(i * 7u + i / 255u + number * 31u + 1u);
}

static void record(struct world *world) {
  static struct spate_recorder recorder;
  static struct spate_stream stream;
  static struct spate_piece pieces[PIECES];
  const struct spate_recorder_config config = {.checkpoint_ms = 1};
  struct spate_region *ring = sim_rig_region(world->rig, (uint64_t)PIECES * PIECE, SIM_CACHED);
  uint32_t pushed = 0;

  OK(spate_recorder_open(&recorder, &world->volume, &config));
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

static void play(struct world *world) {
  static struct spate_player player;
  static struct spate_slot slots[PIECES];
  static uint8_t expected[PIECE];
  struct spate_exfat_file file;
  struct spate_region *ring = sim_rig_region(world->rig, (uint64_t)PIECES * PIECE, SIM_CACHED);
  uint64_t offset_bytes;
  uint32_t bytes, taken = 0;

  memset(ring->start, 0xee, (size_t)PIECES * PIECE);
  OK(spate_exfat_open(&world->volume, "/film.bin", &file));
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
  struct world *world = *state;

  record(world);
  OK(spate_exfat_unmount(&world->volume));
  mount_anew(world);
  assert_exists(world, "/film.bin", (uint64_t)CLIP_PIECES * PIECE);
  play(world);
}

#define on_a_volume(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      on_a_volume(test_changes_are_there_after_a_restart),
      on_a_volume(test_a_published_length_is_on_the_medium),
      on_a_volume(test_a_recording_is_what_the_processor_made),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
