/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file descriptor as a block device. Requests go through io_uring. If it is not available (an older kernel, a
 * container that forbids it), they are made one by one with preadv and pwritev.
 *
 *   READ, WRITE   one readv or writev, with O_DIRECT if the file was opened so; from a registered buffer if that is
 *                 faster (buffers.h)
 *   FUA           RWF_DSYNC: the kernel sets the FUA bit of the command, or flushes
 *   FLUSH         fdatasync
 *   ZERO          fallocate(FALLOC_FL_ZERO_RANGE), which is Write Zeroes on an NVMe drive
 *   TRIM          fallocate(FALLOC_FL_PUNCH_HOLE) on a file, BLKDISCARD on a device
 */
#ifndef SPATE_COMMAND_REQUESTS_H
#define SPATE_COMMAND_REQUESTS_H

#include "../memory.h"

#include <spate/block.h>

struct requests;

struct requests_config {
  const char *name;             /* for messages */
  struct memory_supply *memory; /* of the rings that requests are made from */
  int fd;                       /* the caller closes it */
  bool device;                  /* a block device, not a regular file */
  uint64_t bytes;
  uint32_t block_bytes;
  uint16_t depth;
  uint32_t request_bytes; /* a power of two */
};

/* True if this process may not have an io_uring. Requests are then carried out one by one. */
bool requests_forbidden(void);

/* Never returns NULL: ends the program if there is no memory. `wait_fd` is readable when a request has completed; −1
 * without io_uring. */
struct requests *requests_open(const struct requests_config *config, int *wait_fd);
struct spate_block *requests_block(struct requests *requests);
/* Sleeps until a request has completed, for a millisecond at most. */
void requests_wait(void *opaque); /* a struct requests */
/* No request may be in flight. */
void requests_close(struct requests *requests);

#endif
