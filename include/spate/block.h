/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One asynchronous interface to devices that store logical blocks: an NVMe namespace, a stripe over several devices,
 * the gateware core, a file in a test.
 *
 * The caller owns a request, and keeps it in place, until spate_block_poll() calls `done`. Requests complete in any
 * order. A request is accepted whole or not at all. FULL is a normal result. spate_block_submit() queues a request, and
 * spate_block_kick() rings the doorbell for all queued requests. spate_block_poll() rings pending doorbells, reaps at
 * most `max` completions (more only during recovery, or when the device has failed), and advances error recovery. A
 * caller that polls needs no other call. No call here waits, unless its comment says so.
 *
 * A device is used from one thread at a time. `done` may submit; it must not poll.
 *
 * Other headers refer to the errors with which a device ends a request, or refuses one, as the errors of the device.
 *
 * Errors of the device: COMMAND (the drive refused it), MEDIA, UNSUPPORTED, INVALID (out of range or misaligned, or the
 * device is closed), TIMEOUT, GONE, FATAL, NOT_STOPPED, POWER_LOST (stream data of the gateware), BUSY (the gateware
 * has no room for the command), and, for a drive that could not be brought up again, those of spate_nvme_open() or
 * those of spate_gateware_open().
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

/* What a request does. */
enum spate_op {
  SPATE_READ,
  SPATE_WRITE,
  SPATE_FLUSH, /* writes completed before this was submitted are durable when it completes */
  SPATE_TRIM,  /* the contents of the blocks are no longer needed; the blocks may read as anything afterwards */
  SPATE_ZERO,  /* the blocks read as zeros afterwards */
};

/* Flags of a request, combined by OR. */
enum spate_io_flag {
  SPATE_IO_FUA = 1 << 0, /* write: durable when it completes */
  SPATE_IO_CPU = 1 << 1, /* the CPU wrote this data or will read it: the backend does the cache maintenance. Start and
                            size of the buffer are then multiples of SPATE_DMA_ALIGN */
};

/* One request. Zero it, fill in the first group, and do not move or change it until `done`. */
struct spate_io {
  uint64_t lba;                      /* first logical block; FLUSH: 0 */
  uint32_t blocks;                   /* logical blocks, ≥ 1; FLUSH: 0. Data: ≤ spate_block.request_blocks_max */
  uint8_t op;                        /* enum spate_op */
  uint8_t flags;                     /* enum spate_io_flag */
  const struct spate_region *region; /* READ, WRITE: the data are in this region at `offset_bytes`. NULL: in `buffer` */
  uint64_t offset_bytes;             /* a multiple of 4 */
  void *buffer;                      /* memory with contiguous bus addresses, at a multiple of 4 */
  void (*done)(struct spate_io *io); /* called once for each accepted request, from poll() */
  void *context;                     /* the caller's */

  /* the result, valid in and after `done` */
  enum spate_error error;
  uint16_t detail; /* the backend's own status, e.g. the NVMe status field without the phase bit */

  /* for the backend */
  uint16_t parts_left;
  struct spate_io *next;
};

struct spate_block;

/* What a backend implements. The functions below call these. */
struct spate_block_ops {
  enum spate_error (*submit)(struct spate_block *block, struct spate_io *io);
  void (*kick)(struct spate_block *block);
  unsigned (*poll)(struct spate_block *block, unsigned max);
};

#define SPATE_BLOCK_USERS_MAX 4u

/* Blocks that have one owner, such as those of a mounted volume. Private: spate_block_claim(). */
struct spate_block_user {
  const void *owner; /* never dereferenced: its memory may have another use by now. NULL: unused */
  uint64_t first_lba, blocks;
};

/* A device. Its backend sets the geometry when it opens. The geometry does not change afterwards. */
struct spate_block {
  const struct spate_block_ops *ops;
  uint64_t blocks;            /* capacity in logical blocks */
  uint8_t block_shift;        /* 9 or 12 */
  bool volatile_cache;        /* a completed write is durable only after a flush */
  bool can_trim, can_zero;    /* false: TRIM, ZERO return UNSUPPORTED. Cleared when the device refuses the command, or
                                 hangs in it */
  uint16_t depth;             /* commands that can be in flight */
  uint32_t command_bytes_max; /* a request is split into commands of at most this size; a power of two */
  /* The largest READ or WRITE that submit() accepts; it may need several commands. In a region, from an offset that is
   * no multiple of a block: the largest is half of this, or, if `depth` is 2, a page. More may be INVALID. */
  uint32_t request_blocks_max;

  /* Rises when the device may have lost completed writes that were not flushed, because its power was cut while the
   * host kept running. This includes requests in flight: some of their commands may have completed before. A layer that
   * promises durability compares it before and after a flush, and before and after a request. */
  uint32_t power_losses;
  /* Rises when nobody can tell whether power_losses should have risen. A layer that can write its data again does it
   * then, too. */
  uint32_t power_unknown;

  /* Set by spate_exfat_take_turns(), or by a caller without a volume; may be NULL. Called in each turn of
   * spate_block_do(), so that streams continue while a metadata operation waits. It may submit requests and ring the
   * doorbell; it must not poll this device or call spate_block_do(). */
  void (*while_waiting)(void *context);
  void *while_waiting_context;

  struct spate_block_user users[SPATE_BLOCK_USERS_MAX]; /* zeros when the backend opens */
};

/* Changes when the device lost completed writes, or may have. */
static inline uint32_t spate_block_power_mark(const struct spate_block *block) {
  return block->power_losses + block->power_unknown;
}

/* The size of a logical block. */
static inline uint32_t spate_block_bytes(const struct spate_block *block) { return UINT32_C(1) << block->block_shift; }

/* Queue a request. OK: `done` will be called. After any error `done` is not called. Errors: FULL (poll and try again),
 * INVALID (out of range or misaligned), UNSUPPORTED (the device does not have this operation), and other errors of the
 * device, if it has failed. */
SPATE_MUST_CHECK static inline enum spate_error spate_block_submit(struct spate_block *block, struct spate_io *io) {
  return block->ops->submit(block, io);
}

/* Ring the doorbell for the requests that were queued. */
static inline void spate_block_kick(struct spate_block *block) { block->ops->kick(block); }

/* Reap up to `max` completions, and call `done` for each request that ended. Returns the number of completions. */
static inline unsigned spate_block_poll(struct spate_block *block, unsigned max) {
  return block->ops->poll(block, max);
}

/*
 * Submit one request and wait until it ends. Only for bring-up and metadata: see while_waiting. `io->done` and
 * `io->context` are overwritten. The wait ends, because a backend ends every request that it accepted. Returns the
 * request's error. Errors: those of the device.
 */
SPATE_MUST_CHECK enum spate_error spate_block_do(struct spate_block *block, struct spate_io *io);

/* One turn of a loop that waits for the device, or that is long: reaps completions, then calls while_waiting. */
void spate_block_yield(struct spate_block *block);

/* Read into memory of the CPU (aligned to SPATE_DMA_ALIGN), and wait. `blocks` may exceed request_blocks_max. Errors:
 * those of the device. */
SPATE_MUST_CHECK enum spate_error spate_block_read(struct spate_block *block, uint64_t lba, uint32_t blocks,
                                                   void *buffer);
/* The same for a write. `flags`: 0 or SPATE_IO_FUA. */
SPATE_MUST_CHECK enum spate_error spate_block_write(struct spate_block *block, uint64_t lba, uint32_t blocks,
                                                    void *buffer, uint8_t flags);
/* Flush, and wait. OK at once if the device has no volatile cache. Errors: those of the device. */
SPATE_MUST_CHECK enum spate_error spate_block_flush(struct spate_block *block);

/* Reserve these blocks for `owner` until it releases them. OPEN: another owner has some of them, or `owner` has blocks
 * already. FULL: there are SPATE_BLOCK_USERS_MAX owners. Reads and writes are not checked against claims: claims keep
 * two layers from opening the same blocks. */
SPATE_MUST_CHECK enum spate_error spate_block_claim(struct spate_block *block, const void *owner, uint64_t first_lba,
                                                    uint64_t blocks);
/* End the claim of `owner`. Does nothing if there is none. */
void spate_block_release(struct spate_block *block, const void *owner);

/*
 * TRIM or ZERO a range of any length with requests of at most `request_blocks`, one at a time, and wait. `progress`
 * (may be NULL) is called after each request with the number of blocks done. One command for a whole drive could exceed
 * any timeout. Errors: INVALID (another operation, or `request_blocks` is 0), and those of the device.
 */
SPATE_MUST_CHECK enum spate_error spate_block_erase(struct spate_block *block, enum spate_op op, uint64_t lba,
                                                    uint64_t blocks, uint32_t request_blocks,
                                                    void (*progress)(void *context, uint64_t blocks_done),
                                                    void *context);

#ifdef __cplusplus
}
#endif
#endif
