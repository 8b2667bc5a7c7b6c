/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file descriptor as a block device: requests through io_uring, or, where that is not to be had (an older kernel, a
 * container that forbids it), one by one with pread and pwrite.
 *
 *   READ, WRITE   one readv or writev, O_DIRECT if the file was opened so; from a registered buffer where that pays
 *                 (buffers.h)
 *   FUA           RWF_DSYNC: the kernel sets the FUA bit of the command, or flushes
 *   FLUSH         fdatasync
 *   ZERO          fallocate(FALLOC_FL_ZERO_RANGE), which is Write Zeroes on an NVMe drive
 *   TRIM          fallocate(FALLOC_FL_PUNCH_HOLE) on a file, BLKDISCARD on a device
 */
#ifndef SPATE_HOSTED_REQUESTS_H
#define SPATE_HOSTED_REQUESTS_H

#include <spate/block.h>

struct requests;

struct requests_config {
  const char *name; /* for messages */
  int fd;           /* stays the caller's */
  bool device;      /* a block device, not a regular file */
  uint64_t bytes;
  uint32_t block_bytes;
  uint16_t depth;
  uint32_t request_bytes; /* a power of two */
};

/* Never NULL: ends the program when memory runs out. `wait_fd` is readable when something completed; −1 with pread. */
struct requests *requests_open(const struct requests_config *config, int *wait_fd);
struct spate_block *requests_block(struct requests *requests);
/* Sleeps until something completed, for a millisecond at most. */
void requests_wait(void *opaque); /* a struct requests */
/* No request may be in flight. */
void requests_close(struct requests *requests);

#endif
