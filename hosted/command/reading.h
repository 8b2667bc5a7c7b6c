/* SPDX-License-Identifier: Apache-2.0 */
/* A file of a volume, read at the target's speed: what extract and verify share. */
#ifndef SPATE_HOSTED_READING_H
#define SPATE_HOSTED_READING_H

#include "../volume.h"

/*
 * Calls `take` for the file's valid bytes in order, in pieces of any length that is a multiple of the logical block,
 * but for the last; ends the program on a read error, with the offset. `size_bytes` is the file's length; what is
 * missing from the valid bytes was never written, and reads as zeros.
 */
void reading_file(struct volume *volume, const char *path,
                  void (*take)(void *context, const uint8_t *data, uint32_t bytes, uint64_t offset_bytes),
                  void *context, uint64_t *size_bytes);

#endif
