/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stretch of a block device as a device of its own: a partition of a drive that the kernel does not have. No request
 * reaches what lies outside: submit answers INVALID.
 */
#ifndef SPATE_HOSTED_WINDOW_H
#define SPATE_HOSTED_WINDOW_H

#include <spate/block.h>

struct window;

/* `whole` stays in place until the window is closed, and nobody else uses it. The stretch is within it. Ends the
 * program if there is no memory. */
struct window *window_open(struct spate_block *whole, uint64_t first_lba, uint64_t blocks);
struct spate_block *window_block(struct window *window);
/* All requests are complete. */
void window_close(struct window *window);

#endif
