/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A state as files, for other people's programs to judge: VOLUME-STATE-before.img or -after.img, and beside it a .txt
 * of what our oracle reads there: a line "b BLOCK_BYTES DIRTY WHOLE" (in the midst of a change a
 * dirty volume need not be whole), then for each file or directory "f" or "d", its bytes,
 * the CRC-32 of its content, its path.
 */
#ifndef SPATE_TESTS_KEEP_H
#define SPATE_TESTS_KEEP_H

#include "exfat_oracle.h"

void keep_state(const char *folder, unsigned volume, uint64_t state, bool recovered, const struct oracle *oracle,
                uint64_t bytes);

#endif
