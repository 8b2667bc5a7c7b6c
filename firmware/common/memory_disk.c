/* SPDX-License-Identifier: Apache-2.0 */
#include "memory_disk.h"
#include <stddef.h>
#include <string.h>

#define BLOCK_SHIFT        9u
#define DEPTH              32u
#define REQUEST_BYTES_MAX  (1u << 20)
#define REQUEST_BLOCKS_MAX (REQUEST_BYTES_MAX >> BLOCK_SHIFT)

/* `block` is the first member. */
static struct memory_disk *disk_of(struct spate_block *block) { return (struct memory_disk *)(void *)block; }

static uint8_t *data_of(const struct spate_io *io) {
  return io->region ? (uint8_t *)io->region->start + io->offset_bytes : io->buffer;
}

static bool moves_data(const struct spate_io *io) { return io->op == SPATE_READ || io->op == SPATE_WRITE; }

static enum spate_error submit(struct spate_block *block, struct spate_io *io) {
  struct memory_disk *disk = disk_of(block);

  if (io->lba > block->blocks || io->blocks > block->blocks - io->lba) return SPATE_E_INVALID;
  if (io->op != SPATE_FLUSH && io->blocks == 0) return SPATE_E_INVALID;
  if (moves_data(io) && (io->blocks > block->request_blocks_max || data_of(io) == NULL)) return SPATE_E_INVALID;
  if (disk->queued == block->depth) return SPATE_E_FULL;
  io->next = NULL;
  if (disk->first == NULL)
    disk->first = io;
  else
    disk->last->next = io;
  disk->last = io;
  disk->queued++;
  return SPATE_OK;
}

static void carry_out(struct memory_disk *disk, const struct spate_io *io) {
  uint8_t *at = disk->memory + (io->lba << BLOCK_SHIFT);
  const size_t bytes = (size_t)io->blocks << BLOCK_SHIFT;

  if (io->op == SPATE_READ) memcpy(data_of(io), at, bytes);
  if (io->op == SPATE_WRITE) memcpy(at, data_of(io), bytes);
  if (io->op == SPATE_ZERO) memset(at, 0, bytes);
}

static void kick(struct spate_block *block) { (void)block; }

static unsigned poll(struct spate_block *block, unsigned max) {
  struct memory_disk *disk = disk_of(block);
  unsigned reaped = 0;

  for (; reaped < max && disk->first != NULL; reaped++) {
    struct spate_io *io = disk->first;
    disk->first = io->next;
    disk->queued--;
    carry_out(disk, io);
    io->error = SPATE_OK;
    io->detail = 0;
    io->done(io);
  }
  return reaped;
}

void memory_disk_open(struct memory_disk *disk, void *memory, size_t bytes) {
  static const struct spate_block_ops ops = {submit, kick, poll};

  *disk = (struct memory_disk){
      .block = {.ops = &ops,
                .blocks = bytes >> BLOCK_SHIFT,
                .block_shift = BLOCK_SHIFT,
                .can_trim = true,
                .can_zero = true,
                .depth = DEPTH,
                .command_bytes_max = REQUEST_BYTES_MAX,
                .request_blocks_max = REQUEST_BLOCKS_MAX},
      .memory = memory,
  };
}
