/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registers rings as buffers of an io_uring: the kernel then holds their pages, and does not look them up for each
 * request.
 *
 * This is done from Linux 6.12 on, which handles a huge page as a unit: a write of 1 MiB then costs the kernel half.
 * Older kernels go through a registered buffer page by page, and a write of 1 MiB costs them two to three times as much
 * as without (make bench-linux: raw io_uring, plain and fixed). There nothing is registered.
 */
#ifndef SPATE_COMMAND_BUFFERS_H
#define SPATE_COMMAND_BUFFERS_H

#include "../memory.h"

#include <liburing.h>
#include <stdbool.h>

#define BUFFERS_MAX 64u

struct buffers {
  struct io_uring *ring;
  struct memory_supply *memory;
  struct memory_watcher watcher;
  struct iovec vectors[BUFFERS_MAX]; /* iov_base is NULL for an unused one */
  unsigned used;                     /* vectors from this number on are unused */
};

/* Registers all rings that are allocated of this memory from here on, as far as the kernel and the limit of locked
 * memory allow. Call it before the first ring is allocated. `buffers` must not move. */
void buffers_open(struct buffers *buffers, struct io_uring *ring, struct memory_supply *memory);
/* The number of the buffer that contains all of these bytes, or −1. */
int buffers_find(const struct buffers *buffers, const void *start, size_t bytes);
void buffers_close(struct buffers *buffers);

/* True if this kernel release handles huge pages of a registered buffer as units. */
bool buffers_pay(const char *release);

#endif
