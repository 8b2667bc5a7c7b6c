/* SPDX-License-Identifier: Apache-2.0 */
/* An image file as a drive: everything that ram_block.h offers, over a mapping of the file. */
#ifndef SPATE_TESTS_FILE_BLOCK_H
#define SPATE_TESTS_FILE_BLOCK_H

#include "ram_block.h"

/* 0, or −1 with errno. The file's size is the drive's; a last part that does not fill a block is not used. Writes are
 * in the file after ram_block_close() at the latest. */
int file_block_open(struct ram_block *ram, const char *path, uint32_t block_bytes, bool writable);

#endif
