/* SPDX-License-Identifier: Apache-2.0 */
#include <spate/player.h>

#define POLL_BATCH 32u

static struct spate_slot *slot_at(const struct spate_player *player, uint32_t index) {
  return &player->config.slots[index & (player->config.slot_count - 1u)];
}

static uint64_t slot_offset_bytes(const struct spate_player *player, uint32_t index) {
  uint32_t slot = index & (player->config.slot_count - 1u);

  return player->config.offset_bytes + (uint64_t)slot * player->config.slot_bytes;
}

enum spate_error spate_player_open(struct spate_player *player, struct spate_exfat_file *file, uint64_t from_bytes,
                                   const struct spate_player_config *config) {
  struct spate_block *block = file->volume->config.block;
  uint32_t count = config->slot_count;

  if (count == 0 || (count & (count - 1u)) != 0 || config->slot_bytes == 0 ||
      config->slot_bytes % SPATE_PAGE_BYTES != 0 ||
      config->slot_bytes >> block->block_shift > block->request_blocks_max)
    return SPATE_E_INVALID;
  if ((uint64_t)count * config->slot_bytes + config->offset_bytes > config->region->bytes) return SPATE_E_INVALID;
  if ((from_bytes & (spate_block_bytes(block) - 1u)) != 0 || config->offset_bytes % SPATE_PAGE_BYTES != 0)
    return SPATE_E_INVALID;
  *player = (struct spate_player){.config = *config, .block = block, .file = file, .next_bytes = from_bytes};
  if (player->config.depth == 0 || player->config.depth > count)
    player->config.depth = (uint16_t)(count < UINT16_MAX ? count : UINT16_MAX);
  return SPATE_OK;
}

static void slot_done(struct spate_io *io) {
  struct spate_slot *slot = io->context;
  struct spate_player *player = slot->player;

  player->in_flight--;
  slot->done = true;
  while (player->filled != player->submitted && slot_at(player, player->filled)->done) {
    enum spate_error error = slot_at(player, player->filled)->io.error;
    if (error != SPATE_OK && player->error == SPATE_OK) player->error = error;
    if (player->error != SPATE_OK) return; /* what follows a failed read is not handed out */
    player->filled++;
  }
}

/* The next read: as much of the current run as fits into a slot. False: there is nothing to read now. */
static bool prepare(struct spate_player *player, struct spate_slot *slot) {
  const uint8_t shift = player->block->block_shift;

  if (player->next_bytes >= player->file->valid_bytes || player->error != SPATE_OK) return false;
  if (player->run_blocks == 0) {
    player->error = spate_exfat_extent(player->file, player->next_bytes, &player->run_lba, &player->run_blocks);
    if (player->error == SPATE_OK && player->run_blocks == 0) player->error = SPATE_E_CORRUPT;
    if (player->error != SPATE_OK) return false;
  }
  uint64_t blocks = player->config.slot_bytes >> shift;
  if (blocks > player->run_blocks) blocks = player->run_blocks;
  uint64_t left_bytes = player->file->valid_bytes - player->next_bytes;
  uint64_t bytes = blocks << shift;

  *slot = (struct spate_slot){.player = player,
                              .bytes = (uint32_t)(bytes < left_bytes ? bytes : left_bytes),
                              .io = {.op = SPATE_READ,
                                     .flags = player->config.cpu_consumed ? SPATE_IO_CPU : 0,
                                     .lba = player->run_lba,
                                     .blocks = (uint32_t)blocks,
                                     .region = player->config.region,
                                     .offset_bytes = slot_offset_bytes(player, player->submitted),
                                     .done = slot_done,
                                     .context = slot}};
  return true;
}

enum spate_error spate_player_work(struct spate_player *player) {
  spate_block_poll(player->block, POLL_BATCH);
  if (player->error == SPATE_OK) player->error = spate_exfat_check(player->file);
  while (player->in_flight < player->config.depth && player->submitted - player->returned < player->config.slot_count) {
    struct spate_slot *slot = slot_at(player, player->submitted);
    if (!prepare(player, slot)) break;
    enum spate_error error = spate_block_submit(player->block, &slot->io);
    if (error == SPATE_E_FULL) break;
    if (error != SPATE_OK) {
      player->error = error;
      break;
    }
    player->in_flight++;
    player->submitted++;
    player->next_bytes += slot->bytes;
    player->run_lba += slot->io.blocks;
    player->run_blocks -= slot->io.blocks;
  }
  spate_block_kick(player->block);
  return player->error;
}

bool spate_player_take(struct spate_player *player, uint64_t *offset_bytes, uint32_t *bytes) {
  if (player->taken == player->filled) return false;
  /* If the file was deleted, its blocks may have belonged to another file when they were read. */
  if (spate_exfat_check(player->file) != SPATE_OK) {
    player->error = SPATE_E_STALE;
    player->filled = player->taken;
    return false;
  }
  *offset_bytes = slot_offset_bytes(player, player->taken);
  *bytes = slot_at(player, player->taken)->bytes;
  player->taken++;
  return true;
}

void spate_player_give_back(struct spate_player *player) {
  if (player->returned != player->taken) player->returned++;
}

bool spate_player_ended(const struct spate_player *player) {
  bool all_read = player->next_bytes >= player->file->valid_bytes || player->error != SPATE_OK;

  return all_read && player->in_flight == 0 && player->taken == player->filled;
}
