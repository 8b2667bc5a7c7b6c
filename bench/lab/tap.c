/* SPDX-License-Identifier: Apache-2.0 */
#include "tap.h"

static struct lab_tap *tap_of(struct spate_block *block) { return (struct lab_tap *)block; }

static void count(struct lab_tap *tap, const struct spate_io *io) {
  struct lab_tap_counters *counters = &tap->counters;

  if (io->region != NULL && io->region == tap->stream) {
    uint64_t now_ps = sim_now_ps(tap->sim);
    if (now_ps - tap->last_ps > counters->gap_ps_max) counters->gap_ps_max = now_ps - tap->last_ps;
    tap->last_ps = now_ps;
    counters->data_requests++;
    counters->data_bytes += (uint64_t)io->blocks << tap->block.block_shift;
    return;
  }
  switch ((enum spate_op)io->op) {
  case SPATE_READ: counters->metadata_reads++; break;
  case SPATE_WRITE:
  case SPATE_ZERO: counters->metadata_writes++; break;
  case SPATE_FLUSH: counters->flushes++; break;
  case SPATE_TRIM: counters->trims++; break;
  }
}

static enum spate_error submit(struct spate_block *block, struct spate_io *io) {
  struct lab_tap *tap = tap_of(block);
  enum spate_error error = spate_block_submit(tap->inner, io);

  if (error == SPATE_OK) count(tap, io);
  return error;
}

static void kick(struct spate_block *block) { spate_block_kick(tap_of(block)->inner); }

static unsigned poll(struct spate_block *block, unsigned max) {
  struct lab_tap *tap = tap_of(block);
  unsigned reaped = spate_block_poll(tap->inner, max);

  block->power_losses = tap->inner->power_losses;
  block->power_unknown = tap->inner->power_unknown;
  block->can_trim = tap->inner->can_trim;
  block->can_zero = tap->inner->can_zero;
  return reaped;
}

void lab_tap_init(struct lab_tap *tap, struct spate_block *inner, struct sim *sim, const struct spate_region *stream) {
  static const struct spate_block_ops ops = {.submit = submit, .kick = kick, .poll = poll};

  *tap = (struct lab_tap){.block = *inner, .inner = inner, .sim = sim, .stream = stream};
  tap->block.ops = &ops;
  tap->last_ps = sim_now_ps(sim);
}

void lab_tap_start(struct lab_tap *tap) { tap->last_ps = sim_now_ps(tap->sim); }
