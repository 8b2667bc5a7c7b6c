/* SPDX-License-Identifier: Apache-2.0 */
#include "window.h"

#include "../text/fail.h"

#include <stdlib.h>

/* The request that goes to the device below. The caller's request is not changed. */
struct slot {
  struct spate_io io;
  struct spate_io *outer;
  struct slot *next; /* while free */
};

struct window {
  struct spate_block block; /* first, because the library has a pointer to it */
  struct spate_block *whole;
  uint64_t first_lba;
  struct slot *slots, *free;
};

static struct window *of(struct spate_block *block) { return (struct window *)(void *)block; }

/* Copies the fields that the device below may change at any time. */
static void follow(struct window *window) {
  window->block.power_losses = window->whole->power_losses;
  window->block.power_unknown = window->whole->power_unknown;
  window->block.can_trim = window->whole->can_trim;
  window->block.can_zero = window->whole->can_zero;
}

static void done(struct spate_io *io) {
  struct slot *slot = (struct slot *)(void *)io;
  struct window *window = io->context;
  struct spate_io *outer = slot->outer;

  outer->error = io->error;
  outer->detail = io->detail;
  slot->next = window->free;
  window->free = slot;
  follow(window);
  outer->done(outer);
}

/* A flush has no LBA. */
static bool is_inside(const struct window *window, const struct spate_io *io) {
  if (io->op == SPATE_FLUSH) return io->lba == 0 && io->blocks == 0;
  return io->lba < window->block.blocks && io->blocks <= window->block.blocks - io->lba;
}

static enum spate_error submit(struct spate_block *block, struct spate_io *io) {
  struct window *window = of(block);
  struct slot *slot = window->free;

  if (!is_inside(window, io)) return SPATE_E_INVALID;
  if (slot == NULL) return SPATE_E_FULL;
  slot->io = *io;
  slot->outer = io;
  slot->io.done = done;
  slot->io.context = window;
  if (io->op != SPATE_FLUSH) slot->io.lba += window->first_lba;
  window->free = slot->next; /* before the submit, because the device below may complete it at once */
  const enum spate_error error = spate_block_submit(window->whole, &slot->io);
  if (error != SPATE_OK) {
    slot->next = window->free;
    window->free = slot;
    follow(window);
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

struct window *window_open(struct spate_block *whole, uint64_t first_lba, uint64_t blocks) {
  struct window *window = calloc(1, sizeof *window);
  struct slot *slots = calloc(whole->depth, sizeof *slots);

  if (window == NULL || slots == NULL) fail(EXIT_FAILED, "no memory");
  window->block = *whole;
  window->block.ops = &ops;
  window->block.blocks = blocks;
  window->block.while_waiting = NULL;
  window->whole = whole;
  window->first_lba = first_lba;
  window->slots = slots;
  for (unsigned i = 0; i < whole->depth; i++) {
    slots[i].next = window->free;
    window->free = &slots[i];
  }
  return window;
}

struct spate_block *window_block(struct window *window) {
  return &window->block;
}

void window_close(struct window *window) {
  free(window->slots);
  free(window);
}
