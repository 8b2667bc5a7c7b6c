/* SPDX-License-Identifier: Apache-2.0 */
/* An image file as a drive: all that ram_block.h offers, over a shared mapping of the file. */
#ifndef SPATE_TESTS_FILE_BLOCK_H
#define SPATE_TESTS_FILE_BLOCK_H

#include "ram_block.h"

/* 0, or −1 with errno. The file's size is the drive's; what does not fill a block is left alone. Writes are in the file
 * at the latest after ram_block_close(). */
int file_block_open(struct ram_block *ram, const char *path, uint32_t block_bytes, bool writable);

#endif
