/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A range of a block device as a device of its own: for a partition of a drive without the kernel's driver. A request
 * outside of the range is refused: submit returns INVALID.
 */
#ifndef SPATE_COMMAND_WINDOW_H
#define SPATE_COMMAND_WINDOW_H

#include <spate/block.h>

struct window;

/* `whole` must not move until the window is closed, and nobody else may use it. The range is within it. Ends the
 * program if there is no memory. */
struct window *window_open(struct spate_block *whole, uint64_t first_lba, uint64_t blocks);
struct spate_block *window_block(struct window *window);
/* All requests must be complete. */
void window_close(struct window *window);

#endif
