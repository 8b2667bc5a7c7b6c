/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A range of a block device as a device of its own: for a partition of a drive without the kernel's driver. A request
 * outside of the range is refused: submit returns INVALID.
 */
#ifndef SPATE_COMMAND_BLOCK_RANGE_H
#define SPATE_COMMAND_BLOCK_RANGE_H

#include <spate/block.h>

struct block_range;

/* `whole` must not move until the range is closed, and nobody else may use it. The range is within it. Ends the
 * program if there is no memory. */
struct block_range *block_range_open(struct spate_block *whole, uint64_t first_lba, uint64_t blocks);
struct spate_block *block_range_block(struct block_range *range);
/* All requests must be complete. */
void block_range_close(struct block_range *range);

#endif
