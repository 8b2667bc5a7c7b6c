/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a state as files for programs of others to judge: VOLUME-STATE-before.img or -after.img, and beside it a .txt
 * with what our oracle reads there. Its first line is "b BLOCK_BYTES DIRTY WHOLE" (a dirty volume in the middle of a
 * change need not be whole). A line for each file or directory follows: "f" or "d", its length in bytes, the CRC-32 of
 * its contents, its path.
 */
#ifndef SPATE_TESTS_KEEP_H
#define SPATE_TESTS_KEEP_H

#include "exfat_oracle.h"

void keep_state(const char *folder, unsigned volume, uint64_t state, bool recovered, const struct oracle *oracle,
                uint64_t bytes);

#endif
