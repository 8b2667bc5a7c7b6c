/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are read or written past the page cache (O_DIRECT), where their file system can do it. */
#ifndef SPATE_COMMAND_DIRECT_H
#define SPATE_COMMAND_DIRECT_H

#include <stdbool.h>
#include <stdint.h>

/* Memory whose address and length are multiples of this is good for every file that direct_open() opens directly. */
#define DIRECT_ALIGN 4096u

/* Opens `path` as open() does, with O_DIRECT if transfers may then begin and end at each multiple of `step_bytes` of
 * the file; else without. `*direct` says which; NULL: not asked. Returns −1, and sets errno, as open() does. */
int direct_open(const char *path, int flags, unsigned mode, uint32_t step_bytes, bool *direct);

#endif
