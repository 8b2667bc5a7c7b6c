/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a file of a volume at the target's speed: for extract, verify and replay. */
#ifndef SPATE_COMMAND_READING_H
#define SPATE_COMMAND_READING_H

#include "../volume.h"

/*
 * Calls `take` for the file's valid bytes in order, in buffers of any length; all but the last are multiples of the
 * logical block. Returns why the file could not be read completely, after a message that says so. `size_bytes` is the
 * file's length; the bytes between the valid length and it were never written, and read as zeros.
 */
enum spate_error reading_file(struct volume *volume, const char *path,
                              void (*take)(void *context, const uint8_t *data, uint32_t bytes, uint64_t offset_bytes),
                              void *context, uint64_t *size_bytes);

#endif
