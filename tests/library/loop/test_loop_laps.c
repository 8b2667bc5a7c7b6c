/* SPDX-License-Identifier: Apache-2.0 */
/* A hundred laps of a volume, with parts that somebody protects, files of others, and triggers whose files are deleted
 * some laps later: the folder does not grow, nothing leaks, and the stream never lacks room. */
#include <stdint.h>

#define PART_BYTES 16384u
#include "loop_fixture.h"

#include "exfat_image.h"
#include "exfat_oracle.h"

#define LAPS          100u
#define LAP_PARTS     SPATE_LOOP_PARTS_MIN
#define BYTES         4096u
#define MIB_OF_VOLUME 2u
#define KEPT_LAPS     3u /* a file of a trigger, or of others, is deleted after as many laps */

static struct fixture *open_small(void) {
  struct fixture *fixture = calloc(1, sizeof *fixture);
  const struct spate_recorder_config config = {.event = on_event, .while_waiting = while_waiting, .context = fixture};

  assert_non_null(fixture);
  ram_block_open(&fixture->ram, MIB_OF_VOLUME * MIB / 512, 512);
  fixture->config = (struct spate_exfat_config){.block = &fixture->ram.block,
                                                .blocks = fixture->ram.block.blocks,
                                                .cache = aligned_alloc(4096, CACHE_BYTES),
                                                .cache_bytes = CACHE_BYTES,
                                                .cache_blocks = fixture->blocks,
                                                .cache_block_count = SPATE_EXFAT_CACHE_BLOCKS_MAX,
                                                .bitmap = aligned_alloc(4096, BITMAP_BYTES),
                                                .bitmap_bytes = BITMAP_BYTES};
  small_format(fixture->ram.memory, MIB_OF_VOLUME * MIB, 9, 12);
  OK(spate_exfat_mount(&fixture->volume, &fixture->config, NULL));
  OK(spate_recorder_open(&fixture->recorder, &fixture->volume, &config));
  fixture->cut_power_at = -1;
  return fixture;
}

static void make_file(struct fixture *fixture, const char *name, uint32_t lap, uint64_t bytes) {
  struct spate_exfat_clip clip;
  char path[64];

  (void)snprintf(path, sizeof path, "%s%u", name, lap);
  OK(spate_exfat_arm(&fixture->volume, &clip, path, bytes));
  OK(spate_exfat_close(&clip, bytes));
}

static void delete_file(struct fixture *fixture, const char *name, uint32_t lap) {
  char path[64];

  (void)snprintf(path, sizeof path, "%s%u", name, lap);
  OK(spate_exfat_delete(&fixture->volume, path));
}

/* A part that is closed, until the loop has left it. No trigger comes meanwhile. */
static void protect_one(struct looping *looping, bool protect) {
  static char path[64];

  if (protect) (void)snprintf(path, sizeof path, "CAM/A_%08u.RAW", looping->loop.streaming - 2u);
  OK(spate_exfat_protect(&looping->fixture->volume, path, protect));
  if (!protect) OK(spate_exfat_delete(&looping->fixture->volume, path));
}

static void lap(struct looping *looping, uint32_t number) {
  struct fixture *fixture = looping->fixture;
  char path[64];

  looping->source->sent_bytes = 0; /* nothing is compared with what was sent */
  stream_loop(looping, LAP_PARTS * PART_BYTES / BYTES / 2u, BYTES);
  make_file(fixture, "CAM/OTHER", number, 5000u + 997u * (number % 7u));
  if (number > KEPT_LAPS) delete_file(fixture, "CAM/OTHER", number - KEPT_LAPS);
  if (number % 20u == 7u) protect_one(looping, true);
  if (number % 20u == 10u) protect_one(looping, false);
  stream_loop(looping, LAP_PARTS * PART_BYTES / BYTES / 2u, BYTES);
  settle_loop(looping);
  if (number % 4u == 1u) {
    (void)snprintf(path, sizeof path, "EVENT%u", number);
    OK(spate_loop_trigger(&looping->loop, path, UINT64_MAX, 0, NULL));
  }
  if (number % 4u == 0u) delete_file(fixture, "EVENT", number - KEPT_LAPS);
}

static uint64_t folder_bytes(struct fixture *fixture) {
  struct spate_exfat_entry entry;

  OK(spate_exfat_stat(&fixture->volume, "CAM", &entry));
  return entry.bytes;
}

static void nothing_leaks(const struct fixture *fixture) {
  struct oracle *oracle = malloc(sizeof *oracle);

  assert_non_null(oracle);
  if (!oracle_read(oracle, fixture->ram.memory, fixture->ram.bytes)) fail_msg("%s", oracle->fault);
  assert_int_equal(oracle->leaked, 0);
  assert_int_equal(oracle->unallocated, 0);
  assert_int_equal(oracle->cross_linked, 0);
  assert_int_equal(oracle->overlong, 0);
  assert_int_equal(oracle->strays, 0);
  oracle_free(oracle);
  free(oracle);
}

static void a_hundred_laps(void **state) {
  (void)state;
  static struct looping looping;
  struct fixture *fixture = open_small();

  open_loop(&looping, fixture, 0, "CAM/A.RAW", LAP_PARTS * PART_BYTES);
  lap(&looping, 1);
  const uint64_t bytes = folder_bytes(fixture);
  for (uint32_t i = 2; i <= LAPS; i++) {
    lap(&looping, i);
    assert_int_equal(folder_bytes(fixture), bytes);
    assert_int_equal(looping.loop.error, SPATE_OK);
  }
  assert_int_equal(looping.told.count[SPATE_LOOP_SHORT], 0);
  assert_int_equal(looping.told.count[SPATE_LOOP_FOLDER], 0);
  assert_int_equal(looping.told.count[SPATE_LOOP_KEPT], (LAPS + 3u) / 4u);
  assert_int_equal(looping.told.count[SPATE_LOOP_LEFT], LAPS / 20u); /* what was protected */
  close_loop(&looping);
  OK(spate_recorder_close(&fixture->recorder));
  OK(spate_exfat_unmount(&fixture->volume));
  nothing_leaks(fixture);
  free_fixture(fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_hundred_laps)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
