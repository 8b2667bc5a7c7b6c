/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rings that are registered with an io_uring: the kernel holds their pages once and for all, and looks them up for no
 * request.
 *
 * From Linux 6.12 on, which takes a huge page as one piece: a write of 1 MiB costs it half of what it costs without.
 * Older kernels go through a registered buffer page by page, and a write of 1 MiB costs them two to three times as much
 * (make bench-linux: raw io_uring, plain and fixed). There nothing is registered.
 */
#ifndef SPATE_HOSTED_BUFFERS_H
#define SPATE_HOSTED_BUFFERS_H

#include "../memory.h"

#include <liburing.h>
#include <stdbool.h>

#define BUFFERS_MAX 64u

struct buffers {
  struct io_uring *ring;
  struct memory_watcher watcher;
  struct iovec vectors[BUFFERS_MAX]; /* iov_base is NULL where there is none */
  unsigned used;                     /* of the vectors; there is none behind these */
};

/* From here on rings that are taken are registered, as far as the kernel and the limit of locked memory allow. Before
 * the first ring is taken; the buffers stay where they are. */
void buffers_open(struct buffers *buffers, struct io_uring *ring);
/* The number of the buffer that all of this lies in, or −1. */
int buffers_find(const struct buffers *buffers, const void *start, size_t bytes);
void buffers_close(struct buffers *buffers);

/* Is this a release of a kernel that takes huge pages of a registered buffer as one piece? */
bool buffers_pay(const char *release);

#endif
