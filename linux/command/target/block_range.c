/* SPDX-License-Identifier: Apache-2.0 */
#include "block_range.h"

#include "../text/fail.h"

#include <stdlib.h>

/* The request that goes to the device below. The caller's request is not changed. */
struct slot {
  struct spate_io io;
  struct spate_io *outer;
  struct slot *next; /* while free */
};

struct block_range {
  struct spate_block block; /* first, because the library has a pointer to it */
  struct spate_block *whole;
  uint64_t first_lba;
  struct slot *slots, *free;
};

static struct block_range *of(struct spate_block *block) { return (struct block_range *)(void *)block; }

/* Copies the fields that the device below may change at any time. */
static void follow(struct block_range *range) {
  range->block.power_losses = range->whole->power_losses;
  range->block.power_unknown = range->whole->power_unknown;
  range->block.can_trim = range->whole->can_trim;
  range->block.can_zero = range->whole->can_zero;
}

static void done(struct spate_io *io) {
  struct slot *slot = (struct slot *)(void *)io;
  struct block_range *range = io->context;
  struct spate_io *outer = slot->outer;

  outer->error = io->error;
  outer->detail = io->detail;
  slot->next = range->free;
  range->free = slot;
  follow(range);
  outer->done(outer);
}

/* A flush has no LBA. */
static bool is_inside(const struct block_range *range, const struct spate_io *io) {
  if (io->op == SPATE_FLUSH) return io->lba == 0 && io->blocks == 0;
  return io->lba < range->block.blocks && io->blocks <= range->block.blocks - io->lba;
}

static enum spate_error submit(struct spate_block *block, struct spate_io *io) {
  struct block_range *range = of(block);
  struct slot *slot = range->free;

  if (!is_inside(range, io)) return SPATE_E_INVALID;
  if (slot == NULL) return SPATE_E_FULL;
  slot->io = *io;
  slot->outer = io;
  slot->io.done = done;
  slot->io.context = range;
  if (io->op != SPATE_FLUSH) slot->io.lba += range->first_lba;
  range->free = slot->next; /* before the submit, because the device below may complete it at once */
  const enum spate_error error = spate_block_submit(range->whole, &slot->io);
  if (error != SPATE_OK) {
    slot->next = range->free;
    range->free = slot;
    follow(range);
  }
  return error;
}

static void kick(struct spate_block *block) { spate_block_kick(of(block)->whole); }

static unsigned poll(struct spate_block *block, unsigned max) {
  const unsigned reaped = spate_block_poll(of(block)->whole, max);

  follow(of(block));
  return reaped;
}

static const struct spate_block_ops ops = {.submit = submit, .kick = kick, .poll = poll};

struct block_range *block_range_open(struct spate_block *whole, uint64_t first_lba, uint64_t blocks) {
  struct block_range *range = calloc(1, sizeof *range);
  struct slot *slots = calloc(whole->depth, sizeof *slots);

  if (range == NULL || slots == NULL) fail(EXIT_FAILED, "no memory");
  range->block = *whole;
  range->block.ops = &ops;
  range->block.blocks = blocks;
  range->block.while_waiting = NULL;
  range->whole = whole;
  range->first_lba = first_lba;
  range->slots = slots;
  for (unsigned i = 0; i < whole->depth; i++) {
    slots[i].next = range->free;
    range->free = &slots[i];
  }
  return range;
}

struct spate_block *block_range_block(struct block_range *range) {
  return &range->block;
}

void block_range_close(struct block_range *range) {
  free(range->slots);
  free(range);
}
