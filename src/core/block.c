/* SPDX-License-Identifier: Apache-2.0 */
#include <spate/block.h>
#include <spate/port.h>

#define POLL_BATCH 16u

/* While spate_block_do() waits for a request, the request is its own context. */
static void mark_done(struct spate_io *io) { io->context = NULL; }

static void give_turn(struct spate_block *block) {
  if (block->while_waiting != NULL) block->while_waiting(block->while_waiting_context);
}

void spate_block_yield(struct spate_block *block) {
  spate_block_poll(block, POLL_BATCH);
  give_turn(block);
  spate_port_relax();
}

enum spate_error spate_block_do(struct spate_block *block, struct spate_io *io) {
  bool accepted = false;

  io->done = mark_done;
  io->context = io;
  for (;;) {
    spate_block_poll(block, POLL_BATCH);
    /* Submitted before while_waiting is called: otherwise streams could always use the free slots first. */
    if (!accepted) {
      enum spate_error error = spate_block_submit(block, io);
      if (error == SPATE_OK)
        accepted = true;
      else if (error != SPATE_E_FULL)
        return error;
      spate_block_kick(block);
    }
    give_turn(block); /* also when nothing is left to wait for: many short requests must not stop the streams */
    if (io->context == NULL) return io->error;
    spate_port_relax();
  }
}

/* Each request here is one command, so that one free slot is enough for it. */
static enum spate_error transfer(struct spate_block *block, enum spate_op op, uint64_t lba, uint32_t blocks,
                                 void *buffer, uint8_t flags) {
  const uint32_t command_blocks = block->command_bytes_max >> block->block_shift;
  const uint32_t most_blocks = command_blocks < block->request_blocks_max ? command_blocks : block->request_blocks_max;
  uint8_t *at = buffer;

  while (blocks > 0) {
    uint32_t now_blocks = blocks < most_blocks ? blocks : most_blocks;
    struct spate_io io = {
        .op = (uint8_t)op, .flags = (uint8_t)(flags | SPATE_IO_CPU), .lba = lba, .blocks = now_blocks, .buffer = at};
    enum spate_error error = spate_block_do(block, &io);
    if (error != SPATE_OK) return error;
    lba += now_blocks;
    blocks -= now_blocks;
    at += (size_t)now_blocks << block->block_shift;
  }
  return SPATE_OK;
}

enum spate_error spate_block_read(struct spate_block *block, uint64_t lba, uint32_t blocks, void *buffer) {
  return transfer(block, SPATE_READ, lba, blocks, buffer, 0);
}

enum spate_error spate_block_write(struct spate_block *block, uint64_t lba, uint32_t blocks, void *buffer,
                                   uint8_t flags) {
  return transfer(block, SPATE_WRITE, lba, blocks, buffer, flags);
}

enum spate_error spate_block_flush(struct spate_block *block) {
  struct spate_io io = {.op = SPATE_FLUSH};

  if (!block->volatile_cache) return SPATE_OK;
  return spate_block_do(block, &io);
}

enum spate_error spate_block_claim(struct spate_block *block, const void *owner, uint64_t first_lba, uint64_t blocks) {
  struct spate_block_user *unused = NULL;

  for (unsigned i = 0; i < SPATE_BLOCK_USERS_MAX; i++) {
    struct spate_block_user *user = &block->users[i];
    bool overlaps = first_lba < user->first_lba + user->blocks && user->first_lba < first_lba + blocks;
    if (user->owner == NULL)
      unused = user;
    else if (user->owner == owner || overlaps)
      return SPATE_E_OPEN;
  }
  if (unused == NULL) return SPATE_E_FULL;
  *unused = (struct spate_block_user){.owner = owner, .first_lba = first_lba, .blocks = blocks};
  return SPATE_OK;
}

void spate_block_release(struct spate_block *block, const void *owner) {
  for (unsigned i = 0; i < SPATE_BLOCK_USERS_MAX; i++)
    if (block->users[i].owner == owner) block->users[i] = (struct spate_block_user){.owner = NULL};
}

enum spate_error spate_block_erase(struct spate_block *block, enum spate_op op, uint64_t lba, uint64_t blocks,
                                   uint32_t request_blocks, void (*progress)(void *context, uint64_t blocks_done),
                                   void *context) {
  uint64_t done_blocks = 0;

  if ((op != SPATE_TRIM && op != SPATE_ZERO) || request_blocks == 0) return SPATE_E_INVALID;
  while (done_blocks < blocks) {
    uint64_t left_blocks = blocks - done_blocks;
    struct spate_io io = {.op = (uint8_t)op,
                          .lba = lba + done_blocks,
                          .blocks = left_blocks < request_blocks ? (uint32_t)left_blocks : request_blocks};
    enum spate_error error = spate_block_do(block, &io);
    if (error != SPATE_OK) return error;
    done_blocks += io.blocks;
    if (progress != NULL) progress(context, done_blocks);
  }
  return SPATE_OK;
}
