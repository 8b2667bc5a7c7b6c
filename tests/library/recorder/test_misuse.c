/* SPDX-License-Identifier: Apache-2.0 */
/* A program's mistakes are answered with an error: no call hangs, and no open object is damaged. */
#include "recorder_fixture.h"

/* Memory contents before an object is opened. */
#define GARBAGE 0xa7

static struct spate_stream_config config_of(struct fixture *fixture, unsigned number) {
  struct source *source = &fixture->sources[number];
  static uint8_t memory[STREAMS][SPATE_PAGE_BYTES] __attribute__((aligned(4096)));
  static uint64_t pages[STREAMS][1];

  source->region = (struct spate_region){
      .start = memory[number], .bytes = SPATE_PAGE_BYTES, .list = pages[number], .list_dma = 4096};
  return (struct spate_stream_config){
      .region = &source->region, .pieces = source->pieces, .piece_count = PIECES, .cpu_filled = true};
}

static void end_fixture(struct fixture *fixture) {
  for (unsigned i = 0; i < STREAMS; i++)
    fixture->sources[i].region.list = NULL;
  close_fixture(fixture);
}

static void a_stream_is_opened_once(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct spate_stream_config config = config_of(fixture, 0);
  struct spate_stream *stream = &fixture->sources[0].stream;

  memset(stream, GARBAGE, sizeof *stream);
  OK(spate_stream_open(&fixture->recorder, stream, &config));
  OK(spate_stream_arm(stream, "A.RAW", MIB));
  OK(spate_stream_push(stream, 0, 4096));
  GIVES(SPATE_E_OPEN, spate_stream_open(&fixture->recorder, stream, &config));
  OK(spate_recorder_finish(&fixture->recorder));
  assert_int_equal(file_bytes(fixture, "A.RAW"), 4096);
  end_fixture(fixture);
}

/* A ring, or a part of it, belongs to one stream only. */
static void pieces_are_one_streams(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct spate_stream_config first = config_of(fixture, 0);
  struct spate_stream_config second = config_of(fixture, 1);

  OK(spate_stream_open(&fixture->recorder, &fixture->sources[0].stream, &first));
  second.pieces = first.pieces;
  GIVES(SPATE_E_OPEN, spate_stream_open(&fixture->recorder, &fixture->sources[1].stream, &second));
  second.pieces = first.pieces + PIECES - 1;
  GIVES(SPATE_E_OPEN, spate_stream_open(&fixture->recorder, &fixture->sources[1].stream, &second));
  second.pieces = fixture->sources[1].pieces;
  OK(spate_stream_open(&fixture->recorder, &fixture->sources[1].stream, &second));
  for (unsigned i = 0; i < 2; i++) {
    OK(spate_stream_arm(&fixture->sources[i].stream, i == 0 ? "A.RAW" : "B.RAW", MIB));
    OK(spate_stream_push(&fixture->sources[i].stream, 0, 4096));
  }
  OK(spate_recorder_finish(&fixture->recorder));
  end_fixture(fixture);
}

static void a_drive_has_one_recorder(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct spate_recorder other;
  struct spate_recorder_config config = {.checkpoint_ms = 100};

  memset(&other, GARBAGE, sizeof other);
  GIVES(SPATE_E_OPEN, spate_recorder_open(&other, &fixture->volume, &config));
  GIVES(SPATE_E_OPEN, spate_recorder_open(&fixture->recorder, &fixture->volume, &config));
  OK(spate_recorder_close(&fixture->recorder));
  OK(spate_recorder_open(&other, &fixture->volume, &config));
  OK(spate_recorder_close(&other));
  OK(spate_recorder_open(&fixture->recorder, &fixture->volume, &config));
  end_fixture(fixture);
}

static void a_volume_is_mounted_once(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  static struct spate_exfat other;
  struct spate_exfat_config config = fixture->config;

  memset(&other, GARBAGE, sizeof other);
  GIVES(SPATE_E_OPEN, spate_exfat_mount(&other, &config, NULL));
  GIVES(SPATE_E_OPEN, spate_exfat_mount(&fixture->volume, &config, NULL));
  config.first_lba = config.blocks - 64; /* inside the mounted volume, though no volume begins there */
  config.blocks = 64;
  GIVES(SPATE_E_OPEN, spate_exfat_mount(&other, &config, NULL));
  OK(spate_exfat_mkdir(&fixture->volume, "still there"));
  end_fixture(fixture);
}

static void a_mounted_volume_is_not_formatted(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct spate_exfat_format format = {.serial = 7};
  struct spate_exfat_config config = fixture->config;

  config.cache = aligned_alloc(4096, config.cache_bytes);
  assert_non_null(config.cache);
  OK(spate_exfat_mkdir(&fixture->volume, "kept"));
  ram_block_clear_log(&fixture->ram);
  GIVES(SPATE_E_OPEN, spate_exfat_format(&config, &format));
  assert_int_equal(fixture->ram.count[SPATE_WRITE] + fixture->ram.count[SPATE_ZERO], 0);
  OK(spate_recorder_close(&fixture->recorder));
  OK(spate_exfat_unmount(&fixture->volume));
  OK(spate_exfat_format(&config, &format));
  OK(spate_exfat_format(&config, &format)); /* the previous volume is no longer mounted */
  OK(spate_exfat_mount(&fixture->volume, &fixture->config, NULL));
  struct spate_recorder_config recorder_config = {.checkpoint_ms = 100};
  OK(spate_recorder_open(&fixture->recorder, &fixture->volume, &recorder_config));
  free(config.cache);
  end_fixture(fixture);
}

/* Several volumes on one drive, as many as the limit permits. A mount that failed does not count. */
static void several_volumes_on_one_drive(void **state) {
  (void)state;
  static struct spate_exfat volumes[SPATE_BLOCK_USERS_MAX + 1];
  static _Alignas(4096) uint8_t caches[SPATE_BLOCK_USERS_MAX + 1][8 * 512];
  static struct spate_exfat_block blocks[SPATE_BLOCK_USERS_MAX + 1][8];
  static _Alignas(4096) uint8_t bitmaps[SPATE_BLOCK_USERS_MAX + 1][4096];
  struct spate_exfat_config configs[SPATE_BLOCK_USERS_MAX + 1];
  struct ram_block ram;

  ram_block_open(&ram, 5 * 16 * MIB / 512, 512);
  for (unsigned i = 0; i <= SPATE_BLOCK_USERS_MAX; i++) {
    struct spate_exfat_format format = {.serial = i, .cluster_bytes = 1u << 20};
    configs[i] = (struct spate_exfat_config){.block = &ram.block,
                                             .first_lba = i * 16 * MIB / 512,
                                             .blocks = 16 * MIB / 512,
                                             .cache = caches[i],
                                             .cache_bytes = sizeof caches[i],
                                             .cache_blocks = blocks[i],
                                             .cache_block_count = 8,
                                             .bitmap = bitmaps[i],
                                             .bitmap_bytes = sizeof bitmaps[i]};
    GIVES(SPATE_E_NOT_EXFAT, spate_exfat_mount(&volumes[i], &configs[i], NULL));
    OK(spate_exfat_format(&configs[i], &format));
  }
  for (unsigned i = 0; i < SPATE_BLOCK_USERS_MAX; i++)
    OK(spate_exfat_mount(&volumes[i], &configs[i], NULL));
  GIVES(SPATE_E_FULL, spate_exfat_mount(&volumes[SPATE_BLOCK_USERS_MAX], &configs[SPATE_BLOCK_USERS_MAX], NULL));
  OK(spate_exfat_unmount(&volumes[1]));
  OK(spate_exfat_mount(&volumes[SPATE_BLOCK_USERS_MAX], &configs[SPATE_BLOCK_USERS_MAX], NULL));
  ram_block_close(&ram);
}

static void a_recorder_needs_a_mounted_volume(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  static struct spate_exfat never;
  static struct spate_exfat_config nothing;
  struct spate_recorder_config config = {.checkpoint_ms = 100};

  OK(spate_recorder_close(&fixture->recorder));
  GIVES(SPATE_E_NOT_MOUNTED, spate_recorder_open(&fixture->recorder, &never, &config));
  nothing = fixture->config;
  nothing.blocks = 10;
  GIVES(SPATE_E_INVALID, spate_exfat_mount(&never, &nothing, NULL));
  GIVES(SPATE_E_NOT_MOUNTED, spate_recorder_open(&fixture->recorder, &never, &config));
  OK(spate_exfat_unmount(&fixture->volume));
  GIVES(SPATE_E_NOT_MOUNTED, spate_recorder_open(&fixture->recorder, &fixture->volume, &config));
  OK(spate_exfat_mount(&fixture->volume, &fixture->config, NULL));
  OK(spate_recorder_open(&fixture->recorder, &fixture->volume, &config));
  end_fixture(fixture);
}

/* After an unmount the volume may be mounted elsewhere: no call reads or writes it any more. */
static void an_unmounted_volume_is_not_used(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct spate_exfat_directory directory;
  struct spate_exfat_entry entry;
  struct spate_exfat_clip clip;
  struct spate_exfat_info info;
  bool more;

  OK(spate_recorder_close(&fixture->recorder));
  OK(spate_exfat_list(&fixture->volume, "/", &directory));
  OK(spate_exfat_unmount(&fixture->volume));
  ram_block_clear_log(&fixture->ram);
  GIVES(SPATE_E_NOT_MOUNTED, spate_exfat_unmount(&fixture->volume));
  GIVES(SPATE_E_NOT_MOUNTED, spate_exfat_mkdir(&fixture->volume, "d"));
  GIVES(SPATE_E_NOT_MOUNTED, spate_exfat_delete(&fixture->volume, "d"));
  GIVES(SPATE_E_NOT_MOUNTED, spate_exfat_arm(&fixture->volume, &clip, "A.RAW", MIB));
  GIVES(SPATE_E_NOT_MOUNTED, spate_exfat_stat(&fixture->volume, "d", &entry));
  GIVES(SPATE_E_NOT_MOUNTED, spate_exfat_list_next(&directory, &entry, &more));
  GIVES(SPATE_E_NOT_MOUNTED, spate_exfat_info(&fixture->volume, &info));
  assert_int_equal(fixture->ram.count[SPATE_READ] + fixture->ram.count[SPATE_WRITE], 0);
  OK(spate_exfat_mount(&fixture->volume, &fixture->config, NULL));
  struct spate_recorder_config config = {.checkpoint_ms = 100};
  OK(spate_recorder_open(&fixture->recorder, &fixture->volume, &config));
  end_fixture(fixture);
}

/* With a clip open, or one that cannot be closed, the volume stays as a power cut would leave it. */
static void an_abandoned_volume_is_mounted_again(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct spate_exfat_clip clip;
  struct spate_exfat_mounted found;

  OK(spate_exfat_arm(&fixture->volume, &clip, "A.RAW", MIB));
  GIVES(SPATE_E_IN_USE, spate_exfat_unmount(&fixture->volume));
  spate_exfat_abandon(&fixture->volume);
  assert_null(fixture->ram.block.while_waiting);
  OK(spate_exfat_mount(&fixture->volume, &fixture->config, &found));
  assert_int_equal(found.reclaimed_bytes, MIB);
  struct spate_recorder_config config = {.checkpoint_ms = 100};
  OK(spate_recorder_open(&fixture->recorder, &fixture->volume, &config));
  end_fixture(fixture);
}

static void a_clip_needs_a_name(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct spate_stream_config config = config_of(fixture, 0);
  struct spate_stream *stream = &fixture->sources[0].stream;

  OK(spate_stream_open(&fixture->recorder, stream, &config));
  GIVES(SPATE_E_INVALID, spate_stream_arm(stream, NULL, MIB));
  GIVES(SPATE_E_NAME, spate_stream_arm(stream, "", MIB));
  GIVES(SPATE_E_NAME, spate_stream_arm(stream, "/", 0));
  GIVES(SPATE_E_NAME, spate_exfat_mkdir(&fixture->volume, ""));
  OK(spate_exfat_mkdir(&fixture->volume, "d"));
  GIVES(SPATE_E_NAME, spate_exfat_rename(&fixture->volume, "d", ""));
  OK(spate_stream_arm(stream, "A.RAW", MIB));
  OK(spate_recorder_finish(&fixture->recorder));
  end_fixture(fixture);
}

/* Zeroed memory, like a program's static objects before it opens them. */
static void a_stream_needs_an_open_recorder(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  static struct spate_recorder never;
  struct spate_stream_config config = config_of(fixture, 0);

  GIVES(SPATE_E_STATE, spate_stream_open(&never, &fixture->sources[0].stream, &config));
  OK(spate_recorder_close(&never));
  end_fixture(fixture);
}

/* A closed recorder accepts no stream and no clip. Closing it again does not take the drive from its successor. */
static void a_closed_recorder_is_not_used(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct spate_recorder closed;
  struct spate_recorder_config config = {.checkpoint_ms = 100};
  struct spate_stream_config stream_config = config_of(fixture, 0);
  struct spate_stream *stream = &fixture->sources[0].stream;

  OK(spate_recorder_close(&fixture->recorder));
  OK(spate_recorder_open(&closed, &fixture->volume, &config));
  OK(spate_stream_open(&closed, stream, &stream_config));
  OK(spate_recorder_close(&closed));
  GIVES(SPATE_E_STATE, spate_stream_arm(stream, "A.RAW", MIB));
  OK(spate_recorder_open(&fixture->recorder, &fixture->volume, &config));
  stream_config = config_of(fixture, 1);
  GIVES(SPATE_E_STATE, spate_stream_open(&closed, &fixture->sources[1].stream, &stream_config));
  GIVES(SPATE_E_STATE, spate_stream_arm(stream, "A.RAW", MIB));
  OK(spate_recorder_close(&closed));
  assert_ptr_equal(fixture->ram.block.while_waiting_context, &fixture->recorder);
  end_fixture(fixture);
}

static void count_turn(void *context) { ++*(unsigned *)context; }

static void turns_have_one_owner(void **state) {
  (void)state;
  struct fixture *fixture = open_fixture(512, VOLUME_MIB);
  struct spate_recorder_config config = {.checkpoint_ms = 100};
  struct spate_exfat unmounted = {.mounted = NULL};
  unsigned turns = 0, others = 0;

  OK(spate_recorder_close(&fixture->recorder));
  GIVES(SPATE_E_NOT_MOUNTED, spate_exfat_take_turns(&unmounted, count_turn, &turns));
  GIVES(SPATE_E_INVALID, spate_exfat_take_turns(&fixture->volume, count_turn, NULL));
  GIVES(SPATE_E_INVALID, spate_exfat_take_turns(&fixture->volume, NULL, &turns));
  OK(spate_exfat_take_turns(&fixture->volume, count_turn, &turns));
  GIVES(SPATE_E_OPEN, spate_exfat_take_turns(&fixture->volume, count_turn, &others));
  GIVES(SPATE_E_OPEN, spate_recorder_open(&fixture->recorder, &fixture->volume, &config));
  spate_exfat_leave_turns(&fixture->volume, &others);
  OK(spate_exfat_mkdir(&fixture->volume, "A"));
  assert_true(turns > 0 && others == 0);
  spate_exfat_leave_turns(&fixture->volume, &turns);
  turns = 0;
  OK(spate_exfat_mkdir(&fixture->volume, "B"));
  assert_int_equal(turns, 0);
  OK(spate_recorder_open(&fixture->recorder, &fixture->volume, &config));
  end_fixture(fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(turns_have_one_owner),
      cmocka_unit_test(a_stream_is_opened_once),
      cmocka_unit_test(pieces_are_one_streams),
      cmocka_unit_test(a_drive_has_one_recorder),
      cmocka_unit_test(a_volume_is_mounted_once),
      cmocka_unit_test(a_mounted_volume_is_not_formatted),
      cmocka_unit_test(several_volumes_on_one_drive),
      cmocka_unit_test(a_recorder_needs_a_mounted_volume),
      cmocka_unit_test(an_unmounted_volume_is_not_used),
      cmocka_unit_test(an_abandoned_volume_is_mounted_again),
      cmocka_unit_test(a_clip_needs_a_name),
      cmocka_unit_test(a_stream_needs_an_open_recorder),
      cmocka_unit_test(a_closed_recorder_is_not_used),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
