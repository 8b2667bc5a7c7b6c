/* SPDX-License-Identifier: Apache-2.0 */
/* A queue that was closed, or whose controller was shut down: its slots and its memory may be in use for something
 * else. */
#include "internal.h"

static enum spate_error refuse(struct spate_block *block, struct spate_io *io) {
  (void)block;
  (void)io;
  return SPATE_E_INVALID;
}

static void kick(struct spate_block *block) { (void)block; }

static unsigned poll(struct spate_block *block, unsigned max) {
  (void)block;
  (void)max;
  return 0;
}

const struct spate_block_ops spate_nvme_closed_ops = {.submit = refuse, .kick = kick, .poll = poll};
