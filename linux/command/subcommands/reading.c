/* SPDX-License-Identifier: Apache-2.0 */
#include "reading.h"

#include "../device/interrupt.h"
#include "../text/fail.h"
#include "../text/progress.h"

#include <inttypes.h>
#include <spate/player.h>
#include <spate/port.h>

#define SLOT_BYTES (UINT32_C(1) << 20)
#define SLOTS      16u

static enum spate_error play(struct spate_player *player, const uint8_t *ring, const char *path, uint64_t size_bytes,
                             void (*take)(void *context, const uint8_t *data, uint32_t bytes, uint64_t offset_bytes),
                             void *context) {
  struct progress progress;
  uint64_t at_bytes = 0, offset_bytes;
  uint32_t bytes;

  progress_begin(&progress, path, size_bytes);
  while (!spate_player_ended(player)) {
    interrupt_check();
    (void)!spate_player_work(player); /* its error stays in the player, which hands out what came before it */
    if (!spate_player_take(player, &offset_bytes, &bytes)) {
      spate_port_relax();
      continue;
    }
    take(context, ring + offset_bytes, bytes, at_bytes);
    spate_player_give_back(player);
    at_bytes += bytes;
    progress_show(&progress, at_bytes, NULL);
  }
  progress_end(&progress);
  if (player->error != SPATE_OK)
    fail_tell("%s: byte %" PRIu64 ": %s. %s", path, at_bytes, spate_error_name(player->error),
              spate_error_help(player->error));
  return player->error;
}

static enum spate_error not_opened(enum spate_error error, const char *path) {
  fail_tell("%s: %s. %s", path, spate_error_name(error), spate_error_help(error));
  return error;
}

enum spate_error reading_file(struct volume *volume, const char *path,
                              void (*take)(void *context, const uint8_t *data, uint32_t bytes, uint64_t offset_bytes),
                              void *context, uint64_t *size_bytes) {
  static struct spate_slot slots[SLOTS];
  static struct spate_player player;
  struct spate_exfat_file file;
  struct spate_region region;
  const struct memory_supply *memory = volume->target.memory;

  /* Allocated once and used again for each file: a target with its own memory frees none of it before it is closed. */
  if (volume->ring == NULL) {
    volume->ring = memory_take_ring(memory, SLOTS * SLOT_BYTES);
    volume->ring_table = memory_take(memory, SPATE_REGION_TABLE_BYTES(SLOTS * SLOT_BYTES));
  }
  const enum spate_error error = spate_exfat_open(&volume->exfat, path, &file);
  *size_bytes = 0;
  if (error != SPATE_OK) return not_opened(error, path);
  memory_region(memory, &region, volume->ring, SLOTS * SLOT_BYTES, volume->ring_table);
  const struct spate_player_config config = {
      .region = &region, .slot_bytes = SLOT_BYTES, .slots = slots, .slot_count = SLOTS, .cpu_consumed = true};
  expect(spate_player_open(&player, &file, 0, &config), path);
  *size_bytes = file.bytes;
  return play(&player, volume->ring, path, file.valid_bytes, take, context);
}
