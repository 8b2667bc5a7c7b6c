/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One asynchronous interface to whatever stores logical blocks: an NVMe namespace, a stripe over several, the gateware
 * core, a file in a test.
 *
 * The caller owns each request until its `done` is called, from within poll(), in any order. A request is taken whole
 * or not at all; "full" is an answer. submit() only queues; kick() rings the doorbell, once for a batch. poll() rings
 * pending doorbells, reaps at most `max` completions (more only during recovery or when the device has failed for
 * good), and drives error recovery forward, so a caller that polls needs nothing else. Calls wait only where it says
 * so.
 *
 * A device is used from one thread at a time. `done` may submit; it must not poll.
 */
#ifndef SPATE_BLOCK_H
#define SPATE_BLOCK_H

#include <spate/dma.h>
#include <spate/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum spate_op {
  SPATE_READ,
  SPATE_WRITE,
  SPATE_FLUSH, /* writes completed before this was submitted are durable when it completes */
  SPATE_TRIM,  /* the blocks' contents are no longer needed; they may read as anything afterwards */
  SPATE_ZERO,  /* the blocks read as zeros afterwards */
};

enum spate_io_flag {
  SPATE_IO_FUA = 1 << 0, /* write: durable when it completes */
  SPATE_IO_CPU = 1 << 1, /* the CPU made this data or will read it: the backend does the cache maintenance. The buffer
                            is then aligned to SPATE_DMA_ALIGN, start and size */
};

/* One request. Zero it, fill in the first group, keep it in place until `done`. */
struct spate_io {
  uint64_t lba;                      /* first logical block; FLUSH: 0 */
  uint32_t blocks;                   /* logical blocks, ≥ 1; FLUSH: 0. Data: ≤ spate_block.request_blocks_max */
  uint8_t op;                        /* enum spate_op */
  uint8_t flags;                     /* enum spate_io_flag */
  const struct spate_region *region; /* READ, WRITE: the data is in this region at `offset_bytes` ... */
  uint64_t offset_bytes;             /* ... a multiple of 4 */
  void *buffer;                      /* ... or, with region NULL, in memory contiguous for devices, a multiple of 4 */
  void (*done)(struct spate_io *io); /* called once for each accepted request, from poll() */
  void *context;                     /* the caller's */

  /* the answer, valid in and after `done` */
  enum spate_error error;
  uint16_t detail; /* the backend's own status, e.g. the NVMe status field without the phase bit */

  /* the backend's */
  uint16_t parts_left;
  struct spate_io *next;
};

struct spate_block;

struct spate_block_ops {
  enum spate_error (*submit)(struct spate_block *block, struct spate_io *io);
  void (*kick)(struct spate_block *block);
  unsigned (*poll)(struct spate_block *block, unsigned max);
};

/* Blocks that somebody has for himself, such as a mounted volume's. Private: spate_block_claim(). */
#define SPATE_BLOCK_USERS_MAX 4u
struct spate_block_user {
  const void *owner; /* never looked into: its memory may be gone. NULL: unused */
  uint64_t first_lba, blocks;
};

/* The geometry is set by the backend when it opens, and fixed afterwards. */
struct spate_block {
  const struct spate_block_ops *ops;
  uint64_t blocks;             /* capacity in logical blocks */
  uint8_t block_shift;         /* 9 or 12 */
  bool volatile_cache;         /* completed is not durable before a flush */
  bool can_trim, can_zero;     /* otherwise these answer UNSUPPORTED; cleared when the device refuses the command */
  uint16_t depth;              /* commands that can be in flight */
  uint32_t command_bytes_max;  /* a request is split into commands of at most this; a power of two */
  uint32_t request_blocks_max; /* the largest READ or WRITE that submit() takes: may need several commands */

  /* Rises when the device may have lost what was completed but not flushed (its power was cut while the host's was
   * not). That goes for requests in flight, too: of several commands the first may have completed before. Whoever
   * promised durability compares it before and after a flush, and before and after a request. */
  uint32_t power_losses;

  /* The caller's, may be NULL: called in each turn of spate_block_do(), so that streams keep flowing while a
   * metadata operation waits. It may submit and kick; it must not poll this device or call spate_block_do(). */
  void (*while_waiting)(void *context);
  void *while_waiting_context;

  struct spate_block_user users[SPATE_BLOCK_USERS_MAX]; /* zeros when the backend opens */
};

static inline uint32_t spate_block_bytes(const struct spate_block *block) { return UINT32_C(1) << block->block_shift; }

/* Queue a request. OK: `done` will be called. FULL: poll and try again. INVALID: out of range or misaligned;
 * UNSUPPORTED: an operation the drive does not have. After any answer but OK the request is still the caller's. */
SPATE_MUST_CHECK static inline enum spate_error spate_block_submit(struct spate_block *block, struct spate_io *io) {
  return block->ops->submit(block, io);
}

/* Make the device look at what was queued. */
static inline void spate_block_kick(struct spate_block *block) { block->ops->kick(block); }

/* Reap up to `max` completions, calling `done` for each request that finished. Returns how many commands were reaped.
 */
static inline unsigned spate_block_poll(struct spate_block *block, unsigned max) {
  return block->ops->poll(block, max);
}

/*
 * Carry out one request and wait for it. Returns what the request came to. Only for bring-up and metadata: see
 * while_waiting. `io->done` and `io->context` are overwritten. Bounded, because a backend ends every request it
 * accepted.
 */
SPATE_MUST_CHECK enum spate_error spate_block_do(struct spate_block *block, struct spate_io *io);

/* One turn of a loop that waits for the device, or that is long: reaps completions, then calls while_waiting. */
void spate_block_yield(struct spate_block *block);

/* The common requests on CPU memory (aligned to SPATE_DMA_ALIGN), waiting. `blocks` may exceed request_blocks_max. */
SPATE_MUST_CHECK enum spate_error spate_block_read(struct spate_block *block, uint64_t lba, uint32_t blocks,
                                                   void *buffer);
SPATE_MUST_CHECK enum spate_error spate_block_write(struct spate_block *block, uint64_t lba, uint32_t blocks,
                                                    void *buffer, uint8_t flags);
/* Does nothing, successfully, where the device has no volatile cache. */
SPATE_MUST_CHECK enum spate_error spate_block_flush(struct spate_block *block);

/* Have these blocks for `owner` alone, until it releases them. OPEN: another has some of them, or the owner has any;
 * FULL: there are SPATE_BLOCK_USERS_MAX owners. What nobody claimed anybody may read and write: this is for layers that
 * would destroy each other's work. */
SPATE_MUST_CHECK enum spate_error spate_block_claim(struct spate_block *block, const void *owner, uint64_t first_lba,
                                                    uint64_t blocks);
void spate_block_release(struct spate_block *block, const void *owner);

/*
 * TRIM or ZERO a range of any length in pieces of at most `piece_blocks`, one at a time, waiting; `progress` (may be
 * NULL) is called after each with the blocks done. A whole drive in one command can outlast any deadline.
 */
SPATE_MUST_CHECK enum spate_error spate_block_erase(struct spate_block *block, enum spate_op op, uint64_t lba,
                                                    uint64_t blocks, uint32_t piece_blocks,
                                                    void (*progress)(void *context, uint64_t blocks_done),
                                                    void *context);

#ifdef __cplusplus
}
#endif
#endif
